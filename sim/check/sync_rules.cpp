// SPDX-License-Identifier: Apache-2.0
#include "sim/check/sync_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "models/base/rule_ids.h"
#include "models/npu/pipelines.h"
#include "sim/program/awaited_findings.h"

namespace npuscope {
namespace {

constexpr unsigned status_of_group_1_lsb = 16;  // source: register specification, STATUS_1
constexpr std::uint32_t status_bits = 3;        // source: register specification, STATUS_0
constexpr std::uint32_t bdma_idle = 1U << 8U;   // source: register specification, BDMA STATUS.IDLE

bool ends_operations(const Interrupt& interrupt) {
    return interrupt.source != InterruptSource::CdmaDat &&
           interrupt.source != InterruptSource::CdmaWt;
}

/// The interrupt source of a block whose S_STATUS says that its operation is over.
std::optional<InterruptSource> source_of_block(const std::string& register_name) {
    for (const PipelineRow& row : pipeline_rows) {
        const std::string_view block =
            row.done == InterruptSource::Cacc ? "NVDLA_CACC" : row.blocks.front();
        if (register_name.starts_with(std::string(block) + ".")) {
            return row.done;
        }
    }
    return std::nullopt;
}

bool writes_to(const CheckedOperation& operation, const ByteRun& region) {
    return std::ranges::any_of(operation.uses, [&](const SurfaceUse& use) {
        return use.writes && common_byte(use.runs, {region}).has_value();
    });
}

}  // namespace

void SyncRules::note(const NotifyOnInterrupt& notify, const Place& place) {
    Request request{std::nullopt, notify.sync, place};
    if (!notify.unit.empty()) {
        request.interrupt = interrupt_from_name(notify.unit);
        if (!request.interrupt) {
            throw ConfigError(place, fmt::format("unknown interrupt {}", notify.unit),
                              "give a unit and its register group, e.g. SDP_0");
        }
        if ((operations_.interrupt_mask() >> interrupt_bit(*request.interrupt) & 1U) != 0) {
            Diagnostic finding = masked_interrupt(notify.unit, {}, place);
            finding.unit = "NVDLA_GLB";
            finding.register_name = spelled("NVDLA_GLB", "S_INTR_MASK");
            log_.add(std::move(finding));
        }
    }
    if (!bind(request)) {
        requests_.push_back(std::move(request));
    }
}

void SyncRules::note(const SyncWait& wait, const Place& place) {
    if (const auto end = ends_.find(wait.sync); end != ends_.end()) {
        operations_.finish(end->second);
    } else if (std::ranges::find(requests_, wait.sync, &Request::sync) != requests_.end()) {
        operations_.finish_all();  // reported where the interrupt is requested
    } else if (std::ranges::find(raised_, wait.sync) == raised_.end()) {
        log_.add(endless_wait(
            fmt::format("'{}' is awaited, but nothing raises it before this point", wait.sync),
            "bind an interrupt to it (intr_notify), or enable its operation first", place));
    }
}

void SyncRules::note(const WaitForInterrupt& /*wait*/, const Place& place) {
    report_masked(place);
    operations_.finish_all();
}

void SyncRules::report_masked(const Place& place) {
    const std::uint32_t mask = operations_.interrupt_mask();
    const auto hidden = [&](InterruptSource source, unsigned group) {
        return (mask >> interrupt_bit({source, group}) & 1U) != 0;
    };
    std::string names;
    for (const CheckedOperation& operation : operations_.all()) {
        if (operation.finished) {
            continue;
        }
        if (!hidden(operation.done, operation.group) ||
            (operation.unit == Pipeline::Conv &&
             !(hidden(InterruptSource::CdmaDat, operation.group) &&
               hidden(InterruptSource::CdmaWt, operation.group)))) {
            return;
        }
        const std::string name = to_string(Interrupt{operation.done, operation.group});
        if (names.find(name) == std::string::npos) {
            names += (names.empty() ? "" : ", ") + name;
        }
    }
    if (names.empty()) {
        return;
    }
    Diagnostic finding = masked_interrupt(names, {}, place);
    finding.unit = "NVDLA_GLB";
    finding.register_name = spelled("NVDLA_GLB", "S_INTR_MASK");
    log_.add(std::move(finding));
}

void SyncRules::know_interrupts(std::uint32_t bits) {
    for (const auto& [source, name] : EnumNames<InterruptSource>::names) {
        for (const unsigned group : {0U, 1U}) {
            const Interrupt interrupt{source, group};
            const auto index =
                (bits >> interrupt_bit(interrupt) & 1U) != 0
                    ? operations_.oldest_without(&CheckedOperation::finished, interrupt)
                    : std::nullopt;
            if (index) {
                operations_.finish(*index);
            }
        }
    }
}

void SyncRules::know(const std::string& register_name, std::uint32_t mask, std::uint32_t value) {
    if (register_name.starts_with("NVDLA_GLB.S_INTR_STATUS")) {
        know_interrupts(mask & value);
        return;
    }
    if (register_name.starts_with("NVDLA_BDMA.STATUS") && (mask & value & bdma_idle) != 0) {
        for (const unsigned group : {0U, 1U}) {
            while (const auto index = operations_.oldest_without(&CheckedOperation::finished,
                                                                 {InterruptSource::Bdma, group})) {
                operations_.finish(*index);
            }
        }
        return;
    }
    const auto source = source_of_block(register_name);
    if (!source || register_name.find(".S_STATUS") == std::string::npos) {
        return;
    }
    for (const unsigned group : {0U, 1U}) {
        const std::uint32_t bits = status_bits << (group * status_of_group_1_lsb);
        if ((mask & bits) != bits || (value & bits) != 0) {
            continue;
        }
        while (const auto index =
                   operations_.oldest_without(&CheckedOperation::finished, {*source, group})) {
            operations_.finish(*index);
        }
    }
}

void SyncRules::launched() {
    std::erase_if(requests_, [this](const Request& request) { return bind(request); });
}

void SyncRules::compares(const std::string& sync, const ByteRun& region, const Place& place) {
    if (sync.empty()) {
        report_early(region, std::nullopt, place);
    } else {
        compares_.push_back({sync, region, place});
    }
}

void SyncRules::report_early(const ByteRun& region, std::optional<std::size_t> end,
                             const Place& place) {
    const std::deque<CheckedOperation>& all = operations_.all();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const CheckedOperation& operation = all[i];
        const bool over =
            operation.finished || (end && *end >= i && all[*end].unit == operation.unit);
        if (over || !writes_to(operation, region)) {
            continue;
        }
        log_.add(
            {.id = rule_ids::compared_early,
             .sentence = fmt::format("{} bytes at {} are compared while {} may still be writing "
                                     "them: the program has not waited for its end",
                                     region.bytes.value, to_hex(region.address), operation.name),
             .remedy = fmt::format("wait for {} before the comparison",
                                   to_string(Interrupt{operation.done, operation.group})),
             .address = region.address,
             .operation = operation.name,
             .place = place});
        return;
    }
}

