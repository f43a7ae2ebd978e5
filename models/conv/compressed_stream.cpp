// SPDX-License-Identifier: Apache-2.0
#include "models/conv/compressed_stream.h"

#include <algorithm>
#include <array>
#include <utility>

namespace npuscope {
namespace {

using Store = CompressedPiece::Store;

constexpr std::uint64_t atom_bytes = 32;     // source: NV_NVDLA_CDMA_wt.v, wgs_req_size_d1
constexpr std::uint64_t groups_of_atom = 8;  // source: the same, wgs_req_dword_w
constexpr std::uint64_t piece_bytes = 8 * atom_bytes;  // the same, wt_req_size_addr_limit
constexpr std::uint64_t sizes_ahead = 32;              // the same, wgs_req_overflow
// requests for sizes pass three fewer stages. source: the same, wgs_req_vld_d1
constexpr Cycles sizes_lead{3};
// pieces of one surface in a row. source: NV_NVDLA_CDMA_single_reg.v, arb_wmb and arb_weight
constexpr std::uint32_t mask_turn = 4;
constexpr std::uint32_t weight_turn = 16;

/// What has been requested of a surface.
struct Surface {
    Address base;
    std::uint64_t bytes = 0;
    std::uint64_t done = 0;
    std::uint64_t capacity = 0;  ///< bytes of it that the buffer holds

    bool left() const { return done < bytes; }
    std::uint64_t next_end() const {
        const std::uint64_t to_boundary = piece_bytes - (base.value + done) % piece_bytes;
        return std::min(bytes, done + to_boundary);
    }
};

class OrderBuilder {
 public:
    explicit OrderBuilder(const CompressedFetch& fetch)
        : fetch_(fetch),
          entry_(fetch.entry.value),
          mask_{fetch.mask, fetch.mask_ends.back(), 0, fetch.mask_room.capacity * entry_},
          weights_{fetch.weights, fetch.weight_ends.back(), 0,
                   fetch.weight_room.capacity * entry_} {}

    CompressedOrder build() {
        while (true) {
            add_sizes();
            const bool mask = mask_.left();
            if (!mask && !weights_.left()) {
                return std::move(order_);
            }
            take_turn(choose());
        }
    }

 private:
    std::size_t groups() const { return fetch_.weight_ends.size(); }
    std::size_t whole_groups() const { return order_.group_ends.size(); }
    std::uint64_t end_of(const std::vector<std::uint64_t>& ends, std::size_t group) const {
        return group + 1 == groups() ? ends.back() : round_up(ends[group], entry_);
    }
    void add_sizes() {
        while (sizes_ < groups() && sizes_ + groups_of_atom <= whole_groups() + sizes_ahead) {
            const std::uint64_t offset = sizes_ / groups_of_atom * atom_bytes;
            sizes_ += groups_of_atom;
            add({Store::Sizes,
                 {fetch_.sizes + Bytes(offset), Bytes(atom_bytes)},
                 0,
                 offset + atom_bytes,
                 whole_groups()});
        }
    }
    /// The piece fits once the groups that are complete by now are released.
    bool fits(const Surface& surface, const std::vector<std::uint64_t>& ends) const {
        const std::uint64_t released = whole_groups() == 0 ? 0 : end_of(ends, whole_groups() - 1);
        return surface.left() && surface.next_end() <= surface.capacity + released;
    }
    Store choose() const {
        const bool mask = fits(mask_, fetch_.mask_ends);
        const bool weights = fits(weights_, fetch_.weight_ends);
        if (!mask && !weights) {
            return mask_.left() ? Store::Mask : Store::Weights;
        }
        if (turn_ == Store::Mask) {
            return mask && (turns_left_ > 0 || !weights) ? Store::Mask : Store::Weights;
        }
        return weights && ((turn_ == Store::Weights && turns_left_ > 0) || !mask) ? Store::Weights
                                                                                  : Store::Mask;
    }
    void take_turn(Store store) {
        if (store != turn_ || turns_left_ == 0) {
            turn_ = store;
            turns_left_ = store == Store::Mask ? mask_turn : weight_turn;
        }
        --turns_left_;
        Surface& surface = store == Store::Mask ? mask_ : weights_;
        const std::uint64_t end = surface.next_end();
        const std::uint64_t begin = std::exchange(surface.done, end);
        add({store,
             {surface.base + Bytes(begin), Bytes(end - begin)},
             0,
             end,
             std::min(whole_groups(), groups() - 1)});
    }
    void add(CompressedPiece piece) {
        const std::uint64_t beat = fetch_.beat.value;
        const std::uint64_t first = piece.run.address.value / beat;
        piece.beats = divide_up(piece.run.end().value, beat) - first;
        const std::uint64_t begin = piece.end - piece.run.bytes.value;
        for (std::uint64_t i = 1; i <= piece.beats; ++i) {
            ++order_.beats;
            const std::uint64_t come = (first + i) * beat - piece.run.address.value;
            come_[static_cast<std::size_t>(piece.store)] = std::min(begin + come, piece.end);
            note_whole_groups();
        }
        order_.pieces.push_back(piece);
    }
    std::uint64_t come(Store store) const { return come_[static_cast<std::size_t>(store)]; }
    void note_whole_groups() {
        for (std::size_t group = whole_groups(); group < groups(); ++group) {
            const bool whole = come(Store::Sizes) * groups_of_atom > group * atom_bytes &&
                               come(Store::Mask) >= end_of(fetch_.mask_ends, group) &&
                               come(Store::Weights) >= end_of(fetch_.weight_ends, group);
            if (!whole) {
                return;
            }
            order_.group_ends.push_back(order_.beats);
        }
    }

