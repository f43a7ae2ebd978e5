// SPDX-License-Identifier: Apache-2.0
// Every preset runs programs that it has never seen: random legal layers of every kind, whose
// output bytes a plain oracle knows. A failure names preset, kind and seed; generate_programs
// reproduces the same folder.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "tests/support/generate_program.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t seed_count = 6;

struct Ended {
    int code = -1;
    std::string out;
};

Ended shell(const std::string& arguments) {
    const std::string line = std::string(NPUSCOPE_EXECUTABLE) + " " + arguments + " 2>/dev/null";
    Ended ended;
    std::FILE* pipe = ::popen(line.c_str(), "r");
    if (pipe == nullptr) {
        return ended;
    }
    std::array<char, 4096> buffer{};
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        ended.out.append(buffer.data(), got);
    }
    ended.code = WEXITSTATUS(::pclose(pipe));
    return ended;
}

std::string run_arguments(const GeneratedProgram& program, const fs::path& folder,
                          std::string_view preset) {
    std::string arguments = "run '" + (folder / "program.cfg").string() + "' --npu " +
                            std::string(preset) + " --json -";
    for (const std::string& setting : program.settings) {
        arguments += " --set " + setting;
    }
    return arguments;
}

void expect_pass(const PresetParameters& preset, LayerKind kind, std::uint64_t seed) {
    const GeneratedProgram program = generate_program(preset, kind, seed);
    SCOPED_TRACE(program.name);
    const TempFolder own;
    const fs::path folder = own / program.name;
    write_folder(program, folder);
    const Ended ended = shell(run_arguments(program, folder, preset.name));
    EXPECT_EQ(ended.code, 0);
    const auto result = nlohmann::json::parse(ended.out, nullptr, false);
    ASSERT_TRUE(result.is_object()) << ended.out;
    EXPECT_EQ(result.value("status", ""), "pass") << result["findings"];
    ASSERT_EQ(result["checks"].size(), program.expected.size());
}

using PresetAndKind = std::tuple<std::string, LayerKind>;

class GeneratedPrograms : public testing::TestWithParam<PresetAndKind> {};

TEST_P(GeneratedPrograms, MatchTheOracle) {
    const auto& [name, kind] = GetParam();
    const PresetParameters& preset = generator_preset(name);
    for (std::uint64_t seed = 1; seed <= seed_count; ++seed) {
        expect_pass(preset, kind, seed);
    }
}

std::vector<PresetAndKind> all_supported() {
    std::vector<PresetAndKind> list;
    for (const PresetParameters& preset : generator_presets()) {
        for (const LayerKind kind : layer_kinds()) {
            if (supports(preset, kind)) {
                list.emplace_back(preset.name, kind);
            }
        }
    }
    return list;
}

INSTANTIATE_TEST_SUITE_P(EveryPreset, GeneratedPrograms, testing::ValuesIn(all_supported()),
                         [](const auto& instance) {
                             return std::get<0>(instance.param) + "_" +
                                    std::string(layer_kind_name(std::get<1>(instance.param)));
                         });

}  // namespace
}  // namespace npuscope
