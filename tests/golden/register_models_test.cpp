// SPDX-License-Identifier: Apache-2.0
// Golden ONNX models on NPUs with registers, from files to files: every one is planned and produces
// its values, on the NPU or the host.
#include <gmock/gmock-matchers.h>

#include "sim/command_line/command.h"
#include "sim/command_line/network_files.h"
#include "sim/model/graph.h"
#include "tests/golden/golden_models.h"
#include "tests/support/families.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;
using golden::bundled;
using golden::Json;

std::string file_name(std::string tensor) {
    std::ranges::replace(tensor, '/', '_');
    return tensor + ".npy";
}

void expect_case(const fs::path& model, const Json& meta, const std::string& npu,
                 const std::map<std::string, std::string>& files, std::size_t& on_npu) {
    const TempFolder folder;
    fs::create_directories(folder / "in");
    for (const auto& [tensor, file] : files) {
        if (file.starts_with("input")) {
            fs::copy_file(model / file, folder / "in" / file_name(tensor));
        }
    }
    SystemArguments arguments;
    arguments.families = test::families();
    arguments.npu = npu;
    const Result result = run_network_files((model / "model.onnx").string(),
                                            {(folder / "in").string(), (folder / "out").string()},
                                            read_system(arguments), {});
    EXPECT_NE(result.status(), RunStatus::Fail);
    on_npu += result.model->segments.empty() ? 0U : 1U;
    const double tolerance = meta["output"].value("tolerance", 0.0);
    for (const auto& [tensor, file] : files) {
        if (file.starts_with("output")) {
            golden::expect_equal(read_npy(folder / "out" / file_name(tensor)),
                                 read_npy(model / file), tolerance);
        }
    }
}

/// Every case of every model, on both presets. Half of them or more run on the NPU.
void expect_golden(const fs::path& folder) {
    for (const char* npu : {"nv_small", "nv_full"}) {
        std::size_t on_npu = 0;
        std::size_t cases = 0;
        for (const fs::path& model : golden::folders_in(folder)) {
            const ::testing::ScopedTrace trace(__FILE__, __LINE__, model.string() + " on " + npu);
            const Json meta = golden::meta_of(model);
            for (const auto& files : golden::cases_of(meta)) {
                expect_case(model, meta, npu, files, on_npu);
                ++cases;
            }
        }
        EXPECT_GT(cases, 0U);
        EXPECT_GE(2 * on_npu, cases) << npu;
    }
}

TEST(BundledModels, PatternsGiveTheGoldenNumbers) { expect_golden(bundled() / "onnx/good"); }
TEST(BundledModels, NetworksGiveTheGoldenNumbers) { expect_golden(bundled() / "onnx/net"); }

class ReferenceModels : public golden::ReferenceModels {};
TEST_F(ReferenceModels, PatternsGiveTheGoldenNumbers) {
    expect_golden(golden::reference() / "onnx/good");
}
TEST_F(ReferenceModels, NetworksGiveTheGoldenNumbers) {
    expect_golden(golden::reference() / "onnx/net");
}

}  // namespace
}  // namespace npuscope
