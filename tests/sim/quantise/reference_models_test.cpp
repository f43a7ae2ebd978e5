// SPDX-License-Identifier: Apache-2.0
// Models of the reference data: the float ones quantised with their own inputs, on the host and on
// an NPU, and all of them by their shapes only.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <vector>

#include "sim/command_line/command.h"
#include "sim/command_line/input_files.h"
#include "sim/command_line/network_files.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/quantise/quantise_model.h"
#include "tests/support/families.h"
#include "tests/support/reference_data.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

constexpr double least_decibels = 25;

/// Folders of models whose names end with this; none without the data.
std::vector<fs::path> models(const std::string& ending) {
    std::vector<fs::path> found;
    const fs::path folder = reference_data(NPUSCOPE_SOURCE) / "models";
    if (fs::exists(folder)) {
        for (const auto& entry : fs::directory_iterator(folder)) {
            if (entry.is_directory() && entry.path().filename().string().ends_with(ending)) {
                found.push_back(entry.path());
            }
        }
    }
    return found;
}

SystemConfig system_of(const char* npu) {
    SystemArguments arguments;
    arguments.families = test::families();
    arguments.npu = npu;
    return read_system(arguments);
}

/// Signal-to-noise ratio of the worst case; outputs of cases follow each other in `found`.
double worst_decibels_of(const fs::path& outputs, const std::string& name,
                         const GraphValue& found) {
    double worst = std::numeric_limits<double>::infinity();
    std::size_t at = 0;
    for (int index = 0; fs::exists(outputs / std::to_string(index)); ++index) {
        double signal = 0;
        double noise = 0;
        for (const double wanted : read_npy(outputs / std::to_string(index) / name).numbers) {
            signal += wanted * wanted;
            noise += std::pow(wanted - found.numbers.at(at++), 2);
        }
        worst = std::min(worst, 10 * std::log10(signal / noise));
    }
    EXPECT_EQ(at, found.numbers.size());
    return worst;
}

TEST(ReferenceModels, OfFloatsLoseLittleAsIntegers) {
    const std::vector<fs::path> floats = models("__float32");
    if (floats.empty()) {
        GTEST_SKIP() << "the reference data are not here (NPUSCOPE_REFERENCE_DATA)";
    }
    for (const fs::path& folder : floats) {
        Graph graph = read_onnx(folder / "model.onnx");
        prepare_graph(graph);
        const std::vector<Case> cases = InputReader(graph, {}).cases(folder / "inputs");
        const QuantisedModel model = quantise_model(std::move(graph), cases, {});
        EXPECT_GE(model.worst, least_decibels) << folder;
    }
}

/// Quantises a model for a run on an NPU; every input has the ratio at its outputs.
void expect_near_floats(const fs::path& folder, const SystemConfig& system) {
    const TempFolder out;
    NetworkFiles files{(folder / "inputs").string(), (out / "y").string()};
    files.model.calibration = files.inputs;
    const Result result = run_network_files((folder / "model.onnx").string(), files, system, {});
    EXPECT_TRUE(result.is_good()) << folder;
    for (const auto& output : fs::directory_iterator(out / "y")) {
        EXPECT_GE(worst_decibels_of(folder / "outputs", output.path().filename().string(),
                                    read_npy(output.path())),
                  least_decibels)
            << folder << ' ' << output.path();
    }
}

TEST(ReferenceModels, OfFloatsReachTheNpuByOneCommand) {
    const std::vector<fs::path> floats = models("__float32");
    if (floats.empty()) {
        GTEST_SKIP() << "the reference data are not here (NPUSCOPE_REFERENCE_DATA)";
    }
    const SystemConfig system = system_of("nv_small");
    for (const fs::path& folder : floats) {
        expect_near_floats(folder, system);
    }
}

TEST(ReferenceModels, OfFloatsReachAnNpuThatRoundsScalesOnceMore) {
    const std::vector<fs::path> floats = models("mobilenet_v3__float32");
    if (floats.empty()) {
        GTEST_SKIP() << "the reference data are not here (NPUSCOPE_REFERENCE_DATA)";
    }
    expect_near_floats(floats.front(), system_of("tinpu_f28p55"));
}

TEST(ReferenceModels, AllRunByTheirShapesAlone) {
    const std::vector<fs::path> all = models("");
    if (all.empty()) {
        GTEST_SKIP() << "the reference data are not here (NPUSCOPE_REFERENCE_DATA)";
    }
    const SystemConfig system = system_of("nv_small");
    for (const fs::path& folder : all) {
        RunOptions options;
        options.values = false;
        const Result result =
            run_network_files((folder / "model.onnx").string(), {}, system, {}, options);
        EXPECT_TRUE(result.is_good()) << folder;
        EXPECT_FALSE(result.model->segments.empty()) << folder;
    }
}

}  // namespace
}  // namespace npuscope
