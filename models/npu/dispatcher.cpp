// SPDX-License-Identifier: Apache-2.0
#include "models/npu/dispatcher.h"

#include <algorithm>
#include <iterator>

#include "models/base/error.h"
#include "models/cdp/cdp_registers.h"
#include "models/conv/conv_registers.h"
#include "models/conv/csc_math.h"
#include "models/conv/image_math.h"
#include "models/conv/operand_fetch.h"
#include "models/npu/conv_features.h"
#include "models/pdp/pdp_registers.h"
#include "models/rubik/rubik_registers.h"
#include "models/sdp/sdp_registers.h"

namespace npuscope {
namespace {

constexpr std::string_view flush_status = "S_CBUF_FLUSH_STATUS";

LookupTables tables_of(const RegisterFile& file) {
    const LutTables* tables = file.lut_tables();
    return tables == nullptr ? LookupTables{} : LookupTables{tables->le, tables->lo};
}

/// The first error ends the run.
void throw_error(const Diagnostics& findings) {
    const auto error = std::ranges::find(findings, Severity::Error, &Diagnostic::severity);
    if (error != findings.end()) {
        throw ConfigError(*error);
    }
}

/// Whether the first complaint is about registers of this block.
bool blames(const Diagnostics& findings, std::string_view block) {
    return !findings.empty() && findings.front().unit == block;
}

OperationRecord record_of(const std::string& unit, const std::string& name) {
    OperationRecord record;
    record.unit = unit;
    record.name = name;
    record.start = now();
    return record;
}

}  // namespace

Dispatcher::Dispatcher(const NpuConfig& config, DiagnosticLog& log, const Rooms& rooms)
    : config_(config),
      log_(log),
      rooms_(rooms),
      conv_({&rooms.csb.file("NVDLA_CDMA"), &rooms.csb.file("NVDLA_CSC"),
             &rooms.csb.file("NVDLA_CMAC_A"), &rooms.csb.file("NVDLA_CMAC_B"),
             &rooms.csb.file("NVDLA_CACC")}),
      sdp_({&rooms.csb.file("NVDLA_SDP")}),
      sdp_rdma_({&rooms.csb.file("NVDLA_SDP_RDMA")}),
      pdp_({&rooms.csb.file("NVDLA_PDP")}),
      pdp_rdma_({&rooms.csb.file("NVDLA_PDP_RDMA")}),
      cdp_({&rooms.csb.file("NVDLA_CDP"), &rooms.csb.file("NVDLA_CDP_RDMA")}),
      rubik_gate_({&rooms.csb.file("NVDLA_RBK")}),
      bdma_queue_(config.bdma, config.datapath.memory_atom, log) {
    rooms.csb.listen(*this);
    wire_conv();
    wire_others();
}

void Dispatcher::register_written(RegisterFile& file, const WriteEffect& effect, Cycles time) {
    if (effect.kind == WriteEffect::Kind::OpEnabled) {
        for (LaunchGate* gate :
             {&conv_, &sdp_, &sdp_rdma_, &pdp_, &pdp_rdma_, &cdp_, &rubik_gate_}) {
            gate->note_enabled(file, effect.group, time);
        }
        launch_ready();
    } else if (effect.kind == WriteEffect::Kind::Stored && file.block().name == "NVDLA_GLB") {
        rooms_.glb.controller().write(effect.row->name, file.values(0).raw(effect.row->name));
        rooms_.glb.changed();
    } else if (effect.kind == WriteEffect::Kind::Stored && file.block().name == "NVDLA_BDMA") {
        launch_bdma(bdma_queue_.written(effect.row->name, file.values(0)));
    }
}

void Dispatcher::register_about_to_be_read(RegisterFile& file) {
    if (file.block().name == "NVDLA_CDMA") {
        file.set_status(flush_status, now() >= config_.cdma.flush ? 1 : 0);
    } else if (file.block().name == "NVDLA_GLB") {
        for (const char* name : {"S_INTR_MASK", "S_INTR_SET", "S_INTR_STATUS"}) {
            file.show(name, rooms_.glb.controller().read(name).value_or(0));
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
    while (launch_pdp() || launch_sdp() || launch_cdp() || launch_conv() || launch_rubik()) {
    }
}

void Dispatcher::add_miscount(CombinedConvJob& combined) const {
    const ConvJob& job = combined.job;
    if (const auto image =
            miscounted_image(job, config_.csc, config_.datapath, config_.cbuf.bank_width)) {
        Diagnostic finding = miscount_finding(job, *image);
        finding.sentence += "; " + miscount_remedy(job, *image);
        combined.findings.push_back(std::move(finding));
    }
}

bool Dispatcher::launch_conv() {
    if (!conv_.open()) {
        return false;
    }
    const ConvFeatures features = conv_features(config_);
    Diagnostics findings;
    const auto parts = decode_conv(
        {conv_.values(0), conv_.values(1), conv_.values(2), conv_.values(3), conv_.values(4)},
        features, findings);
    throw_error(findings);
    CombinedConvJob combined = combine(*parts, features);
    KnownBufferStart known = history_.next(combined.job);
    std::ranges::move(known.findings, std::back_inserter(combined.findings));
    add_miscount(combined);
    throw_error(combined.findings);
    const auto work = std::make_shared<ConvWork>();
    work->name = next_name("conv");
    for (Diagnostic& finding : combined.findings) {
        finding.operation = work->name;
        log_.add(std::move(finding));
    }
    work->job = combined.job;
    work->group = conv_.group();
    work->values = values_;
    work->start = known.start;
    work->buffer.entry = config_.cbuf.bank_width;
    work->buffer.line = parts->cdma.entries_per_slice;
    work->buffer.data = entries_of_data(parts->cdma);
    work->buffer.unused_weights = unused_weights(combined.job, config_.cbuf.bank_width);
    if (!work->start.weights_reused) {
        assume_weight_ends(*work);  // on reused data the sequencer starts before the DMA looks
    }
    work->record = record_of("conv", work->name);
    work->record.macs = useful_macs(work->job);
    work->record.mac_cells =
        std::uint64_t{config_.datapath.atomic_c} * work->job.weights.group_kernels;
    note_flight(to_sdp_.give({work->name, "NVDLA_CACC", work->job.result()}));
    conv_.pass();
    awaiting_sdp_.push_back(work);
    rooms_.cdma.launches.push(work);
    rooms_.csc.launches.push(work);
    return true;
}

bool Dispatcher::launch_sdp() {
    if (!sdp_.open()) {
        return false;
    }
    const bool rdma_enabled = sdp_rdma_.open();
    Diagnostics findings;
    auto job =
        decode_sdp(sdp_.values(0), sdp_rdma_.values(0), config_.sdp, config_.datapath, findings);
    if (!rdma_enabled && blames(findings, "NVDLA_SDP_RDMA")) {
        return false;  // the read DMA's registers may still be on their way
    }
    throw_error(findings);
    auto work = std::make_shared<SdpWork>();
    work->job = std::move(*job);
    if (work->job.reads_memory() && !rdma_enabled) {
        return false;
    }
    work->name = next_name("sdp");
    if (std::optional<Diagnostic> note = conversion_note(work->job)) {
        note->operation = work->name;
        log_.add(std::move(*note));
    }
    if (work->job.flying()) {
        note_flight(to_sdp_.take({work->name, "NVDLA_SDP", work->job.taken()}));
    }
    if (work->job.to_pdp) {
        note_flight(to_pdp_.give({work->name, "NVDLA_SDP", work->job.given()}));
    }
    work->group = sdp_.group();
    work->values = values_;
    work->tables = tables_of(sdp_.file(0));
    work->record = record_of("sdp", work->name);
    work->rdma_enabled = rdma_enabled ? sdp_rdma_.enabled(0) : now();
    sdp_.pass();
    if (rdma_enabled) {
        sdp_rdma_.pass();
    }
    work->uses_rdma = rdma_enabled;
    rooms_.sdp.launches.push(work);
    return true;
}

bool Dispatcher::launch_pdp() {
    if (!pdp_.open()) {
        return false;
    }
    const bool rdma_enabled = pdp_rdma_.open();
    Diagnostics findings;
    auto job =
        decode_pdp(pdp_.values(0), pdp_rdma_.values(0), config_.pdp, config_.datapath, findings);
    if (!rdma_enabled && blames(findings, "NVDLA_PDP_RDMA")) {
        return false;
    }
    throw_error(findings);
    const auto work = std::make_shared<PdpWork>();
    work->job = std::move(*job);
    if (!work->job.flying() && !rdma_enabled) {
        return false;
    }
    work->name = next_name("pdp");
    tell_of_lines_left(*work);
    if (work->job.flying()) {
        note_flight(to_pdp_.take({work->name, "NVDLA_PDP", work->job.taken()}));
    }
    work->group = pdp_.group();
    work->values = values_;
    work->record = record_of("pdp", work->name);
    pdp_.pass();
    if (rdma_enabled) {
        work->rdma_enabled = pdp_rdma_.enabled(0);
        pdp_rdma_.pass();
    }
    work->uses_rdma = rdma_enabled;
    rooms_.pdp.launches.push(work);
    return true;
}

bool Dispatcher::launch_cdp() {
    if (!cdp_.open()) {
        return false;
    }
    Diagnostics findings;
    auto job = decode_cdp(cdp_.values(0), cdp_.values(1), config_.cdp, config_.datapath, findings);
    throw_error(findings);
    const auto work = std::make_shared<CdpWork>();
    work->job = std::move(*job);
    work->name = next_name("cdp");
    work->group = cdp_.group();
    work->values = values_;
    work->tables = tables_of(cdp_.file(0));
    work->record = record_of("cdp", work->name);
    work->rdma_enabled = cdp_.enabled(1);
    cdp_.pass();
    rooms_.cdp.launches.push(work);
    return true;
}

void Dispatcher::launch_bdma(const std::shared_ptr<BdmaWork>& work) {
    if (work == nullptr) {
        return;
    }
    work->name = next_name("bdma");
    work->values = values_;
    work->record = record_of("bdma", work->name);
    bdma_->launches.push(work);
}

bool Dispatcher::launch_rubik() {
    if (!rubik_gate_.open()) {
        return false;
    }
    Diagnostics findings;
    const auto job = decode_rubik(rubik_gate_.values(0), config_.rubik, config_.datapath, findings);
    throw_error(findings);
    const auto work = std::make_shared<RubikWork>();
    work->job = *job;
    work->name = next_name("rubik");
    work->group = rubik_gate_.group();
    work->values = values_;
    work->record = record_of("rubik", work->name);
    rubik_gate_.pass();
    rubik_->launches.push(work);
    return true;
}

}  // namespace npuscope
