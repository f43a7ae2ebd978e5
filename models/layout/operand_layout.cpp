// SPDX-License-Identifier: Apache-2.0
#include "models/layout/operand_layout.h"

#include "models/base/check.h"

namespace npuscope {

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
    for (std::uint32_t surface = 0; surface < surfaces(); ++surface) {
        for (std::uint32_t y = 0; y < shape.height; ++y) {
            const Address start = base + surface_stride * surface + line_stride * y;
            if (!found.empty() && found.back().end() == start) {
                found.back().bytes += atom() * shape.width;
            } else {
                found.push_back({start, atom() * shape.width});
            }
        }
    }
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
