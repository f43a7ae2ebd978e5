// SPDX-License-Identifier: Apache-2.0
// Models as register programs: the simulated NVDLA produces the values of the host's reference
// operators, and what no register program can do is left to the host, with the node and the reason.
#include "sim/compile/nvdla/nvdla_target.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sim/command_line/command.h"
#include "sim/command_line/network_files.h"
#include "sim/compile/explain.h"
#include "sim/config/npy_file.h"
#include "sim/config/text_table.h"
#include "tests/sim/compile/nvdla/chain.h"
#include "tests/sim/compile/tinpu/layer_fixture.h"
#include "tests/support/families.h"
#include "tests/support/temp_folder.h"

namespace npuscope::nvdla_target_test {
namespace {

namespace fs = std::filesystem;
using test::Chain;
using ::testing::HasSubstr;

void write_file(const fs::path& path, const std::string& bytes) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
}

/// The output of the model on a preset, and that of the host's operators.
void expect_equal(Chain& chain, const std::string& npu, ElementType element = ElementType::Int8) {
    const Graph graph = chain.graph();
    const auto inputs = test::some_inputs(graph, element, 9);
    const GraphValue wanted =
        test::run_on(graph, test::host_only(), inputs).outputs.begin()->second;
    EXPECT_GT(std::set<double>(wanted.numbers.begin(), wanted.numbers.end()).size(), 2U);

    const TempFolder folder;
    write_file(folder / "model.onnx", chain.builder.bytes());
    write_file(folder / "in/x.npy", npy_bytes(inputs.at("x")));
    SystemArguments arguments;
    arguments.families = test::families();
    arguments.npu = npu;
    const Result result = run_network_files((folder / "model.onnx").string(),
                                            {(folder / "in").string(), (folder / "out").string()},
                                            read_system(arguments), {});
    EXPECT_EQ(result.status(), RunStatus::Unchecked);
    EXPECT_EQ(result.model->host.operators, 0U);
    const GraphValue given = read_npy(folder / "out" / (graph.outputs.front() + ".npy"));
    EXPECT_EQ(given.type.sizes, wanted.type.sizes);
    EXPECT_EQ(given.numbers, wanted.numbers) << npu;
}
/// Each builds its chain anew: a graph takes the output.
template <class Build>
void expect_equal_everywhere(Build build, ElementType element = ElementType::Int8) {
    for (const char* npu : {"nv_small", "nv_full"}) {
        Chain chain;
        build(chain);
        expect_equal(chain, npu, element);
    }
}

TEST(RegisterNetwork, ConvolutionsKeepTheirFloors) {
    expect_equal_everywhere([](Chain& chain) {
        chain.input({1, 3, 7, 6}).conv("a", {10, 3, 3, 3}, 127, 1);
        chain.scaled("a", {-77}, {1}, {1024}).clip("a_clip", -128, 127);
    });
}
TEST(RegisterNetwork, ScalesAndShiftsMayDifferByKernel) {
    expect_equal_everywhere([](Chain& chain) {
        chain.input({1, 8, 5, 5}).conv("a", {4, 8, 1, 1}, 7);
        chain.scaled("a", {100, -3000, 7, 0}, {3, 200, 255, 0}, {32, 4096, 1024, 64});
        chain.clip("a_clip", 0, 127);
    });
}
TEST(RegisterNetwork, BiasesMayBeWideMultiples) {
    expect_equal_everywhere([](Chain& chain) {
        chain.input({1, 8, 5, 5}).conv("a", {4, 8, 1, 1}, 127);
        chain.scaled("a", {65536, -131072, 98304, 32768}, {1}, {2048}).clip("a_clip", -128, 127);
    });
}
TEST(RegisterNetwork, BiasesMayNeedBothStages) {
    expect_equal_everywhere([](Chain& chain) {
        chain.input({1, 8, 5, 5}).conv("a", {4, 8, 1, 1}, 127);
        chain.scaled("a", {65537, -131071, 98305, 32769}, {1, 2, 3, 1}, {2048, 4096, 4096, 2048});
        chain.clip("a_clip", -128, 127);
    });
}
struct ClipRow {
    float low;
    float high;
    float divisor;  ///< of sums of 200000 and more
};
class MapRanges : public ::testing::TestWithParam<ClipRow> {};
TEST_P(MapRanges, AreStoredLessAZero) {
    const auto [low, high, divisor] = GetParam();
    for (const ElementType element : {ElementType::Int8, ElementType::Uint8}) {
        expect_equal_everywhere(
            [&](Chain& chain) {
                chain.input({1, 8, 6, 5}).conv("a", {8, 8, 3, 3}, 127, 1);
                chain.scaled("a", {-3}, {1}, {divisor}).clip("a_clip", low, high);
                chain.step("MaxPool", "top", {chain.last});
                chain.builder.ints("kernel_shape", {2, 2}).ints("pads", {1, 1, 1, 1});
                chain.conv("b", {4, 8, 3, 3}, 127, low > 0 ? 0 : 1);
                chain.scaled("b", {70000, -5, 0, 99}, {1, 4, 2, 1}, {divisor});
                chain.clip("b_clip", low, high);
            },
            element);
    }
}
INSTANTIATE_TEST_SUITE_P(Ranges, MapRanges,
                         ::testing::Values(ClipRow{0, 255, 512}, ClipRow{0, 127, 1024},
                                           ClipRow{0, 15, 4096}, ClipRow{-8, 7, 4096},
                                           ClipRow{-2, 1, 8192}, ClipRow{5, 250, 512},
                                           ClipRow{-100, 50, 1024}));
TEST(RegisterNetwork, LowerLimitsWithoutAWholeShareOfTheScaleTakeTheSecondStage) {
    expect_equal_everywhere([](Chain& chain) {
        chain.input({1, 8, 6, 5}).conv("a", {3, 8, 1, 1}, 127);
        chain.scaled("a", {-3, 9, 0}, {7, 11, 0}, {16384}).clip("a_clip", -7, 90);
    });
}
TEST(RegisterNetwork, SumsOfMapsKeepTheirZeros) {
    for (const auto& [low, high] : {std::pair{0.0F, 255.0F}, {-128.0F, 127.0F}, {-9.0F, 100.0F}}) {
        expect_equal_everywhere([low = low, high = high](Chain& chain) {
            chain.input({1, 8, 6, 6}).conv("a", {8, 8, 1, 1}, 127);
            chain.scaled("a", {5}, {1}, {512}).clip("a_clip", 0, 255);
            const std::string first = chain.last;
            chain.conv("b", {8, 8, 1, 1}, 1).scaled("b", {-64}, {1}, {16});
            chain.clip("b_clip", -100, 100);
            chain.step("Add", "join", {first, chain.last}).clip("join_clip", low, high);
        });
    }
}
TEST(RegisterNetwork, ResidualsJoinUnclippedOrClipped) {
    for (const float limit : {512.0F, 128.0F}) {
        expect_equal_everywhere([limit](Chain& chain) {
            chain.input({1, 8, 6, 6}).conv("a", {16, 8, 3, 3}, 127, 1);
            chain.scaled("a", {5}, {1}, {2048}).clip("a_clip", 0, 127);
            const std::string first = chain.last;
            chain.conv("b", {16, 16, 1, 1}, 127).scaled("b", {-9}, {1}, {1024});
            chain.clip("b_clip", -limit, limit - 1);
            chain.step("Add", "join", {first, chain.last}).clip("join_clip", 0, 127);
        });
    }
}
TEST(RegisterNetwork, PoolsAndProductsFollowConvolutions) {
    expect_equal_everywhere([](Chain& chain) {
        chain.input({1, 4, 12, 12}).conv("a", {16, 4, 3, 3}, 127, 1);
        chain.scaled("a", {5}, {1}, {1024}).clip("a_clip", 0, 127);
        chain.step("MaxPool", "top", {chain.last});
        chain.builder.ints("kernel_shape", {2, 2}).ints("strides", {2, 2});
        chain.conv("deep", {16, 1, 3, 3}, 127, 1, 16);
        chain.scaled("deep", {5}, {1}, {256}).clip("deep_clip", -128, 127);
        chain.step("AveragePool", "mean", {chain.last});
        chain.builder.ints("kernel_shape", {2, 3}).ints("strides", {2, 3}).floats("six", {}, {6});
        chain.step("Mul", "area", {chain.last, "six"}).step("Round", "whole", {chain.last});
        chain.scaled("mean", {3}, {43}, {256}).clip("mean_clip", -128, 127);
        chain.step("Flatten", "flat", {chain.last});
        chain.builder.floats("fc_w", {96, 5}, test::some_numbers(480, -127, 127, 3));
        chain.builder.floats("fc_shift_c", {}, {2048});
        chain.step("MatMul", "fc", {chain.last, "fc_w"});
        chain.step("Div", "fc_shift", {chain.last, "fc_shift_c"});
        chain.step("Floor", "fc_floor", {chain.last}).clip("fc_clip", -128, 127);
    });
}

TEST(RegisterNetwork, ProductsOfMapsWiderThanKernelsReadOneNumberAChannel) {
    expect_equal_everywhere([](Chain& chain) {
        chain.input({1, 2, 3, 40}).step("Flatten", "flat", {chain.last});
        chain.builder.floats("fc_w", {240, 5}, test::some_numbers(1200, -127, 127, 3));
        chain.builder.floats("fc_shift_c", {}, {2048});
        chain.step("MatMul", "fc", {chain.last, "fc_w"});
        chain.step("Div", "fc_shift", {chain.last, "fc_shift_c"});
        chain.step("Floor", "fc_floor", {chain.last}).clip("fc_clip", -128, 127);
    });
}

struct RefusedRow {
    const char* message;
    void (*build)(Chain&);
};
class RefusedModels : public ::testing::TestWithParam<RefusedRow> {};
TEST_P(RefusedModels, NameTheNodeAndTheReason) {
    Chain chain;
    chain.input({1, 8, 6, 6});
    GetParam().build(chain);
    const Graph graph = chain.graph();
    const SegmentedPlan plan = plan_segments(graph, {});
    EXPECT_FALSE(plan.partition.is_whole());
    const NvdlaTarget family(PlanTarget{});
    const PlaceExplanation told{graph, family, plan.partition, layers_of_groups(plan)};
    EXPECT_THAT(told.refusals() + told.node_table(no_width_limit), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, RefusedModels,
    ::testing::Values(
        RefusedRow{"node 'a_clip' (Clip): 'a_clip_y' holds numbers from -1 to 255",
                   [](Chain& c) {
                       c.conv("a", {8, 8, 1, 1}, 127).scaled("a", {0}, {1}, {64});
                       c.clip("a_clip", -1, 255);
                   }},
        RefusedRow{"kernel 0 is multiplied by 16384 before a shift by 6",
                   [](Chain& c) {
                       c.conv("a", {8, 8, 1, 1}, 1).scaled("a", {0}, {16384}, {64});
                       c.clip("a_clip", -128, 127);
                   }},
        RefusedRow{"node 'a_bias' (Add): its biases reach 98305",
                   [](Chain& c) {
                       c.conv("a", {8, 8, 1, 1}, 127).scaled("a", {98305}, {1}, {64});
                       c.clip("a_clip", -512, 511).step("Add", "join", {"x", c.last});
                       c.clip("join_clip", -128, 127);
                   }},
        RefusedRow{"node 'a_bias' (Add): its biases reach 98305",
                   [](Chain& c) {
                       c.conv("a", {8, 8, 1, 1}, 127).scaled("a", {98305}, {5}, {64});
                       c.clip("a_clip", -7, 90);
                   }},
        RefusedRow{"node 'a_conv' (Conv): it pads with 0",
                   [](Chain& c) {
                       c.conv("a", {8, 8, 1, 1}, 127).scaled("a", {0}, {1}, {64});
                       c.clip("a_clip", 5, 90).conv("a_conv", {8, 8, 3, 3}, 127, 1);
                       c.scaled("b", {0}, {1}, {64}).clip("b_clip", -128, 127);
                   }},
        RefusedRow{"node 'a_shift' (Div): it divides by 3",
                   [](Chain& c) {
                       c.conv("a", {8, 8, 1, 1}, 127).scaled("a", {0}, {1}, {3});
                       c.clip("a_clip", -128, 127);
                   }},
        RefusedRow{"may reach",
                   [](Chain& c) {
                       c.conv("a", {8, 8, 1, 1}, 127).scaled("a", {0}, {16000}, {1024});
                       c.clip("a_clip", -128, 127);
                   }},
        RefusedRow{"one of its weights is 200",
                   [](Chain& c) {
                       c.builder.floats("w", {1, 8, 1, 1}, std::vector<float>(8, 200));
                       c.step("Conv", "a", {"x", "w"}).scaled("a", {0}, {1}, {64});
                       c.clip("a_clip", -128, 127);
                   }},
        RefusedRow{"no NPU layer computes it; it runs on the host",
                   [](Chain& c) {
                       c.conv("a", {8, 8, 1, 1}, 127).scaled("a", {0}, {1}, {64});
                       c.clip("a_clip", -128, 127).step("Softmax", "soft", {c.last});
                   }},
        RefusedRow{"its dilation is 2x2",
                   [](Chain& c) {
                       c.step("MaxPool", "a", {c.last}).builder.ints("kernel_shape", {2, 2});
                       c.builder.ints("dilations", {2, 2});
                   }},
        RefusedRow{"its last window ends beyond the input",
                   [](Chain& c) {
                       c.step("AveragePool", "mean", {c.last});
                       c.builder.ints("kernel_shape", {3, 2}).ints("strides", {2, 2});
                       c.builder.integer("ceil_mode", 1).floats("six", {}, {6});
                       c.step("Mul", "area", {c.last, "six"}).step("Round", "whole", {c.last});
                       c.scaled("mean", {3}, {43}, {256}).clip("mean_clip", -128, 127);
                   }},
        RefusedRow{"its residual is 1x8x6x1, but the result that it is added to is 1x8x6x6",
                   [](Chain& c) {
                       c.step("MaxPool", "rows", {"x"}).builder.ints("kernel_shape", {1, 6});
                       const std::string rows = c.last;
                       c.last = "x";
                       c.conv("a", {8, 8, 1, 1}, 127).scaled("a", {0}, {1}, {64});
                       c.clip("a_clip", -512, 511).step("Add", "join", {c.last, rows});
                       c.clip("join_clip", -128, 127);
                   }},
        RefusedRow{"its residual is 1x8x6x6, but the result that it is added to is 1x8x1x1",
                   [](Chain& c) {
                       c.step("MaxPool", "top", {"x"}).builder.ints("kernel_shape", {6, 6});
                       c.conv("a", {8, 8, 1, 1}, 127).scaled("a", {0}, {1}, {64});
                       c.clip("a_clip", -512, 511).step("Add", "join", {"x", c.last});
                       c.clip("join_clip", -128, 127);
                   }},
        RefusedRow{"BNORM needs Floor", [](Chain& c) {
                       c.conv("a", {8, 8, 1, 1}, 127).clip("a_clip", -128, 127);
                   }}));

TEST(RegisterNetwork, LayersAreNamedForFiles) {
    Chain chain;
    chain.input({1, 8, 6, 6}).conv("block/1:a", {8, 8, 1, 1}, 127);
    chain.scaled("s", {0}, {1}, {64}).clip("c", -128, 127).conv("block_1_a", {8, 8, 1, 1}, 127);
    chain.scaled("t", {0}, {1}, {64}).clip("d", -128, 127);
    const SegmentedPlan plan = plan_segments(chain.graph(), {});
    ASSERT_TRUE(plan.partition.is_whole());
    const RegisterNetwork& lowered = plan.segments[0].lowered;
    ASSERT_EQ(lowered.network.layers.size(), 2U);
    EXPECT_EQ(lowered.network.layers[0].name, "block_1_a");
    EXPECT_EQ(lowered.network.layers[1].name, "block_1_a_2");
    EXPECT_EQ(lowered.network.layers[1].from, std::vector<std::string>{"block_1_a"});
    EXPECT_EQ(lowered.inputs[0].tensor, "x");
    EXPECT_EQ(lowered.outputs[0].tensor, "d_y");
}

}  // namespace
}  // namespace npuscope::nvdla_target_test
