// SPDX-License-Identifier: Apache-2.0
// Golden ONNX models on the bundled preset: numbers, patterns, restrictions, refusals. The
// repository's own few always run; the whole set where the reference data is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "models/base/error.h"
#include "sim/config/preset.h"
#include "sim/host/npy_file.h"
#include "sim/layers/explain_report.h"
#include "sim/layers/layer_session.h"
#include "sim/layers/load_graph.h"
#include "tests/support/reference_data.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

fs::path bundled() { return fs::path(NPUSCOPE_SOURCE) / "tests/golden"; }

fs::path models() { return npuscope::reference_data(NPUSCOPE_SOURCE); }

std::vector<fs::path> folders_in(const fs::path& folder) {
    std::vector<fs::path> folders;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (entry.is_directory()) {
            folders.push_back(entry.path());
        }
    }
    std::ranges::sort(folders);
    return folders;
}

Json meta_of(const fs::path& folder) { return Json::parse(std::ifstream(folder / "meta.json")); }

LayerNpuConfig preset() {
    return read_preset<LayerNpuConfig>(
        find_preset(fs::path(NPUSCOPE_SOURCE) / "configs", "npu", "tinpu_f28p55"));
}

/// The set's own lists have two spellings.
std::string pattern_name(const std::string& name) {
    if (name == "AVGPOOL non-global") {
        return "AVGPOOL";
    }
    return name == "AVGPOOL global" ? "AVGPOOL_GLOBAL" : name;
}

std::vector<std::string> wanted_patterns(const Json& meta) {
    std::vector<std::string> names;
    if (meta.contains("patterns")) {
        for (const Json& pattern : meta["patterns"]) {
            names.push_back(pattern_name(pattern["pattern"]));
        }
    } else {
        names.push_back(pattern_name(meta["pattern"]));
    }
    return names;
}

/// File of every tensor, case by case.
std::vector<std::map<std::string, std::string>> cases_of(const Json& meta) {
    if (meta.contains("cases")) {
        return meta["cases"];
    }
    std::vector<std::map<std::string, std::string>> cases;
    for (const char* number : {"0", "1"}) {
        cases.push_back({{meta["input"]["name"], std::string("input_") + number + ".npy"},
                         {meta["output"]["name"], std::string("output_") + number + ".npy"}});
    }
    return cases;
}

void expect_equal(const GraphValue& actual, const GraphValue& expected, double tolerance) {
    ASSERT_EQ(actual.type, expected.type);
    for (std::size_t i = 0; i < actual.numbers.size(); ++i) {
        ASSERT_LE(std::abs(actual.numbers[i] - expected.numbers[i]), tolerance) << "element " << i;
    }
}

void expect_golden(const fs::path& folder) {
    const Json meta = meta_of(folder);
    const LayerNpuConfig config = preset();
    const Graph graph = load_graph(folder / "model.onnx");
    const LayerPlan plan = plan_layers(graph, config);
    const double tolerance = meta["output"].value("tolerance", 0.0);
    for (const auto& files : cases_of(meta)) {
        std::map<std::string, GraphValue> inputs;
        for (const std::string& input : graph.inputs) {
            inputs[input] = read_npy(folder / files.at(input));
        }
        const LayerRun run = run_layers(graph, plan, config, inputs, {});
        std::vector<std::string> patterns;
        std::size_t on_host = 0;
        for (const LayerOperation& operation : run.operations) {
            operation.unit == "tinpu" ? patterns.push_back(operation.pattern) : void(++on_host);
        }
        EXPECT_EQ(patterns, wanted_patterns(meta));
        EXPECT_EQ(on_host, meta.value("host_ops", Json::array()).size());
        for (const auto& [name, value] : run.outputs) {
            expect_equal(value, read_npy(folder / files.at(name)), tolerance);
        }
    }
}

void expect_named(const fs::path& folder) {
    const Json meta = meta_of(folder);
    if (!meta.value("detectable_from_graph", true)) {
        return;
    }
    const LayerNpuConfig config = preset();
    const Graph graph = load_graph(folder / "model.onnx");
    const std::string text = explain_report(graph, plan_layers(graph, config), config);
    const std::string wanted = meta["restriction"].get<std::string>() + " at node '" +
                               meta["node"].get<std::string>() + "'";
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted << "\n" << text;
}

void expect_refused(const fs::path& folder) {
    try {
        load_graph(folder / "model.onnx");
        FAIL() << "read: " << meta_of(folder)["defect"];
    } catch (const ConfigError& error) {
        EXPECT_FALSE(error.sentence().empty());
        EXPECT_FALSE(error.remedy().empty());
    }
}

void each(const fs::path& folder, void (*expect)(const fs::path&)) {
    std::size_t models = 0;
    for (const fs::path& model : folders_in(folder)) {
        const ::testing::ScopedTrace trace(__FILE__, __LINE__, model.string());
        expect(model);
        ++models;
    }
    EXPECT_GT(models, 0U);
}

TEST(BundledOnnx, PatternsGiveTheGoldenNumbers) { each(bundled() / "onnx/good", expect_golden); }
TEST(BundledOnnx, NetworksGiveTheGoldenNumbers) { each(bundled() / "onnx/net", expect_golden); }
TEST(BundledOnnx, RejectsNameRestrictionAndNode) { each(bundled() / "onnx/reject", expect_named); }
TEST(BundledOnnx, BrokenFilesAreRefused) { each(bundled() / "onnx/malformed", expect_refused); }

class ReferenceOnnx : public ::testing::Test {
 protected:
    void SetUp() override {
        if (models().empty()) {
            GTEST_SKIP() << "the reference data is not there (NPUSCOPE_REFERENCE_DATA)";
        }
    }
};

TEST_F(ReferenceOnnx, PatternsGiveTheGoldenNumbers) { each(models() / "onnx/good", expect_golden); }
TEST_F(ReferenceOnnx, NetworksGiveTheGoldenNumbers) { each(models() / "onnx/net", expect_golden); }
TEST_F(ReferenceOnnx, RejectsNameRestrictionAndNode) {
    each(models() / "onnx/reject", expect_named);
}
TEST_F(ReferenceOnnx, BrokenFilesAreRefused) { each(models() / "onnx/malformed", expect_refused); }

}  // namespace
}  // namespace npuscope
