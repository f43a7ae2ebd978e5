// SPDX-License-Identifier: Apache-2.0
// Limits that operands from memory and the pooling behind impose on the SDP, for one operation.
#include <numeric>

#include "models/sdp/sdp.h"

namespace npuscope {
namespace {

/// Whether each element has two operands.
bool pairs(const SdpOperandFetch& fetch) {
    return fetch.surface.components == 2 && fetch.surface.spread == OperandSpread::PerElement;
}

Cycles operand_lead(const SdpOperandFetch& fetch) {
    const bool both = fetch.surface.components == 2;
    const bool per_element = fetch.surface.spread == OperandSpread::PerElement;
    return both || !fetch.alu ? multiplier_lead(both, per_element) : Cycles(0);
}

/// Whether the operands that leave a stage last are its multiplier's, taken after the ALU's.
bool multiplier_last(const SdpOperandFetch& fetch, std::size_t stage) {
    return stage != ew_stage && fetch.alu && fetch.mul;
}

}  // namespace

PerStage<Cycles> Sdp::operands_to_atom(const SdpJob& job) const {
    PerStage<Cycles> cycles;
    cycles.fill(config_.operand_to_atom);
    if (wires_.bus_width <= datapath_.memory_atom) {
        return cycles;
    }
    for (std::size_t i = 0; i < cycles.size(); ++i) {
        const std::optional<SdpOperandFetch>& fetch = job.operands[i];
        if (!fetch) {
            continue;
        }
        if (i == ew_stage) {
            cycles[i] += element_wise_operand_delay(
                fetch->mul, fetch->surface.spread == OperandSpread::PerElement);
        } else {
            cycles[i] -= operand_lead(*fetch);
        }
    }
    return cycles;
}

Cycles Sdp::operand_cycles(const SdpJob& job, std::size_t stage) const {
    const std::optional<SdpOperandFetch>& fetch = job.operands[stage];
    // a narrow bus delivers no more
    if (wires_.bus_width <= datapath_.memory_atom || !fetch ||
        fetch->surface.spread != OperandSpread::PerElement) {
        return Cycles(1);
    }
    if (stage != ew_stage && pairs(*fetch)) {
        return Cycles(1);  // they are limited by their slots
    }
    const Bytes bytes = fetch->surface.component * fetch->surface.components * lanes(job);
    return Cycles(divide_up(bytes.value, datapath_.memory_atom.value));
}

Cycles Sdp::before_last_operands(const SdpJob& job) const {
    Cycles before;
    Cycles sum;
    for (std::size_t i = 0; i < delays_.size(); ++i) {
        before = job.operands[i] ? sum : before;
        sum += delays_[i];
    }
    return before;
}

Cycles Sdp::pack_request(const SdpJob& job, std::size_t stage) const {
    const Cycles before = std::accumulate(
        delays_.begin(), delays_.begin() + static_cast<std::ptrdiff_t>(stage), Cycles(0));
    const bool later = multiplier_last(*job.operands[stage], stage);
    return config_.pack_request + before + (later ? config_.alu_latency : Cycles(0)) +
           sdp_atom_cycles(config_, job.stages, lanes(job));
}

void Sdp::pack_source(const SdpJob& job, SdpStreamPlan& plan) const {
    // atoms in the pipes after the packs' slots, and beats between these and a stage that waits, in
    // addition to one for each cycle of the stages before it
    // source: NV_NVDLA_SDP_MRDMA_EG_din.v and _dout.v of branch master; RTL of nv_small_256_full,
    // simulated
    constexpr std::uint64_t in_pipes = 2;
    constexpr std::uint64_t waiting = 2;
    Cycles before;
    Cycles sum;
    for (std::size_t i = 0; i < delays_.size(); ++i) {
        if (const std::optional<SdpOperandFetch>& fetch = job.operands[i]) {
            before = sum + (multiplier_last(*fetch, i) ? config_.alu_latency : Cycles(0));
        }
        sum += delays_[i];
    }
    const std::uint64_t beats = divide_up(lanes(job), config_.output_throughput);
    const std::uint64_t held = before.value + waiting;
    const std::uint64_t atoms = divide_up(held, beats);
    const std::uint64_t interval = sdp_atom_cycles(config_, job.stages, lanes(job)).value / beats;
    plan.on_way = in_pipes + atoms;
    plan.pack_request = config_.pack_request + before + Cycles((atoms * beats - held) * interval);
}

std::optional<PoolingLimit> Sdp::pooling_limit(const SdpJob& job) const {
    if (!job.to_pdp) {
        return std::nullopt;
    }
    const std::uint64_t bytes = std::uint64_t{lanes(job)} * bytes_of(job.stages.output);
    const std::uint64_t beats = divide_up(lanes(job), config_.output_throughput);
    const Cycles stages = std::accumulate(delays_.begin(), delays_.end(), Cycles(0));
    return PoolingLimit{.beats = beats,
                        .interval = Cycles(divide_up(bytes, beats * wires_.pooling_bytes)),
                        .latency = config_.to_pooling + stages,
                        .places = stages.value + config_.pooling_places};
}

OperandPairs Sdp::pairs_of(const SdpJob& job, std::size_t stage, const SdpStreamPlan& plan) const {
    if (stage == ew_stage || !pairs(*job.operands[stage])) {
        return {};  // the element-wise stage keeps to the pace of operand_cycles: RTL, simulated
    }
    const std::uint64_t parts = divide_up(lanes(job), config_.bs_throughput);
    if (plan.pack_request && plan.step == plan.beat * 2) {
        return packed_operand_pairs(parts, plan.steps_per_line);
    }
    if (wires_.bus_width <= datapath_.memory_atom) {
        return {};
    }
    OperandPairs pairs = operand_pairs(parts);
    pairs.halves = plan.step == plan.beat * 2;
    return pairs;
}

}  // namespace npuscope
