// SPDX-License-Identifier: Apache-2.0
// What direct and image convolutions of generated programs have in common: the shape, whether it
// fits CBUF, weights, and the registers of CDMA, CSC, CMAC and CACC that do not depend on the
// input.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/generate_scene.h"
#include "tests/support/oracle_convolution.h"

namespace npuscope {

struct ConvolveShape {
    CubeSize input;
    std::uint32_t channels = 1;
    std::uint32_t kernels = 1;
    std::uint32_t rows = 1;
    std::uint32_t columns = 1;
    oracle::Window window;
    std::uint32_t pad_right = 0;
    std::uint32_t pad_bottom = 0;
    std::uint32_t entries = 1;  ///< CBUF entries of an input line
    std::uint32_t row_group = 1;
    // chosen by fit():
    std::uint32_t out_width = 1;
    std::uint32_t out_height = 1;
    std::uint32_t data_banks = 1;
    std::uint32_t weight_banks = 1;
    std::uint32_t truncate = 0;
};

/// Completes a shape; false where it has no output, does not fit CBUF, or is too much work.
bool fit(Scene& scene, ConvolveShape& shape);

oracle::Accumulator accumulator(const Scene& scene, const ConvolveShape& shape);

struct ConvolveUnits {
    UnitRegisters cdma;
    UnitRegisters csc;
    UnitRegisters cmac_a;
    UnitRegisters cmac_b;
    UnitRegisters cacc;
};

/// `weights` has channels and columns as in memory; the rest is filled in and loaded.
ConvolveUnits make_convolve_units(Scene& scene, const ConvolveShape& shape,
                                  oracle::WeightSurface& weights);

/// CACC, CMAC_A, CMAC_B, CSC, CDMA.
std::vector<UnitRegisters> in_order(const ConvolveUnits& units);

}  // namespace npuscope
