// SPDX-License-Identifier: Apache-2.0
#include "models/layout/feature_cube.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "models/base/check.h"
#include "models/layout/byte_transpose.h"

namespace npuscope {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are stored little-endian");

/// The part of one line that one tensor holds: `lanes` rows, `plane` elements apart.
struct LinePart {
    std::size_t atom;   ///< bytes from one pixel to the next
    std::size_t width;  ///< pixels
    std::size_t plane;  ///< elements from one channel to the next in the tensor
    std::size_t lanes;  ///< channels of this surface
};

template <class T>
LinePart part_of(const FeatureCube& cube, std::uint32_t surface) {
    NPU_CHECK(cube.element.value == sizeof(T), "the tensor's type is not the cube's element");
    NPU_CHECK(cube.atom.value % 8 == 0, "a memory atom is a multiple of 8 bytes");
    const std::size_t first = std::size_t{surface} * cube.channels_per_atom();
    return {cube.atom.value, cube.shape.width, std::size_t{cube.shape.height} * cube.shape.width,
            std::min<std::size_t>(cube.channels_per_atom(), cube.shape.channels - first)};
}

/// Up to eight lanes of one byte, eight pixels at a time.
void unpack_eight_lanes(const std::uint8_t* from, const LinePart& part, std::uint8_t* to) {
    std::array<std::uint64_t, 8> rows{};
    for (std::size_t x = 0; x < part.width; x += 8) {
        const std::size_t pixels = std::min<std::size_t>(8, part.width - x);
        for (std::size_t i = 0; i < pixels; ++i) {
            std::memcpy(&rows[i], from + (x + i) * part.atom, 8);
        }
        transpose8x8(rows);
        for (std::size_t lane = 0; lane < part.lanes; ++lane) {
            std::memcpy(to + lane * part.plane + x, &rows[lane], pixels);
        }
    }
}

void pack_eight_lanes(const std::uint8_t* from, const LinePart& part, std::uint8_t* to) {
    for (std::size_t x = 0; x < part.width; x += 8) {
        const std::size_t pixels = std::min<std::size_t>(8, part.width - x);
        std::array<std::uint64_t, 8> rows{};
        for (std::size_t lane = 0; lane < part.lanes; ++lane) {
            std::memcpy(&rows[lane], from + lane * part.plane + x, pixels);
        }
        transpose8x8(rows);
        for (std::size_t i = 0; i < pixels; ++i) {
            std::memcpy(to + (x + i) * part.atom, &rows[i], 8);
        }
    }
}

/// The part from lane `first` on, with at most `limit` lanes.
LinePart narrowed(LinePart part, std::size_t first, std::size_t limit) {
    part.lanes = part.lanes > first ? std::min(limit, part.lanes - first) : 0;
    return part;
}

void unpack_lanes(const std::uint8_t* from, const LinePart& part, std::int8_t* to) {
    for (std::size_t lane = 0; lane < part.lanes; lane += 8) {
        unpack_eight_lanes(from + lane, narrowed(part, lane, 8),
                           reinterpret_cast<std::uint8_t*>(to) + lane * part.plane);
    }
}

void unpack_lanes(const std::uint8_t* from, const LinePart& part, std::int16_t* to) {
    for (std::size_t lane = 0; lane < part.lanes; ++lane) {
        for (std::size_t x = 0; x < part.width; ++x) {
            std::memcpy(to + lane * part.plane + x, from + x * part.atom + lane * 2, 2);
        }
    }
}

void pack_lanes(const std::int8_t* from, const LinePart& part, std::uint8_t* to) {
    for (std::size_t lane = 0; lane < part.atom; lane += 8) {
        pack_eight_lanes(reinterpret_cast<const std::uint8_t*>(from) + lane * part.plane,
                         narrowed(part, lane, 8), to + lane);
    }
}

void pack_lanes(const std::int16_t* from, const LinePart& part, std::uint8_t* to) {
    std::memset(to, 0, part.width * part.atom);
    for (std::size_t lane = 0; lane < part.lanes; ++lane) {
        for (std::size_t x = 0; x < part.width; ++x) {
            std::memcpy(to + x * part.atom + lane * 2, from + lane * part.plane + x, 2);
        }
    }
}

/// Appends a run, or extends the last one if it begins where that ends.
void add_run(std::vector<ByteRun>& runs, const ByteRun& run) {
    if (!runs.empty() && runs.back().end() == run.address) {
        runs.back().bytes += run.bytes;
    } else {
        runs.push_back(run);
    }
}

std::size_t first_element(const FeatureCube& cube, CubeLine line) {
    const std::size_t channel = std::size_t{line.surface} * cube.channels_per_atom();
    return (channel * cube.shape.height + line.y) * cube.shape.width;
}

std::size_t line_offset(const FeatureCube& cube, CubeLine line) {
    return (cube.line_address(line.surface, line.y) - cube.base).value;
}

}  // namespace

