// SPDX-License-Identifier: Apache-2.0
// Golden ONNX models on the bundled preset: values, patterns, restrictions, refusals. The few in
// the repository always run; the whole set if the reference data is available.
#include "models/base/error.h"
#include "sim/compile/explain.h"
#include "sim/compile/tinpu/layer_plan.h"
#include "sim/compile/tinpu/tinpu_target.h"
#include "sim/config/preset.h"
#include "sim/model/graph.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/run/session.h"
#include "tests/golden/golden_models.h"
#include "tests/support/families.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;
using golden::bundled;
using golden::cases_of;
using golden::each;
using golden::expect_equal;
using golden::Json;
using golden::meta_of;

LayerNpuConfig preset() { return test::tinpu_preset(fs::path(NPUSCOPE_SOURCE) / "configs"); }

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

void expect_golden(const fs::path& folder) {
    const Json meta = meta_of(folder);
    const LayerNpuConfig config = preset();
    const Graph graph = finish_graph(read_onnx(folder / "model.onnx"));
    const LayerPlan plan = plan_layers(graph, config);
    const double tolerance = meta["output"].value("tolerance", 0.0);
    for (const auto& files : cases_of(meta)) {
        std::map<std::string, GraphValue> inputs;
        for (const std::string& input : graph.inputs) {
            inputs[input] = read_npy(folder / files.at(input));
        }
        const ModelResult run = run_model(layer_program(graph, plan, config, {}, &inputs),
                                          tinpu_system(config, plan.memory), {});
        std::vector<std::string> patterns;
        std::size_t on_host = 0;
        for (const OperationRecord& operation : run.result.operations) {
            operation.unit == "tinpu" ? patterns.push_back(operation.kind) : void(++on_host);
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
    const TinpuTarget target(preset());
    const Graph graph = finish_graph(read_onnx(folder / "model.onnx"));
    const std::string text = explain_report(graph, target, *target.plan(graph, {}));
    const std::string wanted = meta["restriction"].get<std::string>() + " at node '" +
                               meta["node"].get<std::string>() + "'";
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted << "\n" << text;
}

void expect_refused(const fs::path& folder) {
    try {
        finish_graph(read_onnx(folder / "model.onnx"));
        FAIL() << "read: " << meta_of(folder)["defect"];
    } catch (const ConfigError& error) {
        EXPECT_FALSE(error.sentence().empty());
        EXPECT_FALSE(error.remedy().empty());
    }
}

TEST(BundledOnnx, PatternsGiveTheGoldenNumbers) { each(bundled() / "onnx/good", expect_golden); }
TEST(BundledOnnx, NetworksGiveTheGoldenNumbers) { each(bundled() / "onnx/net", expect_golden); }
TEST(BundledOnnx, RejectsNameRestrictionAndNode) { each(bundled() / "onnx/reject", expect_named); }
TEST(BundledOnnx, BrokenFilesAreRefused) { each(bundled() / "onnx/malformed", expect_refused); }

class ReferenceOnnx : public golden::ReferenceModels {
 protected:
    const fs::path models = golden::reference();
};

TEST_F(ReferenceOnnx, PatternsGiveTheGoldenNumbers) { each(models / "onnx/good", expect_golden); }
TEST_F(ReferenceOnnx, NetworksGiveTheGoldenNumbers) { each(models / "onnx/net", expect_golden); }
TEST_F(ReferenceOnnx, RejectsNameRestrictionAndNode) { each(models / "onnx/reject", expect_named); }
TEST_F(ReferenceOnnx, BrokenFilesAreRefused) { each(models / "onnx/malformed", expect_refused); }

}  // namespace
}  // namespace npuscope
