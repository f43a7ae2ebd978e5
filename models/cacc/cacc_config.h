// SPDX-License-Identifier: Apache-2.0
// Convolution accumulator: partial sums, truncation, and credits that hold the sequencer back.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct CaccConfig {
    std::uint32_t buffered_groups = 2;  // source: nv_small RTL, assembly buffer of 2 x atomic_k
    Cycles fill_latency{15};            // source: nv_small RTL, measured
    Cycles credit_return{32};           // source: nv_small RTL, measured
    std::uint32_t partial_sum_bits = 34;
    std::uint32_t partial_sum_bits_int16 = 48;  // source: nv_full RTL, CACC_CALC_int16.v

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("buffered_groups", self.buffered_groups,
                    "atoms that may wait for SDP, as a multiple of the MAC cells: the credits");
        visit.field("fill_latency", self.fill_latency,
                    "cycles from an atom's last MAC to the accumulator's output");
        visit.field("credit_return", self.credit_return,
                    "cycles from SDP taking an atom to the sequencer having its credit back");
        visit.field("partial_sum_bits", self.partial_sum_bits,
                    "width at which a partial sum saturates, int8");
        visit.field("partial_sum_bits_int16", self.partial_sum_bits_int16,
                    "width at which a partial sum saturates, int16");
    }
};

}  // namespace npuscope
