// SPDX-License-Identifier: Apache-2.0
#include "sim/check/program_operations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "models/base/check.h"
#include "models/bdma/bdma_registers.h"
#include "models/npu/pipelines.h"
#include "models/npu/register_blocks.h"
#include "sim/check/rules.h"
#include "sim/check/value_rules.h"

namespace npuscope {
namespace {

std::deque<RegisterFile> register_files(const CsbConfig& csb) {
    std::deque<RegisterFile> files;
    for (const RegisterBlock& block : nvdla_register_blocks(csb.address_map, csb.wide_fields)) {
        files.emplace_back(block);
    }
    return files;
}

bool starts_copy(const WriteRegister& write) {
    return write.name.starts_with("NVDLA_BDMA.CFG_OP") && (write.value & 1U) != 0;
}

/// The group that a launch of the BDMA is for.
std::optional<unsigned> launched_group(const WriteRegister& write) {
    constexpr std::string_view launch = "NVDLA_BDMA.CFG_LAUNCH";
    if (!write.name.starts_with(launch) || (write.value & 1U) == 0) {
        return std::nullopt;
    }
    return write.name[launch.size()] == '1' ? 1U : 0U;
}

/// Whether a register of an operation defines how values are computed.
bool sets_values(std::string_view name) {
    constexpr std::array parts{"CFG",    "CVT",         "MEAN",     "PADDING",  "RECIP", "FORMAT",
                               "KERNEL", "CONV_STRIDE", "DILATION", "TRUNCATE", "LRN"};
    constexpr std::array others{"DST_DMA_CFG", "RAM_CFG", "PERF", "LUT_ACCESS"};
    const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
    return name.starts_with("D_") && std::ranges::any_of(parts, has) &&
           std::ranges::none_of(others, has);
}

Severity severity_of(const Diagnostic& finding) {
    const Rule* rule = find_rule(finding.id);
    return rule == nullptr ? finding.severity : rule->checked.value_or(finding.severity);
}

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

void add_settings(const RegisterValues& values, CheckedOperation& operation) {
    for (std::size_t i = 0; i < values.block().rows.size(); ++i) {
        const RegisterRow& row = values.block().rows[i];
        if (sets_values(row.name) && write_mask(row) != 0) {
            operation.settings.emplace_back(spelled(values.block().name, row.name),
                                            values.words()[i]);
        }
    }
}

}  // namespace

ProgramOperations::ProgramOperations(const NpuConfig& npu)
    : npu_(npu),
      files_(register_files(npu.csb)),
      engine_(npu, [this](std::string_view name) -> RegisterFile& { return file(name); }) {}

RegisterFile& ProgramOperations::file(std::string_view name) {
    const auto found = std::ranges::find_if(
        files_, [&](const RegisterFile& file) { return file.block().name == name; });
    NPU_CHECK(found != files_.end(), "no register block " + std::string(name));
    return *found;
}

RegisterFile* ProgramOperations::file_at(std::uint32_t address) {
    const auto found = std::ranges::find_if(files_, [&](const RegisterFile& file) {
        return address >= file.block().base &&
               address - file.block().base < register_block_size.value;
    });
    return found == files_.end() ? nullptr : &*found;
}

void ProgramOperations::write(const WriteRegister& write, const Place& place, DiagnosticLog& log) {
    RegisterFile* target = file_at(write.address);
    if (target == nullptr) {
        Diagnostic finding = RegisterFile::nothing_at(write.address);
        finding.place = place;
        log.add(std::move(finding));
        return;
    }
    WriteEffect effect = target->write(write.address - target->block().base, write.value);
    if (effect.finding) {
        Diagnostic& finding = *effect.finding;
        finding.register_name = write.name;
        finding.place = place;
        finding.unit = target->block().name;
        finding.severity = severity_of(finding);
        log.add(std::move(finding));
    }
    if (effect.row != nullptr && effect.row->name.starts_with("S_LUT_ACCESS")) {
        luts_[target->block().name].write(effect.row->name, write.value);
    }
    if (effect.row != nullptr && effect.kind != WriteEffect::Kind::Refused) {
        keep_write(*target, *effect.row, {&place, write.value});
    }
    if (starts_copy(write)) {
        add_copy(*target, place, log);
    } else if (const auto group = launched_group(write)) {
        launch_copies(*group);
    } else if (effect.kind == WriteEffect::Kind::OpEnabled) {
        engine_.note_enabled(*target, effect.group);
        enabled_at_[target->block().name] = place;
        programmed_at_.erase({target->block().name, effect.group});
        launch_ready(place, log);
    } else if (target->has_groups() && effect.row != nullptr &&
               effect.row->name.starts_with("D_")) {
        programmed_at_[{target->block().name, target->producer()}] = place;
    }
}

void ProgramOperations::expect(const ReadRegister& read, const Place& place, DiagnosticLog& log) {
    RegisterFile* target = file_at(read.address);
    if (target == nullptr || read.comparison != Comparison::Equal) {
        return;
    }
    const auto row = std::ranges::find_if(target->block().rows, [&](const RegisterRow& one) {
        return spelled(target->block().name, one.name) == read.name;
    });
    const bool holds =
        row != target->block().rows.end() && row->name != "D_OP_ENABLE" &&
        (row->name.starts_with("D_") || (row->name.starts_with("CFG_") && row->name != "CFG_OP" &&
                                         !row->name.starts_with("CFG_LAUNCH")));
    if (!holds) {
        return;
    }
    const std::uint32_t compared = read.mask & write_mask(*row);
    const std::uint32_t value = target->read(read.address - target->block().base).value_or(0);
    if ((compared & (value ^ read.expected)) == 0) {
        return;
    }
    log.add({.id = "read_back",
             .sentence = fmt::format("{} is expected to read {:#x}, but holds {:#x}", read.name,
                                     compared & read.expected, compared & value),
             .remedy = "correct the value that is written, or the one that is expected",
             .unit = std::string(target->block().name),
             .register_name = read.name,
             .place = place,
             .value = fmt::format("{:#x}", compared & value),
             .allowed = fmt::format("{:#x}", compared & read.expected)});
}

void ProgramOperations::keep_write(const RegisterFile& file, const RegisterRow& row,
                                   const RegisterWrite& write) {
    const RegisterBlock& block = file.block();
    const auto index = static_cast<std::size_t>(&row - block.rows.data());
    const bool shared = !file.has_groups() || !row.name.starts_with("D_");
    for (const unsigned group : {0U, 1U}) {
        if (shared || group == file.producer()) {
            std::vector<RegisterWrite>& places = written_at_[{block.name, group}];
            places.resize(block.rows.size());
            places[index] = write;
        }
    }
}

void ProgramOperations::add_writes(const RegisterFile& file, unsigned group,
                                   CheckedOperation& operation) const {
    if (const auto places = written_at_.find({file.block().name, group});
        places != written_at_.end()) {
        operation.writes.emplace_back(&file.block(), places->second);
    }
}

void ProgramOperations::launch_copies(unsigned group) {
    for (CheckedOperation& operation : operations_) {
        if (!operation.launched) {
            operation.launched = true;
            operation.group = group;
        }
    }
}

void ProgramOperations::add_copy(const RegisterFile& file, const Place& place, DiagnosticLog& log) {
    CheckedOperation copy;
    copy.name = fmt::format("bdma {}", copies_++);
    copy.place = place;
    copy.launched = false;
    add_writes(file, 0, copy);
    Diagnostics findings;
    if (const auto job =
            decode_bdma(file.values(0), npu_.bdma, npu_.datapath.memory_atom, findings)) {
        copy.uses = surfaces_of(*job);
        if (keeps_jobs_) {
            copy.launched_job = std::make_shared<LaunchedJob>(LaunchedJob{*job, {}, {}});
        }
    } else {
        copy.undecoded = true;
    }
    add_unwritten("NVDLA_BDMA", npu_.sdp, copy);
    std::ranges::move(copy.findings, std::back_inserter(findings));
    copy.findings.clear();
    for (Diagnostic& finding : findings) {
        finding.operation = copy.name;
        finding.place = place;
        log.add(std::move(finding));
    }
    by_name_[copy.name] = operations_.size();
    operations_.push_back(std::move(copy));
}

void ProgramOperations::add_value_findings(const Launch& launch, CheckedOperation& operation) {
    const PipelineRow& row = row_of(launch.pipeline);
    const RegisterValues& values = file(row.blocks.front()).values(launch.group);
    if (launch.pipeline == Pipeline::Sdp && launch.rdma_enabled && !operation.undecoded) {
        add_operand_findings(values, file("NVDLA_SDP_RDMA").values(launch.rdma_group),
                             operation.findings);
    }
    const auto lut = luts_.find(row.blocks.front());
    if (lut != luts_.end() && lut_is_used(values)) {
        lut->second.report(row.blocks.front(), operation.findings);
    }
    for (Diagnostic& finding : operation.findings) {
        finding.operation = operation.name;
    }
}

void ProgramOperations::launch_ready(const Place& place, DiagnosticLog& log) {
    while (std::optional<Launch> launched = engine_.next()) {
        launch(std::move(*launched), place, log);
    }
}

void ProgramOperations::launch(Launch launch, const Place& place, DiagnosticLog& log) {
    CheckedOperation operation = checked_operation(launch, npu_);
    operation.place = place;
    add_value_findings(launch, operation);
    if (keeps_jobs_) {
        const LutTables* tables = file(row_of(launch.pipeline).blocks.front()).lut_tables();
        operation.launched_job = std::make_shared<LaunchedJob>(
            LaunchedJob{launch.job, launch.start,
                        tables == nullptr ? LookupTables{} : LookupTables{tables->le, tables->lo}});
    }
    for (const std::string_view block : row_of(launch.pipeline).blocks) {
        const bool is_rdma = block.ends_with("_RDMA");
        const unsigned group = is_rdma ? launch.rdma_group : launch.group;
        const bool used = !block.empty() && (launch.rdma_enabled || !is_rdma);
        if (keeps_settings_ && used) {
            add_settings(file(block).values(group), operation);
        }
        if (used) {
            add_writes(file(block), group, operation);
        }
    }
    if (!operation.undecoded) {
        for (const auto& [block, writes] : operation.writes) {
            if (block->name.starts_with("NVDLA_SDP") || block->name == "NVDLA_PDP" ||
                block->name.starts_with("NVDLA_CDP")) {
                add_unwritten(block->name, npu_.sdp, operation);
            }
        }
    }
    for (Diagnostic& finding : operation.findings) {
        finding.place = place;
        log.add(finding);
    }
    by_name_[operation.name] = operations_.size();
    operations_.push_back(std::move(operation));
    for (const OnTheFlyPair& pair : launch.pairs) {
        const std::size_t producer = index_of(pair.producer.operation);
        const std::size_t consumer = index_of(pair.consumer.operation);
        operations_[producer].consumer = consumer;
        operations_[consumer].producer = producer;
    }
    for (Diagnostic& finding : launch.findings) {
        finding.place = finding.operation == launch.name
                            ? place
                            : operations_[index_of(finding.operation)].place;
        log.add(std::move(finding));
    }
}

std::size_t ProgramOperations::index_of(const std::string& name) const {
    const auto found = by_name_.find(name);
    NPU_CHECK(found != by_name_.end(), "no operation " + name);
    return found->second;
}

std::size_t ProgramOperations::head_of(std::size_t index) const {
    while (operations_[index].producer) {
        index = *operations_[index].producer;
    }
    return index;
}

const CheckedOperation* ProgramOperations::named(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &operations_[found->second];
}

std::optional<std::size_t> ProgramOperations::oldest_without(bool CheckedOperation::*done,
                                                             Interrupt interrupt) {
    std::size_t anew = 0;  // a command of the BDMA learns its group later
    std::size_t& begin =
        interrupt.source == InterruptSource::Bdma
            ? anew
            : passed_[{done == &CheckedOperation::finished, interrupt.source, interrupt.group}];
    for (; begin < operations_.size(); ++begin) {
        const CheckedOperation& operation = operations_[begin];
        if (operation.done == interrupt.source && operation.group == interrupt.group &&
            !(operation.*done)) {
            return begin;
        }
    }
    return std::nullopt;
}

void ProgramOperations::finish(std::size_t index) {
    if (operations_[index].finished) {
        return;
    }
    const std::optional<Pipeline> unit = operations_[index].unit;
    for (std::size_t i = 0; i <= index; ++i) {
        CheckedOperation& operation = operations_[i];
        if (operation.unit != unit || operation.finished) {
            continue;
        }
        operation.finished = true;
        if (unit) {
            engine_.finish(*unit, operation.uses_rdma);
        }
        if (operation.producer) {
            finish(*operation.producer);
        }
    }
}

void ProgramOperations::finish_all() {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
        finish(i);
    }
}

