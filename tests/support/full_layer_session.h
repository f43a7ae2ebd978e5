// SPDX-License-Identifier: Apache-2.0
// Runs layers one after the other within a test: images are loaded, registers written, the
// interrupt awaited, the output compared.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/npu/register_blocks.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/config/preset.h"
#include "sim/run/session.h"
#include "tests/support/generate_full_layer.h"

namespace npuscope {

inline SystemConfig nv_full_system() {
    const std::filesystem::path configs = std::filesystem::path(NPUSCOPE_SOURCE) / "configs";
    SystemConfig system = nvdla_system();
    nvdla_npu(system) = read_preset<NpuConfig>(find_preset(configs, "npu", "nv_full"));
    system.memory = read_preset<MemoryConfig>(find_preset(configs, "memory", "dram_50"));
    return system;
}

/// The value that a layer writes to a register.
inline std::uint32_t& value_of(std::vector<std::pair<std::string, std::uint32_t>>& writes,
                               std::string_view name) {
    const auto found =
        std::ranges::find_if(writes, [name](const auto& write) { return write.first == name; });
    if (found == writes.end()) {
        throw std::out_of_range(std::string(name));
    }
    return found->second;
}

inline MemoryImage image_of(const LayerImage& image) {
    return {image.bytes, {{0, 0, image.bytes.size()}}};
}

inline void append(Program& program, Action action) {
    Statement statement;
    statement.action = std::move(action);
    program.statements.push_back(std::move(statement));
}

inline void append_layer(Program& program, const LayerProgram& layer, AddressMap map) {
    for (const LayerImage& image : layer.images) {
        if (!image.bytes.empty()) {
            LoadMemory load;
            load.address = Address(image.address);
            load.image = image_of(image);
            load.file = "image";
            append(program, std::move(load));
        }
    }
    for (const auto& [name, value] : layer.registers) {
        const auto place = find_place(nvdla_register_blocks(map), name);
        EXPECT_TRUE(place.has_value()) << name;
        append(program, WriteRegister{name, place->address(), value});
    }
    append(program, WaitForInterrupt{});
    CheckImage check;
    check.address = Address(layer.expected.address);
    check.bytes = Bytes(layer.expected.bytes.size());
    check.image = image_of(layer.expected);
    check.file = "expected";
    append(program, std::move(check));
}

inline Program program_of(const std::vector<LayerProgram>& layers, const SystemConfig& system) {
    Program program;
    program.name = "layers";
    const char* const flush = "NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0";
    const auto place = find_place(nvdla_register_blocks(nvdla_npu(system).csb.address_map), flush);
    append(program, PollRegister{flush, place->address(), 1, 1});
    for (const LayerProgram& layer : layers) {
        append_layer(program, layer, nvdla_npu(system).csb.address_map);
    }
    return program;
}

inline Result run_layers(const std::vector<LayerProgram>& layers, const SystemConfig& system) {
    return run_program(program_of(layers, system), system, {});
}

/// Bytes that a client of the memory interface has read.
inline Bytes read_bytes(const Result& result, std::string_view client) {
    const auto found = std::ranges::find(result.traffic, client, &NamedTraffic::client);
    return found == result.traffic.end() ? Bytes(0) : found->traffic.read_bytes;
}

}  // namespace npuscope
