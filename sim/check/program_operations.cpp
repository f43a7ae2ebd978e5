// SPDX-License-Identifier: Apache-2.0
#include "sim/check/program_operations.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/check.h"
#include "models/bdma/bdma_registers.h"
#include "models/npu/pipelines.h"
#include "models/npu/register_blocks.h"
#include "sim/check/float_rules.h"
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

template <class Files>
auto& file_named(Files& files, std::string_view name) {
    const auto found = std::ranges::find_if(
        files, [&](const RegisterFile& file) { return file.block().name == name; });
    NPU_CHECK(found != files.end(), "no register block " + std::string(name));
    return *found;
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

RegisterFile& ProgramOperations::file(std::string_view name) { return file_named(files_, name); }
const RegisterFile& ProgramOperations::file(std::string_view name) const {
    return file_named(files_, name);
}

RegisterFile* ProgramOperations::file_at(std::uint32_t address) {
    const auto found = std::ranges::find_if(files_, [&](const RegisterFile& file) {
        return address >= file.block().base &&
               address - file.block().base < register_block_size.value;
    });
    return found == files_.end() ? nullptr : &*found;
}

bool ProgramOperations::write(const WriteRegister& write, const Place& place, DiagnosticLog& log) {
    RegisterFile* target = file_at(write.address);
    if (target == nullptr) {
        Diagnostic finding = RegisterFile::nothing_at(write.address);
        finding.place = place;
        log.add(std::move(finding));
        return false;
    }
    const std::size_t before = operations_.size();
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
        launch_copies(*group, place, log);
        return true;
    } else if (effect.kind == WriteEffect::Kind::OpEnabled) {
        engine_.note_enabled(*target, effect.group);
        enabled_at_[target->block().name] = place;
        programmed_at_.erase({target->block().name, effect.group});
        launch_ready(place, log);
    } else if (target->has_groups() && effect.row != nullptr &&
               effect.row->name.starts_with("D_")) {
        programmed_at_[{target->block().name, target->producer()}] = place;
    }
    return operations_.size() > before;
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

const Place* ProgramOperations::written_place(std::string_view block, unsigned group,
                                              std::string_view name) const {
    const auto writes = written_at_.find({block, group});
    const RegisterRow* const row = find_register(file(block).block(), name);
    if (writes == written_at_.end() || row == nullptr) {
        return nullptr;
    }
    return writes->second[static_cast<std::size_t>(row - file(block).block().rows.data())].place;
}

void ProgramOperations::add_writes(const RegisterFile& file, unsigned group,
                                   CheckedOperation& operation) const {
    if (const auto places = written_at_.find({file.block().name, group});
        places != written_at_.end()) {
        operation.writes.emplace_back(&file.block(), places->second);
    }
}

void ProgramOperations::launch_copies(unsigned group, const Place& place, DiagnosticLog& log) {
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
        if (!operations_[i].launched) {
            operations_[i].launched = true;
            operations_[i].group = group;
            if (last) {
                amid_launch_.insert(*last);
            }
            last = i;
        }
    }
    if (!last) {
        Diagnostic finding = empty_launch(group);
        finding.place = place;
        log.add(std::move(finding));
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
        add_operand_findings({values, file("NVDLA_SDP_RDMA").values(launch.rdma_group), npu_.sdp},
                             operation.findings);
    }
    if (const auto* job = std::get_if<SdpJob>(&launch.job)) {
        add_pixel_findings({values, file("NVDLA_SDP_RDMA").values(launch.rdma_group), npu_.sdp},
                           *job, operation.findings);
    }
    std::visit([&](const auto& job) { add_ignored_conversions(job, operation.findings); },
               launch.job);
    if (launch.pipeline == Pipeline::Pdp && launch.rdma_enabled && launch.consumes) {
        operation.findings.push_back(unused_pdp_source());
    }
    const bool has_tables = launch.pipeline == Pipeline::Sdp || launch.pipeline == Pipeline::Cdp;
    if (has_tables && lut_is_used(values)) {
        luts_[row.blocks.front()].report(row.blocks.front(), operation.findings);
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
            add_unwritten(block->name, npu_.sdp, operation);
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
        if (operations_[consumer].unit == Pipeline::Sdp) {
            check_batches(operations_[producer], operations_[consumer], log);
        }
    }
    for (Diagnostic& finding : launch.findings) {
        finding.place = finding.operation == launch.name
                            ? place
                            : operations_[index_of(finding.operation)].place;
        log.add(std::move(finding));
    }
}

void ProgramOperations::check_batches(const CheckedOperation& conv, const CheckedOperation& sdp,
                                      DiagnosticLog& log) {
    Diagnostics findings;
    if (sdp.takes && sdp.consumer == std::nullopt && !sdp.only_compares) {
        add_batch_findings({file("NVDLA_CACC").values(conv.group),
                            file("NVDLA_SDP").values(sdp.group), *sdp.takes},
                           npu_.datapath, findings);
    }
    for (Diagnostic& finding : findings) {
        finding.operation = conv.name;
        finding.place = conv.place;
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
            interrupts(begin) && !(operation.*done)) {
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

}  // namespace npuscope
