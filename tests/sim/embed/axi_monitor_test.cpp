// SPDX-License-Identifier: Apache-2.0
// Each rule of the monitor, broken once.
#include "include/npuscope/axi_monitor.h"

#include <gmock/gmock-matchers.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace npuscope {
namespace {

using sc_core::SC_NS;
using testing::HasSubstr;

/// Wires that the test drives itself, a cycle at a time.
struct Driven {
    Driven() {
        monitor.clock(clock);
        monitor.reset_n(reset_n);
        monitor.bind_wires(wires);
        monitor.on_violation = [this](const std::string& text) { violations.push_back(text); };
        reset_n.write(true);
        wires.awready.write(true), wires.wready.write(true), wires.bready.write(true);
        wires.arready.write(true), wires.rready.write(true);
        wires.awsize.write(3), wires.arsize.write(3);
        wires.awburst.write(1), wires.arburst.write(1);
    }
    void cycle() { sc_core::sc_start(1, SC_NS); }
    void address(bool write, std::uint64_t at, unsigned beats, unsigned id = 0) {
        (write ? wires.awaddr : wires.araddr).write(at);
        (write ? wires.awlen : wires.arlen).write(beats - 1);
        (write ? wires.awid : wires.arid).write(id);
        (write ? wires.awvalid : wires.arvalid).write(true);
        cycle();
        (write ? wires.awvalid : wires.arvalid).write(false);
    }
    void beat(unsigned strobes, bool last) {
        wires.wstrb.write(strobes);
        wires.wlast.write(last);
        wires.wvalid.write(true);
        cycle();
        wires.wvalid.write(false);
    }
    void answer(bool write, unsigned id, bool last = true) {
        (write ? wires.bid : wires.rid).write(id);
        wires.rlast.write(last);
        (write ? wires.bvalid : wires.rvalid).write(true);
        cycle();
        (write ? wires.bvalid : wires.rvalid).write(false);
    }
    /// The violations since the last call, and none after it.
    std::string found() {
        std::string all;
        for (const std::string& text : violations) {
            all += text.substr(text.find(": ") + 2) + "; ";
        }
        violations.clear();
        reset_n.write(false);
        cycle();
        reset_n.write(true);
        cycle();
        return all;
    }

