// SPDX-License-Identifier: Apache-2.0
// When the configuration bus accepts an access and when the access reaches its register. The bus
// crosses from the host's clock to the core's in a small FIFO; a register for one access is in
// front of it:
//
//     accepted(i) = max(presented(i), effect(i - 1) + 1)
//     effect(i)   = max(accepted(i), effect(i - depth) + round_trip)
//
// A stream of posted writes is thus accepted five at once, then in groups of four. Not modelled:
// clocks of different frequency. Source: nv_small RTL, measured (streams of writes, polls between).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>

#include "models/base/describe.h"
#include "models/base/fingerprint.h"
#include "models/base/quantity.h"

namespace npuscope {

/// Addresses of the register blocks: as in nv_small, shared by all configurable presets, or as in
/// nv_full.
enum class AddressMap { NvSmall, NvFull };

template <>
struct EnumNames<AddressMap> {
    static constexpr std::array names{std::pair{AddressMap::NvSmall, std::string_view("nv_small")},
                                      std::pair{AddressMap::NvFull, std::string_view("nv_full")}};
};

struct CsbConfig {
    AddressMap address_map = AddressMap::NvSmall;
    // source: NV_NVDLA_CSB_MASTER_falcon2csb_fifo.v, depth of the FIFO between the clocks
    std::uint32_t fifo_depth = 4;
    Cycles fifo_round_trip{9};  // source: nv_small RTL, measured, both clocks equal
    Cycles read_cycles{20};     // source: nv_small RTL, measured with polls
    Cycles read_way{15};        // source: nv_small RTL, status read in each cycle around its change
    Cycles retiming{0};         // source: nv_small's and master's RTL have no stages there
    bool wide_fields = false;   // no published NVDLA

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("address_map", self.address_map, "base addresses of the register blocks");
        visit.field("fifo_depth", self.fifo_depth,
                    "accesses that the FIFO between bus and core clock holds");
        visit.field("fifo_round_trip", self.fifo_round_trip,
                    "cycles from filling an entry of the FIFO between bus and core clock until it "
                    "is free again");
        visit.field("read_cycles", self.read_cycles,
                    "cycles from a register read to the next access of the same host");
        visit.field("read_way", self.read_way,
                    "part of read_cycles that passes before the register is sampled; a write takes "
                    "just as many cycles, but times are counted from its end");
        visit.field("retiming", self.retiming,
                    "additional cycles of a CMAC or CACC read, caused by retiming registers on the "
                    "request and response paths");
        visit.field("wide_fields", self.wide_fields,
                    "fields for kernel sizes, strides, padding and bank splits extend into the "
                    "spare bits of their registers, beyond their published widths");
    }
};

struct CsbAccessTimes {
    Cycles accepted;  ///< handshake with the host
    Cycles effect;    ///< the register changes, or is read

    bool operator==(const CsbAccessTimes&) const = default;
};

class CsbQueue {
 public:
    CsbQueue(std::uint32_t depth, Cycles round_trip) : depth_(depth), round_trip_(round_trip) {}

    /// The next access, which the host presents at `time`; times do not decrease.
    CsbAccessTimes present(Cycles time) {
        CsbAccessTimes access{time, time};
        if (!effects_.empty()) {
            access.accepted = std::max(time, effects_.back() + Cycles(1));
        }
        access.effect = access.accepted;
        if (effects_.size() == depth_ && depth_ > 0) {
            access.effect = std::max(access.accepted, effects_.front() + round_trip_);
            effects_.pop_front();
        }
        effects_.push_back(access.effect);
        return access;
    }
    void add_state(Fingerprint& state) const {
        state.add(effects_.size());
        for (const Cycles effect : effects_) {
            state.add_coming(effect + round_trip_);
        }
    }

 private:
    std::size_t depth_;
    Cycles round_trip_;
    std::deque<Cycles> effects_;  // of the last `depth_` accesses
};

}  // namespace npuscope
