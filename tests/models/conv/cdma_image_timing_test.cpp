// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "models/conv/image_stream.h"

namespace npuscope::cdma_image_timing_test {
namespace {

/// Lines of 20 pixels of four bytes: ten beats; the operation is enabled in cycle 100.
struct Fetch {
    ReleaseLedger releases;
    ImageFetch fetch;

    explicit Fetch(const char* format = "T_A8R8G8B8") {
        PixelSurface& pixels = fetch.pixels;
        pixels.format = find_pixel_format(format);
        pixels.base = {Address(0x80000000), Address(0x80010000)};
        pixels.line_stride = {Bytes(96), Bytes(96)};
        pixels.height = 3;
        pixels.width = 20;
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

/// Asks for everything, as a bus without other clients does.
ImageStream asked(const Fetch& fetch) {
    ImageStream stream = fetch.stream();
    while (stream.next_burst()) {
    }
    return stream;
}

struct Expected {
    std::uint32_t plane;
    bool padding;
    std::uint32_t atoms;
    std::uint32_t reads;
};

void expect_line(const ImageFetch& fetch, const std::vector<Expected>& expected) {
    const ImageLinePlan line = image_line(fetch);
    ASSERT_EQ(line.requests.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const ImageRequest& request = line.requests[i];
        EXPECT_EQ(request.plane, expected[i].plane) << i;
        EXPECT_EQ(request.padding, expected[i].padding) << i;
        EXPECT_EQ(request.atoms, expected[i].atoms) << i;
        EXPECT_EQ(request.reads, expected[i].reads) << i;
    }
}

TEST(ImageLine, begins_with_a_bundle_of_nine_atoms_and_ends_with_one_more_than_it_packs) {
    expect_line(Fetch().fetch, {{0, false, 9, 8}, {0, false, 1, 0}, {0, true, 1, 2}});
}

TEST(ImageLine, has_requests_for_padding) {
    Fetch padded;
    padded.fetch.pad_left = 3;
    padded.fetch.pad_right = 3;
    // two atoms on the left, ten of pixels; 26 pixels are 13 atoms, and one more
    expect_line(padded.fetch,
                {{0, true, 2, 0}, {0, false, 7, 8}, {0, false, 3, 0}, {0, true, 2, 5}});
}

TEST(ImageLine, takes_bundles_of_two_planes_in_turns) {
    Fetch two("T_Y8___U8V8_N444");
    two.fetch.pixels.width = 80;
    const ImageLinePlan line = image_line(two.fetch);
    expect_line(two.fetch, {{0, false, 9, 0},
                            {1, false, 17, 24},
                            {0, false, 1, 0},
                            {0, true, 1, 0},
                            {1, false, 3, 0},
                            {1, true, 1, 6}});
    EXPECT_TRUE(line.packed_late);
    two.fetch.pixels.width = 82;  // the last two pixels are one entry
    EXPECT_FALSE(image_line(two.fetch).packed_late);
}

TEST(ImageLine, reads_the_atoms_of_a_wide_beat_at_once) {
    Fetch wide;
    wide.fetch.beat = Bytes(16);
    expect_line(wide.fetch, {{0, false, 9, 4}, {0, false, 1, 0}, {0, true, 1, 1}});
}

TEST(ImageRequests, are_pieces_of_bundles_one_a_cycle_and_one_for_padding) {
    ImageStream stream = Fetch().stream();
    const std::vector<std::uint64_t> beats{9, 1, 9, 1};
    const std::vector<std::uint64_t> times{130, 131, 134, 135};
    for (std::size_t i = 0; i < beats.size(); ++i) {
        const auto burst = stream.next_burst();
        EXPECT_EQ(burst->ready, Cycles(times[i]));
        EXPECT_EQ(burst->beats, beats[i]);
        EXPECT_TRUE(burst->run.has_value());
    }
}

TEST(ImageRequests, wait_for_answers_when_all_places_are_taken) {
    Fetch fetch;
    fetch.fetch.pixels.height = 100;
    ImageStream stream = fetch.stream();
    std::uint64_t requests = 0;
    while (stream.next_burst()) {
        ++requests;
    }
    EXPECT_EQ(requests, 128 / 3 * 2 + 2);  // three slots per line, one of them for padding
    arrive(stream, 1000, 10);
    const auto burst = stream.next_burst();
    ASSERT_TRUE(burst);
    EXPECT_GT(burst->ready, Cycles(1000));
}

TEST(ImageLines, are_packed_an_entry_a_cycle_behind_their_bundles) {
    ImageStream stream = asked(Fetch());
    arrive(stream, 1000, 10);
    // the ninth beat is at the packing seven cycles later; ten entries, written nine cycles after
    // the last is read
    EXPECT_EQ(stream.last_entry(), Cycles(1008 + 7 + 10 + 9));
    arrive(stream, 1010, 10);
    // padding takes a cycle more of the answers, and so do all later lines
    EXPECT_EQ(stream.last_entry(), Cycles(1008 + 7 + 21 + 9));
}

TEST(ImageLines, wait_for_their_last_beat_on_a_slow_bus) {
    ImageStream stream = asked(Fetch());
    arrive(stream, 1000, 10);
    arrive(stream, 2000, 9);
    arrive(stream, 3000, 1);
    // the last bundle is one beat, one padding, and two entries
    EXPECT_EQ(stream.last_entry(), Cycles(3000 + 7 + 1 + 2 + 9));
}

}  // namespace
}  // namespace npuscope::cdma_image_timing_test
