// SPDX-License-Identifier: Apache-2.0
// Convolution, pooling and the weight codec as C functions.
#include <algorithm>
#include <span>
#include <vector>

#include "models/conv/cacc_math.h"
#include "models/layout/weight_layout.h"
#include "models/pdp/pdp_math.h"
#include "sim/embed/unit_arguments.h"

namespace npuscope {
namespace {

constexpr std::int64_t kMostTaps = 32;  // source: NVDLA_CSC.rdl, WEIGHT_WIDTH_EXT, 5 bits

// --- Convolution ---------------------------------------------------------------------------------

std::int32_t pad_value_of(const npuscope_conv_parameters& p, Precision precision) {
    if (precision == Precision::Fp16) {  // a pattern, with or without sign
        return within("pad_value", p.pad_value, -0x8000, 0xffff);
    }
    return fitting<std::int32_t>("pad_value", p.pad_value, precision == Precision::Int8 ? 8 : 16);
}

Convolution geometry_of(const npuscope_conv_parameters& p, Precision precision) {
    constexpr std::int64_t stride = 8;     // source: NVDLA_CSC.rdl, CONV_X_STRIDE_EXT, 3 bits
    constexpr std::int64_t dilation = 32;  // source: NVDLA_CSC.rdl, X_DILATION_EXT, 5 bits
    constexpr std::int64_t pad = 31;       // source: NVDLA_CSC.rdl, PAD_LEFT, 5 bits
    return {.out_height = within("out_height", p.out_height, 1, kMostElements),
            .out_width = within("out_width", p.out_width, 1, kMostElements),
            .stride_y = within("stride_y", p.stride_y, 1, stride),
            .stride_x = within("stride_x", p.stride_x, 1, stride),
            .dilation_y = within("dilation_y", p.dilation_y, 1, dilation),
            .dilation_x = within("dilation_x", p.dilation_x, 1, dilation),
            .pad_top = within("pad_top", p.pad_top, 0, pad),
            .pad_left = within("pad_left", p.pad_left, 0, pad),
            .pad_value = pad_value_of(p, precision)};
}

KernelShape kernels_of(const npuscope_conv_parameters& p, std::uint32_t channels) {
    return {within("kernels", p.kernels, 1, kMostElements), channels,
            within("rows", p.rows, 1, kMostTaps), within("columns", p.columns, 1, kMostTaps)};
}

Accumulation accumulation_of(const npuscope_conv_parameters& p, Precision precision) {
    const std::uint32_t row_group = p.row_group == 0 ? 1 : p.row_group;
    if (row_group != 1 && row_group != 2 && row_group != 4) {
        bad(fmt::format("row_group is {}, not 1, 2 or 4", row_group));
    }
    if (row_group > 1 && p.image == 0) {
        bad("row_group applies to images only: set image to 1");
    }
    const unsigned default_bits = precision == Precision::Int8 ? 34 : 48;
    return {.convolution = geometry_of(p, precision),
            .accumulator = {{.block_channels =
                                 p.block_channels == 0
                                     ? 8
                                     : within("block_channels", p.block_channels, 1, kMostElements),
                             .columns_are_channels = p.image != 0,
                             .row_group = row_group},
                            p.partial_sum_bits == 0
                                ? default_bits
                                : within("partial_sum_bits", p.partial_sum_bits, 16, 48)},
            .clip_truncate = within("truncate", p.truncate, 0, 31),
            .precision = precision};
}

template <class T>
WeightKernels weights_of(const KernelShape& shape, const void* weights, std::size_t bytes) {
    exact("weights", bytes, shape.elements() * sizeof(T));
    Kernels<T> kernels(shape);
    std::memcpy(kernels.values.data(), weights, bytes);
    return kernels;
}

// --- PDP -----------------------------------------------------------------------------------------

/// Windows of one axis, none of them entirely in the padding.
struct WindowAxis {
    const char* name;
    std::uint32_t size, outputs, kernel, stride, pad;

