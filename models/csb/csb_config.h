// SPDX-License-Identifier: Apache-2.0
// The configuration bus as the host sees it: what an access to a register costs.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "models/base/describe.h"
#include "models/base/quantity.h"

namespace npuscope {

/// Where the blocks of registers stand: as in nv_small, which every configurable preset shares, or
/// as in nv_full.
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
    Cycles fifo_round_trip{9};  // source: nv_small RTL, measured, both clocks alike
    Cycles read_cycles{20};     // source: nv_small RTL, measured with polls

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("address_map", self.address_map, "where the blocks of registers stand");
        visit.field("fifo_depth", self.fifo_depth,
                    "accesses that the FIFO between bus and core clock holds");
        visit.field("fifo_round_trip", self.fifo_round_trip,
                    "cycles from an entry of that FIFO being filled to its being free again");
        visit.field("read_cycles", self.read_cycles,
                    "cycles from a register read to the next access of the same host");
    }
};

}  // namespace npuscope
