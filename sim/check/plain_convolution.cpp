// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "models/arith/convolve.h"
#include "models/arith/fixed_point.h"
#include "models/arith/float16.h"
#include "models/arith/winograd.h"
#include "models/conv/cacc_math.h"
#include "models/conv/cdma_math.h"
#include "sim/check/plain_operators.h"

namespace npuscope {
namespace {

std::uint32_t read_number(const SparseMemory& memory, Address address, std::size_t bytes) {
    std::array<std::uint8_t, 4> data{};
    memory.read(address, std::span(data).first(bytes));
    return data[0] | std::uint32_t{data[1]} << 8U | std::uint32_t{data[2]} << 16U |
           std::uint32_t{data[3]} << 24U;
}

/// Elements of one batch; fp16 NaNs become 0 where the DMA does that.
template <class T>
Tensor<T> read_feature(const SparseMemory& memory, const CdmaJob& job, std::uint32_t batch) {
    const FeatureCube& cube = job.feature;
    const std::uint32_t lanes = cube.channels_per_atom();
    Shape shape = job.input;
    if (job.mode == ConvMode::Winograd) {  // its kernels cover whole atoms
        shape.channels = static_cast<std::uint32_t>(round_up(shape.channels, lanes));
    }
    Tensor<T> tensor(shape);
    for (std::uint32_t c = 0; c < shape.channels; ++c) {
        for (std::uint32_t y = 0; y < shape.height; ++y) {
            const Address line = cube.base + cube.batch_stride * batch +
                                 cube.surface_stride * (c / lanes) + cube.line_stride * y +
                                 cube.element * (c % lanes);
            for (std::uint32_t x = 0; x < shape.width; ++x) {
                const auto bits =
                    static_cast<T>(read_number(memory, line + cube.atom * x, sizeof(T)));
                const bool flushed = job.flush_nan && job.in_precision == Precision::Fp16 &&
                                     is_nan(static_cast<Fp16>(bits));
                tensor.at(c, y, x) = flushed ? T{0} : bits;
            }
        }
    }
    return tensor;
}

/// Byte of the component, and the bits of its code.
std::uint16_t read_component(const SparseMemory& memory, Address pixel, const PixelFormat& format,
                             std::uint32_t component) {
    if (!format.packed_word) {
        const std::size_t bytes = format.code_bits / 8U;
        return static_cast<std::uint16_t>(
            read_number(memory, pixel + Bytes(component * bytes), bytes));
    }
    // three fields of 10 bits, and the alpha's 2 at one end of the word
    const std::uint32_t word = read_number(memory, pixel, 4);
    if (format.order[component] == 3) {
        return static_cast<std::uint16_t>((format.order[0] == 3 ? word & 3U : word >> 30U) << 14U);
    }
    const std::uint32_t first = format.order[0] == 3 ? 2U : 0U;
    const std::uint32_t place = component - (format.order[0] == 3 ? 1U : 0U);
    return static_cast<std::uint16_t>((word >> (first + 10U * place) & 0x3FFU) << 6U);
}

ElementTensor read_pixels(const SparseMemory& memory, const CdmaJob& job) {
    const PixelSurface& surface = job.pixels;
    const PixelFormat& format = *surface.format;
    Tensor<std::uint16_t> codes(job.input);
    for (std::uint32_t plane = 0; plane < format.planes; ++plane) {
        const std::uint32_t components = format.planes == 2 ? plane + 1 : format.channels;
        const std::uint64_t pixel =
            format.packed_word ? 4 : std::uint64_t{format.field_bits} / 8 * components;
        const std::uint64_t offset = pixel * surface.x_offset;
        const Address start =
            surface.base[plane] + Bytes(plane == 0 ? offset : offset % surface.atom.value);
        for (std::uint32_t y = 0; y < job.input.height; ++y) {
            for (std::uint32_t x = 0; x < job.input.width; ++x) {
                const Address at = start + surface.line_stride[plane] * y + Bytes(pixel * x);
                for (std::uint32_t i = 0; i < components; ++i) {
                    std::uint16_t code = read_component(memory, at, format, i);
                    if (job.flush_nan && job.in_precision == Precision::Fp16 && is_nan(code)) {
                        code = 0;
                    }
                    codes.at(format.order[plane + i], y, x) = code;
                }
            }
        }
    }
    return convert_pixels(codes, job);
}

ElementTensor read_data(const SparseMemory& memory, const ConvJob& job, const NpuConfig& npu,
                        std::uint32_t batch) {
    const CdmaJob& cdma = job.parts.cdma;
    if (cdma.mode == ConvMode::Image) {
        return read_pixels(memory, cdma);
    }
    ElementTensor data;
    if (cdma.in_precision == Precision::Int8) {
        data = read_feature<std::int8_t>(memory, cdma, batch);
    } else {
        data = read_feature<std::int16_t>(memory, cdma, batch);
    }
    convert_feature(data, cdma);
    return cdma.mode == ConvMode::Winograd
               ? extend_winograd(data, cdma, npu.datapath.atom_channels(cdma.precision))
               : data;
}

/// Index in the surface of a weight of a stored kernel.
std::uint64_t weight_position(const WeightLayout& layout, std::uint32_t k, std::uint32_t c,
                              std::uint32_t r, std::uint32_t s) {
    const KernelShape& shape = layout.shape;
    const std::uint64_t taps = std::uint64_t{shape.rows} * shape.columns;
    const std::uint64_t first = std::uint64_t{k} / layout.group_kernels * layout.group_kernels;
    const std::uint64_t kernels =
        std::min<std::uint64_t>(layout.group_kernels, shape.kernels - first);
    const std::uint64_t kernel = k - first;
    const std::uint64_t group = first * shape.channels * taps;
    if (layout.row_group > 1) {  // rows of a group are adjacent
        const std::uint64_t row = std::uint64_t{r} / layout.row_group * layout.row_group;
        const std::uint64_t rows = std::min<std::uint64_t>(layout.row_group, shape.rows - row);
        return group + (row * kernels + kernel * rows + r - row) * shape.channels + c;
    }
    const std::uint64_t cube = std::uint64_t{c} / layout.cube_channels * layout.cube_channels;
    const std::uint64_t channels =
        std::min<std::uint64_t>(layout.cube_channels, shape.channels - cube);
    const std::uint64_t tap = std::uint64_t{r} * shape.columns + s;
    const std::uint64_t place = layout.winograd ? kernel * taps + tap : tap * kernels + kernel;
    return group + cube * taps * kernels + place * channels + c - cube;
}

/// All elements of the surface in its order; 0 for those that a compressed surface does not store.
std::vector<std::int16_t> read_stored_weights(const SparseMemory& memory, const ConvJob& job) {
    const CdmaJob& cdma = job.parts.cdma;
    const std::size_t bytes = job.weights.element.value;
    std::vector<std::int16_t> elements(job.weights.shape.elements());
    std::uint64_t stored = 0;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        if (cdma.compression &&
            (read_number(memory, cdma.compression->mask + Bytes(i / 8), 1) >> (i % 8) & 1U) == 0) {
            continue;
        }
        const std::uint32_t bits =
            read_number(memory, cdma.weight_address + Bytes(stored * bytes), bytes);
        elements[i] = bytes == 1 ? std::int16_t{static_cast<std::int8_t>(bits)}
                                 : static_cast<std::int16_t>(bits);
        ++stored;
    }
    return elements;
}

template <class T>
Kernels<T> read_kernels(const SparseMemory& memory, const ConvJob& job) {
    const std::vector<std::int16_t> elements = read_stored_weights(memory, job);
    const WeightLayout& layout = job.weights;
    const bool image = job.mode() == ConvMode::Image;
    const std::uint32_t channels = image ? job.input().channels : layout.shape.channels;
    const std::uint32_t columns =
        image ? layout.shape.channels / std::max(channels, 1U) : layout.shape.columns;
    Kernels<T> kernels({layout.shape.kernels, channels, layout.shape.rows, columns});
    for (std::uint32_t k = 0; k < layout.shape.kernels; ++k) {
        for (std::uint32_t c = 0; c < channels; ++c) {
            for (std::uint32_t r = 0; r < layout.shape.rows; ++r) {
                for (std::uint32_t s = 0; s < columns; ++s) {
                    const std::uint64_t at =
                        image ? weight_position(layout, k, s * channels + c, r, 0)
                              : weight_position(layout, k, c, r, s);
                    kernels.at(k, c, r, s) = static_cast<T>(elements[at]);
                }
            }
        }
    }
    return kernels;
}

Convolution geometry_of(const ConvJob& job) {
    const CscJob& csc = job.parts.csc;
    Convolution geometry;
    geometry.out_height = csc.output.height;
    geometry.out_width = csc.output.width;
    if (job.mode() == ConvMode::Winograd) {  // the input is already padded
        return geometry;
    }
    geometry.stride_y = csc.stride_y;
    geometry.stride_x = csc.stride_x;
    geometry.dilation_y = csc.dilation_y;
    geometry.dilation_x = csc.dilation_x;
    geometry.pad_top = csc.pad_top;
    geometry.pad_left = job.mode() == ConvMode::Image ? job.parts.cdma.pad_left : csc.pad_left;
    geometry.pad_value = job.precision() == Precision::Int8
                             ? static_cast<std::int8_t>(csc.pad_value & 0xFFU)
                             : static_cast<std::int16_t>(csc.pad_value);
    return geometry;
}

template <class T>
Tensor<std::int64_t> integer_sums(const Tensor<T>& data, const Kernels<T>& kernels,
                                  const ConvJob& job, const NpuConfig& npu) {
    const Convolution geometry = geometry_of(job);
    if (job.mode() == ConvMode::Winograd) {
        return convolve_winograd(data, kernels, geometry, job.parts.csc.patch_truncate);
    }
    const unsigned bits =
        sizeof(T) == 1 ? npu.cacc.partial_sum_bits : npu.cacc.partial_sum_bits_int16;
    if (partial_sum_bound(kernels) > max_of_bits<std::int64_t>(bits)) {  // block by block
        const MacOrder order{npu.datapath.atomic_c, job.mode() == ConvMode::Image,
                             job.weights.row_group};
        return convolve_saturating(data, kernels, geometry, {order, bits});
    }
    return convolve_plain(data, kernels, geometry);
}

template <class T>
Tensor<std::int32_t> sums_of(const Tensor<T>& data, const Kernels<T>& kernels, const ConvJob& job,
                             const NpuConfig& npu) {
    if constexpr (sizeof(T) == 2) {
        if (job.precision() == Precision::Fp16) {
            const MacOrder order{npu.datapath.atomic_c, job.mode() == ConvMode::Image,
                                 job.weights.row_group};
            return job.mode() == ConvMode::Winograd
                       ? convolve_winograd_fp16(data, kernels, geometry_of(job))
                       : convolve_fp16_plain(data, kernels, geometry_of(job), order);
        }
    }
    const Tensor<std::int64_t> sums = integer_sums(data, kernels, job, npu);
    Tensor<std::int32_t> result(sums.shape);
    std::ranges::transform(sums.values, result.values.begin(), [&](std::int64_t sum) {
        return truncate_sum(sum, job.parts.cacc.clip_truncate).value;
    });
    return result;
}

/// The last lines of one, then the other.
ElementTensor joined(const ElementTensor& before, std::uint32_t lines, const ElementTensor& read) {
    return std::visit(
        [&](const auto& after) -> ElementTensor {
            const auto& kept = std::get<std::decay_t<decltype(after)>>(before);
            auto all = std::decay_t<decltype(after)>(
                Shape{after.shape.channels, lines + after.shape.height, after.shape.width});
            for (std::uint32_t c = 0; c < all.shape.channels; ++c) {
                for (std::uint32_t y = 0; y < all.shape.height; ++y) {
                    for (std::uint32_t x = 0; x < all.shape.width; ++x) {
                        all.at(c, y, x) = y < lines ? kept.at(c, kept.shape.height - lines + y, x)
                                                    : after.at(c, y - lines, x);
                    }
                }
            }
            return all;
        },
        read);
}

}  // namespace

