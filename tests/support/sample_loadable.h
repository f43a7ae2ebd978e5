// SPDX-License-Identifier: Apache-2.0
// Small loadables for tests, made of the writer's own structs.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/loadable/descriptor_bytes.h"
#include "sim/loadable/descriptors.h"
#include "sim/loadable/loadable.h"

namespace npuscope::test {

/// A loadable under construction: memories with one address each, in the order added.
class LoadableBuilder {
 public:
    explicit LoadableBuilder(LoadableVersion version = dla_current_version) : version_(version) {}

    Loadable loadable;

    /// Its index in the addresses of the one task.
    std::int16_t add(const std::string& name, std::vector<std::uint8_t> data,
                     LoadableInterface interface = LoadableInterface::Dla) {
        LoadableMemory memory;
        memory.flags |= LoadableMemory::set;
        memory.size = data.size();
        memory.alignment = 4096;
        memory.contents = {{name, 0}};
        loadable.blobs.push_back({name, interface, 0, version_, std::move(data)});
        return place(std::move(memory));
    }
    std::int16_t place(LoadableMemory memory) {
        loadable.addresses.push_back(
            {static_cast<std::uint16_t>(loadable.memories.size()), 0, memory.size});
        loadable.memories.push_back(std::move(memory));
        return static_cast<std::int16_t>(loadable.addresses.size() - 1);
    }
    /// An int8 feature map of atoms of 8 bytes.
    std::int16_t bind(const std::string& name, bool input, const DlaCube& cube) {
        LoadableMemory memory;
        memory.flags |= input ? LoadableMemory::input : LoadableMemory::output;
        memory.size = cube.size;
        memory.alignment = 4096;
        memory.tensor = static_cast<std::uint16_t>(loadable.tensors.size());
        LoadableTensor tensor;
        tensor.name = name;
        tensor.memory = static_cast<std::uint16_t>(loadable.memories.size());
        tensor.size = cube.size;
        tensor.data_format = 3;
        tensor.type = LoadableType::Int8;
        tensor.category = 2;
        tensor.pixel_format = loadable_feature_x8;
        tensor.c = cube.channel;
        tensor.h = cube.height;
        tensor.w = cube.width;
        tensor.strides = {1, cube.line_stride, cube.surface_stride};
        loadable.tensors.push_back(tensor);
        return place(std::move(memory));
    }

 private:
    LoadableVersion version_;
};

/// A cube of int8 in atoms of 8 bytes, without gaps.
inline DlaCube small_cube(std::uint16_t channel, std::uint16_t height, std::uint16_t width) {
    DlaCube cube;
    cube.type = DlaMemory::Main;
    cube.channel = channel;
    cube.height = height;
    cube.width = width;
    cube.line_stride = width * 8U;
    cube.surface_stride = cube.line_stride * height;
    cube.size = cube.surface_stride * ((channel + 7U) / 8U);
    return cube;
}

/// Joins entries of a list.
inline std::vector<std::uint8_t> joined(const std::vector<std::vector<std::uint8_t>>& entries) {
    std::vector<std::uint8_t> all;
    for (const auto& entry : entries) {
        all.insert(all.end(), entry.begin(), entry.end());
    }
    return all;
}

/// nv_small: `operations` SDP operations one after the other, each of which adds 1 to its input of
/// 16 x 4 x 4 and clips negative results. Input `in`, output `out`.
inline Loadable sdp_chain(std::size_t operations = 2) {
    LoadableBuilder builder;
    DlaNetwork network;
    network.operations = static_cast<std::uint16_t>(operations);
    network.heads[static_cast<std::size_t>(DlaUnit::Sdp)] = 0;
    network.operations_address = 1;
    network.surfaces_address = 2;
    network.dependencies_address = 3;
    network.addresses = static_cast<std::uint16_t>(operations + 5);
    std::vector<std::vector<std::uint8_t>> lists[3];
    for (std::size_t i = 0; i < operations; ++i) {
        const bool last = i + 1 == operations;
        DlaSdp sdp;
        sdp.stages[0] = {.enable = 1,
                         .alu_type = 2,
                         .type = DlaSdpStage::add,
                         .activation = DlaSdpStage::relu,
                         .alu_operand = 1};
        DlaSdpSurfaces surfaces;
        surfaces.source = small_cube(16, 4, 4);
        surfaces.destination = small_cube(16, 4, 4);
        surfaces.source.address = static_cast<std::int16_t>(4 + i);
        surfaces.destination.address = static_cast<std::int16_t>(5 + i);
        DlaCommonOperation common;
        common.unit = DlaUnit::Sdp;
        common.dependencies = i == 0 ? 0 : 1;
        if (!last) {
            common.consumers[static_cast<std::size_t>(DlaUnit::Sdp)] = {
                static_cast<std::int16_t>(i + 1), DlaEvent::Completed, 0};
        }
        lists[0].push_back(descriptor_bytes(sdp, dla_operation_bytes));
        lists[1].push_back(descriptor_bytes(surfaces, dla_surfaces_bytes));
        lists[2].push_back(descriptor_bytes(common, dla_common_bytes));
    }
    builder.add("network", descriptor_bytes(network, dla_network_bytes));
    builder.add("operations", joined(lists[0]));
    builder.add("surfaces", joined(lists[1]));
    builder.add("dep_graph", joined(lists[2]));
    builder.bind("in", true, small_cube(16, 4, 4));
    for (std::size_t i = 0; i + 1 < operations; ++i) {
        LoadableMemory between;
        between.size = small_cube(16, 4, 4).size;
        builder.place(between);
    }
    builder.bind("out", false, small_cube(16, 4, 4));
    LoadableTask task;
    for (std::size_t i = 0; i < builder.loadable.addresses.size(); ++i) {
        task.addresses.push_back(static_cast<std::uint16_t>(i));
    }
    builder.loadable.tasks.push_back(task);
    builder.loadable.submits.push_back({0});
    return builder.loadable;
}

}  // namespace npuscope::test
