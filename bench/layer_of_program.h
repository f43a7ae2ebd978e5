// SPDX-License-Identifier: Apache-2.0
// The convolution that a program's registers describe, for the bare kernel on the same layer.
#pragma once

#include <optional>

#include "models/layout/tensor.h"
#include "sim/program/program.h"

namespace npuscope::bench {

struct LayerGeometry {
    Shape input;
    KernelShape kernels;
    Convolution convolution;

    std::uint64_t macs() const {
        return std::uint64_t{convolution.out_height} * convolution.out_width * kernels.elements();
    }
};

/// Nothing where the program has no direct convolution of feature data, or several.
std::optional<LayerGeometry> layer_of(const Program& program);

}  // namespace npuscope::bench
