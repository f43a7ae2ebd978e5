// SPDX-License-Identifier: Apache-2.0
#include "models/npu/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/check.h"
#include "models/base/error.h"
#include "models/base/rule_ids.h"
#include "models/conv/conv_findings.h"
#include "models/conv/csc_math.h"
#include "models/conv/operand_fetch.h"

namespace npuscope {
namespace {

constexpr std::string_view flush_status = "S_CBUF_FLUSH_STATUS";

OperationRecord record_of(const std::string& unit, const std::string& name) {
    OperationRecord record;
    record.unit = unit;
    record.name = name;
    record.start = now();
    return record;
}

std::uint32_t counter(std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, 0xFFFFFFFFU));
}

/// The group of a register file whose operation ends; another operation may follow it before its
/// values are known.
struct EndingGroup {
    explicit EndingGroup(RegisterFile& of) : file(&of), group(of.consumer()) {}
    void set(std::string_view register_name, std::uint64_t count) const {
        file->set_status(register_name, counter(count), group);
    }
    RegisterFile* file;
    unsigned group;
};

void set_lookup_counters(const EndingGroup& shown, const LookupCounters& lut) {
    shown.set("D_PERF_LUT_UFLOW", lut.underflow);
    shown.set("D_PERF_LUT_OFLOW", lut.overflow);
    shown.set("D_PERF_LUT_HYBRID", lut.hybrid);
    shown.set("D_PERF_LUT_LE_HIT", lut.le_hit);
    shown.set("D_PERF_LUT_LO_HIT", lut.lo_hit);
}

void show_counters(const SdpWork& work, const EndingGroup& sdp, const EndingGroup& rdma) {
    const SdpCounters& counters = work.counters;
    sdp.set("D_PERF_OUT_SATURATION", counters.saturated);
    if (work.job.count_lookups) {
        set_lookup_counters(sdp, counters.lut);
    }
    sdp.set("D_STATUS_NAN_OUTPUT_NUM", counters.nan_outputs);
    if (work.uses_rdma) {
        rdma.set("D_STATUS_NAN_INPUT_NUM", counters.inputs.nans);
        rdma.set("D_STATUS_INF_INPUT_NUM", counters.inputs.infs);
    }
    if (counters.unequal) {
        sdp.set("D_STATUS", 1);
    }
}

void set_fetch_counters(RegisterFile& file, const ConvWork& work) {
    const FetchCounters& counters = work.counters;
    file.set_status("D_NAN_INPUT_DATA_NUM", counter(counters.data_nan));
    file.set_status("D_NAN_INPUT_WEIGHT_NUM", counter(counters.weight_nan));
    file.set_status("D_INF_INPUT_DATA_NUM", counter(counters.data_inf));
    file.set_status("D_INF_INPUT_WEIGHT_NUM", counter(counters.weight_inf));
    if (work.job.parts.cdma.count_performance) {
        file.set_status("D_PERF_DAT_READ_STALL", counter(counters.data_stall.value));
        file.set_status("D_PERF_WT_READ_STALL", counter(counters.weight_stall.value));
        file.set_status("D_PERF_DAT_READ_LATENCY", counter(counters.data_latency.value));
        file.set_status("D_PERF_WT_READ_LATENCY", counter(counters.weight_latency.value));
    }
}

/// A time that an operation may have reached.
void add_reached(Fingerprint& state, Cycles time) {
    time == Cycles(0) ? state.add(std::uint64_t{0}) : state.add(time);
}

void add_record(Fingerprint& state, const OperationRecord& record) {
    state.add(record.start);
    for (const OperationPart& part : record.parts) {
        state.add(part.begin);
        state.add(part.end);
    }
    for (const Cycles cycles : record.causes.cycles) {
        state.add(cycles.value);
    }
}

