// SPDX-License-Identifier: Apache-2.0
// Models of floats of the reference data, quantised with their own inputs.
#include <gtest/gtest.h>

#include <filesystem>

#include "sim/command_line/input_files.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/quantise/quantise_model.h"
#include "tests/support/reference_data.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

TEST(ReferenceModels, OfFloatsLoseLittleAsIntegers) {
    constexpr double least_decibels = 25;
    const fs::path models = reference_data(NPUSCOPE_SOURCE) / "models";
    if (!fs::exists(models)) {
        GTEST_SKIP() << "the reference data are not here (NPUSCOPE_REFERENCE_DATA)";
    }
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(models)) {
        if (!entry.path().filename().string().ends_with("__float32")) {
            continue;
        }
        Graph graph = read_onnx(entry.path() / "model.onnx");
        prepare_graph(graph);
        const std::vector<Case> cases = InputReader(graph, {}).cases(entry.path() / "inputs");
        const QuantisedModel model = quantise_model(std::move(graph), cases, {});
        EXPECT_GT(output_decibels(model.rows), least_decibels) << entry.path();
        ++count;
    }
    EXPECT_GT(count, 0U);
}

}  // namespace
}  // namespace npuscope
