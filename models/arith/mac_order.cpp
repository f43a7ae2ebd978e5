// SPDX-License-Identifier: Apache-2.0
#include "models/arith/mac_order.h"

#include <algorithm>

#include "models/base/check.h"

namespace npuscope {

MacBlocks::MacBlocks(const KernelShape& kernel, const MacOrder& order) {
    NPU_CHECK(order.block_channels > 0 && order.row_group > 0, "a block has a size");
    elements_.reserve(std::size_t{kernel.channels} * kernel.rows * kernel.columns);
    if (order.columns_are_channels) {
        add_image(kernel, order);
    } else {
        add_direct(kernel, order);
    }
}

void MacBlocks::add_direct(const KernelShape& kernel, const MacOrder& order) {
    for (std::uint32_t first = 0; first < kernel.channels; first += order.block_channels) {
        const std::uint32_t last = std::min(kernel.channels, first + order.block_channels);
        for (std::uint32_t r = 0; r < kernel.rows; ++r) {
            for (std::uint32_t s = 0; s < kernel.columns; ++s) {
                for (std::uint32_t c = first; c < last; ++c) {
                    elements_.push_back({c, r, s});
                }
                ends_.push_back(elements_.size());
            }
        }
    }
}

void MacBlocks::add_image(const KernelShape& kernel, const MacOrder& order) {
    const std::uint32_t channels = kernel.channels * kernel.columns;
    for (std::uint32_t first = 0; first < channels; first += order.block_channels) {
        const std::uint32_t last = std::min(channels, first + order.block_channels);
        for (std::uint32_t row = 0; row < kernel.rows; row += order.row_group) {
            const std::uint32_t row_end = std::min(kernel.rows, row + order.row_group);
            for (std::uint32_t r = row; r < row_end; ++r) {
                for (std::uint32_t c = first; c < last; ++c) {
                    elements_.push_back({c % kernel.channels, r, c / kernel.channels});
                }
            }
            ends_.push_back(elements_.size());
        }
    }
}

}  // namespace npuscope
