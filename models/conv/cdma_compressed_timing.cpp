// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cdma_compressed_timing.h"

#include <algorithm>

namespace npuscope {

namespace {

constexpr std::uint64_t sizes_atom = 32;     // source: nv_full C model, WGS fetched in atoms
constexpr std::uint64_t groups_of_atom = 8;  // four bytes a group

}  // namespace

CompressedWeightStream::CompressedWeightStream(const CdmaConfig& config,
                                               const CompressedFetch& fetch)
    : config_(config),
      fetch_(fetch),
      time_(fetch.start + config.weight_request),
      waited_(fetch.weight_ends.size()) {
    for (std::size_t group = 0; group < fetch_.weight_ends.size(); ++group) {
        if (group % groups_of_atom == 0) {
            const std::uint64_t offset = group / groups_of_atom * sizes_atom;
            parts_.push_back({{fetch_.sizes + Bytes(offset), Bytes(sizes_atom)},
                              divide_up(sizes_atom, fetch_.beat.value),
                              Store::None,
                              offset,
                              group});
            total_ += parts_.back().beats;
        }
        add_part(Store::Mask, fetch_.mask, group);
        add_part(Store::Weights, fetch_.weights, group);
        ends_.push_back(total_);
    }
}

void CompressedWeightStream::add_part(Store store, Address surface, std::size_t group) {
    const std::vector<std::uint64_t>& ends =
        store == Store::Mask ? fetch_.mask_ends : fetch_.weight_ends;
    const std::uint64_t beat = fetch_.beat.value;
    const std::uint64_t begin = group == 0 ? 0 : round_up(ends[group - 1], beat);
    const std::uint64_t end = round_up(ends[group], beat);
    if (end > begin) {
        parts_.push_back({{surface + Bytes(begin), Bytes(end - begin)},
                          (end - begin) / beat,
                          store,
                          begin,
                          group});
        total_ += parts_.back().beats;
    }
}

std::optional<ReleaseLedger::Step> CompressedWeightStream::room_for(const Part& part,
                                                                    std::uint64_t beats) const {
    if (part.store == Store::None) {
        return ReleaseLedger::Step{};
    }
    const FetchRoom& room = part.store == Store::Mask ? fetch_.mask_room : fetch_.weight_room;
    return room.known_for(divide_up(part.begin + beats * fetch_.beat.value, fetch_.entry.value));
}

std::optional<ReadBurst> CompressedWeightStream::next_burst() {
    const Part& part = parts_[part_];
    const std::uint64_t beats =
        std::min<std::uint64_t>(part.beats - requested_, config_.request_atoms);
    const auto room = room_for(part, requested_ + beats);
    if (!room) {
        waited_[part.group] = true;
        return std::nullopt;
    }
    time_ = std::max(time_, room->time);
    ReadBurst burst{time_, beats};
    if (requested_ == 0) {
        burst.run = part.run;
    }
    time_ += Cycles(1);
    requested_ += beats;
    if (requested_ == part.beats) {
        requested_ = 0;
        ++part_;
    }
    return burst;
}

void CompressedWeightStream::arrived(std::span<const Cycles> times) {
    const std::uint64_t end = arrived_ + times.size();
    while (written_.size() < ends_.size() && ends_[written_.size()] <= end) {
        const std::uint64_t last = ends_[written_.size()];
        // a group that adds no beat came with the one before it
        const Cycles arrival = last > arrived_ ? times[last - arrived_ - 1] : last_arrival_;
        const Cycles known =
            written_.empty() ? Cycles(0) : written_.back() + config_.group_interval;
        written_.push_back(std::max(arrival + config_.weight_write, known));
    }
    arrived_ = end;
    last_arrival_ = times.back();
}

}  // namespace npuscope
