// SPDX-License-Identifier: Apache-2.0
#include "models/memory/sparse_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace npuscope::sparse_memory_test {
namespace {

constexpr Address base(0x1000'0000);
constexpr std::uint64_t filled = 5 * 65536;  // several pages

/// Which bytes from `base` on are no zeros: first and last one.
std::pair<std::uint64_t, std::uint64_t> bounds_of(const SparseMemory& memory) {
    std::vector<std::uint8_t> bytes(filled);
    memory.read(base, bytes);
    const auto is_set = [](std::uint8_t byte) { return byte != 0; };
    const auto first = std::ranges::find_if(bytes, is_set) - bytes.begin();
    const auto last = std::find_if(bytes.rbegin(), bytes.rend(), is_set) - bytes.rbegin();
    return {first, filled - 1 - static_cast<std::uint64_t>(last)};
}

SparseMemory filled_memory() {
    SparseMemory memory;
    memory.write(base, std::vector<std::uint8_t>(filled, 0xff));
    return memory;
}

TEST(SparseMemory, ZeroesFromAByteToAByte) {
    SparseMemory memory = filled_memory();
    memory.zero(base, Bytes(65536 + 7));
    EXPECT_EQ(bounds_of(memory), std::pair(65536UL + 7, filled - 1));
    memory.zero(base + Bytes(4 * 65536 - 9), Bytes(65536 + 9));
    EXPECT_EQ(bounds_of(memory), std::pair(65536UL + 7, filled - 65536 - 10));
    memory.zero(base + Bytes(65536 + 9), Bytes(1));
    EXPECT_EQ(bounds_of(memory), std::pair(65536UL + 7, filled - 65536 - 10));
}

// A walk over all numbers of pages would not end.
TEST(SparseMemory, ZeroesARangeWithFewPagesWhateverItsSize) {
    SparseMemory memory = filled_memory();
    memory.zero(base + Bytes(65536 + 7), Bytes((1ULL << 63U)));
    EXPECT_EQ(bounds_of(memory), std::pair(std::uint64_t{0}, 65536UL + 6));
    memory = filled_memory();
    memory.zero(Address(0), base - Address(0) + Bytes(3 * 65536 + 1));
    EXPECT_EQ(bounds_of(memory), std::pair(3 * 65536UL + 1, filled - 1));
    memory.zero(Address(1), Bytes(~std::uint64_t{0}));  // up to the last address
    memory.zero(Address(0), Bytes(65536));
    memory.write(base + Bytes(5), std::vector<std::uint8_t>{1});
    EXPECT_EQ(bounds_of(memory), std::pair(std::uint64_t{5}, std::uint64_t{5}));
}

}  // namespace
}  // namespace npuscope::sparse_memory_test
