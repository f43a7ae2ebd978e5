// SPDX-License-Identifier: Apache-2.0
// What one launch of a TINPU needs: where its maps, weights and constants lie, and what it
// computes. Maps and weights lie as packed_surface.h says. The register map is not public, so a
// program launches jobs directly.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "models/base/describe.h"
#include "models/base/quantity.h"
#include "models/base/unit_job.h"
#include "models/layout/tensor.h"
#include "models/sdp/sdp_bnorm_math.h"

namespace npuscope {

enum class TinpuWork { Convolution, Depthwise, Transposed, AveragePool, MaxPool };

template <>
struct EnumNames<TinpuWork> {
    static constexpr std::array names{
        std::pair{TinpuWork::Convolution, std::string_view("convolution")},
        std::pair{TinpuWork::Depthwise, std::string_view("depthwise")},
        std::pair{TinpuWork::Transposed, std::string_view("transposed")},
        std::pair{TinpuWork::AveragePool, std::string_view("average_pool")},
        std::pair{TinpuWork::MaxPool, std::string_view("max_pool")}};
};

struct MapSurface {
    Address base;
    Shape shape;
    bool is_signed = false;

    Bytes bytes() const { return Bytes(shape.elements()); }
};

/// Kernels x channels x rows x columns; depth-wise: 1 x channels; transposed: as a convolution's.
struct WeightSurface {
    Address base;
    KernelShape shape;
    unsigned bits = 8;

    Bytes bytes() const;
};

/// How a pool's sum of a window becomes whole where fewer elements than the window's area count:
/// sum * area / count, halves to even or up.
enum class HalfRounding { Even, Up };

struct TinpuJob : UnitJob {
    TinpuWork work = TinpuWork::Convolution;
    MapSurface input;
    MapSurface output;
    std::optional<MapSurface> residual;
    std::optional<WeightSurface> weights;
    Convolution geometry;    ///< of Transposed: paddings crop the output
    std::uint32_t rows = 1;  ///< of kernel or window
    std::uint32_t columns = 1;
    bool count_padding = false;    ///< of AveragePool: elements of the padding count
    std::uint32_t pad_bottom = 0;  ///< of AveragePool, for what counts as padding
    std::uint32_t pad_right = 0;
    HalfRounding rounding = HalfRounding::Even;
    std::optional<Address> constants;  ///< table of the channels' bias, scale and shift; no pool
                                       ///< for the largest has one
    ClipRange clip;                    ///< not of MaxPool

    std::uint64_t macs() const;
    Bytes constant_bytes() const;
};

}  // namespace npuscope
