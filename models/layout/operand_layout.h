// SPDX-License-Identifier: Apache-2.0
// Operands of the SDP in memory: bias, PReLU slopes, batch-norm pairs, element-wise data.
//
//     one atom = elements per atom * components * bytes per component, e.g. batch norm, 1 byte:
//     | alu c=0 | mul c=0 | alu c=1 | mul c=1 | ...      pairs adjacent: ALU value, then MUL value
//
// Per element the atoms lie like those of a feature cube; per channel all channels lie one after
// the other and only whole atoms are read. Per-layer operands live in registers, not here.
// source: NVDLA format page, "Bias Data Format" to "Element-Wise Data Format"; pair order: nv_full
// C model
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/layout/byte_run.h"
#include "models/layout/tensor.h"

namespace npuscope {

enum class OperandSpread { PerChannel, PerElement };

struct OperandSurface {
    Address base;
    Bytes line_stride;     ///< per element only
    Bytes surface_stride;  ///< per element only
    Shape shape;           ///< of the data that the operand meets
    OperandSpread spread = OperandSpread::PerChannel;
    std::uint32_t elements_per_atom = 8;
    std::uint32_t components = 1;  ///< 2: ALU and MUL
    Bytes component{1};            ///< 1 or 2, signed

    bool operator==(const OperandSurface&) const = default;

    Bytes atom() const { return component * components * elements_per_atom; }
    std::uint32_t surfaces() const {
        return static_cast<std::uint32_t>(divide_up(shape.channels, elements_per_atom));
    }
    /// Shape of one unpacked component: C x 1 x 1 per channel, C x H x W per element.
    Shape operand_shape() const;
    /// First byte of the operand of element (c, y, x); y and x are ignored per channel.
    Address address_of(std::uint32_t c, std::uint32_t y, std::uint32_t x) const;
    /// From `base` to the end of the last atom.
    Bytes extent() const;
    std::vector<ByteRun> runs() const;
};

/// Component 0 or 1 of every element out of `memory`, which starts at surface.base.
Tensor<std::int16_t> unpack_operand(const OperandSurface& surface, std::uint32_t component,
                                    std::span<const std::uint8_t> memory);
/// The reverse; other bytes of `memory` keep what they hold.
void pack_operand(const OperandSurface& surface, std::uint32_t component,
                  const Tensor<std::int16_t>& values, std::span<std::uint8_t> memory);

}  // namespace npuscope