/// An operation's causes end with it. The MAC array is occupied until it could take the next
/// weights, which may be later than the results of the last ones.
void end_causes(OperationRecord& record) {
    OperationPart* last = record.parts.empty() ? nullptr : &record.parts.back();
    while (record.causes.sum() > record.cycles()) {
        CauseCycles& from = last == nullptr ? record.causes : last->causes;
        Cycles& largest = *std::ranges::max_element(from.cycles);
        const Cycles excess = std::min(largest, record.causes.sum() - record.cycles());
        if (last != nullptr) {
            record.causes.cycles[static_cast<std::size_t>(&largest - from.cycles.data())] -= excess;
        }
        largest -= excess;
    }
    if (last != nullptr) {
        last->end = std::min(last->end, record.end);
    }
}

/// Errors, and what this NPU lacks, stop a run.
bool refuses(const Diagnostic& finding) {
    return finding.severity == Severity::Error || is_lacking(finding);
}

}  // namespace

Dispatcher::Dispatcher(const NpuConfig& config, DiagnosticLog& log, const Rooms& rooms)
    : config_(config),
      log_(log),
      rooms_(rooms),
      engine_(config,
              [&rooms](std::string_view block) -> RegisterFile& { return rooms.csb.file(block); }),
      bdma_queue_(config.bdma, config.datapath.memory_atom, log) {
    rooms.csb.listen(*this);
    wire_conv();
    wire_sdp();
}

void Dispatcher::register_written(RegisterFile& file, const WriteEffect& effect, Cycles time) {
    if (effect.kind == WriteEffect::Kind::OpEnabled) {
        engine_.note_enabled(file, effect.group, time);
        launch_ready();
    } else if (effect.kind == WriteEffect::Kind::Stored && file.block().name == "NVDLA_GLB") {
        rooms_.glb.controller().write(effect.row->name, file.values(0).raw(effect.row->name));
        rooms_.glb.changed();
    } else if (effect.kind == WriteEffect::Kind::Stored && file.block().name == "NVDLA_BDMA") {
        launch_bdma(bdma_queue_.written(effect.row->name, file.values(0)));
    }
}

void Dispatcher::register_about_to_be_read(RegisterFile& file) {
    if (file.block().name != "NVDLA_GLB") {  // interrupts do not depend on values
        rooms_.values.settle();
    }
    if (file.block().name == "NVDLA_CDMA") {
        file.set_status(flush_status, now() >= config_.cdma.flush + config_.csb.read_way ? 1 : 0);
    } else if (file.block().name == "NVDLA_GLB") {
        for (const char* name : {"S_INTR_MASK", "S_INTR_SET", "S_INTR_STATUS"}) {
            file.show(name, rooms_.glb.shown(name));
        }
    } else if (file.block().name == "NVDLA_BDMA") {
        file.set_status("STATUS", bdma_queue_.status());
    }
}

Cycles Dispatcher::register_holds_until(const RegisterFile& file, const RegisterRow& row,
                                        Cycles time) const {
    const bool flushing = file.block().name == "NVDLA_CDMA" && row.name == flush_status;
    return flushing && time < config_.cdma.flush ? config_.cdma.flush : time;
}

void Dispatcher::launch_ready() {
    while (std::optional<Launch> launch = engine_.next()) {
        const auto refused = std::ranges::find_if(launch->findings, refuses);
        if (refused != launch->findings.end()) {
            throw ConfigError(*refused);
        }
        for (Diagnostic& finding : launch->findings) {
            log_.add(std::move(finding));
        }
        NPU_CHECK(launch->job.index() != 0, launch->name + " has neither a job nor an error");
        starters_[static_cast<std::size_t>(launch->pipeline)](*launch);
    }
}

void Dispatcher::report_flush(const Launch& launch) {
    log_.add(
        {.severity = Severity::Warning,
         .id = rule_ids::flush_not_awaited,
         .sentence = fmt::format("{} is enabled at cycle {}, but the convolution buffer is being "
                                 "cleared until cycle {}; data fetched before then may be lost",
                                 launch.name, now().value, config_.cdma.flush.value),
         .remedy = "poll the register until it is 1",
         .unit = "NVDLA_CDMA",
         .register_name = spelled("NVDLA_CDMA", flush_status),
         .operation = launch.name});
}

