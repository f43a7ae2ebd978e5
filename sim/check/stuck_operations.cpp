// SPDX-License-Identifier: Apache-2.0
// What is enabled but never starts or never ends: blocks in the wrong group, pipelines without one
// of their blocks, on-the-fly results without the other end.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "models/npu/pipelines.h"
#include "sim/check/program_operations.h"
#include "sim/check/value_rules.h"

namespace npuscope {
namespace {

/// `NVDLA_SDP.D_OP_ENABLE_0, NVDLA_SDP_RDMA.D_OP_ENABLE_0`.
std::string enables_of(const PipelineRow& row) {
    std::vector<std::string> names;
    for (const std::string_view block : row.blocks) {
        if (!block.empty()) {
            names.push_back(spelled(block, "D_OP_ENABLE"));
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Diagnostic ProgramOperations::wrong_group(std::string_view block, unsigned next) const {
    Diagnostic finding{.id = "never_starts", .unit = std::string(block)};
    if (const auto place = programmed_at_.find({block, next}); place != programmed_at_.end()) {
        finding.register_name = spelled(block, "D_OP_ENABLE");
        finding.sentence = fmt::format(
            "{} was programmed in register group {} but not enabled there: it never starts, nor "
            "does anything enabled in register group {} after it",
            block, next, 1 - next);
        finding.remedy =
            fmt::format("write 1 to this register after the others of register group {}", next);
        finding.place = place->second;
        return finding;
    }
    finding.register_name = spelled(block, "S_POINTER");
    finding.sentence = fmt::format(
        "{} is enabled in register group {}, but register group {} is next: the operation never "
        "starts",
        block, 1 - next, next);
    finding.remedy = fmt::format(
        "write {} to its S_POINTER before its other registers: register groups are used "
        "alternately, 0 first",
        next);
    const auto place = enabled_at_.find(block);
    finding.place = place == enabled_at_.end() ? Place{} : place->second;
    return finding;
}

bool ProgramOperations::report_idle_dma(const PipelineRow& row, std::string_view block,
                                        DiagnosticLog& log) const {
    const auto last = std::find_if(
        operations_.rbegin(), operations_.rend(), [&](const CheckedOperation& operation) {
            return operation.unit && row_of(*operation.unit).name == row.name;
        });
    if (row.rdma != ReadDma::Optional || !block.ends_with("_RDMA") || last == operations_.rend() ||
        last->uses_rdma) {
        return false;
    }
    if (last->undecoded) {
        return true;  // what it takes is unknown
    }
    Diagnostic finding = unused_read_dma(block, last->name);
    finding.place = enabled_at_.at(block);
    log.add(std::move(finding));
    return true;
}

bool ProgramOperations::report_waiting(const PipelineRow& row, DiagnosticLog& log) const {
    std::vector<std::string_view> early;  // enabled, but not in the group that is next
    std::vector<std::string_view> ready;
    unsigned next = 0;
    for (const LaunchGate::Waiting& waiting : engine_.waiting()) {
        if (std::ranges::find(row.blocks, waiting.block) != row.blocks.end()) {
            next = waiting.next_group;
            (waiting.group == next ? ready : early).push_back(waiting.block);
        }
    }
    std::erase_if(early, [&](std::string_view block) {
        return std::ranges::find(ready, block) != ready.end();  // its turn comes later
    });
    for (const std::string_view block : early) {
        log.add(wrong_group(block, next));
    }
    if (early.empty() && ready.size() == 1 && report_idle_dma(row, ready.front(), log)) {
        return true;
    }
    const bool main_ready =
        ready.size() + 1 >= static_cast<std::size_t>(std::ranges::count_if(
                                row.blocks, std::not_fn(&std::string_view::empty)));
    for (const std::string_view block : row.blocks) {
        const bool known = std::ranges::find(ready, block) != ready.end() ||
                           std::ranges::find(early, block) != early.end();
        const bool optional = row.rdma == ReadDma::Optional && block.ends_with("_RDMA");
        if (!block.empty() && !ready.empty() && !known && (!optional || main_ready)) {
            if (auto finding = block == "NVDLA_SDP_RDMA" ? not_flying(next) : std::nullopt) {
                log.add(std::move(*finding));
                continue;
            }
            const auto place =
                enabled_at_.find(enabled_at_.contains(block) ? block : ready.front());
            log.add({.id = "never_starts",
                     .sentence = fmt::format(
                         "{} is not enabled in register group {}, so {} never start{}", block, next,
                         fmt::join(ready, ", "), ready.size() == 1 ? "s" : ""),
                     .remedy = fmt::format("write 1 to its D_OP_ENABLE_0 while {} is {}",
                                           spelled(block, "S_POINTER"), next),
                     .unit = std::string(block),
                     .register_name = spelled(block, "D_OP_ENABLE"),
                     .place = place == enabled_at_.end() ? Place{} : place->second});
        }
    }
    return !early.empty() || !ready.empty();
}

std::optional<Diagnostic> ProgramOperations::not_flying(unsigned group) const {
    constexpr const char* sdp = "NVDLA_SDP";
    constexpr const char* rdma = "NVDLA_SDP_RDMA";
    const auto feeder = std::ranges::find_if(operations_, [](const CheckedOperation& operation) {
        return operation.unit == Pipeline::Conv && operation.gives && !operation.consumer;
    });
    const bool has_source =
        programmed_at_.contains({rdma, group}) &&
        written_place(rdma, group, "D_SRC_BASE_ADDR_LOW") != nullptr &&
        file(rdma).values(group).field("D_FEATURE_MODE_CFG", "FLYING_MODE") == 0;
    const bool flies = file(sdp).values(group).field("D_FEATURE_MODE_CFG", "FLYING_MODE") != 0;
    if (feeder == operations_.end() || has_source || flies) {
        return std::nullopt;
    }
    const std::string mode = spelled(sdp, "D_FEATURE_MODE_CFG");
    const Place* const written = written_place(sdp, group, "D_FEATURE_MODE_CFG");
    const auto enabled = enabled_at_.find(sdp);
    return Diagnostic{
        .id = "never_starts",
        .sentence = fmt::format(
            "{} so NVDLA_SDP reads memory, but no source is programmed in {}: it never starts, and "
            "{} waits for an SDP that takes its result on the fly",
            written != nullptr ? mode + " has FLYING_MODE = 0," : mode + " is never written,", rdma,
            feeder->name),
        .remedy = fmt::format("set FLYING_MODE to 1, or program {} and enable it", rdma),
        .unit = sdp,
        .register_name = mode,
        .field = "FLYING_MODE",
        .place = written != nullptr             ? *written
                 : enabled == enabled_at_.end() ? Place{}
                                                : enabled->second};
}

Diagnostics ProgramOperations::unenabled(std::optional<Interrupt> wanted) const {
    Diagnostics findings;
    const std::vector<LaunchGate::Waiting> waiting = engine_.waiting();
    for (const PipelineRow& row : pipeline_rows) {
        const std::string_view block = row.blocks.front();
        const bool waits = std::ranges::any_of(waiting, [&](const LaunchGate::Waiting& one) {
            return std::ranges::find(row.blocks, one.block) != row.blocks.end();
        });
        for (const unsigned group : {0U, 1U}) {
            const auto place = programmed_at_.find({block, group});
            const bool meant = !wanted || *wanted == Interrupt{row.done, group};
            if (!waits && meant && place != programmed_at_.end()) {
                findings.push_back(
                    {.id = "never_starts",
                     .sentence = fmt::format("{} was programmed in register group {} but not "
                                             "enabled there: it never starts",
                                             block, group),
                     .remedy = fmt::format("write 1 to {} after the registers of the group",
                                           enables_of(row)),
                     .unit = std::string(block),
                     .register_name = spelled(block, "D_OP_ENABLE"),
                     .place = place->second});
            }
        }
    }
    return findings;
}

void ProgramOperations::report_stuck(DiagnosticLog& log) const {
    bool waits = false;
    for (const PipelineRow& row : pipeline_rows) {
        waits = report_waiting(row, log) || waits;
    }
    if (waits) {
        return;  // this explains missing other ends
    }
    for (const CheckedOperation& operation : operations_) {
        if (!operation.launched) {
            log.add({.id = "never_starts",
                     .sentence = fmt::format("{} is queued, but never launched", operation.name),
                     .remedy = "write 1 to CFG_LAUNCH0 or CFG_LAUNCH1 after the commands",
                     .unit = "NVDLA_BDMA",
                     .register_name = spelled("NVDLA_BDMA", "CFG_LAUNCH0"),
                     .operation = operation.name,
                     .place = operation.place});
        }
    }
    const bool undecoded = std::ranges::any_of(operations_, &CheckedOperation::undecoded);
    if (!undecoded) {  // it may be the other end
        report_single_ends(log);
    }
}

void ProgramOperations::report_single_ends(DiagnosticLog& log) const {
    const auto add = [&](std::string_view unit, const std::string& register_name,
                         const CheckedOperation& operation, std::string sentence,
                         std::string remedy) {
        log.add({.id = "never_starts",
                 .sentence = std::move(sentence),
                 .remedy = std::move(remedy),
                 .unit = std::string(unit),
                 .register_name = spelled(unit, register_name),
                 .operation = operation.name,
                 .place = operation.place});
    };
    for (const CheckedOperation& operation : operations_) {
        if (operation.takes && !operation.producer) {
            const bool sdp = operation.unit == Pipeline::Sdp;
            add(sdp ? "NVDLA_SDP" : "NVDLA_PDP",
                sdp ? "D_FEATURE_MODE_CFG" : "D_OPERATION_MODE_CFG", operation,
                fmt::format("{} waits for on-the-fly data, but no operation provides it",
                            operation.name),
                fmt::format("enable the unit before it ({}), or read from memory",
                            enables_of(row_of(sdp ? Pipeline::Conv : Pipeline::Sdp))));
        } else if (operation.gives && !operation.consumer) {
            const bool conv = operation.unit == Pipeline::Conv;
            add(conv ? "NVDLA_CACC" : "NVDLA_SDP", conv ? "D_OP_ENABLE" : "D_FEATURE_MODE_CFG",
                operation,
                fmt::format("{} sends its result on the fly, but no operation receives it",
                            operation.name),
                fmt::format("enable the unit after it ({})",
                            enables_of(row_of(conv ? Pipeline::Sdp : Pipeline::Pdp))));
        }
    }
}

}  // namespace npuscope