    void check() const {
        within(fmt::format("kernel_{}", name), kernel, 1, 8);
        within(fmt::format("out_{}", name), outputs, 1, kMostElements);
        within(fmt::format("stride of {}", name), stride, 1, 16);
        within(fmt::format("padding before {}", name), pad, 0, kernel - 1);
        if (std::uint64_t{outputs - 1} * stride >= std::uint64_t{pad} + size) {
            bad(fmt::format("out_{} is {}: its last window lies entirely in the padding", name,
                            outputs));
        }
    }
};

PdpPooling pooling_of(const npuscope_pdp_parameters& p, const npuscope_tensor& input) {
    WindowAxis{"height", input.height, p.out_height, p.kernel_height, p.stride_y, p.pad_top}
        .check();
    WindowAxis{"width", input.width, p.out_width, p.kernel_width, p.stride_x, p.pad_left}.check();
    PdpPooling pooling{.method = static_cast<PoolingMethod>(
                           within("method", p.method, NPUSCOPE_POOL_AVERAGE, NPUSCOPE_POOL_MIN)),
                       .kernel_width = p.kernel_width,
                       .kernel_height = p.kernel_height,
                       .stride_x = p.stride_x,
                       .stride_y = p.stride_y,
                       .pad_top = p.pad_top,
                       .recip_width = within("recip_width", p.recip_width, 0, 0x1ffff),
                       .recip_height = within("recip_height", p.recip_height, 0, 0x1ffff),
                       .precision = static_cast<Precision>(input.type),
                       .nan_to_zero = p.nan_to_zero != 0 && input.type == NPUSCOPE_FP16,
                       .parts = {{0, input.width, p.pad_left, 0, p.out_width}},
                       .output = {input.channels, p.out_height, p.out_width}};
    for (std::size_t n = 1; n < pooling.pad_value.size(); ++n) {
        pooling.pad_value[n] =
            fitting<std::int32_t>(fmt::format("pad_value[{}]", n), p.pad_value[n], 19);
    }
    return pooling;
}

// --- Compressed weights --------------------------------------------------------------------------

WeightLayout weight_layout(const npuscope_weights* given) {
    const npuscope_weights& weights = sized(given, "layout");
    within("element_bytes", weights.element_bytes, 1, 2);
    return {.shape = {within("kernels", weights.kernels, 1, kMostElements),
                      within("channels", weights.channels, 1, kMostElements),
                      within("rows", weights.rows, 1, kMostTaps),
                      within("columns", weights.columns, 1, kMostTaps)},
            .group_kernels = within("group_kernels", weights.group_kernels, 1, kMostElements),
            .element = Bytes(weights.element_bytes)};
}

template <class T>
std::span<const T> needed(const char* name, const void* memory, std::size_t bytes,
                          std::uint64_t elements) {
    if (memory == nullptr && elements > 0) {
        bad(fmt::format("{} is null", name));
    }
    if (bytes < elements * sizeof(T)) {
        bad(fmt::format("{}: {} bytes are given, but {} are needed", name, bytes,
                        elements * sizeof(T)));
    }
    return {static_cast<const T*>(memory), elements};
}

template <class T>
void require_room(const char* name, const std::vector<T>& surface, const void* memory,
                  std::size_t bytes) {
    if (memory != nullptr) {
        needed<T>(name, memory, bytes, surface.size());
    }
}

/// Copies one surface to the caller's memory; `bytes` becomes its size.
template <class T>
void hand_over(const std::vector<T>& surface, void* memory, std::size_t& bytes) {
    if (memory != nullptr) {
        std::ranges::copy(surface, static_cast<T*>(memory));
    }
    bytes = surface.size() * sizeof(T);
}

std::string told(const CompressionFault& fault) {
    return fault.kind == CompressionFault::Kind::GroupSize
               ? fmt::format("kernel group {}: its size is {} bytes, but its mask gives {}",
                             fault.group, fault.said, fault.counted)
               : fmt::format(
                     "kernel group {}: {} 0 although the mask has a 1 there, the first at byte {}",
                     fault.group,
                     fault.counted == 1 ? "1 value is"
                                        : fmt::format("{} values are", fault.counted),
                     fault.offset.value);
}

}  // namespace
}  // namespace npuscope