Bytes FeatureCube::extent() const {
    if (shape.elements() == 0) {
        return Bytes(0);
    }
    return line_address(surfaces() - 1, shape.height - 1) + line_bytes() - base;
}

Address FeatureCube::address_of(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
    const std::uint32_t lanes = channels_per_atom();
    return line_address(c / lanes, y) + atom * x + element * (c % lanes);
}

std::vector<ByteRun> FeatureCube::runs() const {
    std::vector<ByteRun> found;
    for_each_line(*this, [&](CubeLine line) {
        add_run(found, {line_address(line.surface, line.y), line_bytes()});
    });
    return found;
}

FeatureCube packed_cube(Address base, const Shape& shape, Bytes atom, Bytes element) {
    const Bytes line = atom * shape.width;
    return {base, line, line * shape.height, shape, atom, element};
}

template <class T>
void unpack_line(const FeatureCube& cube, CubeLine line, std::span<const std::uint8_t> bytes,
                 Tensor<T>& tensor) {
    NPU_CHECK(tensor.shape == cube.shape, "tensor and cube differ in shape");
    NPU_CHECK(bytes.size() >= cube.line_bytes().value, "a line needs all its bytes");
    unpack_lanes(bytes.data(), part_of<T>(cube, line.surface),
                 tensor.values.data() + first_element(cube, line));
}

template <class T>
void pack_line(const FeatureCube& cube, CubeLine line, const Tensor<T>& tensor,
               std::span<std::uint8_t> bytes) {
    NPU_CHECK(tensor.shape == cube.shape, "tensor and cube differ in shape");
    NPU_CHECK(bytes.size() >= cube.line_bytes().value, "a line needs all its bytes");
    pack_lanes(tensor.values.data() + first_element(cube, line), part_of<T>(cube, line.surface),
               bytes.data());
}

template <class T>
Tensor<T> unpack_cube(const FeatureCube& cube, std::span<const std::uint8_t> memory) {
    NPU_CHECK(memory.size() >= cube.extent().value, "the memory image does not cover the cube");
    Tensor<T> tensor(cube.shape);
    for_each_line(cube, [&](CubeLine line) {
        unpack_line(cube, line, memory.subspan(line_offset(cube, line)), tensor);
    });
    return tensor;
}

template <class T>
void pack_cube(const FeatureCube& cube, const Tensor<T>& tensor, std::span<std::uint8_t> memory) {
    NPU_CHECK(memory.size() >= cube.extent().value, "the memory image does not cover the cube");
    for_each_line(cube, [&](CubeLine line) {
        pack_line(cube, line, tensor, memory.subspan(line_offset(cube, line)));
    });
}

template void unpack_line(const FeatureCube&, CubeLine, std::span<const std::uint8_t>,
                          Tensor<std::int8_t>&);
template void unpack_line(const FeatureCube&, CubeLine, std::span<const std::uint8_t>,
                          Tensor<std::int16_t>&);
template void pack_line(const FeatureCube&, CubeLine, const Tensor<std::int8_t>&,
                        std::span<std::uint8_t>);
template void pack_line(const FeatureCube&, CubeLine, const Tensor<std::int16_t>&,
                        std::span<std::uint8_t>);
