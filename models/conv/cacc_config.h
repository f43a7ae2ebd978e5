// SPDX-License-Identifier: Apache-2.0
// Convolution accumulator: partial sums, truncation, and credits that hold the sequencer back.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct CaccConfig {
    std::uint32_t buffered_groups = 2;  // source: nv_small RTL, assembly buffer of 2 x atomic_k
    Cycles fill_latency{15};            // source: nv_small RTL, measured
    Cycles credit_return{32};           // source: nv_small RTL, measured
    Cycles delivery_latency{2};         // source: nv_small RTL, measured
    bool stale_end_marks = true;        // source: nv_small RTL, NV_NVDLA_CACC_delivery_ctrl.v
    std::uint32_t partial_sum_bits = 34;
    std::uint32_t partial_sum_bits_int16 = 48;  // source: nv_full RTL, CACC_CALC_int16.v

    /// Atoms that wait for SDP at most, with so many MAC cells of kernels.
    std::uint64_t depth(std::uint32_t atomic_k) const {
        return std::uint64_t{buffered_groups} * atomic_k;
    }
    /// Whether the end of a convolution of so many atoms can meet the end of the one before.
    bool ends_may_meet(std::uint64_t atoms, std::uint32_t atomic_k) const {
        return stale_end_marks && atoms < depth(atomic_k);
    }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("buffered_groups", self.buffered_groups,
                    "atoms that may wait for SDP, as a multiple of the MAC cells: the credits");
        visit.field("fill_latency", self.fill_latency,
                    "cycles from an atom's last MAC to the accumulator's output");
        visit.field("credit_return", self.credit_return,
                    "cycles from SDP taking an atom to the sequencer having its credit back");
        visit.field("delivery_latency", self.delivery_latency,
                    "cycles from an atom at the accumulator's output to SDP taking it at best");
        visit.field("stale_end_marks", self.stale_end_marks,
                    "ends of two operations that meet in the delivery buffer leave a wrong mark");
        visit.field("partial_sum_bits", self.partial_sum_bits,
                    "width at which a partial sum saturates, int8");
        visit.field("partial_sum_bits_int16", self.partial_sum_bits_int16,
                    "width at which a partial sum saturates, int16");
    }
};

}  // namespace npuscope