using namespace npuscope;  // NOLINT(google-build-using-namespace): the interface has C's own

extern "C" {

// NOLINTNEXTLINE(readability-function-size): the interface has a size beside each buffer
npuscope_status npuscope_conv(const npuscope_conv_parameters* parameters,
                              const npuscope_tensor* data, const void* weights, size_t bytes,
                              void* sums, size_t sum_bytes, npuscope_counters* counters) {
    return guarded([&] {
        const npuscope_conv_parameters& p = sized(parameters, "parameters");
        const npuscope_tensor& input = checked(data, NPUSCOPE_FP16);
        check(counters);
        present(static_cast<const char*>(weights), "weights");
        const auto precision = static_cast<Precision>(input.type);
        const Accumulation accumulation = accumulation_of(p, precision);
        const KernelShape shape = kernels_of(p, input.channels);
        const Output output{sums, sum_bytes};
        output.expect(std::size_t{p.kernels} * p.out_height * p.out_width, sizeof(std::int32_t));
        const AccumulatedSums result = accumulate(
            elements_of(input),
            precision == Precision::Int8 ? weights_of<std::int8_t>(shape, weights, bytes)
                                         : weights_of<std::int16_t>(shape, weights, bytes),
            accumulation);
        output.write(result.values);
        npuscope_counters counted = zero_counters();
        counted.saturated = result.saturated;
        tell(counted, counters);
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_pdp(const npuscope_pdp_parameters* parameters,
                             const npuscope_tensor* input, void* output, size_t bytes) {
    return guarded([&] {
        const npuscope_pdp_parameters& p = sized(parameters, "parameters");
        const npuscope_tensor& in = checked(input, NPUSCOPE_FP16);
        const PdpPooling pooling = pooling_of(p, in);
        const Output out{output, bytes};
        out.expect(pooling.output.elements(), bytes_of(pooling.precision));
        out.write(compute_pdp(pooling, elements_of(in)));
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_compress(const npuscope_weights* layout, const void* stored, size_t bytes,
                                  npuscope_compressed* compressed) {
    return guarded([&] {
        const WeightLayout weights = weight_layout(layout);
        sized(compressed, "compressed");
        const CompressedWeights surfaces = compress_weights(
            weights, needed<std::uint8_t>("stored", stored, bytes, weights.used_bytes().value));
        require_room("weights", surfaces.weights, compressed->weights, compressed->weight_bytes);
        require_room("mask", surfaces.mask, compressed->mask, compressed->mask_bytes);
        require_room("sizes", surfaces.sizes, compressed->sizes, compressed->sizes_bytes);
        hand_over(surfaces.weights, compressed->weights, compressed->weight_bytes);
        hand_over(surfaces.mask, compressed->mask, compressed->mask_bytes);
        hand_over(surfaces.sizes, compressed->sizes, compressed->sizes_bytes);
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_decompress(const npuscope_weights* layout,
                                    const npuscope_compressed* compressed, void* stored,
                                    size_t bytes) {
    return guarded([&] {
        const WeightLayout weights = weight_layout(layout);
        const npuscope_compressed& in = sized(compressed, "compressed");
        const auto mask =
            needed<std::uint8_t>("mask", in.mask, in.mask_bytes, used_mask_bytes(weights).value);
        const CompressedGroups groups(weights, mask);
        const auto values =
            needed<std::uint8_t>("weights", in.weights, in.weight_bytes, groups.weight_bytes());
        const auto sizes =
            needed<std::uint32_t>("sizes", in.sizes, in.sizes_bytes, weights.groups());
        needed<std::uint8_t>("stored", stored, bytes, weights.used_bytes().value);
        const DecompressedWeights result = decompress_weights(weights, {values, mask, sizes});
        if (!result.faults.empty()) {
            throw CallRefusal(NPUSCOPE_WRONG_INPUT, told(result.faults.front()));
        }
        std::ranges::copy(result.stored, static_cast<std::uint8_t*>(stored));
        return NPUSCOPE_OK;
    });
}

}  // extern "C"
