// SPDX-License-Identifier: Apache-2.0
#include "models/rubik/rubik_math.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

ByteLine counting(std::size_t size, std::uint8_t first) {
    ByteLine line(size);
    for (std::size_t i = 0; i < size; ++i) {
        line[i] = static_cast<std::uint8_t>(first + i);
    }
    return line;
}

TEST(RubikMath, AtomsOfSeveralLinesTakeTurns) {
    EXPECT_EQ(interleave_atoms({{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}, Bytes(2)),
              (ByteLine{1, 2, 5, 6, 9, 10, 3, 4, 7, 8, 11, 12}));
    EXPECT_EQ(interleave_atoms({{1, 2, 3, 4}}, Bytes(2)), (ByteLine{1, 2, 3, 4}));
}

TEST(RubikMath, LanesOfALineBecomePlanesWithZerosBehind) {
    // three atoms of four lanes
    const ByteLine line{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const auto planes = split_line(line, {Bytes(4), Bytes(1)}, 3, Bytes(4));
    EXPECT_EQ(planes, (std::vector<ByteLine>{{1, 5, 9, 0}, {2, 6, 10, 0}, {3, 7, 11, 0}}));
    const auto wide = split_line(line, {Bytes(4), Bytes(2)}, 2, Bytes(8));
    EXPECT_EQ(wide, (std::vector<ByteLine>{{1, 2, 5, 6, 9, 10, 0, 0}, {3, 4, 7, 8, 11, 12, 0, 0}}));
}

TEST(RubikMath, MergingLeavesZerosWhereNoPlaneIs) {
    EXPECT_EQ(merge_lines({{1, 2, 3, 99}, {4, 5, 6, 99}}, {Bytes(4), Bytes(1)}, 3),
              (ByteLine{1, 4, 0, 0, 2, 5, 0, 0, 3, 6, 0, 0}));
}

TEST(RubikMath, MergingUndoesSplitting) {
    for (const std::uint64_t element : {1U, 2U}) {
        const LineElements elements{Bytes(32), Bytes(element)};
        const ByteLine line = counting(32 * 7, 3);
        const auto planes = split_line(line, elements, elements.lanes(), Bytes(32));
        EXPECT_EQ(merge_lines(planes, elements, 7), line);
    }
}

TEST(RubikMath, MorePlanesThanLanesAreOurBug) {
    EXPECT_THROW(split_line({1, 2}, {Bytes(2), Bytes(1)}, 3, Bytes(2)), std::exception);
    EXPECT_THROW(merge_lines({{1}, {2}, {3}}, {Bytes(2), Bytes(1)}, 1), std::exception);
    EXPECT_THROW(interleave_atoms({{1, 2}, {3}}, Bytes(1)), std::exception);
}

}  // namespace
}  // namespace npuscope