bool SyncRules::raises(const std::string& sync) const {
    return ends_.contains(sync) || std::ranges::find(raised_, sync) != raised_.end() ||
           std::ranges::find(requests_, sync, &Request::sync) != requests_.end();
}

void SyncRules::report_pending() {
    for (const WaitingCompare& compare : compares_) {
        if (!raises(compare.sync)) {
            log_.add(
                {.id = rule_ids::check_not_made,
                 .sentence = fmt::format(
                     "{}: nothing raises '{}', so this check is never made",
                     compare.region.bytes.value == 0
                         ? std::string("a check waits for the end of a layer")
                         : fmt::format("{} bytes at {} are to be compared",
                                       compare.region.bytes.value, to_hex(compare.region.address)),
                     compare.sync),
                 .remedy = "bind an interrupt to it (intr_notify)",
                 .address = compare.region.address,
                 .place = compare.place});
        }
    }
    for (const Request& request : requests_) {
        log_.add(endless_wait(
            fmt::format("{} is awaited for '{}', but no operation raises it",
                        request.interrupt ? to_string(*request.interrupt) : "an interrupt",
                        request.sync),
            "enable an operation of that unit in that register group", request.place));
    }
}

bool SyncRules::bind(const Request& request) {
    if (request.interrupt && !ends_operations(*request.interrupt)) {
        raised_.push_back(request.sync);  // fetches end no operation
        return true;
    }
    const auto open = [](const CheckedOperation& operation) { return !operation.notified; };
    std::optional<std::size_t> index;
    if (request.interrupt) {
        index = operations_.oldest_without(&CheckedOperation::notified, *request.interrupt);
    } else {
        for (std::size_t i = 0; i < operations_.all().size() && !index; ++i) {
            if (open(operations_.all()[i]) && !operations_.all()[i].gives) {
                index = i;
            }
        }
    }
    if (!index) {
        return false;
    }
    operations_.at(*index).notified = true;
    ends_[request.sync] = *index;
    return true;
}

}  // namespace npuscope
