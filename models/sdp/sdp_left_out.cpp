// SPDX-License-Identifier: Apache-2.0
// The unit's part in leaving out repeated work, see models/npu/steady_groups and
// models/npu/repeated_operations.
#include <algorithm>

#include "models/sdp/sdp.h"

namespace npuscope {

void Sdp::add_state(Fingerprint& state, std::uint32_t group) const {
    if (output_ && output_->work->job.destination) {  // position of the group's lines within bursts
        const FeatureCube& written = *output_->work->job.destination;
        const std::uint32_t surface =
            group * lanes(output_->work->job) / written.channels_per_atom();
        state.add(written.line_address(surface, 0).value %
                  (wires_.bus_width.value * write_port.longest_burst(output_->purpose)));
    }
    drain_.add_state(state);
    state.add(last_left_);
    state.add(flying_ != nullptr ? 1U : 0U);
    const std::size_t looked_at =
        std::min<std::size_t>(std::max(pairs_.atoms, drain_.lost()), taken_.size());
    state.add(atom_ % pairs_.line);
    if (pairs_.halves) {
        half_pairs_.add_state(state);
    }
    for (std::size_t back = 1; back <= looked_at; ++back) {
        state.add(taken_[taken_.size() - back]);
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].active()) {
            state.add_coming(operands_free_[i]);
            operands[i].add_state(state, atom_);
        }
    }
    results_.add_state(state, [&](const Outgoing& outgoing) {
        state.add(outgoing.run.leaves);
        state.add(outgoing.run.count);
    });
}

void Sdp::add_next_state(Fingerprint& state) const {
    state.add(atom_);
    state.add(opens_);
    state.add(rdma_free_);
    state.add(begun_);
    const auto nothing = [](const auto& /*package*/) {};
    launches.add_state(state, nothing);
    endings_.add_state(state, nothing);
    written_.add_state(state, nothing);
}

bool Sdp::can_leave_out(std::uint32_t group, std::uint64_t atoms) const {
    if (!output_ || !output_->work->job.flying() || output_->work->job.to_pdp ||
        requests_.reorders() || drain_.limited()) {
        return false;
    }
    const std::optional<FeatureCube>& written = output_->work->job.destination;
    if (written && lanes(output_->work->job) % written->channels_per_atom() != 0) {
        return false;  // groups share surfaces
    }
    if (written && written->shape.width == 1 && written->shape.height == 1) {
        // the surfaces are one request: none of the earlier beats holds a part of this group
        const std::uint32_t surface =
            group * lanes(output_->work->job) / written->channels_per_atom();
        if (written->line_address(surface, 0).value % wires_.bus_width.value != 0) {
            return false;
        }
    }
    return std::ranges::all_of(operands, [&](const OperandReader& reader) {
        return !reader.active() || reader.can_leave_out(atoms);
    });
}

void Sdp::leave_out(std::uint32_t group, std::uint64_t atoms) {
    const SdpJob& job = output_->work->job;
    if (job.destination) {
        const std::uint32_t surfaces = lanes(job) / job.destination->channels_per_atom();
        const std::uint64_t groups = atoms / (std::uint64_t{job.shape.width} * job.shape.height);
        output_->writers.front().store(write_port, group * surfaces,
                                       static_cast<std::uint32_t>(groups * surfaces),
                                       output_->purpose);
    }
    for (OperandReader& reader : operands) {
        if (reader.active()) {
            reader.leave_out(atoms);
        }
    }
}

}  // namespace npuscope
