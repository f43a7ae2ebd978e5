// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "sim/config/preset.h"
#include "sim/model/network.h"
#include "tests/sim/message_of.h"

namespace npuscope::network_shapes_test {
namespace {

Layer layer(const std::string& name, LayerKind kind) {
    Layer made;
    made.name = name;
    made.kind = kind;
    return made;
}

Layer conv(const std::string& name, std::uint32_t kernels, std::uint32_t kernel) {
    Layer made = layer(name, LayerKind::Conv);
    made.kernels = kernels;
    made.kernel = kernel;
    return made;
}

Network network(std::vector<Layer> layers) {
    Network made;
    made.name = "made";
    made.file = "made.yaml";
    made.input = {3, 16, 20};
    made.layers = std::move(layers);
    return made;
}

std::string refusal(const Layer& bad) {
    return sample::message_of([&] { network_shapes(network({bad})); });
}

TEST(NetworkShapes, FollowFromTheLayersBefore) {
    Layer first = conv("first", 8, 3);
    first.stride = 2;
    first.padding = 1;
    Layer pool = layer("pool", LayerKind::MaxPool);
    pool.kernel = 2;
    pool.stride = 2;
    Layer direct = conv("direct", 8, 5);
    direct.from = {"input"};
    const auto shapes = network_shapes(network({first, pool, direct}));
    ASSERT_EQ(shapes.size(), 3U);
    EXPECT_EQ(shapes[0].output, (Shape{8, 8, 10}));
    EXPECT_EQ(shapes[0].macs, 8U * 8 * 10 * 3 * 9);
    EXPECT_EQ(shapes[1].input, (Shape{8, 8, 10}));
    EXPECT_EQ(shapes[1].output, (Shape{8, 4, 5}));
    EXPECT_EQ(shapes[1].macs, 0U);
    EXPECT_EQ(shapes[2].sources, (std::vector<std::optional<std::size_t>>{std::nullopt}));
    EXPECT_EQ(shapes[2].output, (Shape{8, 12, 16}));
}

TEST(NetworkShapes, GroupsDivideTheMultiplications) {
    Layer first = conv("first", 8, 1);
    Layer depthwise = conv("depthwise", 8, 3);
    depthwise.groups = 8;
    const auto shapes = network_shapes(network({first, depthwise}));
    EXPECT_EQ(shapes[1].macs, 8U * 14 * 18 * 9);
}

TEST(NetworkShapes, AFullyConnectedLayerCoversItsInput) {
    Layer pool = layer("pool", LayerKind::AvgPool);
    pool.kernel = 4;
    pool.stride = 4;
    Layer crop = conv("crop", 6, 2);
    crop.stride = 2;
    Network made = network({pool, crop, layer("fc", LayerKind::Fc)});
    made.input = {3, 16, 16};
    made.layers[2].kernels = 10;
    const auto shapes = network_shapes(made);
    EXPECT_EQ(shapes[2].window.rows, 2U);
    EXPECT_EQ(shapes[2].output, (Shape{10, 1, 1}));
    EXPECT_EQ(shapes[2].macs, 10U * 6 * 4);
}

TEST(NetworkShapes, PaddingBehindMayDiffer) {
    Layer pool = layer("pool", LayerKind::MaxPool);
    pool.kernel = 2;
    pool.padding_end = 1;
    EXPECT_EQ(network_shapes(network({pool}))[0].output, (Shape{3, 16, 20}));
}

TEST(NetworkShapes, RefuseWhatDoesNotFitTogether) {
    EXPECT_NE(refusal(conv("a", 0, 3)).find("no kernels"), std::string::npos);
    EXPECT_NE(refusal(conv("a", 4, 17)).find("larger than its input"), std::string::npos);
    EXPECT_NE(refusal(conv("input", 4, 1)).find("the name is reserved"), std::string::npos);
    Layer groups = conv("a", 4, 1);
    groups.groups = 2;
    EXPECT_NE(refusal(groups).find("do not divide"), std::string::npos);
    Layer unknown = conv("a", 4, 1);
    unknown.from = {"b"};
    EXPECT_NE(refusal(unknown).find("no layer 'b'"), std::string::npos);
    Layer padded = conv("a", 4, 3);
    padded.padding = 3;
    EXPECT_NE(refusal(padded).find("padding"), std::string::npos);
    Layer shape = conv("a", 4, 1);
    shape.output = "4x16x16";
    EXPECT_NE(refusal(shape).find("its output is 4x16x20"), std::string::npos);
    Layer huge = conv("a", 4000000000U, 1);
    EXPECT_NE(refusal(huge).find("sizes are at most"), std::string::npos);
    EXPECT_NE(refusal(layer("a", LayerKind::Add)).find("it has 1 input"), std::string::npos);
    Layer pool = layer("a", LayerKind::MaxPool);
    pool.relu = true;
    EXPECT_NE(refusal(pool).find("relu"), std::string::npos);
}

TEST(NetworkShapes, RefuseTwoLayersOfOneNameAndUnlikeSummands) {
    const auto twice = [] { network_shapes(network({conv("a", 4, 1), conv("a", 4, 1)})); };
    EXPECT_NE(sample::message_of(twice).find("used twice"), std::string::npos);
    Layer sum = layer("sum", LayerKind::Add);
    sum.from = {"a", "input"};
    const auto unlike = [&] { network_shapes(network({conv("a", 4, 1), sum})); };
    EXPECT_NE(sample::message_of(unlike).find("3x16x20"), std::string::npos);
}

struct PublishedNetwork {
    std::string name;
    double gigamacs;
};
class PublishedNetworks : public testing::TestWithParam<PublishedNetwork> {};

// source: torchvision's model table (ResNet, VGG), MobileNet paper (table 8), Darknet (6.97 Bn
// operations); LeNet counted by hand
TEST_P(PublishedNetworks, HaveThePublishedNumberOfMultiplications) {
    const std::filesystem::path folder = configs_folder() / "workload";
    const auto shapes = network_shapes(read_network(folder / (GetParam().name + ".yaml")));
    const double gigamacs = static_cast<double>(total_macs(shapes)) / 1e9;
    EXPECT_NEAR(gigamacs, GetParam().gigamacs, 0.005 * GetParam().gigamacs);
}

INSTANTIATE_TEST_SUITE_P(
    All, PublishedNetworks,
    testing::Values(PublishedNetwork{"resnet18", 1.814}, PublishedNetwork{"resnet50", 4.089},
                    PublishedNetwork{"mobilenet_v1", 0.569}, PublishedNetwork{"vgg16", 15.47},
                    PublishedNetwork{"tiny_yolo", 3.485}, PublishedNetwork{"lenet", 0.00041652}),
    [](const auto& published) { return published.param.name; });

TEST(NetworkShapes, WidthsOfWindowsCountWhereTheyAreGiven) {
    const auto shapes = network_shapes(
        parse_network("name: speech\n"
                      "input: {channels: 1, height: 49, width: 10}\n"
                      "layers:\n"
                      "  - {name: a, kind: conv, kernels: 64, kernel: 10, kernel_width: 4, stride: "
                      "2, padding: 4, "
                      "padding_end: 5, padding_width: 1, output: 64x25x5}\n"
                      "  - {name: b, kind: avg_pool, kernel: 5, stride: 5, output: 64x5x1}\n"
                      "  - {name: c, kind: fc, kernels: 12}\n",
                      "speech.yaml"));
    EXPECT_EQ(shapes[0].macs, 64U * 25 * 5 * 40);
    EXPECT_EQ(shapes[2].window.rows, 5U);
    EXPECT_EQ(shapes[2].window.columns, 1U);
}

}  // namespace
}  // namespace npuscope::network_shapes_test