    const CompressedFetch& fetch_;
    std::uint64_t entry_;
    Surface mask_;
    Surface weights_;
    std::size_t sizes_ = 0;      // groups whose size was requested
    Store turn_ = Store::Sizes;  // store of the last piece, sizes excepted
    std::uint32_t turns_left_ = 0;
    std::array<std::uint64_t, 3> come_{};  // bytes that have arrived, by store
    CompressedOrder order_;
};

}  // namespace

GroupEnds even_group_ends(const WeightLayout& layout, Bytes values) {
    GroupEnds ends;
    for (std::uint32_t group = 1; group < layout.groups(); ++group) {
        const std::uint64_t kernels = std::uint64_t{layout.group_kernels} * group;
        ends.weights.push_back(values.value * kernels / layout.shape.kernels);
        ends.mask.push_back(divide_up(mask_bits(layout) / layout.shape.kernels * kernels, 8));
    }
    ends.weights.push_back(values.value);
    ends.mask.push_back(stored_mask_bytes(layout).value);
    return ends;
}

CompressedOrder compressed_order(const CompressedFetch& fetch) {
    return OrderBuilder(fetch).build();
}

CompressedWeightStream::CompressedWeightStream(const CdmaConfig& config,
                                               const CompressedFetch& fetch)
    : GroupStream(config, {}, fetch.weight_ends.size()),
      fetch_(fetch),
      order_(compressed_order(fetch)) {
    ends_ = order_.group_ends;
}

std::optional<ReleaseLedger::Step> CompressedWeightStream::room_for(
    const CompressedPiece& piece) const {
    if (piece.store == Store::Sizes) {
        return ReleaseLedger::Step{};
    }
    const FetchRoom& room = piece.store == Store::Mask ? fetch_.mask_room : fetch_.weight_room;
    return room.known_for(divide_up(piece.end, fetch_.entry.value));
}

std::optional<ReadBurst> CompressedWeightStream::next_burst() {
    const CompressedPiece& piece = order_.pieces[piece_];
    const auto room = room_for(piece);
    if (!room) {
        waited_[piece.group] = true;
        return std::nullopt;
    }
    const Cycles lead = piece.store == Store::Sizes ? sizes_lead : Cycles(0);
    time_ = std::max({time_, room->time, fetch_.start + config_.weight_request - lead});
    const ReadBurst burst{time_, piece.beats, piece.run};
    time_ += Cycles(1);
    ++piece_;
    return burst;
}

void CompressedWeightStream::arrived(std::span<const Cycles> times) {
    std::vector<Cycles> taken(times.begin(), times.end());
    for (Cycles& time : taken) {
        time = std::max(time, free_);
        free_ = time + Cycles(1);
        const CompressedPiece& piece = order_.pieces[answered_];
        if (++beats_of_it_ == piece.beats) {
            beats_of_it_ = 0;
            ++answered_;
        }
        if (piece.store == Store::Sizes) {
            const std::size_t more =
                std::min<std::size_t>(groups_of_atom, fetch_.weight_ends.size() - sizes_);
            sizes_ += more;
            free_ += Cycles(more);
        }
    }
    GroupStream::arrived(taken);
}

}  // namespace npuscope
