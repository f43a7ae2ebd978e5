// SPDX-License-Identifier: Apache-2.0
#include "sim/check/operation_decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/cdp/cdp_registers.h"
#include "models/conv/conv_registers.h"
#include "models/conv/delivery_rule.h"
#include "models/conv/image_math.h"
#include "models/npu/conv_features.h"
#include "models/pdp/pdp_registers.h"
#include "models/sdp/sdp_registers.h"
#include "sim/check/conv_surfaces.h"

namespace npuscope {
namespace {

constexpr const char* stale_remedy =
    "program WEIGHT_BYTES as whole entries of what the kernels take, without the zeros behind "
    "them, or another D_BANK in between";
constexpr const char* reuse_remedy =
    "make the operation before keep what this one reuses, with the same mode, precision and D_BANK";

/// Whether a complaint is about a read DMA whose registers may still be on their way.
bool complains_of(const Diagnostics& findings, std::string_view unit) {
    return std::ranges::find(findings, unit, &Diagnostic::unit) != findings.end();
}

SurfaceUse reads(const char* surface, const char* unit, const char* stem, DataKind kind) {
    SurfaceUse use;
    use.surface = surface;
    use.unit = unit;
    use.address_register = std::string("D_") + stem + "_BASE_ADDR_LOW";
    use.stride_register = std::string("D_") + stem + "_LINE_STRIDE";
    use.kind = kind;
    return use;
}

SurfaceUse writes(const char* unit) {
    SurfaceUse use = reads("result", unit, "DST", DataKind::Feature);
    use.writes = true;
    return use;
}

}  // namespace

CheckedOperation OperationDecoder::conv(const std::vector<RegisterValues>& values,
                                        BufferHistory& history, std::vector<Found>& found) const {
    const ConvFeatures features = conv_features(npu_);
    CheckedOperation operation;
    operation.unit = OperationUnit::Conv;
    Diagnostics findings;
    const auto parts =
        decode_conv({values[0], values[1], values[2], values[3], values[4]}, features, findings);
    add_findings(findings, found);
    operation.undecoded = !parts.has_value();
    if (!parts) {
        return operation;
    }
    CombinedConvJob combined = combine(*parts, features);
    const auto add = [&](Diagnostic& finding, const std::string& remedy) {
        Found one{std::move(finding), {}, remedy};
        one.register_name = one.finding.register_name;
        found.push_back(std::move(one));
    };
    KnownBufferStart known;
    if (combined.computable()) {
        known = history.next(combined.job);
        for (Diagnostic& finding : known.findings) {
            add(finding, finding.id == "stale_weights" ? stale_remedy : reuse_remedy);
        }
    }
    for (Diagnostic& finding : combined.findings) {
        add(finding, "make the registers agree");
    }
    const ConvJob& job = combined.job;
    if (const auto image = miscounted_image(job, npu_.csc, npu_.datapath, npu_.cbuf.bank_width);
        image && combined.computable()) {
        Diagnostic finding = miscount_finding(job, *image);
        add(finding, miscount_remedy(job, *image));
    }
    operation.gives = combined.job.result();
    const std::uint32_t cells = npu_.datapath.atomic_k;
    if (npu_.cacc.ends_may_meet(delivered_atoms(combined.job), cells)) {
        operation.short_delivery =
            ends_meet(combined.job,
                      fmt::format("may enter the accumulator's delivery buffer of {} in the cycle "
                                  "in which the last one of",
                                  npu_.cacc.depth(cells)));
    }
    add_conv_surfaces(combined.job, known.start, operation);
    return operation;
}

std::optional<CheckedOperation> OperationDecoder::sdp(const std::vector<RegisterValues>& values,
                                                      bool rdma_enabled,
                                                      std::vector<Found>& found) const {
    const auto with = [&](const SdpConfig& config, Diagnostics& findings) {
        return decode_sdp(values[0], values[1], config, npu_.datapath, findings);
    };
    Diagnostics complaints;
    auto job = with(npu_.sdp, complaints);
    if (!rdma_enabled &&
        ((job && job->reads_memory()) || complains_of(complaints, "NVDLA_SDP_RDMA"))) {
        return std::nullopt;
    }
    if (!job && !npu_.sdp.element_wise) {
        SdpConfig whole = npu_.sdp;
        whole.element_wise = true;
        Diagnostics without;
        if (auto other = with(whole, without)) {
            complaints.back().severity = Severity::Warning;
            complaints.back().id = "absent_feature";
            job = other;
        }
    }
    add_findings(complaints, found);
    CheckedOperation operation;
    operation.unit = OperationUnit::Sdp;
    operation.uses_rdma = rdma_enabled;
    operation.undecoded = !job.has_value();
    if (!job) {
        return operation;
    }
    if (auto note = conversion_note(*job)) {
        add_findings({*note}, found);
    }
    if (job->flying()) {
        operation.takes = job->taken();
    } else {
        operation.uses.push_back(
            cube_use(reads("source", "NVDLA_SDP_RDMA", "SRC", DataKind::Feature), *job->source));
    }
    const auto add_operand = [&](const auto& fetch, const SurfaceUse& use) {
        if (fetch) {
            operation.uses.push_back(operand_use(use, fetch->surface));
        }
    };
    add_operand(job->bs_operand, reads("bs_operand", "NVDLA_SDP_RDMA", "BS", DataKind::Bias));
    add_operand(job->bn_operand, reads("bn_operand", "NVDLA_SDP_RDMA", "BN", DataKind::BatchNorm));
    add_operand(job->ew_operand,
                reads("ew_operand", "NVDLA_SDP_RDMA", "EW", DataKind::ElementWise));
    if (job->to_pdp) {
        operation.gives = job->given();
    } else if (job->destination) {
        operation.uses.push_back(cube_use(writes("NVDLA_SDP"), *job->destination));
    }
    return operation;
}

std::optional<CheckedOperation> OperationDecoder::pdp(const std::vector<RegisterValues>& values,
                                                      bool rdma_enabled,
                                                      std::vector<Found>& found) const {
    Diagnostics complaints;
    const auto job = decode_pdp(values[0], values[1], npu_.pdp, npu_.datapath, complaints);
    if (!rdma_enabled && ((job && !job->flying()) || complains_of(complaints, "NVDLA_PDP_RDMA"))) {
        return std::nullopt;
    }
    add_findings(complaints, found);
    CheckedOperation operation;
    operation.unit = OperationUnit::Pdp;
    operation.uses_rdma = rdma_enabled;
    operation.undecoded = !job.has_value();
    if (!job) {
        return operation;
    }
    if (job->flying()) {
        operation.takes = job->taken();
    } else {
        operation.uses.push_back(
            cube_use(reads("source", "NVDLA_PDP_RDMA", "SRC", DataKind::Feature), *job->source));
    }
    operation.uses.push_back(cube_use(writes("NVDLA_PDP"), job->destination));
    operation.lines_left = lines_left(*job, "");
    return operation;
}

CheckedOperation OperationDecoder::cdp(const std::vector<RegisterValues>& values,
                                       std::vector<Found>& found) const {
    CheckedOperation operation;
    operation.unit = OperationUnit::Cdp;
    operation.uses_rdma = true;
    Diagnostics complaints;
    const auto job = decode_cdp(values[0], values[1], npu_.cdp, npu_.datapath, complaints);
    add_findings(complaints, found);
    operation.undecoded = !job.has_value();
    if (job) {
        operation.uses.push_back(
            cube_use(reads("source", "NVDLA_CDP_RDMA", "SRC", DataKind::Feature), job->source));
        operation.uses.push_back(cube_use(writes("NVDLA_CDP"), job->destination));
    }
    return operation;
}

}  // namespace npuscope
