// SPDX-License-Identifier: Apache-2.0
#include "sim/check/overlap_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/check/memory_rules.h"

namespace npuscope {
namespace {

/// First operation of the chain that `index` belongs to.
std::size_t head_of(const LaunchBoard& board, std::size_t index) {
    while (board.operations()[index].producer) {
        index = *board.operations()[index].producer;
    }
    return index;
}

/// The very same bytes: elements are read before they are replaced.
bool in_place(const SurfaceUse& one, const SurfaceUse& other) {
    return one.base == other.base && one.runs == other.runs && one.unit.starts_with("NVDLA_SDP") &&
           other.unit.starts_with("NVDLA_SDP");
}

bool suspicious_pair(const SurfaceUse& one, const SurfaceUse& other) {
    if (one.writes || other.writes) {
        return !in_place(one, other);
    }
    return one.kind != other.kind && (one.constant || other.constant);
}

class OverlapCheck {
 public:
    OverlapCheck(const LaunchBoard& board, std::size_t index, FoundList& found)
        : board_(board), index_(index), found_(found) {}

    void run() {
        for (std::size_t i = 0; i <= index_; ++i) {
            const bool same_chain = head_of(board_, i) == head_of(board_, index_);
            if (same_chain) {
                within_chain(board_.operations()[i]);
            } else if (!board_.operations()[i].finished) {
                between_operations(i);
            }
        }
    }

 private:
    const CheckedOperation& newest() const { return board_.operations()[index_]; }

    void within_chain(const CheckedOperation& other) {
        for (const SurfaceUse& one : newest().uses) {
            for (const SurfaceUse& two : other.uses) {
                const bool once = &newest() != &other || &one < &two;
                if (once && suspicious_pair(one, two)) {
                    report_overlap(one, other, two);
                }
            }
        }
    }

    void report_overlap(const SurfaceUse& one, const CheckedOperation& other,
                        const SurfaceUse& two) {
        const auto shared = common_byte(one.runs, two.runs);
        if (!shared) {
            return;
        }
        const SurfaceUse& blamed = two.writes ? two : one;
        const SurfaceUse& rest = two.writes ? one : two;
        Found found =
            surface_found(newest(), blamed, "surface_overlap",
                          fmt::format("{} of {} and {} of {} overlap at {}", one.surface,
                                      newest().name, two.surface, other.name, to_hex(*shared)));
        found.finding.address = *shared;
        found.remedy =
            fmt::format("move it away from {}", spelled(rest.unit, rest.address_register));
        found_.add(std::move(found));
    }

    /// Whether a unit of the chain of `index` is `unit`.
    bool chain_has(std::size_t index, OperationUnit unit) const {
        for (std::optional<std::size_t> i = head_of(board_, index); i;
             i = board_.operations()[*i].consumer) {
            if (board_.operations()[*i].unit == unit) {
                return true;
            }
        }
        return false;
    }

    void between_operations(std::size_t index) {
        const CheckedOperation& other = board_.operations()[index];
        for (const SurfaceUse& later : newest().uses) {
            // a writer of the same unit waits for the operation before it anyway
            const bool ordered = later.writes && chain_has(index, newest().unit);
            for (const SurfaceUse& earlier : other.uses) {
                if (!ordered && (later.writes || earlier.writes)) {
                    report_race(later, other, earlier);
                }
            }
        }
    }

    void report_race(const SurfaceUse& later, const CheckedOperation& other,
                     const SurfaceUse& earlier) {
        const auto shared = common_byte(later.runs, earlier.runs);
        if (!shared) {
            return;
        }
        Found found = surface_found(
            newest(), later, "race",
            fmt::format("{} of {} {} bytes that {} of {} {}, and nothing makes it wait for that: "
                        "at {}",
                        later.surface, newest().name, later.writes ? "overwrites" : "reads",
                        earlier.surface, other.name, earlier.writes ? "writes" : "reads",
                        to_hex(*shared)));
        found.finding.address = *shared;
        found.remedy =
            fmt::format("wait for the end of {} before enabling {}", other.name, newest().name);
        found_.add(std::move(found));
    }

    const LaunchBoard& board_;
    std::size_t index_;
    FoundList& found_;
};

}  // namespace

void check_overlaps(const LaunchBoard& board, std::size_t index, FoundList& found) {
    OverlapCheck(board, index, found).run();
}

}  // namespace npuscope
