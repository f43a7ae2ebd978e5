// SPDX-License-Identifier: Apache-2.0
// Float to fixed point and back through every layout, against a simple implementation of the rule.
#include "sim/convert/conversion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "models/layout/element_code.h"
#include "tests/sim/message_of.h"

namespace npuscope {
namespace {

ConversionRequest request(const char* from, const char* to, const char* shape, const char* type) {
    ConversionRequest request;
    request.from = parse_layout_spec(from);
    request.to = parse_layout_spec(to);
    request.shape = parse_shape(shape, "NCHW");
    request.type = &find_element(type);
    return request;
}

std::vector<std::uint8_t> converted(const ConversionPlan& conversion,
                                    const std::vector<std::uint8_t>& from) {
    std::vector<std::uint8_t> to(conversion.target.bytes, 0);
    convert(conversion, from, to, {});
    return to;
}

std::vector<std::uint8_t> random_floats(std::uint64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> draw(0, 2);
    std::vector<std::uint8_t> bytes(count * 4);
    for (std::uint64_t i = 0; i < count; ++i) {
        const float value = draw(random);
        std::memcpy(bytes.data() + 4 * i, &value, 4);
    }
    return bytes;
}

/// Ties to even, in float32.
std::int64_t fixed_of(float value, float factor, std::int64_t most) {
    const float product = value * factor;
    const float rounded = std::nearbyint(product);
    return rounded < static_cast<float>(-most - (most == 127 ? 1 : 2))
               ? -most - (most == 127 ? 1 : 2)
           : rounded > static_cast<float>(most) ? most
                                                : static_cast<std::int64_t>(rounded);
}

void check_flow(const char* from, const char* to, const char* type, const std::string& text) {
    ConversionRequest forward = request(from, to, "2x20x3x37", type);
    forward.quantise = parse_quantisation(text);
    const ConversionPlan conversion = plan_conversion(forward);
    const std::vector<std::uint8_t> values = random_floats(conversion.source.bytes / 4, 7);
    const std::vector<std::uint8_t> stored = converted(conversion, values);
    const std::size_t axis = forward.shape.find(forward.quantise->axis);
    std::vector<std::uint64_t> index(4, 0);
    do {
        const std::uint64_t bits = read_element(conversion.source, values, index);
        float value = 0;
        std::memcpy(&value, &bits, 4);
        const auto& factors = forward.quantise->factors;
        const float factor = factors[factors.size() == 1 ? 0 : index[axis]];
        const std::int64_t most = conversion.target.element == 1 ? 127 : 32766;
        const std::uint64_t mask = conversion.target.element == 1 ? 0xFF : 0xFFFF;
        const std::uint64_t expected =
            stored_bits(conversion.target.code,
                        static_cast<std::uint64_t>(fixed_of(value, factor, most)) & mask);
        ASSERT_EQ(read_element(conversion.target, stored, index), expected)
            << to << " " << text << " value " << value << " factor " << factor;
    } while (next_index(index, forward.shape.box()));
    ConversionRequest back = request(to, from, "2x20x3x37", type);
    back.dequantise = parse_quantisation(text);
    const ConversionPlan way_back = plan_conversion(back);
    const std::vector<std::uint8_t> floats = converted(way_back, stored);
    do {
        const std::uint64_t bits = read_element(way_back.target, floats, index);
        const std::uint64_t fixed = read_element(way_back.source, stored, index);
        const auto& factors = back.dequantise->factors;
        const float expected =
            static_cast<float>(way_back.source.element == 1 ? static_cast<std::int8_t>(fixed)
                                                            : static_cast<std::int16_t>(fixed)) /
            factors[factors.size() == 1 ? 0 : index[axis]];
        float value = 0;
        std::memcpy(&value, &bits, 4);
        ASSERT_EQ(value, expected);
    } while (next_index(index, back.shape.box()));
}

std::string per_index(char axis, unsigned count) {
    std::vector<double> scale;
    std::vector<int> radix;
    for (unsigned i = 0; i < count; ++i) {
        scale.push_back(1.0 + 0.125 * i);
        radix.push_back(static_cast<int>(i % 9) - 2);
    }
    return fmt::format("scale={},radix={},axis={}", fmt::join(scale, "/"), fmt::join(radix, "/"),
                       axis);
}

TEST(Conversion, QuantisesIntoEveryLayoutAndBack) {
    for (const char* layout : {"nchw", "1W16C8B", "16W1C8B", "feature:atom=8", "nhwc"}) {
        check_flow("nchw", layout, "int8", "scale=1.3,radix=5");
        check_flow("nhwc", layout, "int8", per_index('C', 20));
    }
    for (const char* layout :
         {"1W16C8BHL", "16W1C8BHL", "8W1C16B", "HW1C16B_BE", "1W16C8BHL_CH_COMPACT", "RAW_16B"}) {
        check_flow("nchw", layout, "int16", "scale=1.7,radix=12");
        check_flow("nchw", layout, "int16", per_index('W', 37));
    }
    check_flow("nchw", "1W16C8B", "int8", per_index('N', 2));
    check_flow("nchw", "1W16C8B", "int8", per_index('H', 3));
}

TEST(Conversion, WhatIsNoNumberIsRefused) {
    ConversionRequest wanted = request("nchw", "nchw", "1x1x1x40", "int8");
    wanted.quantise = parse_quantisation("radix=3");
    const ConversionPlan conversion = plan_conversion(wanted);
    std::vector<std::uint8_t> values = random_floats(40, 3);
    const float nothing = std::nanf("");
    for (const std::size_t at : {std::size_t{3}, std::size_t{39}}) {
        std::vector<std::uint8_t> bad = values;
        std::memcpy(bad.data() + 4 * at, &nothing, 4);
        EXPECT_NE(sample::message_of([&] { converted(conversion, bad); }), "");
    }
}

TEST(Conversion, EveryPartOfAQuantisationIsGivenOnce) {
    EXPECT_EQ(sample::message_of([] { parse_quantisation("scale=1,radix=0,scale=2"); }),
              "quantisation 'scale=1,radix=0,scale=2': scale is given twice (give it once; '/' "
              "separates the numbers of a list)");
}

TEST(Conversion, RequestsThatCannotBeAreRefused) {
    ConversionRequest wanted = request("nchw", "1W16C8B", "1x20x3x5", "int8");
    wanted.quantise = parse_quantisation("scale=1/2/3,axis=C");
    EXPECT_EQ(sample::message_of([&] { plan_conversion(wanted); }),
              "3 quantisation factors are given for axis 'C', which has 20 elements (give one "
              "factor for each element, or a single one)");
    wanted.quantise = parse_quantisation("scale=1,axis=Z");
    EXPECT_EQ(sample::message_of([&] { plan_conversion(wanted); }),
              "quantisation factors are given for axis 'Z', but the shape is N1 C20 H3 W5 (name "
              "an axis of the shape)");
    wanted.quantise = parse_quantisation("scale=1/2");
    EXPECT_EQ(sample::message_of([&] { plan_conversion(wanted); }),
              "2 quantisation factors are given, but no axis is named (axis=LETTER names the axis, "
              "one factor for each of its indices)");
    wanted.quantise.reset();
    wanted.stride_npu = {240, 1, 80};
    EXPECT_EQ(sample::message_of([&] { plan_conversion(wanted); }),
              "3 strides for the 4 axes of N1 C20 H3 W5");
    for (const char* text : {"scale", "scale=", "scale=x", "radix=1.5", "axis=c", "axis=CH",
                             "math=f32", "scale=0", "scale=1/2,radix=1/2/3", "radix=4000", ""}) {
        EXPECT_NE(sample::message_of([text] { parse_quantisation(text); }), "") << text;
    }
}

TEST(Conversion, AnElempackThatDoesNotDivideLeavesTheBlobAsItWas) {
    const ConversionPlan kept =
        plan_conversion(request("ncnn:elempack=4", "ncnn:elempack=8", "1x12x3x5", "int8"));
    EXPECT_EQ(kept.source.sentence, kept.target.sentence);
    EXPECT_EQ(kept.warnings.size(), 1U);
    const ConversionPlan padded = plan_conversion(
        request("ncnn:elempack=4", "ncnn:elempack=8,padding=1", "1x12x3x5", "int8"));
    EXPECT_NE(padded.source.sentence, padded.target.sentence);
    EXPECT_TRUE(padded.warnings.empty());
}

}  // namespace
}  // namespace npuscope
