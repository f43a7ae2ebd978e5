// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/network_planner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/compile/nvdla/sample_networks.h"
#include "tests/sim/message_of.h"

namespace npuscope::network_planner_test {
namespace {

const PlannedLayer& layer_of(const Plan& plan, const std::string& name) {
    return *std::ranges::find(plan.layers, name, &PlannedLayer::name);
}

TEST(NetworkPlanner, PlansTheSameTwice) {
    const Plan once = plan_network(sample::mixed_network(), {});
    const Plan again = plan_network(sample::mixed_network(), {});
    ASSERT_EQ(once.images.size(), again.images.size());
    for (std::size_t i = 0; i < once.images.size(); ++i) {
        EXPECT_EQ(once.images[i].image, again.images[i].image);
        EXPECT_EQ(once.images[i].address, again.images[i].address);
    }
    EXPECT_EQ(once.operations.size(), again.operations.size());
}

/// Bytes, and the operations between which they must stay.
struct Lived {
    Address begin;
    Address end;
    std::size_t first = 0;
    std::size_t last = 0;

    bool meets(const Lived& other) const {
        return begin < other.end && other.begin < end && first <= other.last && other.first <= last;
    }
};

std::vector<Lived> everything_of(const Plan& plan) {
    const std::size_t end = plan.operations.size();
    std::vector<Lived> all;
    for (const PlannedImage& image : plan.images) {
        all.push_back(
            {image.address, image.address + image.bytes, 0, image.name == "input" ? 0 : end});
    }
    for (const PlannedLayer& layer : plan.layers) {
        const FeatureCube& cube = layer.stored.cube;
        all.push_back({cube.base, cube.base + cube.extent(), layer.first_operation,
                       layer.last_reader == 0 ? end : layer.last_reader});
    }
    return all;
}

TEST(NetworkPlanner, WhatIsNeededAtOneTimeIsAlignedAndApart) {
    const Plan plan = plan_network(sample::mixed_network(), sample::target_with_bank_depth(28));
    const std::vector<Lived> all = everything_of(plan);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].begin.value % 256, 0U);
        EXPECT_LE(all[i].end, Address(0x80000000) + plan.memory);
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_FALSE(all[i].meets(all[j])) << to_hex(all[i].begin) << to_hex(all[j].begin);
        }
    }
}

TEST(NetworkPlanner, BytesOfResultsThatNobodyReadsAnyMoreAreUsedAgain) {
    const Plan plan = plan_network(sample::mixed_network(), {});
    std::uint64_t together = 0;
    for (const Lived& one : everything_of(plan)) {
        together += (one.end - one.begin).value;
    }
    EXPECT_LT(plan.memory.value, together * 3 / 4);
}

TEST(NetworkPlanner, JoinsAnAddToTheConvolutionThatNobodyElseReads) {
    const Plan plan = plan_network(sample::mixed_network(), {});
    EXPECT_EQ(std::ranges::count(plan.layers, std::string("wide"), &PlannedLayer::name), 0);
    const PlannedLayer& block = layer_of(plan, "block");
    const auto& conv = std::get<ConvOperation>(plan.operations[block.first_operation].job);
    EXPECT_TRUE(conv.sdp.operands[bs_stage].has_value());
    ASSERT_TRUE(conv.sdp.operands[bn_stage].has_value());
    EXPECT_EQ(conv.sdp.operands[bn_stage]->surface.base,
              layer_of(plan, "shortcut").stored.cube.base);
    EXPECT_TRUE(conv.sdp.stages.bn.relu);
    EXPECT_FALSE(conv.sdp.stages.bs.relu);
    const PlannedLayer& sum = layer_of(plan, "sum");
    EXPECT_TRUE(std::holds_alternative<SdpJob>(plan.operations[sum.first_operation].job));
}

TEST(NetworkPlanner, WithoutASecondStageAnAddStaysAlone) {
    PlanTarget target;
    target.npu.sdp.bn = false;
    const Plan plan = plan_network(sample::mixed_network(), target);
    const PlannedLayer& block = layer_of(plan, "block");
    EXPECT_TRUE(std::holds_alternative<SdpJob>(plan.operations[block.first_operation].job));
}

