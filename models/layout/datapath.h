// SPDX-License-Identifier: Apache-2.0
// The widths that several units share: they determine the convolution's weight order, the feature
// cube in memory and the buffers in between. All are in one-byte elements unless a unit is given;
// also the element types supported in addition to int8.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/base/quantity.h"
#include "models/layout/precision.h"

namespace npuscope {

struct DatapathConfig {
    std::uint32_t atomic_c = 8;
    std::uint32_t atomic_k = 8;
    Bytes memory_atom{8};
    bool int16 = false;
    bool fp16 = false;
    bool coarse_saturation_count = false;

    bool supports(Precision precision) const {
        return precision == Precision::Int8 || (precision == Precision::Int16 ? int16 : fp16);
    }
    /// Kernels per group, hence channels that the accumulator passes on at a time.
    std::uint32_t group_kernels(Precision precision) const {
        return std::max(atomic_k / bytes_of(precision), 1U);
    }
    /// Channels of one feature atom.
    std::uint32_t atom_channels(Precision precision) const {
        return static_cast<std::uint32_t>(memory_atom.value) / bytes_of(precision);
    }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field(
            "atomic_c", self.atomic_c,
            "input channels that one MAC cell multiplies in a cycle; depth of a weight cube");
        visit.field("atomic_k", self.atomic_k,
                    "MAC cells, hence kernels in a kernel group for one-byte weights");
        visit.field("memory_atom", self.memory_atom,
                    "bytes of one feature atom (1 x 1 x as many channels as fit)");
        visit.field("int16", self.int16, "elements may be int16");
        visit.field("fp16", self.fp16, "elements may be fp16");
        visit.field("coarse_saturation_count", self.coarse_saturation_count,
                    "SDP and CDP saturation counters ignore values whose floor is just one beyond "
                    "the limit");
    }
};

}  // namespace npuscope
