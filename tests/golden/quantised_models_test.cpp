// SPDX-License-Identifier: Apache-2.0
// Quantised networks as ONNX Runtime, PyTorch and TensorFlow write them, if the reference data is
// available: every one is planned and runs, with nearly all of its MACs on the NPU.
#include <gtest/gtest.h>

#include <string>

#include "sim/command_line/network_files.h"
#include "tests/golden/golden_models.h"
#include "tests/support/families.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

/// Attention multiplies activations with each other, which stay on the host.
constexpr const char* attention = "vit";
constexpr double least_of_attention = 0.8;

struct Row {
    const char* npu;
    double least;  ///< share of the MACs that run on the NPU
};

class QuantisedModels : public golden::ReferenceModels,
                        public ::testing::WithParamInterface<Row> {};

double share_of_npu(const Result& result) {
    double npu = 0;
    double all = 0;
    for (const LayerRecord& layer : result.layers) {
        all += static_cast<double>(layer.macs);
        npu += layer.on_host ? 0 : static_cast<double>(layer.macs);
    }
    return all == 0 ? 0 : npu / all;
}

TEST_P(QuantisedModels, RunOnTheNpu) {
    const fs::path models = golden::reference() / "models";
    if (!fs::exists(models)) {
        GTEST_SKIP() << "no quantised networks in the reference data";
    }
    SystemArguments arguments;
    arguments.families = test::families();
    arguments.npu = GetParam().npu;
    const SystemConfig system = read_system(arguments);
    for (const fs::path& folder : golden::folders_in(models)) {
        const std::string name = folder.filename().string();
        if (name.find("__q") == std::string::npos) {
            continue;
        }
        const ::testing::ScopedTrace trace(__FILE__, __LINE__, name);
        const Result result =
            run_network_files((folder / "model.onnx").string(), {}, system, {}, {});
        EXPECT_EQ(result.status(), RunStatus::Unchecked);
        EXPECT_GE(share_of_npu(result),
                  name.starts_with(attention) ? least_of_attention : GetParam().least);
    }
}

INSTANTIATE_TEST_SUITE_P(Npus, QuantisedModels,
                         ::testing::Values(Row{"nv_small", 0.99}, Row{"nv_full", 0.99},
                                           Row{"kl720", 0.99}, Row{"tinpu_f28p55", 0.95}),
                         [](const auto& row) { return std::string(row.param.npu); });

}  // namespace
}  // namespace npuscope