void load_buffer(const SparseMemory& memory, const ConvJob& job, const NpuConfig& npu,
                 BufferKept kept, PlainBuffer& buffer) {
    if (!kept.data) {
        const std::vector<ElementTensor> before = std::exchange(buffer.data, {});
        for (std::uint32_t batch = 0; batch < job.batches(); ++batch) {
            buffer.data.push_back(read_data(memory, job, npu, batch));
        }
        if (kept.lines > 0) {
            buffer.data.front() = joined(before.front(), kept.lines, buffer.data.front());
        }
    }
    if (!kept.weights) {
        if (job.precision() == Precision::Int8) {
            buffer.kernels = read_kernels<std::int8_t>(memory, job);
        } else {
            buffer.kernels = read_kernels<std::int16_t>(memory, job);
        }
    }
}

PlainCubes plain_convolution(const PlainBuffer& buffer, const ConvJob& job, const NpuConfig& npu) {
    PlainCubes results;
    for (const ElementTensor& data : buffer.data) {
        if (job.precision() == Precision::Int8) {
            results.push_back(sums_of(std::get<Tensor<std::int8_t>>(data),
                                      std::get<Kernels<std::int8_t>>(buffer.kernels), job, npu));
        } else {
            results.push_back(sums_of(std::get<Tensor<std::int16_t>>(data),
                                      std::get<Kernels<std::int16_t>>(buffer.kernels), job, npu));
        }
    }
    return results;
}

}  // namespace npuscope