void Dispatcher::start_conv(const Launch& launch) {
    if (now() < config_.cdma.flush) {
        report_flush(launch);
    }
    const auto work = std::make_shared<ConvWork>();
    work->name = launch.name;
    work->job = std::get<ConvJob>(launch.job);
    work->group = launch.group;
    work->values = values_;
    work->start = launch.start;
    work->buffer.entry = config_.cbuf.bank_width;
    work->buffer.line = work->job.parts.cdma.entries_per_slice;
    work->buffer.data = entries_of_data(work->job.parts.cdma);
    work->buffer.unused_weights = unused_weights(work->job, config_.cbuf.bank_width);
    if (!work->start.weights_reused) {
        assume_weight_ends(*work);  // on reused data the sequencer starts before the DMA checks
    }
    work->record = record_of("conv", work->name);
    work->record.macs = useful_macs(work->job);
    work->record.mac_cells = macs_per_cell(work->job.mode()) * config_.datapath.atomic_c *
                             work->job.weights.group_kernels;
    awaiting_sdp_.push_back(work);
    rooms_.cdma.launches.push(work);
    rooms_.csc.launches.push(work);
}

void Dispatcher::start_sdp(const Launch& launch) {
    const auto work = std::make_shared<SdpWork>();
    work->job = std::get<SdpJob>(launch.job);
    begin(*work, launch);
    ++sdp_operations_;
    if (work->job.flying()) {
        fed_.push_back(work.get());
    }
    rooms_.sdp.launches.push(work);
}

LookupTables Dispatcher::tables_of(Pipeline pipeline) {
    const LutTables* tables = rooms_.csb.file(row_of(pipeline).blocks[0]).lut_tables();
    return tables == nullptr ? LookupTables{} : LookupTables{tables->le, tables->lo};
}

void Dispatcher::launch_bdma(const std::shared_ptr<BdmaWork>& work) {
    if (work == nullptr) {
        return;
    }
    work->name = engine_.next_name("bdma");
    work->values = values_;
    work->record = record_of("bdma", work->name);
    bdma_->launches.push(work);
}

void Dispatcher::wire_conv() {
    starters_[static_cast<std::size_t>(Pipeline::Conv)] = [this](Launch& launch) {
        start_conv(launch);
    };
    const auto cdma_part_done = [this](const ConvWork& work) {
        if (data_done_ && weights_done_) {
            set_fetch_counters(rooms_.csb.file("NVDLA_CDMA"), work);
            data_done_ = weights_done_ = false;
            engine_.finish("NVDLA_CDMA");
            launch_ready();
        }
    };
    rooms_.cdma.on_data_done([this, cdma_part_done](const ConvWork& work) {
        const bool image = work.job.mode() == ConvMode::Image;
        rooms_.glb.raise_at(
            now() + (image ? config_.cdma.image_interrupt : config_.cdma.data_interrupt),
            {InterruptSource::CdmaDat, work.group});
        data_done_ = true;
        cdma_part_done(work);
    });
    rooms_.cdma.on_weights_done([this, cdma_part_done](const ConvWork& work) {
        rooms_.glb.raise_at(now() + config_.cdma.weight_interrupt,
                            {InterruptSource::CdmaWt, work.group});
        weights_done_ = true;
        cdma_part_done(work);
    });
    rooms_.csc.on_done([this](const ConvWork& /*work*/) {
        engine_.finish("NVDLA_CSC");
        engine_.finish("NVDLA_CMAC_A");
        engine_.finish("NVDLA_CMAC_B");
        launch_ready();
    });
    rooms_.cacc.on_done([this](const std::shared_ptr<ConvWork>& work) {
        rooms_.values.then([work, cacc = EndingGroup(rooms_.csb.file("NVDLA_CACC"))] {
            cacc.set("D_OUT_SATURATION", work->saturated);
        });
        engine_.finish("NVDLA_CACC");
        launch_ready();
    });
}

