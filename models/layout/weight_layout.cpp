// SPDX-License-Identifier: Apache-2.0
#include "models/layout/weight_layout.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/base/check.h"
#include "models/layout/byte_transpose.h"

namespace npuscope {
namespace {

static_assert(std::endian::native == std::endian::little, "weights are stored little-endian");

/// One step of a stepwise walk: the first item, and the number of items in this step.
struct Step {
    std::uint32_t first;
    std::uint32_t count;
};

template <class Visit>
void for_each_step(std::uint32_t total, std::uint32_t size, Visit visit) {
    for (std::uint32_t first = 0; first < total; first += size) {
        visit(Step{first, std::min(size, total - first)});
    }
}

/// Direct order inside one group and one cube: visit(kernel, row, column) for every channel run.
template <class Visit>
void walk_cube(const KernelShape& shape, Step group, Visit visit) {
    for (std::uint32_t r = 0; r < shape.rows; ++r) {
        for (std::uint32_t s = 0; s < shape.columns; ++s) {
            for (std::uint32_t k = group.first; k < group.first + group.count; ++k) {
                visit(k, r, s);
            }
        }
    }
}

/// Post-extended order inside one group: row group, kernel, row in group, then all channels.
template <class Visit>
void walk_row_groups(const WeightLayout& layout, Step group, Visit visit) {
    for_each_step(layout.shape.rows, layout.row_group, [&](Step rows) {
        for (std::uint32_t k = group.first; k < group.first + group.count; ++k) {
            for (std::uint32_t r = rows.first; r < rows.first + rows.count; ++r) {
                visit(k, r);
            }
        }
    });
}

/// visit(index of the first element in a Kernels, channels in the run) in the order of memory.
/// Elements of a run are rows * columns apart in the Kernels and adjacent in memory.
template <class Visit>
void for_each_channel_run(const WeightLayout& layout, Visit visit) {
    const KernelShape& shape = layout.shape;
    const auto index = [&](std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) {
        return ((std::size_t{k} * shape.channels + c) * shape.rows + r) * shape.columns + s;
    };
    for_each_step(shape.kernels, layout.group_kernels, [&](Step group) {
        if (layout.row_group > 1) {
            walk_row_groups(layout, group, [&](std::uint32_t k, std::uint32_t r) {
                visit(index(k, 0, r, 0), shape.channels);
            });
            return;
        }
        for_each_step(shape.channels, layout.cube_channels, [&](Step cube) {
            const auto visit_run = [&](std::uint32_t k, std::uint32_t r, std::uint32_t s) {
                visit(index(k, cube.first, r, s), cube.count);
            };
            if (!layout.winograd) {
                walk_cube(shape, group, visit_run);
                return;
            }
            for (std::uint32_t k = group.first; k < group.first + group.count; ++k) {
                walk_cube(shape, {k, 1}, visit_run);  // whole patches, one after the other
            }
        });
    });
}

/// Copies adjacent elements; most runs have the few channels of a cube.
void copy_run(const void* from, std::size_t bytes, void* to) {
    constexpr std::size_t word = 8;
    std::size_t done = 0;
    for (; done + word <= bytes; done += word) {
        std::memcpy(static_cast<std::uint8_t*>(to) + done,
                    static_cast<const std::uint8_t*>(from) + done, word);
    }
    if (done < bytes) {
        std::memcpy(static_cast<std::uint8_t*>(to) + done,
                    static_cast<const std::uint8_t*>(from) + done, bytes - done);
    }
}

/// One-byte elements in direct order, where each cube of a kernel is a matrix.
template <class T>
bool is_of_cubes(const WeightLayout& layout) {
    return sizeof(T) == 1 && layout.row_group == 1 && !layout.winograd;
}

/// Bytes of one cube of one kernel, at memory[tap][channel] and at kernel[channel][tap].
struct CubeBytes {
    std::size_t taps;
    std::size_t channels;
    std::size_t tap_pitch;  ///< from tap to tap in memory
    std::size_t memory;     ///< first byte there
    std::size_t kernel;     ///< first byte in a Kernels
};

/// Rows of memory become columns of a Kernels or vice versa; with one tap, a row stays a row.
void move_cube(const CubeBytes& cube, const ByteMatrix<const std::uint8_t>& from,
               const ByteMatrix<std::uint8_t>& to, std::size_t rows, std::size_t columns) {
    constexpr std::size_t word = 8;
    if (cube.taps > 1) {
        transpose_bytes(rows, columns, from, to);
    } else if (cube.channels == word) {
        std::memcpy(to.bytes, from.bytes, word);
    } else {
        std::memcpy(to.bytes, from.bytes, cube.channels);
    }
}

/// visit(CubeBytes) for every cube of every kernel of such a layout; returns the total bytes.
template <class Visit>
std::size_t for_each_cube(const WeightLayout& layout, Visit visit) {
    const KernelShape& shape = layout.shape;
    const std::size_t taps = std::size_t{shape.rows} * shape.columns;
    std::size_t position = 0;
    for_each_step(shape.kernels, layout.group_kernels, [&](Step group) {
        for_each_step(shape.channels, layout.cube_channels, [&](Step cube) {
            const std::size_t pitch = std::size_t{group.count} * cube.count;
            for (std::uint32_t k = 0; k < group.count; ++k) {
                const std::size_t kernel =
                    (std::size_t{group.first + k} * shape.channels + cube.first) * taps;
                visit(CubeBytes{taps, cube.count, pitch, position + std::size_t{k} * cube.count,
                                kernel});
            }
            position += pitch * taps;
        });
    });
    return position;
}

template <class T>
void require_fit(const WeightLayout& layout) {
    NPU_CHECK(layout.element.value == sizeof(T), "the kernels' type is not the layout's element");
    NPU_CHECK(layout.group_kernels > 0 && layout.cube_channels > 0, "groups and cubes have a size");
    NPU_CHECK(layout.row_group == 1 || layout.shape.columns == 1,
              "rows are interleaved only where columns became channels");
}

}  // namespace

std::uint32_t WeightLayout::kernels_of_group(std::uint32_t group) const {
    NPU_CHECK(group < groups(), "the layout has no such kernel group");
    return std::min(group_kernels, shape.kernels - group * group_kernels);
}

WeightLayout direct_weights(const KernelShape& shape, const DatapathConfig& datapath,
                            Bytes element) {
    const auto group = static_cast<std::uint32_t>(datapath.atomic_k / element.value);
    return {shape, std::max(group, 1U), datapath.atomic_c, element, 1, false};
}

WeightLayout winograd_weights(const KernelShape& shape, const DatapathConfig& datapath,
                              Bytes element) {
    WeightLayout layout = direct_weights(shape, datapath, element);
    layout.cube_channels = 4;  // source: NVDLA format page, cubes of 4 x 4 x 4 elements
    layout.winograd = true;
    return layout;
}

std::uint32_t kernel_of_element(const WeightLayout& layout, std::uint64_t position) {
    const std::size_t size =
        std::size_t{layout.shape.channels} * layout.shape.rows * layout.shape.columns;
    std::uint64_t passed = 0;
    std::uint32_t kernel = layout.shape.kernels;
    for_each_channel_run(layout, [&](std::size_t first, std::uint32_t channels) {
        if (position >= passed && position < passed + channels) {
            kernel = static_cast<std::uint32_t>(first / size);
        }
        passed += channels;
    });
    return kernel;
}

template <class T>
Kernels<T> decode_weights(const WeightLayout& layout, std::span<const std::uint8_t> memory) {
    require_fit<T>(layout);
    NPU_CHECK(memory.size() >= layout.used_bytes().value, "the image does not cover the weights");
    Kernels<T> kernels(layout.shape);
    if (is_of_cubes<T>(layout)) {
        auto* to = reinterpret_cast<std::uint8_t*>(kernels.values.data());
        for_each_cube(layout, [&](const CubeBytes& cube) {
            move_cube(cube, {memory.data() + cube.memory, cube.tap_pitch},
                      {to + cube.kernel, cube.taps}, cube.taps, cube.channels);
        });
        return kernels;
    }
    const std::size_t step = std::size_t{layout.shape.rows} * layout.shape.columns;
    const std::uint8_t* from = memory.data();
    for_each_channel_run(layout, [&](std::size_t first, std::uint32_t channels) {
        T* to = kernels.values.data() + first;
        if (step == 1) {
            copy_run(from, channels * sizeof(T), to);
            from += channels * sizeof(T);
            return;
        }
        for (std::uint32_t c = 0; c < channels; ++c, from += sizeof(T)) {
            std::memcpy(to + c * step, from, sizeof(T));
        }
    });
    return kernels;
}

template <class T>
void encode_weights(const WeightLayout& layout, const Kernels<T>& kernels,
                    std::span<std::uint8_t> memory) {
    require_fit<T>(layout);
    NPU_CHECK(kernels.shape == layout.shape, "kernels and layout differ in shape");
    NPU_CHECK(memory.size() >= layout.stored_bytes().value, "the image is too small");
    const std::size_t step = std::size_t{layout.shape.rows} * layout.shape.columns;
    std::uint8_t* to = memory.data();
    if (is_of_cubes<T>(layout)) {
        const auto* from = reinterpret_cast<const std::uint8_t*>(kernels.values.data());
        to += for_each_cube(layout, [&](const CubeBytes& cube) {
            move_cube(cube, {from + cube.kernel, cube.taps},
                      {memory.data() + cube.memory, cube.tap_pitch}, cube.channels, cube.taps);
        });
        std::fill(to, memory.data() + layout.stored_bytes().value, std::uint8_t{0});
        return;
    }
    for_each_channel_run(layout, [&](std::size_t first, std::uint32_t channels) {
        const T* from = kernels.values.data() + first;
        if (step == 1) {
            copy_run(from, channels * sizeof(T), to);
            to += channels * sizeof(T);
            return;
        }
        for (std::uint32_t c = 0; c < channels; ++c, to += sizeof(T)) {
            std::memcpy(to, from + c * step, sizeof(T));
        }
    });
    std::fill(to, memory.data() + layout.stored_bytes().value, std::uint8_t{0});
}

template Kernels<std::int8_t> decode_weights(const WeightLayout&, std::span<const std::uint8_t>);
template Kernels<std::int16_t> decode_weights(const WeightLayout&, std::span<const std::uint8_t>);
template void encode_weights(const WeightLayout&, const Kernels<std::int8_t>&,
                             std::span<std::uint8_t>);
template void encode_weights(const WeightLayout&, const Kernels<std::int16_t>&,
                             std::span<std::uint8_t>);

namespace {

constexpr std::uint64_t surface_multiple = 128;  // source: format page, 128-byte alignment

std::uint64_t elements_of_group(const WeightLayout& layout, std::uint32_t group) {
    return layout.group_bytes(group) / layout.element;
}

/// Set bits from `begin` up to `end`.
std::uint64_t count_bits(std::span<const std::uint8_t> mask, std::uint64_t begin,
                         std::uint64_t end) {
    std::uint64_t count = 0;
    for (; begin < end && begin % 8 != 0; ++begin) {
        count += mask_bit(mask, begin) ? 1U : 0U;
    }
    for (; begin + 8 <= end; begin += 8) {
        count += static_cast<std::uint64_t>(std::popcount(mask[begin / 8]));
    }
    for (; begin < end; ++begin) {
        count += mask_bit(mask, begin) ? 1U : 0U;
    }
    return count;
}

bool all_zero(const std::uint8_t* bytes, std::size_t count) {
    return std::all_of(bytes, bytes + count, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

std::uint64_t mask_bits(const WeightLayout& layout) { return layout.used_bytes() / layout.element; }
Bytes used_mask_bytes(const WeightLayout& layout) { return Bytes(divide_up(mask_bits(layout), 8)); }
Bytes stored_mask_bytes(const WeightLayout& layout) {
    return Bytes(round_up(used_mask_bytes(layout).value, surface_multiple));
}
Bytes stored_weight_bytes(std::uint64_t used) { return Bytes(round_up(used, surface_multiple)); }

CompressedWeights compress_weights(const WeightLayout& layout,
                                   std::span<const std::uint8_t> stored) {
    NPU_CHECK(stored.size() >= layout.used_bytes().value, "the image does not cover the weights");
    const std::size_t element = layout.element.value;
    CompressedWeights result;
    result.mask.resize(stored_mask_bytes(layout).value, 0);
    std::uint64_t bit = 0;
    for (std::uint32_t group = 0; group < layout.groups(); ++group) {
        const std::size_t before = result.weights.size();
        const std::uint64_t end = bit + elements_of_group(layout, group);
        for (; bit < end; ++bit) {
            const std::uint8_t* from = stored.data() + bit * element;
            if (!all_zero(from, element)) {
                result.mask[bit / 8] |= static_cast<std::uint8_t>(1U << (bit % 8));
                result.weights.insert(result.weights.end(), from, from + element);
            }
        }
        result.sizes.push_back(static_cast<std::uint32_t>(result.weights.size() - before));
    }
    result.weights.resize(stored_weight_bytes(result.weights.size()).value, 0);
    return result;
}

CompressedGroups::CompressedGroups(const WeightLayout& layout, std::span<const std::uint8_t> mask) {
    NPU_CHECK(mask.size() >= used_mask_bytes(layout).value, "the mask does not cover the weights");
    std::uint64_t bit = 0;
    std::uint64_t bytes = 0;
    for (std::uint32_t group = 0; group < layout.groups(); ++group) {
        const std::uint64_t end = bit + elements_of_group(layout, group);
        bytes += count_bits(mask, bit, end) * layout.element.value;
        bit = end;
        weight_ends.push_back(bytes);
        mask_ends.push_back(bit);
    }
}

DecompressedWeights decompress_weights(const WeightLayout& layout,
                                       const CompressedSurfaces& surfaces) {
    const CompressedGroups groups(layout, surfaces.mask);
    NPU_CHECK(surfaces.weights.size() >= groups.weight_bytes(), "values are missing");
    NPU_CHECK(surfaces.sizes.size() >= layout.groups(), "sizes of groups are missing");
    const std::size_t element = layout.element.value;
    DecompressedWeights result;
    result.stored.resize(layout.used_bytes().value, 0);
    std::uint64_t bit = 0;
    const std::uint8_t* from = surfaces.weights.data();
    for (std::uint32_t group = 0; group < layout.groups(); ++group) {
        const std::uint64_t counted = groups.group_bytes(group);
        if (surfaces.sizes[group] != counted) {
            result.faults.push_back({.kind = CompressionFault::Kind::GroupSize,
                                     .group = group,
                                     .offset = Bytes(4) * group,
                                     .said = surfaces.sizes[group],
                                     .counted = counted});
        }
        std::uint64_t zeros = 0;
        for (; bit < groups.mask_ends[group]; ++bit) {
            if (!mask_bit(surfaces.mask, bit)) {
                continue;
            }
            if (all_zero(from, element) && ++zeros == 1) {
                const auto offset = static_cast<std::uint64_t>(from - surfaces.weights.data());
                result.faults.push_back({.kind = CompressionFault::Kind::StoredZero,
                                         .group = group,
                                         .kernel = kernel_of_element(layout, bit),
                                         .offset = Bytes(offset)});
            }
            std::memcpy(result.stored.data() + bit * element, from, element);
            from += element;
        }
        if (zeros > 0) {
            result.faults.back().counted = zeros;
        }
    }
    return result;
}

}  // namespace npuscope
