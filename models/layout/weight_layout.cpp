// SPDX-License-Identifier: Apache-2.0
#include "models/layout/weight_layout.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/base/check.h"

namespace npuscope {

namespace {

static_assert(std::endian::native == std::endian::little, "weights are stored little-endian");

/// `count` things that are walked in steps: first, and how many there are of them in this step.
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

/// Winograd order inside one group and one cube: kernel, then row and column.
template <class Visit>
void walk_patches(const KernelShape& shape, Step group, Visit visit) {
    for (std::uint32_t k = group.first; k < group.first + group.count; ++k) {
        for (std::uint32_t r = 0; r < shape.rows; ++r) {
            for (std::uint32_t s = 0; s < shape.columns; ++s) {
                visit(k, r, s);
            }
        }
    }
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
            if (layout.winograd) {
                walk_patches(shape, group, visit_run);
            } else {
                walk_cube(shape, group, visit_run);
            }
        });
    });
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
    const std::size_t step = std::size_t{layout.shape.rows} * layout.shape.columns;
    const std::uint8_t* from = memory.data();
    for_each_channel_run(layout, [&](std::size_t first, std::uint32_t channels) {
        T* to = kernels.values.data() + first;
        if (step == 1) {
            std::memcpy(to, from, channels * sizeof(T));
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
    for_each_channel_run(layout, [&](std::size_t first, std::uint32_t channels) {
        const T* from = kernels.values.data() + first;
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

}  // namespace npuscope
