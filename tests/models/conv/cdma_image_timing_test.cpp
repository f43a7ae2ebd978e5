// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "models/conv/cdma_timing.h"

namespace npuscope {
namespace {

/// Lines of 20 pixels of four bytes: ten beats; the operation is enabled in cycle 100.
struct Fetch {
    ReleaseLedger releases;
    ImageFetch fetch;

    Fetch() {
        PixelSurface& pixels = fetch.pixels;
        pixels.format = find_pixel_format("T_A8R8G8B8");
        pixels.base[0] = Address(0x80000000);
        pixels.line_stride[0] = Bytes(96);
        pixels.height = 3;
        pixels.width = 20;
        fetch.packed_line_entries = 10;
        fetch.start = Cycles(100);
        fetch.room = {&releases, 1 << 16, 0};
    }
    ImageStream stream() const { return ImageStream(CdmaConfig{}, fetch); }
};

void arrive(ImageStream& stream, std::uint64_t first, std::uint64_t beats) {
    for (std::uint64_t i = 0; i < beats; ++i) {
        const Cycles time(first + i);
        stream.arrived({&time, 1});
    }
}

TEST(ImageRequests, are_pieces_of_eight_beats_one_a_cycle) {
    ImageStream stream = Fetch().stream();
    const std::vector<std::uint64_t> beats{8, 2, 8, 2};
    for (std::size_t i = 0; i < beats.size(); ++i) {
        const auto burst = stream.next_burst();
        EXPECT_EQ(burst->ready, Cycles(130 + i));
        EXPECT_EQ(burst->beats, beats[i]);
        EXPECT_EQ(burst->run.has_value(), i % 2 == 0);
    }
}

TEST(ImageLines, are_packed_an_entry_a_cycle_behind_the_first_request) {
    ImageStream stream = Fetch().stream();
    arrive(stream, 1000, 10);
    // packing starts 20 cycles behind the ninth beat; ten entries and one cycle
    EXPECT_EQ(stream.last_entry(), Cycles(1008 + 20 + 11));
    arrive(stream, 1010, 10);
    EXPECT_EQ(stream.last_entry(), Cycles(1008 + 20 + 22));
}

TEST(ImageLines, wait_for_their_last_beat_on_a_slow_bus) {
    ImageStream stream = Fetch().stream();
    arrive(stream, 1000, 10);
    arrive(stream, 2000, 10);
    EXPECT_EQ(stream.last_entry(), Cycles(2009 + 22));
}

}  // namespace
}  // namespace npuscope
