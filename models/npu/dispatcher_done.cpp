// SPDX-License-Identifier: Apache-2.0
// The way back: what happens when a unit has finished its operation.
#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"
#include "models/conv/delivery_rule.h"
#include "models/npu/dispatcher.h"

namespace npuscope {
namespace {

std::uint32_t counter(std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, 0xFFFFFFFFU));
}

void set_lookup_counters(RegisterFile& file, const LookupCounters& lut) {
    file.set_status("D_PERF_LUT_UFLOW", counter(lut.underflow));
    file.set_status("D_PERF_LUT_OFLOW", counter(lut.overflow));
    file.set_status("D_PERF_LUT_HYBRID", counter(lut.hybrid));
    file.set_status("D_PERF_LUT_LE_HIT", counter(lut.le_hit));
    file.set_status("D_PERF_LUT_LO_HIT", counter(lut.lo_hit));
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

}  // namespace

void Dispatcher::wire_conv() {
    const auto cdma_part_done = [this](const ConvWork& work) {
        if (data_done_ && weights_done_) {
            set_fetch_counters(conv_.file(0), work);
            data_done_ = weights_done_ = false;
            conv_.finish(0);
            launch_ready();
        }
    };
    rooms_.cdma.on_data_done([this, cdma_part_done](const ConvWork& work) {
        rooms_.glb.raise({InterruptSource::CdmaDat, work.group});
        data_done_ = true;
        cdma_part_done(work);
    });
    rooms_.cdma.on_weights_done([this, cdma_part_done](const ConvWork& work) {
        rooms_.glb.raise({InterruptSource::CdmaWt, work.group});
        weights_done_ = true;
        cdma_part_done(work);
    });
    rooms_.csc.on_done([this](const ConvWork& /*work*/) {
        conv_.finish(1);
        conv_.finish(2);
        conv_.finish(3);
        launch_ready();
    });
    rooms_.cacc.on_done([this](const ConvWork& work) {
        conv_.file(4).set_status("D_OUT_SATURATION", counter(work.saturated));
        rooms_.glb.raise({InterruptSource::Cacc, work.group});
        conv_.finish(4);
        launch_ready();
    });
}