TEST(NetworkPlanner, OperationsComeAfterThoseThatWriteTheirInputs) {
    const Plan plan = plan_network(sample::mixed_network(), sample::target_with_bank_depth(28));
    for (const PlannedLayer& layer : plan.layers) {
        for (std::size_t i = 0; i < layer.operations; ++i) {
            for (const std::size_t before : plan.operations[layer.first_operation + i].after) {
                EXPECT_LT(before, layer.first_operation);
            }
        }
    }
    const PlannedLayer& block = layer_of(plan, "block");
    const PlannedLayer& shortcut = layer_of(plan, "shortcut");
    const auto& after = plan.operations[block.first_operation].after;
    EXPECT_TRUE(std::ranges::any_of(after, [&](std::size_t before) {
        return before >= shortcut.first_operation &&
               before < shortcut.first_operation + shortcut.operations;
    }));
}

TEST(NetworkPlanner, AConvolutionWhoseEndCouldMeetThatOfTheOneBeforeWaitsForIt) {
    const Network network = parse_network(R"(
name: ends
input: {channels: 24, height: 9, width: 5}
layers:
  - {name: short, kind: conv, kernels: 24, kernel: 5, stride: 2, padding: 1, groups: 24}
  - {name: wide, kind: conv, from: [short], kernels: 24, kernel: 1}
  - {name: again, kind: conv, kernels: 24, kernel: 1, groups: 24}
)",
                                          "ends.yaml");
    for (const bool stale_marks : {true, false}) {
        PlanTarget target;
        target.npu.cacc.stale_end_marks = stale_marks;
        const Plan plan = plan_network(network, target);
        std::size_t waiting = 0;
        for (std::size_t i = 1; i < plan.operations.size(); ++i) {
            const auto& conv = std::get<ConvOperation>(plan.operations[i].job).conv;
            const Shape& output = conv.csc.output;
            const std::uint64_t atoms =
                divide_up(output.channels, 8) * output.height * output.width;
            const auto& after = plan.operations[i].after;
            const bool waits = std::ranges::find(after, i - 1) != after.end();
            if (atoms < 16 && stale_marks) {
                EXPECT_TRUE(waits) << plan.operations[i].name;
            }
            waiting += waits ? 1U : 0U;
        }
        EXPECT_EQ(waiting >= 4, stale_marks) << waiting;
    }
}

TEST(NetworkPlanner, KernelsOfImagesGetColumnsOfZerosWhereTheSequencerWouldMiscount) {
    const Network network = parse_network(R"(
name: alex
input: {channels: 3, height: 15, width: 31, layout: T_Y8___U8V8_N444}
layers:
  - {name: first, kind: conv, kernels: 8, kernel: 11, stride: 4}
)",
                                          "alex.yaml");
    for (const bool miscounts : {true, false}) {
        PlanTarget target;
        target.npu.csc.miscounts_image_blocks = miscounts;
        const Plan plan = plan_network(network, target);
        const auto& conv = std::get<ConvOperation>(plan.operations.front().job).conv;
        // rows of 33 bytes are one more than whole blocks
        EXPECT_EQ(conv.csc.kernels.channels, miscounts ? 36U : 33U);
        EXPECT_EQ(conv.cdma.pad_right, miscounts ? 1U : 0U);
    }
}

TEST(NetworkPlanner, NoEntryOfWeightsIsFetchedThatNobodyTakes) {
    const Plan plan = plan_network(sample::mixed_network(), {});
    for (const Operation& operation : plan.operations) {
        if (const auto* conv = std::get_if<ConvOperation>(&operation.job)) {
            const CdmaJob& cdma = conv->conv.cdma;
            const std::uint64_t used = (cdma.bytes_per_kernel * cdma.kernels).value;
            EXPECT_EQ(cdma.weight_bytes.value, round_up(used, 8)) << operation.name;
        }
    }
}

TEST(NetworkPlanner, DepthwiseLayersBecomeOneOperationAnAtom) {
    const Plan plan = plan_network(sample::mixed_network(), {});
    const PlannedLayer& depthwise = layer_of(plan, "depthwise");
    ASSERT_EQ(depthwise.operations % 2, 0U);
    const std::size_t half = depthwise.first_operation + depthwise.operations / 2;
    const auto& second = std::get<ConvOperation>(plan.operations[half].job);
    EXPECT_EQ(second.conv.cdma.input.channels, 8U);
    EXPECT_EQ(second.conv.csc.kernels.kernels, 8U);
    const FeatureCube& first = layer_of(plan, "first").stored.cube;
    EXPECT_EQ(second.conv.cdma.feature.base, first.base + first.surface_stride);
}

