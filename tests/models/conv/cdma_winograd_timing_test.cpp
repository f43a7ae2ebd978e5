// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "models/conv/winograd_stream.h"

namespace npuscope::cdma_winograd_timing_test {
namespace {

/// A cube of 12 columns, 8 lines and two surfaces of 32-byte atoms on a bus of 64 bytes.
struct Fetch {
    ReleaseLedger releases;
    WinogradFetch fetch;
    CdmaConfig config;

    Fetch() {
        fetch.cube = packed_cube(Address(0x80000000), {64, 8, 12}, Bytes(32));
        fetch.input.extended_height = 8;
        fetch.input.extended_width = 12;
        fetch.beat = Bytes(64);
        fetch.start = Cycles(100);
        fetch.room = {&releases, 1 << 16, 0};
        config.surface_pairs = true;
    }
    WinogradStream stream() const { return WinogradStream(config, fetch); }
};

std::vector<ReadBurst> all_of(WinogradStream& stream) {
    std::vector<ReadBurst> bursts;
    while (const std::optional<ReadBurst> burst = stream.next_burst()) {
        bursts.push_back(*burst);
    }
    return bursts;
}

TEST(WinogradStream, asks_for_four_lines_of_eight_columns_before_the_columns_after_them) {
    const Fetch fetch;
    WinogradStream stream = fetch.stream();
    const std::vector<ReadBurst> bursts = all_of(stream);
    ASSERT_EQ(bursts.size(), 32U);  // two strips of two surfaces, eight requests each
    const Bytes line(12 * 32);
    EXPECT_EQ(bursts[0].run, (ByteRun{Address(0x80000000), Bytes(256)}));
    EXPECT_EQ(bursts[3].run, (ByteRun{Address(0x80000000) + line * 3, Bytes(256)}));
    EXPECT_EQ(bursts[4].run, (ByteRun{Address(0x80000000) + Bytes(256), Bytes(128)}));
    EXPECT_EQ(bursts[8].run, (ByteRun{Address(0x80000000) + line * 8, Bytes(256)}));
    EXPECT_EQ(bursts[7].ready - bursts[0].ready, Cycles(7));
    EXPECT_EQ(bursts[16].ready - bursts[15].ready, Cycles(2));  // the next strip
    EXPECT_EQ(stream.beats(), 96U);
}

TEST(WinogradStream, spends_a_cycle_on_each_request_of_padding) {
    Fetch fetch;
    fetch.fetch.cube.shape.height = 6;
    fetch.fetch.cube.shape.width = 10;
    fetch.fetch.input.pad_top = 1;
    fetch.fetch.pad_left = 1;
    fetch.fetch.pad_right = 1;
    WinogradStream stream = fetch.stream();
    const std::vector<ReadBurst> bursts = all_of(stream);
    ASSERT_EQ(bursts.size(), 24U);
    // four of the column on the left and one of the line above
    EXPECT_EQ(bursts[0].ready, Cycles(100) + fetch.config.data_request + Cycles(3));
    EXPECT_EQ(bursts[3].ready - bursts[2].ready, Cycles(2));  // the line above once more
}

TEST(WinogradStream, takes_strides_apart_line_by_line) {
    Fetch fetch;
    fetch.fetch.input.stride_y = 2;
    fetch.fetch.input.extended_height = 4;
    WinogradStream stream = fetch.stream();
    const std::vector<ReadBurst> bursts = all_of(stream);
    const Bytes line(12 * 32);
    EXPECT_EQ(bursts[1].run->address, Address(0x80000000) + line * 2);
    EXPECT_EQ(bursts[8].run->address, Address(0x80000000) + line);
}

TEST(WinogradStream, writes_a_patch_eight_cycles_after_its_last_line) {
    Fetch fetch;
    fetch.fetch.cube = packed_cube(Address(0x80000000), {32, 4, 4}, Bytes(32));
    fetch.fetch.input.extended_height = 4;
    fetch.fetch.input.extended_width = 4;
    WinogradStream stream = fetch.stream();
    all_of(stream);
    Cycles last;
    for (std::uint64_t i = 0; i < 8; ++i) {
        last = Cycles(200 + i);
        stream.arrived({&last, 1});
    }
    const Cycles first = stream.first_entry();
    EXPECT_EQ(first, stream.last_entry());
    EXPECT_GT(first, last + Cycles(8));

    WinogradStream late = fetch.stream();
    all_of(late);
    for (std::uint64_t i = 0; i < 8; ++i) {
        const Cycles time(i < 7 ? 200 + i : 250);
        late.arrived({&time, 1});
    }
    EXPECT_EQ(late.last_entry() - first, Cycles(250 - 207));
}

}  // namespace
}  // namespace npuscope::cdma_winograd_timing_test