    sc_core::sc_clock clock{"clock", 1, SC_NS, 0.5, 0.5, SC_NS};
    sc_core::sc_signal<bool> reset_n{"reset_n"};
    AxiWires<64> wires;
    AxiMonitor<64> monitor{"monitor"};
    std::vector<std::string> violations;
};

TEST(AxiMonitor, findsEachRuleBroken) {
    Driven d;
    // what is right passes
    d.address(true, 0x100c, 2, 3);
    d.beat(0xf0, false);
    d.beat(0x0f, true);
    d.answer(true, 3);
    d.address(false, 0xff8, 1, 7);
    d.answer(false, 7);
    EXPECT_EQ(d.monitor.open(), 0U);
    EXPECT_EQ(d.found(), "");
    // stability
    d.wires.awready.write(false);
    d.address(true, 0x1000, 1);
    d.cycle();
    EXPECT_EQ(d.found(), "AWVALID fell before READY came; ");
    d.wires.arready.write(false);
    d.address(false, 0x1000, 1);
    d.address(false, 0x1008, 1);
    d.wires.arready.write(true), d.wires.awready.write(true);
    EXPECT_THAT(d.found(), HasSubstr("AR changed while it was stalled"));
    d.wires.wready.write(false);
    d.beat(0xff, false);
    d.beat(0xff, true);
    d.wires.wready.write(true);
    EXPECT_THAT(d.found(), HasSubstr("W changed while it was stalled"));
    // bursts
    d.address(true, 0xff0, 3);
    EXPECT_EQ(d.found(), "AW: a burst crosses 4 KiB; ");
    d.wires.arsize.write(4);
    d.address(false, 0x1000, 1);
    d.wires.arsize.write(3);
    EXPECT_EQ(d.found(), "AR: beats of 16 bytes on a bus of 8; ");
    d.wires.awburst.write(3);
    d.address(true, 0x1000, 1);
    EXPECT_EQ(d.found(), "AW: BURST is 3, which is reserved; ");
    d.wires.awburst.write(2);
    d.address(true, 0x1000, 3);
    EXPECT_EQ(d.found(), "AW: a WRAP burst has 2, 4, 8 or 16 beats; ");
    d.wires.awburst.write(0);
    d.address(true, 0x1000, 17);
    d.wires.awburst.write(1);
    EXPECT_EQ(d.found(), "AW: a FIXED burst has more than 16 beats; ");
    // data
    d.address(true, 0x1004, 1);
    d.beat(0x08, true);
    EXPECT_EQ(d.found(), "W: a strobe outside of the lanes of its beat; ");
    d.address(true, 0x1000, 2);
    d.beat(0xff, true);
    EXPECT_EQ(d.found(), "W: WLAST before the last beat; ");
    d.address(true, 0x1000, 1);
    d.beat(0xff, false);
    EXPECT_EQ(d.found(), "W: the last beat lacks WLAST; ");
    d.address(false, 0x1000, 2);
    d.answer(false, 0, true);
    EXPECT_EQ(d.found(), "R: RLAST before the last beat; ");
    d.address(false, 0x1000, 1);
    d.answer(false, 0, false);
    EXPECT_EQ(d.found(), "R: the last beat lacks RLAST; ");
    // answers
    d.address(true, 0x1000, 1, 5);
    d.answer(true, 5);
    EXPECT_EQ(d.found(), "B: identifier 5 has no write that is complete; ");
    d.address(false, 0x1000, 1, 5);
    d.answer(false, 6);
    EXPECT_EQ(d.found(), "R: identifier 6 has no read in flight; ");
}

TEST(AxiMonitor, findsAnAnswerWhoseValidRisesBeforeItsRequestIsComplete) {
    Driven d;
    const std::string no_write = "B: identifier 0 has no write that is complete; ";
    const std::string no_read = "R: identifier 0 has no read in flight; ";
    d.wires.rlast.write(true);
    // at the same edge
    d.address(true, 0x1000, 1);
    d.wires.bvalid.write(true);
    d.beat(0xff, true);
    d.wires.bvalid.write(false);
    EXPECT_EQ(d.found(), no_write);
    d.wires.rvalid.write(true);
    d.address(false, 0x1000, 1);
    d.wires.rvalid.write(false);
    EXPECT_EQ(d.found(), no_read);
    // stalled, so that it passes after the request; then one that rises after it
    for (const bool early : {true, false}) {
        d.wires.bready.write(false), d.wires.rready.write(false);
        d.wires.bvalid.write(early), d.wires.rvalid.write(early);
        d.address(true, 0x1000, 1);
        d.beat(0xff, true);
        d.address(false, 0x1000, 1);
        d.wires.bvalid.write(true), d.wires.rvalid.write(true);
        d.cycle();
        d.wires.bready.write(true), d.wires.rready.write(true);
        d.cycle();
        d.wires.bvalid.write(false), d.wires.rvalid.write(false);
        EXPECT_EQ(d.monitor.open(), 0U);
        EXPECT_EQ(d.found(), early ? no_write + no_read : "");
    }
}

TEST(AxiMonitor, findsAValidThatIsHighInReset) {
    Driven d;
    const std::array<std::pair<sc_core::sc_signal<bool>*, std::string>, 5> valids{
        {{&d.wires.awvalid, "AW"},
         {&d.wires.wvalid, "W"},
         {&d.wires.bvalid, "B"},
         {&d.wires.arvalid, "AR"},
         {&d.wires.rvalid, "R"}}};
    for (const auto& [valid, name] : valids) {
        d.reset_n.write(false);
        valid->write(true);
        d.cycle();  // a clocked module sees reset at this edge
        EXPECT_TRUE(d.violations.empty()) << name;
        d.cycle();
        valid->write(false);
        d.cycle();
        EXPECT_EQ(d.found(), name + "VALID is high in reset; ");
        d.reset_n.write(false);
        d.cycle();
        d.reset_n.write(true);
        valid->write(true);
        d.cycle();
        valid->write(false);
        EXPECT_THAT(d.found(), HasSubstr(name + "VALID is high at the first edge after reset; "));
    }
}

}  // namespace
}  // namespace npuscope
