// SPDX-License-Identifier: Apache-2.0
// Interrupts as a host sees them in time.
#include "models/glb/glb.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/simulate.h"

namespace npuscope {
namespace {

constexpr std::string_view status = "S_INTR_STATUS";
constexpr Interrupt sdp{InterruptSource::Sdp, 0};
constexpr Interrupt data{InterruptSource::CdmaDat, 1};
constexpr Interrupt weights{InterruptSource::CdmaWt, 1};

TEST(Glb, a_read_sees_a_bit_the_cycle_after_it_has_risen) {
    Scene scene;
    Glb glb("glb");
    std::vector<std::uint32_t> seen;
    scene.thread("unit", [&](Activity& activity) {
        glb.raise(sdp);
        seen.push_back(glb.shown(status));
        activity.spend(Cycles(1));
        seen.push_back(glb.shown(status));
        glb.raise(sdp);  // it was already raised
        glb.raise(data);
        seen.push_back(glb.shown(status));
        activity.spend(Cycles(1));
        seen.push_back(glb.shown(status));
    });
    scene.run();
    EXPECT_EQ(seen, (std::vector<std::uint32_t>{0, 1, 1, 0x20001}));
}

TEST(Glb, bits_rise_at_their_times_in_whatever_order_they_were_announced) {
    Scene scene;
    Glb glb("glb");
    std::vector<std::pair<std::uint64_t, std::uint32_t>> rises;
    scene.thread("units", [&](Activity& activity) {
        activity.spend(Cycles(10));
        glb.raise_at(Cycles(40), data);
        glb.raise_at(Cycles(20), weights);
        glb.raise_at(Cycles(5), sdp);  // has passed
    });
    scene.thread("host", [&](Activity& activity) {
        for (unsigned i = 0; i < 3; ++i) {
            activity.wait_for(glb.raised(), WaitKind::Idle, "interrupts");
            rises.emplace_back(now().value, glb.controller().status());
        }
    });
    scene.run();
    EXPECT_EQ(rises, (std::vector<std::pair<std::uint64_t, std::uint32_t>>{
                         {10, 0x1}, {20, 0x80001}, {40, 0xa0001}}));
    EXPECT_EQ(glb.last_raised(), Cycles(40));
}

}  // namespace
}  // namespace npuscope
