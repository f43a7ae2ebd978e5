// SPDX-License-Identifier: Apache-2.0
// A DRAM as the NPU's port sees it: through the interface and the memory, in simulated time.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "models/base/error.h"
#include "models/mcif/mcif.h"
#include "models/memory/memory.h"
#include "tests/models/memory/dram_samples.h"
#include "tests/support/simulate.h"

namespace npuscope {
namespace {

constexpr Address base(0x80000000);

MemoryConfig memory_with(const std::optional<DramConfig>& dram) {
    MemoryConfig config;
    config.read_latency = Cycles(50);
    config.regions.resize(2);
    config.regions[0].base = base;
    config.regions[0].size = Bytes(4096);
    config.regions[1].name = "sram";
    config.regions[1].base = Address(0x50000000);
    config.regions[1].size = Bytes(4096);
    config.regions[0].dram = dram;
    return config;
}

struct Bench : sc_core::sc_module {
    DiagnosticLog log;
    MemoryConfig memory_config;
    McifConfig config;
    Memory memory{"memory", memory_config, log};
    Mcif mcif{"mcif", config, log};
    DmaPort reader{"reader", "cdma"};
    DmaPort writer{"writer", "sdp"};
    Scene scene;
    const Purpose purpose{.surface = "input", .operation = "conv 0"};

    explicit Bench(const std::optional<DramConfig>& dram,
                   const sc_core::sc_module_name& name = "bench")
        : sc_core::sc_module(name), memory_config(memory_with(dram)) {
        mcif.memory.bind(memory.socket);
        mcif.connect(reader);
        mcif.connect(writer);
        memory.zero(base, Bytes(4096));
        memory.zero(Address(0x50000000), Bytes(4096));
    }