TEST(NetworkPlanner, KernelsOfWhichFewFitLeaveLanesEmpty) {
    const Plan plan = plan_network(parse_network("name: fat\n"
                                                 "input: {channels: 512, height: 7, width: 7}\n"
                                                 "layers:\n"
                                                 "  - {name: fc6, kind: fc, kernels: 10}\n"
                                                 "  - {name: fc7, kind: fc, kernels: 8}\n",
                                                 "fat.yaml"),
                                   {});
    EXPECT_EQ(plan.layers[0].stored.lanes, 4U);
    EXPECT_EQ(plan.layers[0].operations, 3U);
    EXPECT_EQ(plan.layers[0].stored.cube.shape.channels, 18U);
    EXPECT_EQ(std::get<ConvOperation>(plan.operations[3].job).conv.cdma.input.channels, 18U);
}

TEST(NetworkPlanner, RefusesAnAddOfFullAtomsToThoseWithEmptyLanes) {
    const auto plan = [] {
        plan_network(
            parse_network("name: uneven\n"
                          "input: {channels: 512, height: 7, width: 7}\n"
                          "layers:\n"
                          "  - {name: thin, kind: conv, from: [input], kernels: 8}\n"
                          "  - {name: fat, kind: conv, from: [input], kernels: 8, kernel: 7, "
                          "padding: 3}\n"
                          "  - {name: sum, kind: add, from: [fat, thin]}\n",
                          "uneven.yaml"),
            {});
    };
    EXPECT_NE(sample::message_of(plan).find("atoms have 4 channels, those of the other 8"),
              std::string::npos);
}

TEST(NetworkPlanner, NamesTheBanksThatWouldHoldEnoughKernels) {
    const auto message = [](std::uint32_t banks) {
        PlanTarget target;
        target.npu.cbuf.banks = banks;
        return sample::message_of([&] {
            plan_network(
                parse_network("name: few\n"
                              "input: {channels: 512, height: 7, width: 7}\n"
                              "layers:\n"
                              "  - {name: thin, kind: conv, from: [input], kernels: 8}\n"
                              "  - {name: fat, kind: conv, from: [input], kernels: 8, kernel: 3, "
                              "padding: 1}\n"
                              "  - {name: sum, kind: add, from: [fat, thin]}\n",
                              "few.yaml"),
                target);
        });
    };
    EXPECT_NE(message(8).find("npu.cbuf.bank_depth=769 or npu.cbuf.banks=13"), std::string::npos);
    EXPECT_NE(message(12), "");
    EXPECT_EQ(message(13), "");
}

TEST(NetworkPlanner, LeavesAlternativesOutWhereTheyAreNotTold) {
    PlanTarget target;
    const Plan with = plan_network(sample::image_network(3, ""), target);
    target.alternatives = false;
    const Plan without = plan_network(sample::image_network(3, ""), target);
    EXPECT_FALSE(with.layers.front().cut->alternatives.empty());
    EXPECT_TRUE(without.layers.front().cut->alternatives.empty());
    EXPECT_EQ(without.layers.front().cut->choice, with.layers.front().cut->choice);
}

TEST(NetworkPlanner, LeavesValuesOutWhereTheyAreNotWanted) {
    PlanTarget target;
    target.images = false;
    const Plan with = plan_network(sample::mixed_network(), {});
    const Plan without = plan_network(sample::mixed_network(), target);
    ASSERT_EQ(with.images.size(), without.images.size());
    for (std::size_t i = 0; i < with.images.size(); ++i) {
        EXPECT_EQ(with.images[i].address, without.images[i].address);
        EXPECT_FALSE(with.images[i].image.bytes.empty());
        EXPECT_TRUE(without.images[i].image.bytes.empty());
    }
}

TEST(NetworkPlanner, RefusesANetworkThatTheMemoryDoesNotHold) {
    PlanTarget target;
    target.memory.regions.front().size = Bytes(1024);
    const auto small = [&] { plan_network(sample::mixed_network(), target); };
    EXPECT_NE(sample::message_of(small).find("region 'dram'"), std::string::npos);
    target.memory.regions.front() = {};
    target.npu.mcif.address_bits = 31;
    EXPECT_NE(sample::message_of(small).find("31-bit"), std::string::npos);
}

