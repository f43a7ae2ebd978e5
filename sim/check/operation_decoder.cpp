// SPDX-License-Identifier: Apache-2.0
#include "sim/check/operation_decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/cdp/cdp_job.h"
#include "models/conv/cacc_job.h"
#include "models/conv/cdma_job.h"
#include "models/conv/cmac_job.h"
#include "models/conv/csc_job.h"
#include "models/conv/delivery_rule.h"
#include "models/conv/image_math.h"
#include "models/npu/conv_features.h"
#include "models/pdp/pdp_job.h"
#include "models/sdp/sdp_conversion.h"
#include "models/sdp/sdp_job.h"
#include "sim/check/conv_surfaces.h"

namespace npuscope {
namespace {

constexpr int most_repairs = 64;
constexpr const char* stale_remedy =
    "program WEIGHT_BYTES as whole entries of what the kernels take, without the zeros behind "
    "them, or another D_BANK in between";
constexpr const char* reuse_remedy =
    "make the operation before keep what this one reuses, with the same mode, precision and D_BANK";

Found alignment_found(const AlignmentError& error) {
    Found found = register_found(Severity::Error, "misaligned", error);
    found.finding.unit = error.unit();
    found.register_name = spelled(error.unit(), error.register_name());
    if (error.register_name().find("ADDR") != std::string::npos) {
        found.finding.address = Address(error.value());
    }
    return found;
}

/// Rounds the register that an error speaks of down to its multiple; false where it cannot.
bool repair(std::vector<RegisterValues>& values, const AlignmentError& error) {
    for (RegisterValues& block : values) {
        const RegisterRow* row = find_register(block.block(), error.register_name());
        if (block.block().name != error.unit() || row == nullptr) {
            continue;
        }
        const std::uint32_t raw = block.raw(error.register_name());
        const auto multiple = static_cast<std::uint32_t>(error.multiple().value);
        block.set(row->offset, raw / multiple * multiple);
        return raw % multiple != 0;
    }
    return false;
}

/// The job that the registers make once they are aligned; nothing, with the reason, where none.
template <class Decode>
auto decode(std::vector<RegisterValues>& values, std::vector<Found>& found, const Decode& job_of)
    -> std::optional<decltype(job_of())> {
    for (int repairs = 0; repairs < most_repairs; ++repairs) {
        try {
            return job_of();
        } catch (const AlignmentError& error) {
            found.push_back(alignment_found(error));
            if (!repair(values, error)) {
                return std::nullopt;
            }
        } catch (const ConfigError& error) {
            found.push_back(register_found(Severity::Error, "register_value", error));
            return std::nullopt;
        }
    }
    return std::nullopt;
}

/// Whether the only complaints are of a read DMA whose registers may still be on their way.
bool complains_of(const std::vector<Found>& found, std::string_view unit) {
    return std::ranges::any_of(found, [&](const Found& one) {
        return one.finding.sentence.find(unit) != std::string::npos;
    });
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

Found register_found(Severity severity, const char* kind, const ConfigError& error) {
    Found found;
    found.finding.severity = severity;
    found.finding.id = kind;
    found.finding.sentence = error.sentence();
    found.register_name = register_in(error.sentence());
    found.finding.unit = found.register_name.substr(0, found.register_name.find('.'));
    found.remedy = error.remedy();
    return found;
}

std::string register_in(const std::string& sentence) {
    const std::size_t begin = sentence.find("NVDLA_");
    if (begin == std::string::npos) {
        return {};
    }
    const std::size_t end =
        sentence.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.", begin);
    std::string name = sentence.substr(begin, end - begin);
    // a field, or the end of a sentence, may follow
    const std::size_t dot = name.find('.', name.find('.') + 1);
    return dot == std::string::npos ? name : name.substr(0, dot);
}

CheckedOperation OperationDecoder::conv(std::vector<RegisterValues> values, BufferHistory& history,
                                        std::vector<Found>& found) const {
    const ConvFeatures features = conv_features(npu_);
    CheckedOperation operation;
    operation.unit = OperationUnit::Conv;
    auto combined = decode(values, found, [&] {
        const ConvParts parts{
            .cdma = cdma_job(values[0], features),
            .csc = csc_job(values[1], features),
            .cmac = {cmac_job(values[2], features), cmac_job(values[3], features)},
            .cacc = cacc_job(values[4], features)};
        return combine(parts, features);
    });
    operation.undecoded = !combined.has_value();
    if (!combined) {
        return operation;
    }
    const auto add = [&](Diagnostic& finding, const std::string& remedy) {
        Found one{std::move(finding), {}, remedy};
        one.register_name = std::exchange(one.finding.surface, {});
        found.push_back(std::move(one));
    };
    KnownBufferStart known;
    if (combined->computable()) {
        known = history.next(combined->job);
        for (Diagnostic& finding : known.findings) {
            add(finding, finding.id == "stale_weights" ? stale_remedy : reuse_remedy);
        }
    }
    for (Diagnostic& finding : combined->findings) {
        add(finding, "make the registers agree");
    }
    const ConvJob& job = combined->job;
    if (const auto image = miscounted_image(job, npu_.csc, npu_.datapath, npu_.cbuf.bank_width);
        image && combined->computable()) {
        Diagnostic finding = miscount_finding(job, *image);
        add(finding, miscount_remedy(job, *image));
    }
    operation.gives = combined->job.result();
    const std::uint32_t cells = npu_.datapath.atomic_k;
    if (npu_.cacc.ends_may_meet(delivered_atoms(combined->job), cells)) {
        operation.short_delivery =
            ends_meet(combined->job,
                      fmt::format("may enter the accumulator's delivery buffer of {} in the cycle "
                                  "in which the last one of",
                                  npu_.cacc.depth(cells)));
    }
    add_conv_surfaces(combined->job, known.start, operation);
    return operation;
}

std::optional<CheckedOperation> OperationDecoder::sdp(std::vector<RegisterValues> values,
                                                      bool rdma_enabled,
                                                      std::vector<Found>& found) const {
    const auto with = [&](const SdpConfig& config, std::vector<Found>& complaints) {
        return decode(values, complaints, [&] {
            return SdpJob::from_registers(values[0], values[1], config, npu_.datapath);
        });
    };
    std::vector<Found> complaints;
    auto job = with(npu_.sdp, complaints);
    if (!rdma_enabled &&
        ((job && job->reads_memory()) || complains_of(complaints, "NVDLA_SDP_RDMA"))) {
        return std::nullopt;
    }
    if (!job && !npu_.sdp.element_wise) {
        SdpConfig whole = npu_.sdp;
        whole.element_wise = true;
        std::vector<Found> without;
        if (auto other = with(whole, without)) {
            complaints.back().finding.severity = Severity::Warning;
            complaints.back().finding.id = "absent_feature";
            job = other;
        }
    }
    found.insert(found.end(), complaints.begin(), complaints.end());
    CheckedOperation operation;
    operation.unit = OperationUnit::Sdp;
    operation.uses_rdma = rdma_enabled;
    operation.undecoded = !job.has_value();
    if (!job) {
        return operation;
    }
    if (auto note = conversion_note(*job)) {
        found.push_back({std::move(*note), spelled("NVDLA_SDP", "D_DATA_FORMAT"),
                         "write int8, or convert to int16 and that to fp16"});
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

std::optional<CheckedOperation> OperationDecoder::pdp(std::vector<RegisterValues> values,
                                                      bool rdma_enabled,
                                                      std::vector<Found>& found) const {
    std::vector<Found> complaints;
    const auto job = decode(values, complaints, [&] {
        return PdpJob::from_registers(values[0], values[1], npu_.pdp, npu_.datapath);
    });
    if (!rdma_enabled && ((job && !job->flying()) || complains_of(complaints, "NVDLA_PDP_RDMA"))) {
        return std::nullopt;
    }
    found.insert(found.end(), complaints.begin(), complaints.end());
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

CheckedOperation OperationDecoder::cdp(std::vector<RegisterValues> values,
                                       std::vector<Found>& found) const {
    CheckedOperation operation;
    operation.unit = OperationUnit::Cdp;
    operation.uses_rdma = true;
    const auto job = decode(values, found, [&] {
        return CdpJob::from_registers(values[0], values[1], npu_.cdp, npu_.datapath);
    });
    operation.undecoded = !job.has_value();
    if (job) {
        operation.uses.push_back(
            cube_use(reads("source", "NVDLA_CDP_RDMA", "SRC", DataKind::Feature), job->source));
        operation.uses.push_back(cube_use(writes("NVDLA_CDP"), job->destination));
    }
    return operation;
}

}  // namespace npuscope
