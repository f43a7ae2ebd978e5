// SPDX-License-Identifier: Apache-2.0
// NVIDIA's driver regression: every flatbuffer runs on the NPU that it is for, and leaves the bytes
// of its golden dump where there is one.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "sim/check/check_report.h"
#include "sim/command_line/command.h"
#include "sim/command_line/loadable_files.h"
#include "tests/support/families.h"
#include "tests/support/reference_data.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

fs::path regression() {
    const fs::path data = reference_data(NPUSCOPE_SOURCE);
    return data.empty() ? data : data / "nvdla/sw_regression";
}

SystemConfig system_of(const std::string& name) {
    SystemArguments arguments;
    arguments.families = test::families();
    arguments.npu = name.ends_with("_small")   ? "nv_small"
                    : name.ends_with("_large") ? "nv_large"
                                               : "nv_full";
    return read_system(arguments);
}

/// NAME_123abc/dla/o_000000.dimg.
std::optional<fs::path> golden_of(const std::string& name) {
    constexpr std::size_t digits = 6;
    for (const auto& entry : fs::directory_iterator(regression() / "golden")) {
        const std::string folder = entry.path().filename().string();
        if (folder.size() == name.size() + 1 + digits && folder.starts_with(name + "_")) {
            return entry.path() / "dla/o_000000.dimg";
        }
    }
    return std::nullopt;
}

std::vector<std::string> regression_names() {
    std::vector<std::string> names;
    if (!regression().empty() && fs::exists(regression())) {
        for (const auto& entry : fs::recursive_directory_iterator(regression() / "flatbufs/kmd")) {
            if (entry.is_regular_file()) {
                names.push_back(entry.path().filename().string());
            }
        }
    }
    std::ranges::sort(names);
    return names.empty() ? std::vector<std::string>{"none"} : names;
}

class ReferenceLoadable : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceLoadable, GivesItsGoldenBytes) {
    if (GetParam() == "none") {
        GTEST_SKIP() << "no reference data: set NPUSCOPE_REFERENCE_DATA to run the regression";
    }
    const std::string file = GetParam();
    const std::string name = file.substr(0, file.size() - std::string("_fbuf").size());
    const std::string path =
        (regression() / "flatbufs/kmd" / name.substr(0, name.find('_')) / file).string();
    const SystemConfig system = system_of(name);
    const LoadableProgram made = read_loadable_program(path, {}, system);
    const CheckReport report = check_program(made.program, {nvdla_npu(system), system.memory});
    for (const Diagnostic& finding : report.findings) {  // of BDMA and RUBIK moves only
        EXPECT_EQ(finding.severity, Severity::Note) << finding.sentence;
    }
    SurfaceWishes wishes;
    const auto golden = golden_of(name);
    if (golden) {
        wishes.golden.push_back(made.outputs.at(0).name + "=" + golden->string());
    }
    const Result result = run_loadable_file(path, {}, system, wishes, {});
    EXPECT_TRUE(result.findings.empty());
    EXPECT_EQ(result.status(), golden ? RunStatus::Pass : RunStatus::Unchecked);
    EXPECT_GT(result.cycles, Cycles(0));
}

INSTANTIATE_TEST_SUITE_P(Regression, ReferenceLoadable, testing::ValuesIn(regression_names()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace npuscope
