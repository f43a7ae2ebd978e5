// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "models/conv/cdma_timing.h"

namespace npuscope::cdma_data_timing_test {
namespace {

/// A fetch of a packed cube into an empty buffer; the operation is enabled in cycle 100.
struct Fetch {
    ReleaseLedger releases;
    FeatureFetch fetch;

    explicit Fetch(const Shape& shape, std::uint64_t base = 0x80000000) {
        fetch.cube = packed_cube(Address(base), shape, Bytes(8));
        fetch.entries_per_line = std::uint64_t{shape.width} * fetch.cube.surfaces();
        fetch.start = Cycles(100);
        fetch.room = {&releases, 1 << 16, 0};
    }
    FeatureStream stream() const { return FeatureStream(CdmaConfig{}, fetch); }
};

struct Asked {
    std::uint64_t ready;
    std::uint64_t beats;
    bool operator==(const Asked&) const = default;
};

std::vector<Asked> all_bursts(FeatureStream& stream) {
    std::vector<Asked> asked;
    std::uint64_t beats = 0;
    while (beats < stream.beats()) {
        const ReadBurst burst = stream.next_burst().value();
        asked.push_back({burst.ready.value, burst.beats});
        beats += burst.beats;
    }
    return asked;
}

TEST(FeatureRequests, are_pieces_of_eight_atoms_with_a_gap_behind_each_line_and_surface) {
    // two surfaces of one line each, 20 atoms: the second begins in the middle of eight
    FeatureStream stream = Fetch({16, 1, 20}).stream();
    EXPECT_EQ(all_bursts(stream), (std::vector<Asked>{{133, 8},
                                                      {134, 8},
                                                      {135, 4},
                                                      {137, 4},  // up to a multiple of eight
                                                      {138, 8},
                                                      {139, 8}}));
}

TEST(FeatureRequests, of_single_atoms_wait_for_a_place_in_their_queue) {
    FeatureStream stream = Fetch({8, 200, 1}).stream();
    for (int request = 0; request < 129; ++request) {
        ASSERT_TRUE(stream.next_burst());
    }
    EXPECT_FALSE(stream.next_burst());  // nothing has arrived
    stream.arrived(std::vector{Cycles(1000), Cycles(1010)});
    const Cycles first_write = stream.first_entry();
    EXPECT_EQ(stream.next_burst()->ready, first_write + Cycles(2));
    EXPECT_EQ(stream.next_burst()->ready, stream.last_entry() + Cycles(2));
    EXPECT_FALSE(stream.next_burst());
}

/// The write of the last entry where beats arrive a cycle apart from cycle 200 on.
Cycles last_entry(FeatureStream& stream) {
    all_bursts(stream);
    std::vector<Cycles> times;
    for (std::uint64_t beat = 0; beat < stream.beats(); ++beat) {
        times.emplace_back(200 + beat);
    }
    stream.arrived(times);
    return stream.last_entry();
}

TEST(FeatureResponses, of_surfaces_in_pairs_take_two_cycles_in_the_second_one) {
    const auto last = [](const Shape& shape) {
        Fetch fetch(shape);
        fetch.fetch.beat = Bytes(16);  // two atoms
        CdmaConfig config;
        config.surface_pairs = true;
        FeatureStream stream(config, fetch.fetch);
        return last_entry(stream);
    };
    const Cycles four_beats = last({8, 1, 8});
    EXPECT_EQ(last({8, 1, 10}), four_beats + Cycles(1));
    EXPECT_EQ(last({8, 2, 8}), four_beats + Cycles(4));   // nothing waits after an even line
    EXPECT_EQ(last({16, 1, 8}), four_beats + Cycles(8));  // four beats, two entries of each
}

TEST(FeatureResponses, wait_on_the_bus_when_neither_stages_nor_interface_have_room) {
    // two surfaces that take their beats at once and two that take two in three cycles
    Fetch fetch({32, 1, 64});
    FeatureStream told = fetch.stream();
    const Cycles last = last_entry(told);
    FeatureStream stream = fetch.stream();
    all_bursts(stream);
    std::vector<Cycles> times;
    for (std::uint64_t beat = 0; beat < stream.beats(); ++beat) {
        times.emplace_back(200 + beat);
    }
    stream.hold_back(times, Cycles(1));
    EXPECT_EQ(times[127], Cycles(200 + 127));  // the slow ones have not begun
    EXPECT_GT(times[200], Cycles(200 + 200 + 20));
    stream.arrived(times);
    EXPECT_EQ(stream.last_entry(), last);  // the stages never starve for that
    EXPECT_LT(stream.last_entry(), times.back() + Cycles(30));
}

TEST(FeatureRequests, keep_the_lines_of_all_batches_together) {
    Fetch fetch({8, 4, 8});  // two batches of two lines
    fetch.fetch.cube.batch_lines = 2;
    fetch.fetch.cube.batch_stride = Bytes(0x1000);
    FeatureStream stream = fetch.stream();
    std::vector<std::uint64_t> addresses;
    for (int i = 0; i < 4; ++i) {
        addresses.push_back(stream.next_burst()->run->address.value);
    }
    EXPECT_EQ(addresses,
              (std::vector<std::uint64_t>{0x80000000, 0x80001000, 0x80000040, 0x80001040}));
}

TEST(FeatureRequests, take_as_many_lines_at_once_as_the_grain_says) {
    Fetch fetch({8, 4, 4});
    fetch.fetch.lines_per_request = 2;
    FeatureStream two_lines = fetch.stream();
    EXPECT_EQ(all_bursts(two_lines), (std::vector<Asked>{{133, 8}, {136, 8}}));
    fetch.fetch.lines_per_request = 1;
    FeatureStream one_line = fetch.stream();
    EXPECT_EQ(all_bursts(one_line), (std::vector<Asked>{{133, 4}, {136, 4}, {139, 4}, {142, 4}}));
}

TEST(FeatureRequests, wait_for_room_in_the_buffer_line_by_line) {
    Fetch fetch({8, 2, 8});
    fetch.fetch.room = {&fetch.releases, 16, 8};  // eight entries of the previous operation
    FeatureStream stream = fetch.stream();
    EXPECT_EQ(stream.next_burst()->ready, Cycles(133));
    EXPECT_FALSE(stream.next_burst());
    fetch.releases.release(Cycles(500), 8);
    EXPECT_EQ(stream.next_burst()->ready, Cycles(500));
}

TEST(FeatureRequests, of_a_single_pixel_take_all_its_surfaces_as_one_line) {
    Fetch fetch({64, 1, 1});
    fetch.fetch.surfaces_in_line = true;
    FeatureStream stream = fetch.stream();
    EXPECT_EQ(all_bursts(stream), (std::vector<Asked>{{133, 8}}));
}

std::vector<Cycles> written(DataResponse& response, std::size_t beats, bool pauses) {
    std::vector<Cycles> times;
    for (std::size_t i = 0; i < beats; ++i) {
        times.push_back(response.take(Cycles(1000 + i), pauses));
    }
    return times;
}

TEST(DataResponse, writes_a_beat_a_cycle_fourteen_cycles_behind_the_bus) {
    DataResponse response{CdmaConfig{}};
    EXPECT_EQ(written(response, 4, false),
              (std::vector<Cycles>{Cycles(1014), Cycles(1015), Cycles(1016), Cycles(1017)}));
}

TEST(DataResponse, needs_three_cycles_for_two_beats_of_a_slow_surface) {
    DataResponse response{CdmaConfig{}};
    const std::vector<Cycles> times = written(response, 101, true);
    EXPECT_EQ(times[0], Cycles(1014));
    EXPECT_EQ(times[1], Cycles(1015));
    EXPECT_EQ(times[100], Cycles(1014 + 150));
}

TEST(DataResponse, loses_one_cycle_behind_the_end_of_a_line) {
    DataResponse response{CdmaConfig{}};
    std::vector<Cycles> times;
    for (std::uint64_t i = 0; i < 4; ++i) {
        times.push_back(response.take(Cycles(1000 + i), i == 1));
    }
    EXPECT_EQ(times, (std::vector<Cycles>{Cycles(1014), Cycles(1015), Cycles(1016), Cycles(1018)}));
}

TEST(DataResponse, loses_nothing_when_the_bus_is_slow_enough) {
    DataResponse response{CdmaConfig{}};
    for (std::uint64_t i = 0; i < 50; ++i) {
        EXPECT_EQ(response.take(Cycles(1000 + 3 * i), true), Cycles(1014 + 3 * i));
    }
}

}  // namespace
}  // namespace npuscope::cdma_data_timing_test