std::uint32_t ProgramOperations::interrupt_mask() const {
    for (const RegisterFile& file : files_) {
        if (file.block().name == "NVDLA_GLB") {
            return file.values(0).raw("S_INTR_MASK");
        }
    }
    return 0;
}

Diagnostic ProgramOperations::wrong_group(std::string_view block, unsigned next) const {
    Diagnostic finding{.id = "never_starts", .unit = std::string(block)};
    if (const auto place = programmed_at_.find({block, next}); place != programmed_at_.end()) {
        finding.register_name = spelled(block, "D_OP_ENABLE");
        finding.sentence = fmt::format(
            "{} was programmed in group {} but not enabled there: it never starts, nor does "
            "anything enabled in group {} after it",
            block, next, 1 - next);
        finding.remedy = fmt::format("write 1 to this register after the others of group {}", next);
        finding.place = place->second;
        return finding;
    }
    finding.register_name = spelled(block, "S_POINTER");
    finding.sentence = fmt::format(
        "{} is enabled in group {}, but group {} is next: it never "
        "starts",
        block, 1 - next, next);
    finding.remedy = fmt::format(
        "write {} to its S_POINTER before its other registers: the groups are used alternately, 0 "
        "first",
        next);
    const auto place = enabled_at_.find(block);
    finding.place = place == enabled_at_.end() ? Place{} : place->second;
    return finding;
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
    const bool main_ready =
        ready.size() + 1 >= static_cast<std::size_t>(std::ranges::count_if(
                                row.blocks, std::not_fn(&std::string_view::empty)));
    for (const std::string_view block : row.blocks) {
        const bool known = std::ranges::find(ready, block) != ready.end() ||
                           std::ranges::find(early, block) != early.end();
        const bool optional = row.rdma == ReadDma::Optional && block.ends_with("_RDMA");
        if (!block.empty() && !ready.empty() && !known && (!optional || main_ready)) {
            const auto place =
                enabled_at_.find(enabled_at_.contains(block) ? block : ready.front());
            log.add({.id = "never_starts",
                     .sentence =
                         fmt::format("{} is not enabled in group {}, so {} never start{}", block,
                                     next, fmt::join(ready, ", "), ready.size() == 1 ? "s" : ""),
                     .remedy = fmt::format("write 1 to its D_OP_ENABLE_0 while {} is {}",
                                           spelled(block, "S_POINTER"), next),
                     .unit = std::string(block),
                     .register_name = spelled(block, "D_OP_ENABLE"),
                     .place = place == enabled_at_.end() ? Place{} : place->second});
        }
    }
    return !early.empty() || !ready.empty();
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
