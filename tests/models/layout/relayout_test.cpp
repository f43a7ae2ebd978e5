// SPDX-License-Identifier: Apache-2.0
// The engine against the reference path on tensors that are large enough for its blocks, stages and
// vectors: every kind of vectors that this machine has, through the caches and bypassing them.
#include "models/layout/relayout.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <string>
#include <vector>

namespace npuscope {
namespace {

/// Only one kind of vectors is used while it lives.
class OneTarget {
 public:
    explicit OneTarget(std::int64_t target) { choose(target); }
    ~OneTarget() { choose(0); }
    OneTarget(const OneTarget&) = delete;
    OneTarget& operator=(const OneTarget&) = delete;

 private:
    static void choose(std::int64_t target) {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().DeInit();
    }
};

/// Memory whose first byte is `shift` bytes after a cache line's start.
class ShiftedBytes {
 public:
    ShiftedBytes(std::uint64_t bytes, std::uint64_t shift, std::uint32_t seed) : all_(bytes + 128) {
        const std::uint64_t over = reinterpret_cast<std::uintptr_t>(all_.data()) % 64;
        bytes_ = {all_.data() + (64 - over) % 64 + shift, bytes};
        std::uint32_t state = seed;
        for (std::uint8_t& byte : bytes_) {
            state = state * 1664525 + 1013904223;
            byte = static_cast<std::uint8_t>(state >> 24U);
        }
    }
    std::span<std::uint8_t> bytes() { return bytes_; }

 private:
    std::vector<std::uint8_t> all_;
    std::span<std::uint8_t> bytes_;
};

struct Pair {
    const char* from;
    const char* to;
    std::uint32_t element;
};

const std::vector<Pair> pairs{
    {"C H W", "C/4 H W C%4", 4},
    {"C/4 H W C%4", "C H W", 4},
    {"C H W", "C/8 H W C%8", 4},
    {"C/8 H W C%8", "C H W", 4},
    {"C H W", "C/16 H W C%16", 4},
    {"C/16 H W C%16", "C H W", 4},
    {"C H W", "H W C", 4},
    {"H W C", "C H W", 4},
    {"C H W", "C/8 H W C%8", 1},
    {"C/8 H W C%8", "C H W", 1},
    {"C H W", "C/16 H W C%16", 1},
    {"C/16 H W C%16", "C H W", 1},
    {"C H W", "C/32 H W C%32", 1},
    {"C/32 H W C%32", "C H W", 1},
    {"C H W", "H W/4 C/4 W%4 C%4", 1},
    {"H W/4 C/4 W%4 C%4", "C H W", 1},
    {"C H W", "H W C", 1},
    {"H W C", "C H W", 1},
    {"C H W", "H W C", 2},
    {"H W C", "C H W", 2},
    {"C H W", "C/16 H W C%16", 2},
    {"C/16 H W C%16", "C H W", 2},
    {"C H W", "H W C", 8},
    {"C/4 H W C%4", "C/2 H W C%2", 8},
    {"C H W", "H W- C", 4},
    {"H W- C", "C H W", 4},
    {"C H W", "H W C/16- C%16", 1},
    {"C- H W", "C/8 H W C%8", 4},
    {"C H W", "C/4 H^4096 W C%4", 4},
    {"C H W", "C H W", 4},
};

/// The vectors of this machine, and none.
std::vector<std::int64_t> kinds_of_vectors() {
    std::vector<std::int64_t> kinds = hwy::SupportedAndGeneratedTargets();
    kinds.push_back(HWY_SCALAR);
    return kinds;
}

void expect_same(const Pair& pair, const LogicalShape& shape) {
    SCOPED_TRACE(std::string(pair.from) + " -> " + pair.to + " of " + to_string(shape) + " x " +
                 std::to_string(pair.element));
    const Layout from = bind(parse_sentence(pair.from), shape, {.element = pair.element});
    const Layout to = bind(parse_sentence(pair.to), shape, {.element = pair.element});
    ShiftedBytes source(from.bytes, 0, 1), expected(to.bytes, 0, 2);
    relayout_plain(from, source.bytes(), to, expected.bytes(), GapPolicy::Keep);
    for (const std::int64_t kind : kinds_of_vectors()) {
        const OneTarget only(kind);
        for (const std::uint64_t shift : {0U, 16U, 5U}) {
            for (const std::uint64_t cache : {std::uint64_t{1}, std::uint64_t{1} << 40U}) {
                ShiftedBytes target(to.bytes, shift, 2);
                relayout(from, source.bytes(), to, target.bytes(),
                         {.gaps = GapPolicy::Keep, .cache = cache});
                ASSERT_TRUE(std::ranges::equal(target.bytes(), expected.bytes()))
                    << hwy::TargetName(kind) << ", shift " << shift << ", cache " << cache;
            }
        }
    }
}

TEST(Relayout, EveryKindOfVectorsMovesLargeTensorsAsThePlainPathDoes) {
    const std::vector<LogicalShape> shapes{
        {{{'C', 64}, {'H', 8}, {'W', 128}}},  // rows map to the same cache sets
        {{{'C', 35}, {'H', 5}, {'W', 53}}},
        {{{'C', 48}, {'H', 1}, {'W', 1024}}},
    };
    for (const Pair& pair : pairs) {
        for (const LogicalShape& shape : shapes) {
            expect_same(pair, shape);
        }
    }
}

}  // namespace
}  // namespace npuscope
