// SPDX-License-Identifier: Apache-2.0
#include "sim/run/attribution.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace npuscope {
namespace {

/// A part of an operation, and how many of its cycles are the operation's own.
struct Piece {
    std::size_t operation = 0;
    Cycles operation_end;
    OperationPart part;
    Cycles owned;

    /// Whether a cycle belongs to this piece rather than to `other`.
    bool before(const Piece& other) const {
        if (part.array != other.part.array) {
            return part.array;
        }
        return operation_end != other.operation_end ? operation_end < other.operation_end
                                                    : operation < other.operation;
    }
};

std::vector<Piece> pieces_of(std::span<const OperationRecord> operations) {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const OperationRecord& operation = operations[i];
        if (operation.parts.empty()) {
            pieces.push_back(
                {i, operation.end, {operation.start, operation.end, operation.causes}, Cycles(0)});
        }
        for (const OperationPart& part : operation.parts) {
            pieces.push_back({i, operation.end, part, Cycles(0)});
        }
    }
    std::ranges::stable_sort(pieces, {}, [](const Piece& piece) { return piece.part.begin; });
    return pieces;
}

/// Begins and ends of all pieces and counted times, sorted.
std::vector<Cycles> borders_of(const std::vector<Piece>& pieces,
                               const std::vector<CountedTime>& counted) {
    std::vector<Cycles> borders;
    for (const Piece& piece : pieces) {
        borders.push_back(piece.part.begin);
        borders.push_back(piece.part.end);
    }
    for (const CountedTime& time : counted) {
        borders.push_back(time.begin);
        borders.push_back(time.end);
    }
    std::ranges::sort(borders);
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    return borders;
}

/// The causes of `owned` of a piece's cycles, in proportion; their sum is `owned`.
CauseCycles share_of(const Piece& piece) {
    const std::uint64_t all = piece.part.causes.sum().value;
    if (all == piece.owned.value) {
        return piece.part.causes;
    }
    CauseCycles share;
    std::uint64_t seen = 0;
    std::uint64_t given = 0;
    for (std::size_t i = 0; i < share.cycles.size(); ++i) {
        seen += piece.part.causes.cycles[i].value;
        // cumulative, so that rounding loses nothing; shares of at most 2^32 cycles stay exact
        const auto until = all == 0 ? 0
                                    : static_cast<std::uint64_t>(static_cast<__uint128_t>(seen) *
                                                                 piece.owned.value / all);
        share.cycles[i] = Cycles(until - given);
        given = until;
    }
    share[Cause::Latency] += Cycles(piece.owned.value - given);
    return share;
}

class Sweep {
 public:
    Sweep(std::span<const OperationRecord> operations, std::vector<CountedTime> counted)
        : pieces_(pieces_of(operations)), counted_(std::move(counted)), own_(operations.size()) {
        std::ranges::sort(counted_, {}, &CountedTime::begin);
    }

    std::vector<CauseCycles> run() {
        if (pieces_.empty()) {
            return own_;
        }
        const std::vector<Cycles> borders = borders_of(pieces_, counted_);
        for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
            if (counts(borders[i])) {
                own(borders[i], borders[i + 1]);
            }
        }
        for (const Piece& piece : pieces_) {
            own_[piece.operation] += share_of(piece);
        }
        return own_;
    }

 private:
    /// Whether the time from this border on is counted; borders must be queried in order.
    bool counts(Cycles border) {
        while (time_ < counted_.size() && counted_[time_].end <= border) {
            ++time_;
        }
        return time_ < counted_.size() && counted_[time_].begin <= border;
    }

    void own(Cycles begin, Cycles end) {
        while (next_ < pieces_.size() && pieces_[next_].part.begin <= begin) {
            active_.push_back(next_++);
        }
        std::erase_if(active_, [&](std::size_t i) { return pieces_[i].part.end <= begin; });
        const auto owner = std::ranges::min_element(
            active_, [&](std::size_t a, std::size_t b) { return pieces_[a].before(pieces_[b]); });
        if (owner != active_.end()) {
            pieces_[*owner].owned += end - begin;
            return;
        }
        const std::size_t waiting = std::min(next_, pieces_.size() - 1);
        own_[pieces_[waiting].operation][Cause::Programming] += end - begin;
    }

    std::vector<Piece> pieces_;  // by begin
    std::vector<CountedTime> counted_;
    std::vector<CauseCycles> own_;
    std::vector<std::size_t> active_;
    std::size_t next_ = 0;
    std::size_t time_ = 0;
};

}  // namespace

namespace {

/// Operations of the host or of the NPU, in the order of their start.
std::vector<std::size_t> by_start(std::span<const OperationRecord> operations, bool on_host) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        if ((operations[i].unit == "host") == on_host) {
            order.push_back(i);
        }
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return operations[i].start; });
    return order;
}

void add(LayerRecord& layer, const OperationRecord& operation) {
    layer.causes += operation.own;
    layer.hidden += hidden_cycles(operation);
    layer.mac_cells = std::max(layer.mac_cells, operation.mac_cells);
    for (const NamedTraffic& moved : operation.traffic) {
        add_traffic(layer.traffic, moved);
    }
}

}  // namespace

Cycles hidden_cycles(const OperationRecord& operation) {
    return operation.cycles() - std::min(operation.cycles(), operation.own.sum());
}

void add_traffic(std::vector<NamedTraffic>& all, const NamedTraffic& moved) {
    const auto same = std::ranges::find_if(all, [&](const NamedTraffic& one) {
        return one.client == moved.client && one.port == moved.port;
    });
    if (same == all.end()) {
        all.push_back(moved);
    } else {
        same->traffic += moved.traffic;
    }
}

void fill_layers(std::vector<LayerRecord>& layers, std::span<const OperationRecord> operations) {
    for (const bool on_host : {false, true}) {
        const std::vector<std::size_t> order = by_start(operations, on_host);
        std::size_t next = 0;
        LayerRecord* last = nullptr;
        for (LayerRecord& layer : layers) {
            if (layer.on_host != on_host) {
                continue;
            }
            last = &layer;
            layer.operations.resize(std::min(layer.operations.size(), order.size() - next));
            for (std::size_t& operation : layer.operations) {
                operation = order[next++];
            }
        }
        while (last != nullptr && next < order.size()) {
            last->operations.push_back(order[next++]);
        }
    }
    for (LayerRecord& layer : layers) {
        const bool counted = layer.macs != 0;
        for (const std::size_t operation : layer.operations) {
            add(layer, operations[operation]);
            layer.macs += counted ? 0 : operations[operation].macs;
        }
    }
}

std::vector<CountedTime> without(CountedTime whole, std::span<const CountedTime> others) {
    std::vector<CountedTime> left;
    for (const CountedTime& other : others) {
        if (other.end <= whole.begin || other.begin >= whole.end) {
            continue;
        }
        if (other.begin > whole.begin) {
            left.push_back({whole.begin, other.begin});
        }
        whole.begin = std::min(other.end, whole.end);
    }
    left.push_back(whole);
    return left;
}

std::vector<CauseCycles> own_cycles(std::span<const OperationRecord> operations,
                                    std::vector<CountedTime> counted) {
    return Sweep(operations, std::move(counted)).run();
}

}  // namespace npuscope
