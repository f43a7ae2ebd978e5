// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_controller.h"

#include <gtest/gtest.h>

#include "tests/models/memory/dram_samples.h"

namespace npuscope::dram_controller_test {
namespace {

constexpr Address base(0x80000000);
constexpr Cycles first_read(13 + 11 + 1 + 4);

Address at(std::uint64_t offset) { return base + Bytes(offset); }

TEST(DramController, reads_a_burst_once_for_all_its_beats) {
    DramController controller(sample_dram(), base);
    for (std::uint64_t beat = 0; beat < 8; ++beat) {
        EXPECT_EQ(controller.read(at(8 * beat), Bytes(8), Cycles(100)), Cycles(100) + first_read);
    }
    EXPECT_EQ(controller.read(at(56), Bytes(8), Cycles(900)), Cycles(900));
    EXPECT_EQ(controller.statistics().read_bursts, 1U);
    EXPECT_EQ(controller.statistics().merged_beats, 8U);
}

TEST(DramController, reads_every_beat_anew_without_buffers) {
    DramConfig config = sample_dram();
    config.read_buffers = 0;
    DramController controller(config, base);
    controller.read(at(0), Bytes(8), Cycles(100));
    EXPECT_EQ(controller.read(at(8), Bytes(8), Cycles(100)), Cycles(100) + first_read + Cycles(6));
    EXPECT_EQ(controller.statistics().read_bursts, 2U);
}

TEST(DramController, forgets_the_oldest_burst) {
    DramConfig config = sample_dram();
    config.read_buffers = 2;
    DramController controller(config, base);
    for (const std::uint64_t offset : {0U, 64U, 128U, 64U, 0U}) {
        controller.read(at(offset), Bytes(8), Cycles(100));
    }
    EXPECT_EQ(controller.statistics().read_bursts, 4U);
    EXPECT_EQ(controller.statistics().merged_beats, 1U);
}

TEST(DramController, adds_its_latency_in_cycles_of_the_npu) {
    DramConfig config = sample_dram();
    config.controller_latency = Cycles(20);
    config.clock = Hertz(500'000'000);
    DramController controller(config, base);
    EXPECT_EQ(controller.read(at(0), Bytes(8), Cycles(100)),
              Cycles(100) + 2 * first_read + Cycles(20));
    EXPECT_EQ(controller.write(at(0), Bytes(8), Cycles(500)), Cycles(500 + 20));
}

TEST(DramController, gathers_writes_and_answers_them_at_once) {
    DramConfig config = sample_dram();
    config.write_batch = 4;
    DramController controller(config, base);
    for (std::uint64_t beat = 0; beat < 31; ++beat) {
        EXPECT_EQ(controller.write(at(8 * beat), Bytes(8), Cycles(100 + beat)), Cycles(100 + beat));
    }
    // the fourth burst was its first beat's: the batch went out then
    EXPECT_EQ(controller.statistics().write_bursts, 4U);
    EXPECT_EQ(controller.statistics().turnarounds, 2U) << "one for each channel";
}

TEST(DramController, holds_a_batch_back_until_the_one_before_is_written) {
    DramConfig config = sample_dram();
    config.write_batch = 1;
    config.organisation.channels = 1;
    DramController controller(config, base);
    EXPECT_EQ(controller.write(at(0), Bytes(8), Cycles(100)), Cycles(100));
    const Cycles written = Cycles(100 + 13 + 9 + 4);
    EXPECT_EQ(controller.write(at(64), Bytes(8), Cycles(101)), written);
    EXPECT_EQ(controller.write(at(4096), Bytes(8), Cycles(900)), Cycles(900));
}

TEST(DramController, times_a_range_by_its_slowest_burst) {
    DramController whole(sample_dram(), base);
    DramController beats(sample_dram(), base);
    Cycles last;
    for (std::uint64_t offset = 40; offset < 40 + 480; offset += 8) {
        last = beats.read(at(offset), Bytes(8), Cycles(100));
    }
    EXPECT_EQ(whole.read(at(40), Bytes(480), Cycles(100)), last);
    EXPECT_EQ(whole.statistics().read_bursts, 9U);
    whole.write(at(4096 + 40), Bytes(480), Cycles(900));
    EXPECT_EQ(whole.statistics().write_bursts, 0U) << "nine bursts of a batch of sixteen";
}

TEST(DramController, answers_a_read_of_gathered_bytes_without_the_dram) {
    DramController controller(sample_dram(), base);
    controller.write(at(64), Bytes(8), Cycles(100));
    EXPECT_EQ(controller.read(at(72), Bytes(8), Cycles(110)), Cycles(110));
    EXPECT_EQ(controller.statistics().read_bursts, 0U);
}

TEST(DramController, reads_again_what_was_written_since) {
    DramConfig config = sample_dram();
    config.write_batch = 1;
    DramController controller(config, base);
    controller.read(at(0), Bytes(8), Cycles(100));
    controller.write(at(0), Bytes(8), Cycles(200));
    controller.read(at(0), Bytes(8), Cycles(900));
    EXPECT_EQ(controller.statistics().read_bursts, 2U);
}

/// Cycles that a long sequential read of 8-byte beats takes, a beat requested every cycle.
Cycles sequential_read(const DramConfig& config, std::uint64_t beats) {
    DramController controller(config, base);
    Cycles previous;
    for (std::uint64_t beat = 0; beat < beats; ++beat) {
        const Cycles ready = controller.read(at(8 * beat), Bytes(8), Cycles(beat));
        previous = std::max(previous + Cycles(1), ready);
    }
    return previous;
}

TEST(DramController, lets_a_slow_port_stream_at_its_own_pace) {
    // 8 bytes a cycle of 19.2 GB/s: refresh and row changes hide behind the surplus
    const Cycles taken = sequential_read(DramConfig{}, 100'000);
    EXPECT_LT(taken, Cycles(100'000 + 1000));
}

TEST(DramController, is_bound_by_the_bus_of_a_narrow_dram) {
    DramConfig config;
    config.organisation.bus_width = Bytes(1);
    const Cycles taken = sequential_read(config, 100'000);
    // 1 byte at 2.4 GT/s: 800,000 bytes take 333,333 ns, and refresh takes 420 of 9360 clocks
    EXPECT_GT(taken, Cycles(348'000));
    EXPECT_LT(taken, Cycles(356'000));
}

}  // namespace
}  // namespace npuscope::dram_controller_test