void Dispatcher::wire_others() {
    rooms_.sdp.on_done([this](SdpWork& work) { sdp_done(work); });
    rooms_.sdp.on_ends_met(
        [this](const SdpWork& /*work*/, EndMarks::Meeting meeting) { tell_of_ends(meeting); });
    rooms_.sdp.on_closed_early(
        [this](const SdpWork& work, std::uint64_t atoms) { tell_of_early_end(work, atoms); });
    rooms_.pdp.on_done([this](PdpWork& work) { pdp_done(work); });
    rooms_.cdp.on_done([this](CdpWork& work) { cdp_done(work); });
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

void Dispatcher::add(Rubik& rubik) {
    rubik_ = &rubik;
    rubik.on_done([this](RubikWork& work) {
        finish_record(std::move(work.record));
        rooms_.glb.raise({InterruptSource::Rubik, work.group});
        rubik_gate_.finish(0);
        launch_ready();
    });
}

void Dispatcher::sdp_done(SdpWork& work) {
    RegisterFile& file = sdp_.file(0);
    file.set_status("D_PERF_OUT_SATURATION", counter(work.counters.saturated));
    if (work.job.count_lookups) {
        set_lookup_counters(file, work.counters.lut);
    }
    file.set_status("D_STATUS_NAN_OUTPUT_NUM", counter(work.counters.nan_outputs));
    if (work.uses_rdma) {
        RegisterFile& rdma = sdp_rdma_.file(0);
        rdma.set_status("D_STATUS_NAN_INPUT_NUM", counter(work.counters.inputs.nans));
        rdma.set_status("D_STATUS_INF_INPUT_NUM", counter(work.counters.inputs.infs));
    }
    if (work.counters.unequal) {
        file.set_status("D_STATUS", 1);
    }
    OperationRecord record = std::move(work.record);
    if (work.job.flying() && !awaiting_sdp_.empty()) {
        record = std::move(awaiting_sdp_.front()->record);
        record.first_mac = awaiting_sdp_.front()->first_mac;
        awaiting_sdp_.pop_front();
    }
    if (work.job.to_pdp) {
        awaiting_pdp_.push_back(std::move(record));
    } else {
        finish_record(std::move(record));
    }
    rooms_.glb.raise({InterruptSource::Sdp, work.group});
    sdp_.finish(0);
    if (work.uses_rdma) {
        sdp_rdma_.finish(0);
    }
    launch_ready();
}

void Dispatcher::pdp_done(PdpWork& work) {
    pdp_.file(0).set_status("D_NAN_OUTPUT_NUM", counter(work.nan_outputs));
    OperationRecord record = std::move(work.record);
    if (work.job.flying() && !awaiting_pdp_.empty()) {
        record = std::move(awaiting_pdp_.front());
        awaiting_pdp_.pop_front();
    }
    finish_record(std::move(record));
    rooms_.glb.raise({InterruptSource::Pdp, work.group});
    pdp_.finish(0);
    if (work.uses_rdma) {
        pdp_rdma_.finish(0);
    }
    launch_ready();
}

void Dispatcher::cdp_done(CdpWork& work) {
    if (work.job.count_lookups) {
        set_lookup_counters(cdp_.file(0), work.counters.lut);
    }
    cdp_.file(0).set_status("D_NAN_OUTPUT_NUM", counter(work.counters.nan_outputs));
    cdp_.file(0).set_status("D_OUT_SATURATION", counter(work.counters.saturated));
    finish_record(std::move(work.record));
    rooms_.glb.raise({InterruptSource::Cdp, work.group});
    cdp_.finish(0);
    cdp_.finish(1);
    launch_ready();
}

void Dispatcher::tell_of_ends(EndMarks::Meeting meeting) {
    const ConvWork& work = *awaiting_sdp_.front();
    Diagnostic finding = ends_meet(
        work.job, meeting == EndMarks::Meeting::AtOnce
                      ? "entered the accumulator's delivery buffer in the cycle in which the last "
                        "one of the convolution before left it: a mark too many stays, and the "
                        "SDP closes a later convolution too early"
                      : "entered the accumulator's delivery buffer while the last one of the "
                        "convolution before was still there: where other latencies let one enter "
                        "in the cycle in which the other leaves, the SDP closes a later "
                        "convolution too early");
    finding.sentence += fmt::format("; {}", kDeliveryRemedy);
    finding.operation = work.name;
    log_.add(std::move(finding));
}

void Dispatcher::tell_of_early_end(const SdpWork& work, std::uint64_t atoms) {
    const ConvWork& conv = *awaiting_sdp_.front();
    Diagnostic finding;
    finding.id = "closed_early";
    finding.unit = "NVDLA_SDP";
    finding.operation = conv.name;
    finding.sentence = fmt::format(
        "{} is closed behind {} of its {} atoms and stands still: the end of a convolution before "
        "met another one in the accumulator's delivery buffer and left a mark too many "
        "(`ends_meet` "
        "says which)",
        work.name, atoms, delivered_atoms(conv.job));
    log_.add(std::move(finding));
}

void Dispatcher::tell_of_lines_left(const PdpWork& work) {
    if (lines_left_) {
        Diagnostic finding = lines_left_->before(work.name);
        finding.sentence += "; " + lines_left_->remedy;
        log_.add(std::move(finding));
    }
    lines_left_ = lines_left(work.job, work.name);
}

void Dispatcher::note_flight(std::vector<Diagnostic> findings) {
    for (Diagnostic& finding : findings) {
        if (finding.severity == Severity::Error) {
            finding.register_name = flight_register(finding);
            finding.sentence = fmt::format("{}: {}", finding.register_name, finding.sentence);
            finding.remedy = "program one shape and one precision in both units";
            throw ConfigError(std::move(finding));
        }
        log_.add(std::move(finding));
    }
}

void Dispatcher::finish_record(OperationRecord record) {
    record.end = now();
    Cycles accounted;
    for (const Cycles cycles : record.causes.cycles) {
        accounted += cycles;
    }
    if (accounted < record.cycles()) {
        record.causes[Cause::Latency] += record.cycles() - accounted;
    }
    operations_.push_back(std::move(record));
}

}  // namespace npuscope