    /// Cycles from the call to the arrival of the last byte, at a moment of its own.
    Cycles read_time(Activity& activity, Address address, Bytes bytes) {
        const Cycles called = now();
        return reader.read(activity, address, bytes, purpose) - called;
    }
};

TEST(DramPort, brings_a_beat_a_cycle_once_its_row_is_open) {
    Bench bench(sample_dram());
    Cycles simple;
    Cycles cold;
    Cycles open;
    bench.scene.thread("read", [&](Activity& activity) {
        simple = bench.read_time(activity, Address(0x50000000), Bytes(64));
        activity.spend(Cycles(1000));
        cold = bench.read_time(activity, base, Bytes(64));
        activity.spend(Cycles(1000));
        open = bench.read_time(activity, base + Bytes(256), Bytes(64));
    });
    bench.scene.run();
    // tRCD + CL + tDQSCK + burst in place of the latency of 50
    EXPECT_EQ(simple - cold, Cycles(50) - Cycles(13 + 11 + 1 + 4));
    EXPECT_EQ(cold - open, Cycles(13));
    const auto drams = bench.memory.dram_statistics();
    ASSERT_EQ(drams.size(), 1U);
    EXPECT_EQ(drams[0].region, "dram");
    EXPECT_EQ(drams[0].statistics.read_bursts, 2U);
    EXPECT_EQ(drams[0].statistics.row_hits, 1U);
    EXPECT_EQ(drams[0].statistics.merged_beats, 14U);
    EXPECT_TRUE(bench.log.findings().empty());
}

TEST(DramPort, answers_a_write_from_the_controller) {
    DramConfig dram = sample_dram();
    dram.controller_latency = Cycles(7);
    Bench bench(dram);
    const std::vector<std::uint8_t> result(64, 7);
    Cycles to_dram;
    Cycles to_sram;
    bench.scene.thread("write", [&](Activity& activity) {
        Cycles called = now();
        to_dram = bench.writer.write(activity, {base, result}, bench.purpose).time - called;
        activity.spend(Cycles(100));
        called = now();
        to_sram = bench.writer.write(activity, {Address(0x50000000), result}, bench.purpose).time -
                  called;
    });
    bench.scene.run();
    EXPECT_EQ(to_sram - to_dram, Cycles(50) - Cycles(7));
}

TEST(DramPort, changes_nothing_where_no_region_has_one) {
    Bench bench(std::nullopt);
    Cycles from_dram;
    Cycles from_sram;
    bench.scene.thread("read", [&](Activity& activity) {
        from_dram = bench.read_time(activity, base, Bytes(80));
        activity.spend(Cycles(1000));
        from_sram = bench.read_time(activity, Address(0x50000000), Bytes(80));
    });
    bench.scene.run();
    EXPECT_EQ(from_dram, from_sram);
    EXPECT_TRUE(bench.memory.dram_statistics().empty());
}

TEST(DramPort, refuses_a_region_that_the_dram_cannot_hold) {
    DiagnosticLog log;
    MemoryConfig config = memory_with(sample_dram());
    config.regions[0].size = Bytes(1ULL << 30);
    EXPECT_THROW(Memory("memory", config, log), ConfigError);
}

TEST(DramPort, a_spread_belongs_to_the_beat_whenever_it_is_asked_for) {
    MemoryConfig config = memory_with(std::nullopt);
    config.latency_spread = Cycles(30);
    RegionTiming forward(config, config.regions[0], {});
    RegionTiming backward(config, config.regions[0], {});
    std::vector<Cycles> there;
    std::vector<Cycles> back;
    for (std::uint64_t i = 0; i < 50; ++i) {
        there.push_back(forward.read(0, base + Bytes(8 * i), Bytes(8), Cycles(10)));
        back.push_back(backward.read(0, base + Bytes(8 * (49 - i)), Bytes(8), Cycles(10)));
    }
    std::ranges::reverse(back);
    EXPECT_EQ(there, back);
}

TEST(DramPort, writes_with_a_spread_are_answered_in_order_one_a_cycle) {
    MemoryConfig config = memory_with(std::nullopt);
    config.latency_spread = Cycles(30);
    RegionTiming timing(config, config.regions[0], {});
    Cycles before;
    Cycles latest;
    for (std::uint64_t i = 0; i < 50; ++i) {
        const Address address = base + Bytes(8 * i);
        const Cycles own(10 + i + 50 + drawn_latency(30, config.seed, address.value, true));
        latest = std::max(own, before + Cycles(1));
        before = timing.write(0, {address, Bytes(8)}, Cycles(10 + i), Cycles(1));
        EXPECT_EQ(before, latest);
    }
    RegionTiming together(config, config.regions[0], {});
    EXPECT_EQ(together.write(0, {base, Bytes(400)}, Cycles(59), Cycles(1)), before);
}

TEST(DramPort, a_spread_of_latency_delays_beats_and_keeps_their_order) {
    const auto time = [](Cycles spread, std::uint64_t seed) {
        MemoryConfig config = memory_with(std::nullopt);
        config.latency_spread = spread;
        config.seed = seed;
        RegionTiming timing(config, config.regions[0], {});
        EXPECT_EQ(timing.is_fixed(), spread == Cycles(0));
        std::vector<Cycles> ready;
        for (std::uint64_t i = 0; i < 100; ++i) {
            ready.push_back(timing.read(0, base + Bytes(8 * i), Bytes(8), Cycles(10)));
        }
        return ready;
    };
    const std::vector<Cycles> spread = time(Cycles(30), 1);
    const auto [least, most] = std::ranges::minmax(spread);
    EXPECT_GE(least, Cycles(60));
    EXPECT_LT(least, Cycles(65));
    EXPECT_LE(most, Cycles(90));
    EXPECT_GT(most, Cycles(85));
    EXPECT_EQ(time(Cycles(30), 1), spread);
    EXPECT_NE(time(Cycles(30), 2), spread);
    EXPECT_EQ(time(Cycles(0), 1), std::vector<Cycles>(100, Cycles(60)));
}

}  // namespace
}  // namespace npuscope
