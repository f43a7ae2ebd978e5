// SPDX-License-Identifier: Apache-2.0
// Tasks of a loadable that the host computes, like the runtime's emulator: powers and softmax of
// feature maps in the NPU's memory. A network of 256 bytes, a list of operations, and for each two
// buffers of 256 bytes:
//
//     operation   first compilers 16 bytes: kind, then values from byte 1 on; since scales of int8
//                 24 bytes: kind, scales of input and output from 4 on, then values from 12 on
//     buffer      address, [offset,] size, format, width, height, channels, line, surface stride;
//                 the offset, and a format of 8-byte atoms, were added with the scales
//
// source: NVDLA sw, umd/core/src/common: emu_interface.h, EMUInterface.h; Emulator.cpp
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/quantity.h"
#include "sim/loadable/loadable.h"

namespace npuscope {

enum class EmulatedKind : std::uint8_t { Power = 0, Softmax = 1 };
enum class EmulatedFormat : std::uint8_t { Int8, Int8Narrow, Fp16 };

struct EmulatedBuffer {
    std::int16_t address = -1;  ///< in the task's addresses
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    EmulatedFormat format = EmulatedFormat::Int8;
    std::uint16_t width = 0;
    std::uint16_t height = 0;
    std::uint16_t channel = 0;
    std::uint32_t line_stride = 0;
    std::uint32_t surface_stride = 0;

    /// Byte offset of an element from the buffer's start.
    std::uint64_t place(std::uint32_t c, std::uint32_t h, std::uint32_t w) const;
    /// Byte after the last element.
    std::uint64_t extent() const;
    std::uint64_t elements() const { return std::uint64_t{width} * height * channel; }
};

struct EmulatedOperation {
    EmulatedKind kind = EmulatedKind::Power;
    float input_scale = 1;
    float output_scale = 1;
    float power = 1;
    float scale = 1;
    float shift = 0;
    EmulatedBuffer source;
    EmulatedBuffer destination;

    std::string_view name() const { return kind == EmulatedKind::Power ? "Power" : "Softmax"; }
};

/// Bytes of a task's list, beginning at an address.
using EmulatedList =
    std::function<std::span<const std::uint8_t>(std::int16_t index, const std::string& what)>;

/// The operations of a task. `newest`: the newest version of the NPU's interface in the loadable,
/// which decides where the lists' sizes do not. The text of ConfigErrors begins with `who`.
std::vector<EmulatedOperation> read_emulated(const EmulatedList& list,
                                             const LoadableVersion& newest, const std::string& who,
                                             const std::string& file);

/// Computes it. `source` and `destination` begin where the buffers do and cover their extents; they
/// may be the same bytes.
void emulate(const EmulatedOperation& operation, std::span<const std::uint8_t> source,
             std::span<std::uint8_t> destination);

}  // namespace npuscope
