// SPDX-License-Identifier: Apache-2.0
// The computed table of descriptors: which group stride puts every element in its place.
#include "models/layout/stride_descriptor.h"

#include <gtest/gtest.h>

#include <random>

#include "models/base/error.h"
#include "models/layout/layout_catalog.h"

namespace npuscope {
namespace {

StrideDescriptor grouped(const char* shape, const char* axes, std::vector<std::uint64_t> strides) {
    return {"1W16C8B", parse_shape(shape, axes), std::move(strides), 1, ElementCode::Plain, true};
}

struct Row {
    const char* shape;
    const char* axes;
    std::vector<std::uint64_t> strides;
    std::uint64_t reader;
    std::uint64_t extent;
};

TEST(StrideDescriptor, GroupStridesOfEveryKindOfDescriptor) {
    const std::vector<Row> rows{
        {"1x40x3x5", "NCHW", {240, 1, 80, 16}, 240, 240},
        {"1x40x3x5", "NCHW", {720, 1, 80, 16}, 720, 240},  // the batch covers the whole tensor
        {"40x3x5", "CHW", {1, 80, 16}, 240, 240},
        {"1x3x5x40", "NHWC", {240, 80, 16, 1}, 240, 240},
        {"5x40", "WC", {16, 1}, 80, 80},
        {"1x40", "NC", {48, 1}, 48, 16},
        {"40", "C", {1}, 0, 16},
        {"1x40x1x1", "NCHW", {16, 1, 16, 16}, 16, 16},
        {"1x40x1x1", "NCHW", {48, 1, 1, 1}, 48, 16},
        {"1x40x3x1", "NCHW", {48, 1, 16, 1}, 48, 48},
        {"2x20x2x3", "NCHW", {96, 1, 48, 16}, 192, 192},
        {"1x20x2x3", "NCHW", {128, 1, 64, 16}, 128, 128},
    };
    for (const Row& row : rows) {
        const StrideDescriptor descriptor = grouped(row.shape, row.axes, row.strides);
        const GroupStrides found = group_strides(descriptor);
        EXPECT_EQ(found.reader, row.reader) << row.shape;
        EXPECT_EQ(found.extent, row.extent) << row.shape;
        const DescriptorLayout bound = bind_descriptor(descriptor);
        EXPECT_EQ(bound.ambiguity.empty(), row.reader == row.extent) << bound.ambiguity;
    }
}

TEST(StrideDescriptor, OrdinaryDescriptorsSayWhatTheCatalogueSays) {
    const LogicalShape shape = parse_shape("1x40x3x5", "NCHW");
    for (const LayoutRow& row : kneron_layouts()) {
        if (row.limits.find("channels") != std::string_view::npos) {
            continue;  // it has fewer than these
        }
        const Layout named = make_layout(row, {shape, row.element, {}});
        const Layout bound =
            bind_descriptor({std::string(row.name), shape, strides_of(named), row.element,
                             named.code, row.sentence.starts_with("C/16")})
                .layout;
        std::vector<std::uint64_t> index(4, 0);
        do {
            ASSERT_EQ(bound.address(index), named.address(index)) << row.name;
        } while (next_index(index, shape.box()));
    }
}

TEST(StrideDescriptor, StridesThatCannotBeAreRefused) {
    EXPECT_THROW(bind_descriptor(grouped("1x40x3x5", "NCHW", {240, 1, 80})), ConfigError);
    EXPECT_THROW(bind_descriptor(grouped("1x40x3x5", "NCHW", {240, 1, 80, 0})), ConfigError);
    EXPECT_THROW(bind_descriptor(grouped("1x40x3x5", "NCHW", {240, 1, 80, 1})), ConfigError);
    EXPECT_THROW(bind_descriptor(grouped("1x40x3x5", "NCHW", {240, 2, 80, 16})), ConfigError);
    EXPECT_THROW(bind_descriptor(grouped("1x40x3x5", "NCHW", {240, 1, 40, 16})), ConfigError);
}

TEST(StrideDescriptor, AnyNumbersAreBoundOrRefused) {
    std::mt19937_64 random(3);
    unsigned bound = 0;
    for (unsigned times = 0; times < 20000; ++times) {
        std::vector<std::uint64_t> strides;
        for (unsigned axis = 0; axis < 4; ++axis) {
            static constexpr std::uint64_t likely[] = {0, 1, 16, 48, 64, 80, 240, 720};
            strides.push_back(random() % 50 == 0 ? random() : likely[random() % 8]);
        }
        try {
            const Layout layout = bind_descriptor(grouped("1x40x3x5", "NCHW", strides)).layout;
            EXPECT_LE(layout.used, layout.bytes);
            ++bound;
        } catch (const ConfigError&) {
            continue;
        }
    }
    EXPECT_GT(bound, 0U);
}

}  // namespace
}  // namespace npuscope
