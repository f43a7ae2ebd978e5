// SPDX-License-Identifier: Apache-2.0
// A loadable planned from a model produces what `run` computes of it, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sim/config/file_io.h"
#include "tests/sim/command_line/typed.h"
#include "tests/sim/run/quantised_model.h"
#include "tests/support/sample_loadable.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;
using sample::Answer;
using test::QuantisedModel;

class LoadableRuns : public ::testing::TestWithParam<const char*> {
 protected:
    Answer typed(std::vector<std::string> arguments) const {
        arguments.insert(arguments.end(), {"--npu", GetParam()});
        return sample::typed(arguments, {run_command(), plan_command()});
    }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    void input(const std::string& name, const Sizes& sizes, std::size_t step) const {
        GraphValue value = zeros({ElementType::Int8, sizes});
        for (std::size_t i = 0; i < value.numbers.size(); ++i) {
            value.numbers[i] = static_cast<double>((i * step) % 256) - 128;
        }
        input(name, value);
    }
    void input(const std::string& name, const GraphValue& value) const {
        fs::create_directories(folder_ / "in");
        std::ofstream(path("in/" + name + ".npy"), std::ios::binary) << npy_bytes(value);
    }

    /// Compares the output `y`.
    void expect_same(const QuantisedModel& model) const {
        std::ofstream(path("model.onnx"), std::ios::binary) << model.builder.bytes();
        const Answer run = typed({"run", path("model.onnx"), "--inputs", path("in"), "--outputs",
                                  path("model"), "--compare-layers"});
        EXPECT_EQ(run.code, ExitCode::Good) << run.err;
        const Answer plan = typed({"plan", path("model.onnx"), "--loadable", path("model.fbuf")});
        ASSERT_EQ(plan.code, ExitCode::Good) << plan.err;
        const Answer loaded = typed(
            {"run", path("model.fbuf"), "--inputs", path("in"), "--outputs", path("loadable")});
        ASSERT_EQ(loaded.code, ExitCode::Good) << loaded.err;
        EXPECT_EQ(read_whole_bytes(path("model/y.npy")), read_whole_bytes(path("loadable/y.npy")));
    }

    const TempFolder folder_;
};

TEST_P(LoadableRuns, PoolWithStridesBeyondTheFirmwares) {
    QuantisedModel model(7, true);
    const std::string a = model.conv("a", model.input("x", 8, 40), 8, 16, 3);
    model.builder.output(model.max_pool("y", a, 3, 13, 1));
    input("x", {1, 8, 40, 40}, 37);
    expect_same(model);
}

TEST_P(LoadableRuns, SlopesOfChannels) {
    QuantisedModel model(8, true);
    const std::string a = model.conv("a", model.input("x", 8, 9), 8, 40, 3);
    model.builder.output(model.prelu("y", a, 40));
    input("x", {1, 8, 9, 9}, 101);
    expect_same(model);
}

/// What the host computes between two tasks does not depend on whether inputs are given.
TEST_P(LoadableRuns, ZerosWithoutInputs) {
    QuantisedModel model(9, true);
    const std::string a = model.conv("a", model.input("x", 8, 40), 8, 16, 3);
    const std::string pooled = model.max_pool("b", a, 3, 13, 1);  // by the host
    model.builder.output(model.conv("y", pooled, 16, 16, 3));
    input("x", zeros({ElementType::Int8, {1, 8, 40, 40}}));
    expect_same(model);
    const Answer plan = typed({"plan", path("model.fbuf"), "--out", path("program")});
    EXPECT_NE(plan.out.find("note: the host computes 1 part of the model"), std::string::npos)
        << plan.out;
    const Answer zeros = typed({"run", path("model.fbuf"), "--outputs", path("without")});
    ASSERT_EQ(zeros.code, ExitCode::Good) << zeros.err;
    EXPECT_EQ(read_whole_bytes(path("loadable/y.npy")), read_whole_bytes(path("without/y.npy")));
}

TEST(LoadableOutputs, OneWithoutKnownElementsIsWrittenAsBytesAlone) {
    const TempFolder folder;
    Loadable loadable = test::sdp_chain();
    loadable.tensors.back().pixel_format = 200;
    std::ofstream(folder / "chain.fbuf", std::ios::binary) << loadable_bytes(loadable);
    const Answer run = sample::typed({"run", (folder / "chain.fbuf").string(), "--npu", "nv_small",
                                      "--outputs", (folder / "out").string(), "--operations"},
                                     {run_command()});
    EXPECT_EQ(run.code, ExitCode::Good) << run.err;
    EXPECT_THAT(run.out, testing::HasSubstr("note: output 'out' is written as out.bin only, not as "
                                            "an array"));
    EXPECT_THAT(run.out, testing::HasSubstr("[no_array_output]"));
    EXPECT_TRUE(fs::exists(folder / "out/out.bin"));
    EXPECT_FALSE(fs::exists(folder / "out/out.npy"));
}

TEST_P(LoadableRuns, OutputsThatAreConstants) {
    QuantisedModel model(7, true);
    model.builder.output(model.conv("y", model.input("x", 8, 10), 8, 16, 3));
    model.builder.floats("table", {2}, {3, 4}).output("table");
    input("x", {1, 8, 10, 10}, 37);
    expect_same(model);
    EXPECT_EQ(read_whole_bytes(path("model/table.npy")),
              read_whole_bytes(path("loadable/table.npy")));
}

INSTANTIATE_TEST_SUITE_P(Presets, LoadableRuns, testing::Values("nv_small", "nv_full"),
                         [](const auto& param) { return std::string(param.param); });

class LoadableSums : public LoadableRuns {};

/// Two stages cannot express a sum of two scales in descriptors, three can.
TEST_P(LoadableSums, OfTwoScales) {
    QuantisedModel model(9, true);
    const std::string a = model.input("a", 16, 9);
    model.builder.output(model.sum("y", a, model.input("b", 16, 9)));
    input("a", {1, 16, 9, 9}, 37);
    input("b", {1, 16, 9, 9}, 101);
    expect_same(model);
}

INSTANTIATE_TEST_SUITE_P(Presets, LoadableSums, testing::Values("nv_full"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace npuscope
