// SPDX-License-Identifier: Apache-2.0 Cubes in memory: feature data, the operands of the SDP, and
// the runs of bytes that they are made of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/base/quantity.h"
#include "models/layout/precision.h"
#include "models/layout/tensor.h"

namespace npuscope {

/// A contiguous run of memory: what a layout passes to the code that moves bytes.
struct ByteRun {
    Address address;
    Bytes bytes;

    bool operator==(const ByteRun&) const = default;
    Address end() const { return address + bytes; }
};

/// Feature data in memory: the one format that every unit of the NPU reads and writes.
///
///     surface 0   line 0  | atom x=0 | atom x=1 | ... | gap |
///                 line 1  | atom x=0 | atom x=1 | ... | gap |
///     surface 1   ...
///
///     atom        | c=0 | c=1 | ... | c=E-1 |     E = atom bytes / element bytes b, one pixel
///
///     byte of (c, y, x) = base + (c / E) * surface_stride + y * line_stride
///                       + x * atom + (c % E) * b
///     b
///
/// Lanes beyond the last channel are ignored when read; gaps between lines are not touched.
/// source: NVDLA format page, "Feature Data Format"; atoms of 8 and 16 bytes: nv_small, nv_medium
/// traces
struct FeatureCube {
    Address base;
    Bytes line_stride;
    Bytes surface_stride;
    Shape shape;
    Bytes atom{8};
    Bytes element{1};
    /// Lines of each of several cubes (the batches) of one operation: shape.height counts the lines
    /// of all of them, one batch below the other. 0: one cube.
    std::uint32_t batch_lines = 0;
    Bytes batch_stride{};  ///< from one batch to the next

    bool operator==(const FeatureCube&) const = default;

    std::uint32_t channels_per_atom() const { return static_cast<std::uint32_t>(atom / element); }
    std::uint32_t surfaces() const {
        return static_cast<std::uint32_t>(divide_up(shape.channels, channels_per_atom()));
    }
    Bytes line_bytes() const { return atom * shape.width; }
    std::uint64_t lines() const { return std::uint64_t{surfaces()} * shape.height; }
    bool line_packed() const { return line_stride == line_bytes(); }
    bool surface_packed() const { return surface_stride == line_stride * lines_of_batch(); }
    std::uint32_t lines_of_batch() const { return batch_lines == 0 ? shape.height : batch_lines; }
    /// From `base` to the end of the last line; 0 for an empty cube.
    Bytes extent() const;
    Address line_address(std::uint32_t surface, std::uint32_t y) const {
        const Address first = base + surface_stride * surface;
        if (batch_lines == 0) {
            return first + line_stride * y;
        }
        return first + batch_stride * (y / batch_lines) + line_stride * (y % batch_lines);
    }
    Address address_of(std::uint32_t c, std::uint32_t y, std::uint32_t x) const;
    /// Every line once, surface by surface; neighbours without a gap are joined into one run.
    std::vector<ByteRun> runs() const;
};

/// Strides without gaps.
FeatureCube packed_cube(Address base, const Shape& shape, Bytes atom, Bytes element = Bytes(1));

/// Which line of the cube: the lines of one surface follow each other.
struct CubeLine {
    std::uint32_t surface = 0;
    std::uint32_t y = 0;
};
/// Lines of a feature cube or an operand, in the order of memory.
template <class Surface, class Visit>
void for_each_line(const Surface& in, Visit visit) {
    for (std::uint32_t surface = 0; surface < in.surfaces(); ++surface) {
        for (std::uint32_t y = 0; y < in.shape.height; ++y) {
            visit(CubeLine{surface, y});
        }
    }
}

/// Converts one line between its bytes in memory (line_bytes() of them) and a tensor of shape
/// cube.shape. T is std::int8_t or std::int16_t, matching cube.element. Lanes beyond the last
/// channel are skipped when unpacking and become 0 when packing.
template <class T>
void unpack_line(const FeatureCube& cube, CubeLine line, std::span<const std::uint8_t> bytes,
                 Tensor<T>& tensor);
template <class T>
void pack_line(const FeatureCube& cube, CubeLine line, const Tensor<T>& tensor,
               std::span<std::uint8_t> bytes);

/// The whole cube out of `memory`, which starts at cube.base and covers extent().
template <class T>
Tensor<T> unpack_cube(const FeatureCube& cube, std::span<const std::uint8_t> memory);
/// The reverse: lanes beyond the last channel become 0, gaps in `memory` are unchanged.
template <class T>
void pack_cube(const FeatureCube& cube, const Tensor<T>& tensor, std::span<std::uint8_t> memory);

/// Operands of the SDP in memory: bias, PReLU slopes, batch-norm pairs, element-wise data.
///
///     one atom = elements per atom * components * bytes per component, e.g. batch norm, 1 byte:
///     | alu c=0 | mul c=0 | alu c=1 | mul c=1 | ...      pairs adjacent: ALU value, then MUL value
///
/// Per element, atoms are placed like those of a feature cube; per channel, all channels follow
/// each other and only whole atoms are read. Per-layer operands are in registers, not here.
/// source: NVDLA format page, "Bias Data Format" to "Element-Wise Data Format"; pair order: nv_full
/// C model
enum class OperandSpread { PerChannel, PerElement };

struct OperandSurface {
    Address base;
    Bytes line_stride;     ///< per element only
    Bytes surface_stride;  ///< per element only
    Shape shape;           ///< of the data that the operand is combined with
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
/// The reverse; other bytes of `memory` are unchanged.
void pack_operand(const OperandSurface& surface, std::uint32_t component,
                  const Tensor<std::int16_t>& values, std::span<std::uint8_t> memory);

/// A result passed on the fly from one unit to the next, not through memory: from the accumulators
/// to the SDP, from the SDP to the PDP.
struct FlyingCube {
    Shape shape;
    std::uint32_t batches = 1;
    bool winograd = false;  ///< in the order of Winograd tiles
    Precision precision = Precision::Int8;

    bool operator==(const FlyingCube&) const = default;
};

}  // namespace npuscope