void Dispatcher::wire_sdp() {
    starters_[static_cast<std::size_t>(Pipeline::Sdp)] = [this](Launch& launch) {
        start_sdp(launch);
    };
    rooms_.sdp.on_sums_taken([this](const SdpWork& work, Cycles last) {
        rooms_.glb.raise_at(last + config_.cacc.interrupt,
                            {InterruptSource::Cacc, feeding(work).group});
    });
    rooms_.sdp.on_done([this](const std::shared_ptr<SdpWork>& work) { sdp_done(work); });
    rooms_.sdp.on_ends_met(
        [this](const SdpWork& work, EndMarks::Meeting meeting) { report_ends(work, meeting); });
    rooms_.sdp.on_closed_early(
        [this](const SdpWork& work, std::uint64_t atoms) { report_early_end(work, atoms); });
}

void Dispatcher::add(Bdma& bdma) {
    bdma_ = &bdma;
    bdma_queue_.attach(bdma);
    bdma.on_done([this](BdmaWork& work) {
        bdma_queue_.done(work.group);
        finish_record(std::move(work.record));
        rooms_.glb.raise({InterruptSource::Bdma, work.group});
    });
}

void Dispatcher::sdp_done(const std::shared_ptr<SdpWork>& of) {
    SdpWork& work = *of;
    rooms_.values.then(
        [of, sdp = EndingGroup(rooms_.csb.file("NVDLA_SDP")),
         rdma = EndingGroup(rooms_.csb.file("NVDLA_SDP_RDMA"))] { show_counters(*of, sdp, rdma); });
    OperationRecord record = std::move(work.record);
    --sdp_operations_;
    if (work.job.flying()) {
        fed_.pop_front();
    }
    if (work.job.flying() && !awaiting_sdp_.empty()) {
        record = std::move(awaiting_sdp_.front()->record);
        record.first_mac = awaiting_sdp_.front()->first_mac;
        record.joined.push_back(work.name);
        awaiting_sdp_.pop_front();
    }
    if (work.job.to_pdp && pooled_.empty()) {
        awaiting_pdp_.push_back(std::move(record));
    } else {
        if (work.job.to_pdp) {
            record.joined.push_back(pooled_.front());
            pooled_.pop_front();
        }
        finish_record(std::move(record));
    }
    rooms_.glb.raise({InterruptSource::Sdp, work.group});
    engine_.finish(Pipeline::Sdp, work.uses_rdma);
    launch_ready();
}

void Dispatcher::unit_done(Pipeline pipeline, UnitWork& work, const Shown& shown) {
    const PipelineRow& row = row_of(pipeline);
    RegisterFile& file = rooms_.csb.file(row.blocks[0]);
    for (const auto& [name, value] : shown.statuses) {
        file.set_status(name, counter(value));
    }
    if (shown.lookups != nullptr) {
        set_lookup_counters(EndingGroup(file), *shown.lookups);
    }
    if (!shown.taken_on_the_fly) {
        finish_record(std::move(work.record));
    } else if (awaiting_pdp_.empty()) {
        pooled_.push_back(work.name);  // its record ends with the stages that feed it
    } else {
        OperationRecord record = std::move(awaiting_pdp_.front());
        awaiting_pdp_.pop_front();
        record.joined.push_back(work.name);
        finish_record(std::move(record));
    }
    rooms_.glb.raise({row.done, work.group});
    engine_.finish(pipeline, work.uses_rdma);
    launch_ready();
}

const ConvWork& Dispatcher::feeding(const SdpWork& work) const {
    const auto place = std::ranges::find(fed_, &work) - fed_.begin();
    return *awaiting_sdp_[static_cast<std::size_t>(place)];
}

void Dispatcher::report_ends(const SdpWork& sdp, EndMarks::Meeting meeting) {
    const ConvWork& work = feeding(sdp);
    Diagnostic finding = ends_meet(
        work.job,
        meeting == EndMarks::Meeting::AtOnce
            ? "entered the accumulator's delivery buffer in the cycle in which that of the "
              "previous convolution left it: an extra end marker remains, and the SDP ends a later "
              "convolution too early"
            : "entered the accumulator's delivery buffer while that of the previous convolution "
              "was still there: with other latencies, one may enter in the cycle in which the "
              "other leaves, and the SDP then ends a later convolution too early");
    finding.operation = work.name;
    log_.add(std::move(finding));
}

