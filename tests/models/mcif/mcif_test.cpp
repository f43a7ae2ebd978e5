// SPDX-License-Identifier: Apache-2.0
#include "models/mcif/mcif.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "models/memory/memory.h"
#include "tests/support/simulate.h"

namespace npuscope {
namespace {

/// Two clients behind one interface and a memory of latency 50.
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

    explicit Bench(const sc_core::sc_module_name& name = "bench") : sc_core::sc_module(name) {
        mcif.memory.bind(memory.socket);
        mcif.connect(reader);
        mcif.connect(writer);
    }
};

TEST(Mcif, brings_the_first_beat_after_the_latency_and_then_one_a_cycle) {
    Bench bench;
    bench.memory.zero(Address(0x80000000), Bytes(4096));
    Cycles arrival;
    bench.scene.thread("read", [&](Activity& activity) {
        arrival = bench.reader.read(activity, Address(0x80000000), Bytes(80), bench.purpose);
    });
    bench.scene.run();
    // commands of cycles 1 to 10
    EXPECT_EQ(arrival, Cycles(10 + 50 + 1));
    EXPECT_EQ(bench.mcif.traffic()[0].moved.read_beats, 10U);
    EXPECT_TRUE(bench.log.findings().empty());
}

TEST(Mcif, counts_the_beats_that_an_unaligned_request_touches) {
    Bench bench;
    bench.memory.zero(Address(0x80000000), Bytes(4096));
    bench.scene.thread("read", [&](Activity& activity) {
        bench.reader.read(activity, Address(0x80000004), Bytes(8), bench.purpose);
    });
    bench.scene.run();
    EXPECT_EQ(bench.mcif.traffic()[0].moved.read_beats, 2U);
}

TEST(Mcif, takes_a_write_when_its_last_beat_is_there_and_answers_after_the_latency) {
    Bench bench;
    const std::vector<std::uint8_t> result(24, 7);
    std::vector<std::uint8_t> seen(8);
    Cycles taken;
    Cycles response;
    bench.scene.thread("write", [&](Activity& activity) {
        response = bench.writer
                       .write(activity, {Address(0x80000000), result, Cycles(100), Cycles(9)},
                              bench.purpose)
                       .time;
        taken = now();
    });
    bench.scene.thread("look", [&](Activity& activity) {
        activity.spend(Cycles(117));
        bench.memory.read(Address(0x80000010), seen);
        EXPECT_EQ(seen, std::vector<std::uint8_t>(8, 0));
        activity.spend(Cycles(2));
        bench.memory.read(Address(0x80000010), seen);
        EXPECT_EQ(seen, std::vector<std::uint8_t>(8, 7));
    });
    bench.scene.run();
    EXPECT_EQ(taken, Cycles(118));
    EXPECT_EQ(response, Cycles(118 + 1 + 50));
}

/// Parts of three atoms of 32 bytes are written 9 cycles apart, as one run of pieces or each by
/// itself.
struct PartsBench : Bench {
    PartsBench(const char* name, bool as_pieces) : Bench(name) {
        mcif.leave_late_where([as_pieces] { return as_pieces; });
        memory.load(Address(0x80000000), std::vector<std::uint8_t>(128, 0xee));
        std::iota(atoms.begin(), atoms.end(), std::uint8_t{1});
        scene.thread(name, [this, as_pieces](Activity& activity) {
            const Address first(0x80000008);
            const Pieces pieces{Bytes(32), Bytes(8)};
            EXPECT_EQ(writer.takes_pieces(first, pieces, purpose), as_pieces);
            for (std::uint64_t i = 0; i < (as_pieces ? 1U : 3U); ++i) {
                OutgoingRun run{first + Bytes(32 * i),
                                std::span(atoms).subspan(32 * i, as_pieces ? 72 : 8),
                                Cycles(100 + 9 * i), Cycles(9)};
                run.pieces = as_pieces ? pieces : Pieces{};
                response = writer.write(activity, run, purpose).time;
            }
        });
    }
    std::vector<std::uint8_t> written() {
        std::vector<std::uint8_t> bytes(128);
        memory.read(Address(0x80000000), bytes);
        return bytes;
    }
    std::vector<std::uint8_t> atoms = std::vector<std::uint8_t>(32 * 3);
    Cycles response;
};

TEST(Mcif, takes_pieces_of_a_run_as_it_takes_each_by_itself) {
    PartsBench together("together", true);
    PartsBench apart("apart", false);
    together.scene.run();
    EXPECT_EQ(together.response, Cycles(118 + 1 + 50));
    EXPECT_EQ(together.response, apart.response);
    EXPECT_EQ(together.written(), apart.written());
    EXPECT_EQ(together.written()[8 + 32], 33);
    EXPECT_EQ(together.written()[8 + 32 + 8], 0xee);
    const ClientTraffic moved = together.mcif.traffic()[1].moved;
    EXPECT_EQ(moved.write_beats, 3U);
    EXPECT_EQ(apart.mcif.traffic()[1].moved.write_beats, 3U);
    EXPECT_EQ(moved.write_bytes, Bytes(24));
}

TEST(Mcif, takes_no_pieces_that_share_a_beat_of_the_bus_or_lie_across_two) {
    Bench bench;
    bench.mcif.leave_late_where([] { return true; });
    const auto takes = [&](std::uint64_t address, std::uint64_t step, std::uint64_t bytes) {
        return bench.mcif.takes_pieces(Address(address), {Bytes(step), Bytes(bytes)});
    };
    EXPECT_TRUE(takes(0x80000000, 16, 8));
    EXPECT_FALSE(takes(0x80000000, 12, 8));
    EXPECT_FALSE(takes(0x80000004, 16, 8));
    EXPECT_FALSE(takes(0x80000000, 32, 16));
}

TEST(Mcif, issues_the_streams_of_two_clients_in_turns) {
    Bench bench;
    bench.memory.zero(Address(0x80000000), Bytes(4096));
    LineStream first({Address(0x80000000), Bytes(80)}, Cycles(20), 10);
    LineStream second({Address(0x80000800), Bytes(40)}, Cycles(20), 5);
    bench.scene.thread("first", [&](Activity& activity) {
        bench.reader.open(first, bench.purpose);
        bench.reader.wait_issued(activity, 10);
        EXPECT_EQ(now(), Cycles(20 + 14));
    });
    bench.scene.thread("second", [&](Activity& activity) {
        bench.writer.open(second, bench.purpose);
        bench.writer.wait_issued(activity, 5);
        EXPECT_EQ(now(), Cycles(20 + 9));
    });
    bench.scene.run();
    EXPECT_EQ(first.last_arrival(), Cycles(34 + 1 + 50));
    EXPECT_EQ(second.last_arrival(), Cycles(29 + 1 + 50));
    EXPECT_EQ(bench.mcif.traffic()[1].moved.read_beats, 5U);
}

TEST(Mcif, refuses_an_address_beyond_its_width_with_the_names_of_the_access) {
    Bench bench;
    bench.scene.thread("read", [&](Activity& activity) {
        bench.reader.read(activity, Address(0x1'0000'0000), Bytes(8), bench.purpose);
    });
    bench.scene.run();
    ASSERT_EQ(bench.log.findings().size(), 1U);
    const Diagnostic& finding = bench.log.findings().front();
    EXPECT_EQ(finding.id, "address_width");
    EXPECT_EQ(finding.unit, "cdma");
    EXPECT_EQ(finding.surface, "input");
    EXPECT_EQ(finding.operation, "conv 0");
}

TEST(Mcif, fetches_zeros_from_addresses_that_are_refused) {
    Bench bench;
    const LateBytes late(64);
    std::vector<std::uint8_t> bytes(64);
    bench.scene.thread("fetch", [&](Activity&) {
        for (const std::uint64_t address : {std::uint64_t{0x1000}, std::uint64_t{0x1'0000'0000}}) {
            std::ranges::fill(bytes, std::uint8_t{7});
            std::ranges::fill(late.all(), std::uint8_t{7});
            bench.reader.fetch(Address(address), bytes, bench.purpose);
            bench.reader.fetch_late(Address(address), late, late.all(), bench.purpose);
            EXPECT_THAT(bytes, testing::Each(0)) << address;
            EXPECT_THAT(late.all(), testing::Each(0)) << address;
        }
    });
    bench.scene.run();
    EXPECT_EQ(bench.log.findings().size(), 2U);  // one per address
}

TEST(Memory, reports_a_read_of_bytes_that_nobody_wrote) {
    Bench bench;
    bench.memory.zero(Address(0x80000000), Bytes(4));
    std::vector<std::uint8_t> bytes(8);
    bench.scene.thread(
        "fetch", [&](Activity&) { bench.reader.fetch(Address(0x80000000), bytes, bench.purpose); });
    bench.scene.run();
    ASSERT_EQ(bench.log.findings().size(), 1U);
    EXPECT_EQ(bench.log.findings().front().id, "uninitialised_read");
    EXPECT_EQ(bench.log.findings().front().address, Address(0x80000004));
}

TEST(Memory, reports_an_access_outside_every_region) {
    Bench bench;
    std::vector<std::uint8_t> bytes(8);
    bench.scene.thread(
        "fetch", [&](Activity&) { bench.reader.fetch(Address(0x1000), bytes, bench.purpose); });
    bench.scene.run();
    ASSERT_EQ(bench.log.findings().size(), 1U);
    EXPECT_EQ(bench.log.findings().front().id, "outside_memory");
}

TEST(Memory, reports_a_write_to_an_operand_between_fetch_and_timed_read) {
    Bench bench;
    bench.memory.zero(Address(0x80000000), Bytes(64));
    std::vector<std::uint8_t> operand(64);
    const std::vector<std::uint8_t> result(8, 7);
    bench.scene.thread("fetch", [&](Activity& activity) {
        bench.reader.fetch(Address(0x80000000), operand, bench.purpose);
        activity.spend(Cycles(10));
        bench.reader.read(activity, Address(0x80000000), Bytes(32), bench.purpose);
        activity.spend(Cycles(10));
        // what was read in time may be written
        bench.writer.write(activity, {Address(0x80000000), result}, {"output", "sdp 1"});
        EXPECT_TRUE(bench.log.findings().empty());
        bench.writer.write(activity, {Address(0x80000020), result}, {"output", "sdp 1"});
    });
    bench.scene.run();
    ASSERT_EQ(bench.log.findings().size(), 1U);
    EXPECT_EQ(bench.log.findings().front().id, "race");
    EXPECT_EQ(bench.log.findings().front().operation, "sdp 1");
    std::vector<std::uint8_t> stored(8);
    bench.memory.read(Address(0x80000020), stored);
    EXPECT_EQ(stored, result);
}

}  // namespace
}  // namespace npuscope