TEST(NetworkPlanner, RefusesPixelsThatNoFirstLayerReads) {
    const auto plan = [](const std::string& input, const std::string& layers) {
        return sample::message_of([&] {
            plan_network(
                parse_network("name: bad\ninput: " + input + "\nlayers:\n" + layers, "bad.yaml"),
                {});
        });
    };
    const std::string conv = "  - {name: first, kind: conv, kernels: 8, kernel: 3}\n";
    const std::string size = "height: 9, width: 9";
    EXPECT_NE(plan("{channels: 5, " + size + ", layout: T_A8B8G8R8}", conv).find("4 channels"),
              std::string::npos);
    EXPECT_NE(plan("{channels: 3, " + size + ", layout: T_A2B10G10R10}", conv).find("8 bits"),
              std::string::npos);
    EXPECT_NE(plan("{channels: 3, " + size + ", layout: T_A8B8G8R8}",
                   "  - {name: first, kind: max_pool, kernel: 2, stride: 2}\n")
                  .find("layer 'first'"),
              std::string::npos);
    EXPECT_NE(plan("{channels: 4, " + size + "}",
                   "  - {name: first, kind: conv, kernels: 8, zeros: 101}\n")
                  .find("0 to 100"),
              std::string::npos);
}

/// They are those of files: in memory the planner chooses its own.
TEST(NetworkPlanner, ParametersOfAPixelFormatKeepItAPixelFormat) {
    const Plan plain = plan_network(sample::image_network(3, "T_A8B8G8R8"), {});
    ASSERT_TRUE(plain.input.pixels);
    for (const char* layout : {"T_A8B8G8R8:atom=8", "T_A8B8G8R8:x_offset=2",
                               "T_A8B8G8R8:line_stride=256", "t_a8b8g8r8"}) {
        EXPECT_EQ(plan_network(sample::image_network(3, layout), {}).input.pixels,
                  plain.input.pixels)
            << layout;
    }
    for (const auto& [layout, why] : {std::pair{"T_A8B8G8R8:line_stride=64", "needs 124 bytes"},
                                      std::pair{"T_A8B8G8R8:atoms=8", "no parameter 'atoms'"}}) {
        const std::string message = sample::message_of(
            [&, name = layout] { plan_network(sample::image_network(3, name), {}); });
        EXPECT_NE(message.find(why), std::string::npos) << message;
        EXPECT_EQ(message.find("image.yaml: the network's input"), 0U) << message;
    }
}

TEST(NetworkPlanner, SaysWhatElseThereWas) {
    PlanTarget target;
    const Plan plan = plan_network(sample::image_network(3, ""), target);
    const ConvChoice& first = *plan.layers.front().cut;
    EXPECT_EQ(first.key.form.mode, ConvMode::Image);
    EXPECT_NE(first.choice.find("image T_"), std::string::npos);
    EXPECT_TRUE(std::ranges::any_of(first.alternatives, [](const PlanAlternative& other) {
        return other.choice.find("image") == std::string::npos;
    }));
}

TEST(NetworkPlanner, RefusesWhatNoRegisterHolds) {
    const auto plan = [](const std::string& layer) {
        return sample::message_of([&] {
            plan_network(parse_network("name: bad\n"
                                       "input: {channels: 8, height: 64, width: 64}\n"
                                       "layers:\n  - {name: bad, " +
                                           layer + "}\n",
                                       "bad.yaml"),
                         {});
        });
    };
    EXPECT_NE(plan("kind: conv, kernels: 9000").find("bad.yaml: layer 'bad'"), std::string::npos);
    EXPECT_NE(plan("kind: conv, kernels: 8, stride: 9").find("stride 8"), std::string::npos);
    EXPECT_NE(plan("kind: conv, kernels: 8, kernel: 33")
                  .find("limits are 32 rows and columns of a kernel"),
              std::string::npos);
    EXPECT_NE(plan("kind: avg_pool, kernel: 64").find("PDP"), std::string::npos);
}

}  // namespace
}  // namespace npuscope::network_planner_test
