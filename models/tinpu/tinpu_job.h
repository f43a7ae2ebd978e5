// SPDX-License-Identifier: Apache-2.0
// What one launch of a TINPU needs: where its maps, weights and constants are, and what it
// computes. Maps and weights are laid out as in packed_surface.h. The register map is not public,
// so a program launches jobs directly.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/describe.h"
#include "models/base/diagnostic.h"
#include "models/base/quantity.h"
#include "models/base/unit_job.h"
#include "models/layout/tensor.h"
#include "models/sdp/sdp_bnorm_math.h"

namespace npuscope {

// Knobs of a TINPU, TI's layer engine for microcontrollers. Its micro-architecture is not public:
// every number here is an estimate that presets calibrate against published run times of whole
// models.

struct TinpuConfig {
    std::uint32_t input_lanes = 1;
    std::uint32_t output_lanes = 4;
    std::uint32_t cycles_per_100_steps = 261;
    std::uint32_t cycles_per_100_pool_taps = 1385;
    std::uint32_t cycles_per_100_weight_bytes = 517;
    Bytes read_buffer{1024};
    std::uint32_t weight_buffers = 1;
    std::uint32_t launch_queue = 1;
    Cycles layer_overhead{1637};
    Bytes alignment{4};
    Bytes memory{std::uint64_t{32} * 1024};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("input_lanes", self.input_lanes,
                    "input channels multiplied in one step of a convolution");
        visit.field("output_lanes", self.output_lanes,
                    "output channels, or channels of a depth-wise convolution, in one step");
        visit.field("cycles_per_100_steps", self.cycles_per_100_steps,
                    "cycles for a hundred steps of input_lanes x output_lanes MACs");
        visit.field("cycles_per_100_pool_taps", self.cycles_per_100_pool_taps,
                    "cycles to read a hundred elements of pooling windows");
        visit.field("cycles_per_100_weight_bytes", self.cycles_per_100_weight_bytes,
                    "cycles to bring a hundred bytes of packed weights into the engine");
        visit.field("read_buffer", self.read_buffer, "bytes that each reader prefetches");
        visit.field("weight_buffers", self.weight_buffers,
                    "layers whose weights the engine holds; with 2, the next layer's are loaded "
                    "while one is computed");
        visit.field("launch_queue", self.launch_queue,
                    "layers that the host may launch before the first has ended");
        visit.field("layer_overhead", self.layer_overhead,
                    "cycles that the host spends to set up and await a layer");
        visit.field("alignment", self.alignment, "alignment of surfaces, in bytes");
        visit.field("memory", self.memory, "memory for feature maps");
    }
};

// The table of constants of a TINPU's layer: one row per output channel,
//
//     | bias, 4 bytes, low first | scale | shift |
//
// source: unknown; an assumption of ours

/// Bytes of one output channel's row.
inline constexpr std::uint64_t constant_row_bytes = 6;

std::vector<std::uint8_t> store_constants(const std::vector<BnormChannel>& channels);
/// As many channels as there are whole rows. Shifts have 5 bits, the others are ignored.
std::vector<BnormChannel> load_constants(std::span<const std::uint8_t> bytes);

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

/// Kernels x channels x rows x columns; depth-wise: 1 x channels; transposed: as for a convolution.
struct WeightSurface {
    Address base;
    KernelShape shape;
    unsigned bits = 8;

    Bytes bytes() const;
};

/// How a pool's window sum is scaled and rounded if fewer elements than the window's area count:
/// sum * area / count, ties to even or up.
enum class HalfRounding { Even, Up };

struct TinpuJob : UnitJob {
    TinpuWork work = TinpuWork::Convolution;
    MapSurface input;
    MapSurface output;
    std::optional<MapSurface> residual;
    std::optional<WeightSurface> weights;
    Convolution geometry;    ///< for Transposed, padding crops the output
    std::uint32_t rows = 1;  ///< of kernel or window
    std::uint32_t columns = 1;
    bool count_padding = false;    ///< for AveragePool: elements of the padding count
    std::uint32_t pad_bottom = 0;  ///< for AveragePool, for what counts as padding
    std::uint32_t pad_right = 0;
    HalfRounding rounding = HalfRounding::Even;
    std::optional<Address> constants;  ///< table of the channels' bias, scale and shift; MaxPool
                                       ///< has none
    ClipRange clip;                    ///< not for MaxPool

    std::uint64_t macs() const;
    Bytes constant_bytes() const;
};

// Whether the unit can run a layer described by another program: sizes, windows and ranges that
// agree with each other. And whether the unit itself could work.

/// ConfigError names the field that is wrong, its value and what is allowed. Of the weights, only
/// their width is checked: their shape follows from the rest.
void check_layer(const TinpuJob& job);

/// Where the windows of a layer that check_layer() accepts leave elements of the input that another
/// window would reach, or go a whole step beyond it; empty if they do not.
std::string window_mismatch(const TinpuJob& job);

/// An error for each surface that does not begin at a multiple of `alignment`.
Diagnostics misaligned_surfaces(const TinpuJob& job, Bytes alignment);

/// ConfigError if a value of the configuration is 0 and must not be.
void check_engine(const TinpuConfig& config, Bytes bus_width);

}  // namespace npuscope
