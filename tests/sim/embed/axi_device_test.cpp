// SPDX-License-Identifier: Apache-2.0
// NPUs whose registers are reached by APB pins and whose memory is behind AXI pins, with random
// latency, order and readiness: golden programs leave their bytes, and no rule of the protocol is
// broken.
#include <fmt/format.h>
#include <gmock/gmock-more-matchers.h>

#include <deque>
#include <nlohmann/json.hpp>

#include "include/npuscope/axi.h"
#include "include/npuscope/axi_memory.h"
#include "include/npuscope/axi_monitor.h"
#include "include/npuscope/device.h"
#include "tests/sim/embed/platform.h"

namespace npuscope {
namespace {

using test::golden;

/// 64-bit pins; the NPU's cycle and theirs are 1 ns.
struct Board {
    Board(const std::string& name, const std::string& program, const AxiMemory<64>::Setup& setup,
          const std::string& reads)
        : npu(name.c_str(), {"nv_small", {"npu.mcif.transactions=values", reads}, true}),
          axi((name + "_axi").c_str(), {.most_beats = 16, .ids = 8, .in_flight = 64}),
          monitor((name + "_monitor").c_str()),
          memory((name + "_memory").c_str(), setup),
          driver((name + "_driver").c_str(), golden(program), nvdla_register_blocks(),
                 test::ByteAccess(&memory)) {
        npu.dram.bind(axi.socket);
        npu.clock(clock);
        driver.bus.bind(npu.csb);
        npu.interrupt(line);
        driver.interrupt(line);
        const auto wire = [this](auto& module) {
            module.clock(clock);
            module.reset_n(reset_n);
            module.bind_wires(wires);
        };
        wire(axi);
        wire(monitor);
        wire(memory);
        reset_n.write(true);
        monitor.on_violation = [this](const std::string& text) { violations.push_back(text); };
        npu.on_finding = [this](const std::string& text) { findings.push_back(text); };
    }

    sc_core::sc_clock clock{sc_core::sc_gen_unique_name("clock"), 1, sc_core::SC_NS};
    sc_core::sc_signal<bool> reset_n;
    sc_core::sc_signal<bool> line;
    AxiWires<64> wires;
    Device npu;
    AxiMaster<64> axi;
    AxiMonitor<64> monitor;
    AxiMemory<64> memory;
    test::Driver driver;
    std::vector<std::string> violations;
    std::vector<std::string> findings;
};

TEST(AxiDevice, LeavesTheRtlsBytesInWhateverStandsBehindThePins) {
    std::deque<Board> boards;
    for (const char* program : {"fp04", "fs10", "fz056", "sdp_1x1x800", "pdp_8x8x64_avg8"}) {
        for (unsigned seed = 0; seed < 3; ++seed) {
            AxiMemory<64>::Setup setup{.seed = seed + 1, .least_latency = 20, .most_latency = 20};
            if (seed > 0) {
                setup.least_latency = 1;
                setup.most_latency = 120;
                setup.stall_percent = 30 * seed;
                setup.reorders = true;
            }
            boards.emplace_back(fmt::format("{}_{}", program, seed), program, setup,
                                fmt::format("npu.mcif.outstanding_reads={}", seed == 2 ? 8 : 256));
        }
    }
    sc_core::sc_start(sc_core::sc_time(200, sc_core::SC_US));
    for (const Board& board : boards) {
        EXPECT_TRUE(board.driver.player.done) << board.npu.name();
        EXPECT_GT(board.driver.player.checks, 0) << board.npu.name();
        EXPECT_EQ(board.driver.player.failed, 0) << board.npu.name();
        EXPECT_THAT(board.violations, testing::IsEmpty()) << board.npu.name();
        EXPECT_THAT(board.findings, testing::IsEmpty()) << board.npu.name();
    }
}

}  // namespace
}  // namespace npuscope
