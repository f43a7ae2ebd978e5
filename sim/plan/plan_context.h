// SPDX-License-Identifier: Apache-2.0
// What the planners of the layers share: the machine to plan for, the addresses given so far, and
// the plan that grows.
#pragma once

#include <cstdint>
#include <string>

#include "sim/plan/conv_tiling.h"
#include "sim/plan/memory_map.h"
#include "sim/plan/plan.h"
#include "sim/plan/synthetic_values.h"

namespace npuscope {

struct PlanContext {
    TilingCosts costs;
    MemoryMap memory;
    std::uint64_t seed = 1;
    bool images = true;  ///< make values up; otherwise images are empty
    Plan plan;

    const NpuConfig& npu() const { return costs.npu; }
    Bytes atom() const { return costs.npu.datapath.memory_atom; }
    std::uint32_t channels_per_atom() const { return static_cast<std::uint32_t>(atom().value); }

    /// Room for a layer's result, without gaps.
    StoredCube place_cube(const Shape& shape, std::uint32_t lanes) {
        const auto per_atom = channels_per_atom();
        const std::uint32_t full = (shape.channels - 1) / lanes;
        const Shape stored{full * per_atom + (shape.channels - 1) % lanes + 1, shape.height,
                           shape.width};
        StoredCube result{packed_cube(Address(0), stored, atom()), lanes};
        result.cube.base = memory.place(result.cube.extent());
        return result;
    }
    /// An image of its own at a new address; the bytes to fill, none where images are left out.
    /// The span is good until the next image.
    std::pair<Address, std::span<std::uint8_t>> place_image(const std::string& name, Bytes bytes) {
        PlannedImage placed{name, memory.place(bytes), {}};
        if (images) {
            placed.image.bytes.resize(bytes.value);
            placed.image.runs.push_back({0, 0, bytes.value});
        }
        plan.images.push_back(std::move(placed));
        PlannedImage& image = plan.images.back();
        return {image.address, image.image.bytes};
    }
    /// The stream of the image placed last.
    RandomStream stream() const { return {seed, plan.images.size()}; }

    std::size_t add(Operation operation) {
        plan.operations.push_back(std::move(operation));
        return plan.operations.size() - 1;
    }
};

/// A cube as SDP and PDP address it: whole atoms of channels.
inline FeatureCube whole_atoms(FeatureCube cube) {
    cube.shape.channels = cube.surfaces() * cube.channels_per_atom();
    return cube;
}

/// A surface's operand, one byte an element, as the SDP's read DMA fetches it.
inline SdpOperandFetch element_operand(const FeatureCube& cube) {
    const FeatureCube whole = whole_atoms(cube);
    SdpOperandFetch fetch;
    fetch.alu = true;
    fetch.surface = {.base = whole.base,
                     .line_stride = whole.line_stride,
                     .surface_stride = whole.surface_stride,
                     .shape = whole.shape,
                     .spread = OperandSpread::PerElement,
                     .elements_per_atom = whole.channels_per_atom(),
                     .components = 1,
                     .component = Bytes(1)};
    return fetch;
}

/// A stage that adds an operand from memory, shifted left.
inline SdpXStage add_stage(unsigned shift, bool relu) {
    SdpXStage stage;
    stage.bypass = false;
    stage.alu.bypass = false;
    stage.alu.source = OperandSource::Memory;
    stage.alu.shift_left = shift;
    stage.relu = relu;
    return stage;
}

}  // namespace npuscope