void Dispatcher::report_early_end(const SdpWork& work, std::uint64_t atoms) {
    const ConvWork& conv = feeding(work);
    Diagnostic finding;
    finding.id = "closed_early";
    finding.unit = "NVDLA_SDP";
    finding.operation = conv.name;
    finding.sentence = fmt::format(
        "{} is ended after {} of its {} atoms and hangs: the ends of two earlier convolutions met "
        "in the accumulator's delivery buffer and left an extra end marker (see `ends_meet`)",
        work.name, atoms, delivered_atoms(conv.job));
    log_.add(std::move(finding));
}

bool Dispatcher::runs_alone(const ConvWork& work) const {
    return !awaiting_sdp_.empty() && awaiting_sdp_.front().get() == &work &&
           awaiting_sdp_.size() == fed_.size() && sdp_operations_ == fed_.size() &&
           awaiting_pdp_.empty() && pooled_.empty() &&
           std::ranges::none_of(fed_, [](const SdpWork* sdp) { return sdp->job.to_pdp; });
}

void Dispatcher::add_state(Fingerprint& state, unsigned group) const {
    engine_.add_state(state, group);
    state.add(data_done_ ? 1U : 0U);
    state.add(weights_done_ ? 1U : 0U);
    state.add(awaiting_sdp_.size());
    for (const std::shared_ptr<ConvWork>& work : awaiting_sdp_) {
        add_record(state, work->record);
        state.add(work->group ^ group);
        for (const Cycles time : {work->fetch_start, work->weights_start, work->data_first,
                                  work->data_complete, work->first_mac}) {
            add_reached(state, time);
        }
        state.add(work->weights_move ? 1U : 0U);
        for (const bool waited : work->weights_waited) {
            state.add(waited ? 1U : 0U);
        }
    }
    for (const SdpWork* work : fed_) {
        add_record(state, work->record);
        state.add(work->uses_rdma ? 1U : 0U);
        state.add(work->rdma_enabled);
    }
}

Cycles Dispatcher::count_again(const Counted& from, const Counted& to, std::uint64_t times,
                               Cycles cycles) {
    const std::uint64_t launched = to.launched - from.launched;
    for (std::uint64_t time = 1; time <= times; ++time) {
        const Cycles later = cycles * time;
        for (std::size_t i = from.ended; i < to.ended; ++i) {
            OperationRecord record = operations_[i];
            record.name = LaunchEngine::later_name(record.name, launched * time);
            for (std::string& joined : record.joined) {
                joined = LaunchEngine::later_name(joined, launched * time);
            }
            record.start += later;
            record.end += later;
            for (OperationPart& part : record.parts) {
                part.begin += later;
                part.end += later;
            }
            if (record.first_mac) {
                *record.first_mac += later;
            }
            operations_.push_back(std::move(record));
        }
    }
    engine_.leave_out(launched * times);
    const auto rename = [&](auto& work) {
        work.name = LaunchEngine::later_name(work.name, launched * times);
        work.record.name = work.name;
    };
    Cycles first = now();
    for (const std::shared_ptr<ConvWork>& work : awaiting_sdp_) {
        rename(*work);
        first = std::min(first, work->record.start);
    }
    for (SdpWork* work : fed_) {
        rename(*work);
        first = std::min(first, work->record.start);
    }
    return first;
}

void Dispatcher::finish_record(OperationRecord record) {
    record.end = now();
    if (complete_) {
        complete_(record);
    }
    end_causes(record);
    record.causes[Cause::Latency] += record.cycles() - record.causes.sum();
    if (!record.parts.empty() && record.accounted() < record.end) {
        OperationPart rest{record.accounted(), record.end, record.causes};
        for (const OperationPart& part : record.parts) {
            rest.causes -= part.causes;
        }
        record.parts.push_back(rest);
    }
    operations_.push_back(std::move(record));
}

}  // namespace npuscope
