// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

#include "sim/check/memory_rules.h"

namespace npuscope {
namespace {

constexpr std::uint64_t space = 64;

struct PlainByte {
    bool known = false;
    ByteState state;
};
using PlainBytes = std::array<PlainByte, space>;

void expect_same(const ByteStates& states, const PlainBytes& plain) {
    std::uint64_t at = 0;
    states.visit({Address(0), Bytes(space)}, [&](const ByteRun& piece, const ByteState* state) {
        ASSERT_EQ(piece.address.value, at);
        for (; at < piece.end().value; ++at) {
            ASSERT_EQ(plain[at].known, state != nullptr) << at;
            ASSERT_TRUE(state == nullptr || plain[at].state == *state) << at;
        }
    });
    EXPECT_EQ(at, space);
}

TEST(ByteStates, HoldWhatAPlainArrayOfBytesHolds) {
    std::mt19937 random(5);
    ByteStates states;
    PlainBytes plain;
    for (int round = 0; round < 2000; ++round) {
        const std::uint64_t begin = random() % space;
        const std::uint64_t size = random() % (space - begin + 1);
        const ByteRun run{Address(begin), Bytes(size)};
        if (random() % 3 == 0) {
            states.change(run, [](ByteState& state) { state.looked_at = true; });
            for (std::uint64_t i = begin; i < begin + size; ++i) {
                plain[i].state.looked_at = plain[i].known || plain[i].state.looked_at;
            }
        } else {
            const ByteState state{static_cast<ByteOrigin>(random() % 3), random() % 2, false};
            states.put(run, state);
            for (std::uint64_t i = begin; i < begin + size; ++i) {
                plain[i] = {true, state};
            }
        }
        expect_same(states, plain);
    }
}

TEST(ByteStates, NeighboursOfOneStateAreOnePiece) {
    ByteStates states;
    states.put({Address(8), Bytes(8)}, {ByteOrigin::Loaded, 1, false});
    states.put({Address(0), Bytes(8)}, {ByteOrigin::Loaded, 1, false});
    states.put({Address(16), Bytes(8)}, {ByteOrigin::Loaded, 1, false});
    int pieces = 0;
    states.visit_all([&](const ByteRun& piece, const ByteState* /*state*/) {
        ++pieces;
        EXPECT_EQ(piece.bytes.value, 24U);
    });
    EXPECT_EQ(pieces, 1);
}

}  // namespace
}  // namespace npuscope
