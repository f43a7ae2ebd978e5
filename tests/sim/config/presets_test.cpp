// SPDX-License-Identifier: Apache-2.0
// The presets of the repository, read as a user's run reads them.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "models/memory/memory_config.h"
#include "models/npu/npu_config.h"
#include "sim/config/file_io.h"
#include "sim/config/preset.h"
#include "sim/config/system_config.h"
#include "sim/config/yaml_reader.h"
#include "sim/config/yaml_writer.h"

namespace npuscope {
namespace {

std::string text_of(const std::string& preset) {
    return read_whole_file(find_preset(configs_folder(), "npu", preset).path);
}

/// Presets of NPUs that registers drive; those of other families have their own fields.
std::vector<std::string> nvdla_presets() {
    std::vector<std::string> names = list_presets(configs_folder(), "npu");
    std::erase_if(names, [](const std::string& name) {
        return parse_yaml(text_of(name), name).find("family") != nullptr;
    });
    return names;
}

NpuConfig read_npu(const std::string& name) {
    return read_preset<NpuConfig>(find_preset(configs_folder(), "npu", name));
}

TEST(Presets, AllPublishedConfigurationsAreThere) {
    const std::vector<std::string> published{"kl520",
                                             "kl630",
                                             "kl720",
                                             "kl730",
                                             "nv_full",
                                             "nv_large",
                                             "nv_medium_1024_full",
                                             "nv_medium_512",
                                             "nv_small",
                                             "nv_small_256",
                                             "nv_small_256_full"};
    EXPECT_TRUE(std::ranges::includes(nvdla_presets(), published));
}

TEST(Presets, EveryNpuIsReadUnderItsOwnNameAndSurvivesARoundTrip) {
    for (const std::string& name : nvdla_presets()) {
        const NpuConfig config = read_npu(name);
        EXPECT_EQ(config.name, name);
        const std::string text = write_yaml(config);
        EXPECT_EQ(write_yaml(read_yaml<NpuConfig>(text, "round.yaml")), text);
    }
}

TEST(Presets, EveryMemoryIsReadAndHoldsWhereTracesPutTheirData) {
    const auto names = list_presets(configs_folder(), "memory");
    EXPECT_GE(names.size(), 4U);
    for (const std::string& name : names) {
        const auto config =
            read_preset<MemoryConfig>(find_preset(configs_folder(), "memory", name));
        ASSERT_EQ(config.regions.size(), 2U) << name;
        EXPECT_EQ(config.regions[0].base, Address(0x80000000)) << name;
    }
}

TEST(Presets, WidthsAreThoseOfThePublishedSpecifications) {
    struct Row {
        const char* name;
        std::uint32_t atomic_c;
        std::uint32_t atomic_k;
        std::uint64_t atom;
        std::uint64_t buffer_kib;
    };
    // source: NVDLA hardware specification files of each configuration
    const Row rows[] = {{"nv_small", 8, 8, 8, 128},
                        {"nv_small_256", 32, 8, 8, 128},
                        {"nv_small_256_full", 32, 8, 8, 128},
                        {"nv_medium_512", 32, 16, 16, 512},
                        {"nv_medium_1024_full", 32, 32, 32, 512},
                        {"nv_large", 64, 32, 32, 512},
                        {"nv_full", 64, 32, 32, 512}};
    for (const Row& row : rows) {
        const NpuConfig config = read_npu(row.name);
        EXPECT_EQ(config.datapath.atomic_c, row.atomic_c) << row.name;
        EXPECT_EQ(config.datapath.atomic_k, row.atomic_k) << row.name;
        EXPECT_EQ(config.datapath.memory_atom, Bytes(row.atom)) << row.name;
        EXPECT_EQ(config.cbuf.capacity(), Bytes(row.buffer_kib << 10)) << row.name;
    }
}

TEST(Presets, EveryHardwareNumberNamesItsSource) {
    for (const std::string& name : nvdla_presets()) {
        std::istringstream lines(text_of(name));
        for (std::string line; std::getline(lines, line);) {
            const bool opens_a_group = line.ends_with(":");
            const bool plain = line.starts_with("#") || line.starts_with("name:") || opens_a_group;
            EXPECT_TRUE(plain || line.find("# source: ") != std::string::npos)
                << name << ": " << line;
        }
    }
}

}  // namespace
}  // namespace npuscope