template Tensor<std::int8_t> unpack_cube(const FeatureCube&, std::span<const std::uint8_t>);
template Tensor<std::int16_t> unpack_cube(const FeatureCube&, std::span<const std::uint8_t>);
template void pack_cube(const FeatureCube&, const Tensor<std::int8_t>&, std::span<std::uint8_t>);
template void pack_cube(const FeatureCube&, const Tensor<std::int16_t>&, std::span<std::uint8_t>);

namespace {

/// Calls visit(offset in bytes, index in the tensor) for every element of one component.
template <class Visit>
void for_each_element(const OperandSurface& surface, std::uint32_t component, Visit visit) {
    const Shape shape = surface.operand_shape();
    const std::uint64_t pixel = surface.atom().value;
    std::size_t index = 0;
    for (std::uint32_t c = 0; c < shape.channels; ++c) {
        for (std::uint32_t y = 0; y < shape.height; ++y) {
            std::uint64_t offset = (surface.address_of(c, y, 0) - surface.base).value +
                                   component * surface.component.value;
            for (std::uint32_t x = 0; x < shape.width; ++x, offset += pixel) {
                visit(static_cast<std::size_t>(offset), index++);
            }
        }
    }
}

void require_fit(const OperandSurface& surface, std::uint32_t component, std::size_t bytes) {
    NPU_CHECK(component < surface.components, "the surface has no such component");
    NPU_CHECK(surface.component.value == 1 || surface.component.value == 2,
              "a component has one or two bytes");
    NPU_CHECK(bytes >= surface.extent().value, "the memory image does not cover the operands");
}

}  // namespace

Shape OperandSurface::operand_shape() const {
    return spread == OperandSpread::PerElement ? shape : Shape{shape.channels, 1, 1};
}

Address OperandSurface::address_of(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
    const Bytes pair = component * components;
    if (spread == OperandSpread::PerChannel) {
        return base + pair * c;
    }
    return base + surface_stride * (c / elements_per_atom) + line_stride * y + atom() * x +
           pair * (c % elements_per_atom);
}

Bytes OperandSurface::extent() const {
    if (shape.elements() == 0) {
        return Bytes(0);
    }
    if (spread == OperandSpread::PerChannel) {
        return atom() * surfaces();
    }
    return surface_stride * (surfaces() - 1) + line_stride * (shape.height - 1) +
           atom() * shape.width;
}

std::vector<ByteRun> OperandSurface::runs() const {
    if (spread == OperandSpread::PerChannel) {
        return {{base, extent()}};
    }
    std::vector<ByteRun> found;
    for_each_line(*this, [&](CubeLine line) {
        const Address start = base + surface_stride * line.surface + line_stride * line.y;
        add_run(found, {start, atom() * shape.width});
    });
    return found;
}

Tensor<std::int16_t> unpack_operand(const OperandSurface& surface, std::uint32_t component,
                                    std::span<const std::uint8_t> memory) {
    require_fit(surface, component, memory.size());
    Tensor<std::int16_t> values(surface.operand_shape());
    const bool two_bytes = surface.component.value == 2;
    for_each_element(surface, component, [&](std::size_t offset, std::size_t index) {
        const unsigned low = memory[offset];
        values.values[index] =
            two_bytes
                ? static_cast<std::int16_t>(low | static_cast<unsigned>(memory[offset + 1]) << 8U)
                : static_cast<std::int16_t>(static_cast<std::int8_t>(low));
    });
    return values;
}

void pack_operand(const OperandSurface& surface, std::uint32_t component,
                  const Tensor<std::int16_t>& values, std::span<std::uint8_t> memory) {
    require_fit(surface, component, memory.size());
    NPU_CHECK(values.shape == surface.operand_shape(), "tensor and surface differ in shape");
    const bool two_bytes = surface.component.value == 2;
    for_each_element(surface, component, [&](std::size_t offset, std::size_t index) {
        const auto bits = static_cast<std::uint16_t>(values.values[index]);
        memory[offset] = static_cast<std::uint8_t>(bits & 0xFFU);
        if (two_bytes) {
            memory[offset + 1] = static_cast<std::uint8_t>(bits >> 8U);
        }
    });
}

}  // namespace npuscope
