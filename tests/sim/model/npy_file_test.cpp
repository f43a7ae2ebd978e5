// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "sim/model/graph.h"
#include "tests/sim/message_of.h"

namespace npuscope {
namespace {

using ::testing::HasSubstr;

TEST(NpyFile, EveryTypeAndRankSurvives) {
    for (const auto& [element, name] : EnumNames<ElementType>::names) {
        for (const Sizes& sizes : {Sizes{}, Sizes{3}, Sizes{2, 1, 2}, Sizes{0, 4}}) {
            GraphValue value = zeros({element, sizes});
            for (std::size_t i = 0; i < value.numbers.size(); ++i) {
                value.numbers[i] = static_cast<double>(i % 2);
            }
            const std::string bytes = npy_bytes(value);
            EXPECT_EQ(bytes.find('\n') % 64, 63U);  // data begin at a multiple of 64 bytes
            EXPECT_EQ(parse_npy(bytes, "a.npy"), value) << name;
        }
    }
}

TEST(NpyFile, NegativeAndLargeNumbersSurvive) {
    GraphValue value = zeros({ElementType::Int64, {2}});
    value.numbers = {-9007199254740992.0, 9007199254740992.0};
    EXPECT_EQ(parse_npy(npy_bytes(value), "a.npy"), value);
}

TEST(NpyFile, WhatIsNoArrayIsRefused) {
    const auto refusal = [](const std::string& bytes) {
        return sample::message_of([&] { parse_npy(bytes, "a.npy"); });
    };
    std::string bytes = npy_bytes(zeros({ElementType::Int8, {2, 3}}));
    EXPECT_THAT(refusal("nothing"), HasSubstr("'a.npy' is not a .npy file"));
    EXPECT_THAT(refusal(bytes.substr(0, 40)), HasSubstr("'a.npy' is cut off in its .npy header"));
    EXPECT_THAT(refusal(bytes + "x"),
                HasSubstr("'a.npy' has 7 bytes of data, but shape (2, 3) of int8 needs 6"));
    std::string transposed = bytes;
    transposed.replace(transposed.find("False"), 5, "True ");
    EXPECT_EQ(parse_npy(transposed, "a.npy").type.sizes, (Sizes{2, 3}));
    std::string strings = bytes;
    strings.replace(strings.find("|i1"), 3, "|S1");
    EXPECT_THAT(refusal(strings), HasSubstr("not supported"));
}

}  // namespace
}  // namespace npuscope
