// SPDX-License-Identifier: Apache-2.0
// Legal values of a field of a configuration, and relations between fields: rows that a family of
// NPUs states for the fields of its own (`NpuFamily::limits`), and limits.cpp for all others.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace npuscope {

/// More than any hardware has of anything that is counted.
constexpr std::uint64_t largest_count = 1U << 20U;

/// A number, a quantity in its unit, or a flag (0 and 1).
struct Limit {
    /// Dotted name, such as `npu.cbuf.banks`; one `*` stands for any unit, `[]` for every entry of
    /// a list.
    std::string_view field;
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    bool power_of_two = false;
    std::uint64_t alone = most;  ///< largest value that requires no change of another field

    bool flag() const { return most == 1; }
    bool allows(std::uint64_t value) const {
        return value >= least && value <= most && (!power_of_two || std::has_single_bit(value));
    }
    std::uint64_t nearest(std::uint64_t value) const {
        const std::uint64_t inside = std::clamp(value, least, alone);
        if (!power_of_two) {
            return inside;
        }
        const std::uint64_t below = std::max(std::bit_floor(inside), least);
        const std::uint64_t above = std::min(std::bit_ceil(inside), most);
        return inside - below <= above - inside ? below : above;
    }
};

/// What must hold between fields. It is not applied to an NPU that lacks one of them.
struct Relation {
    /// Values of its fields, in their order.
    using Values = std::vector<std::uint64_t>;

    /// The first two may be changed; the rest may be empty.
    std::array<std::string_view, 4> fields;
    std::string_view sentence;
    bool (*holds)(const Values& values);
};

struct LimitRows {
    std::span<const Limit> limits{};
    std::span<const Relation> relations{};
};

/// A read is requested when its FIFO has room for a whole burst.
constexpr Relation burst_in(std::string_view fifo) {
    return {{fifo, "npu.mcif.max_burst", "npu.mcif.turn_beats", ""},
            "a read is requested when its FIFO has room for a whole burst, or for all bursts of a "
            "turn (npu.mcif.turn_beats); it holds what one atom needs, whatever its size",
            [](const Relation::Values& v) { return v[0] >= std::max(v[1], v[2]); }};
}

}  // namespace npuscope
