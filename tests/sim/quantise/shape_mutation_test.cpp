// SPDX-License-Identifier: Apache-2.0
// Thousands of damaged models, the same in every run, read by their shapes and as integers: refused
// with a message, or turned into a model that can be written and read again.
#include <gtest/gtest.h>

#include "sim/model/onnx_reader.h"
#include "sim/model/onnx_writer.h"
#include "sim/model/prepare_graph.h"
#include "sim/quantise/quantise_model.h"
#include "tests/sim/fuzz/mutate.h"
#include "tests/support/float_model.h"

namespace npuscope {
namespace {

void take(const std::string& bytes) {
    Graph graph = parse_onnx(bytes, "damaged.onnx", {{}, true});
    prepare_graph(graph);
    quantise_by_shape(graph);
    const std::string written = onnx_bytes(graph, "1");
    if (graph.left_out.empty()) {
        parse_onnx(written, "written.onnx", {{}, true});
    }
    finish_graph(graph, ScaleForm::Rounded);
}

TEST(ShapeMutation, DamagedModelsAreRefusedOrQuantised) {
    const std::string seed = test::float_model(11).bytes();
    EXPECT_NO_THROW(take(seed));
    fuzz::Mutator mutator(11);
    unsigned taken = 0;
    for (int i = 0; i < 4000; ++i) {
        const std::string text = mutator.damage(seed);
        try {
            take(text);
            ++taken;
        } catch (const ConfigError& error) {
            EXPECT_FALSE(std::string(error.what()).empty());
        } catch (const std::exception& error) {
            FAIL() << i << ": " << error.what();
        }
    }
    EXPECT_GT(taken, 30U);
}

}  // namespace
}  // namespace npuscope
