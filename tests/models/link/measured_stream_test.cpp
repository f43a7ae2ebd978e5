// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "models/link/read_stream.h"

namespace npuscope {
namespace {

/// Three bursts of two beats.
class Bursts : public ReadStream {
 public:
    std::uint64_t beats() const override { return 6; }
    std::optional<ReadBurst> next_burst() override {
        constexpr std::array<std::uint64_t, 3> kReady{10, 11, 100};
        return ReadBurst{Cycles(kReady[next_++]), 2, {}};
    }
    void arrived(std::span<const Cycles> times) override { arrived_ += times.size(); }
    std::size_t arrived_ = 0;

 private:
    std::size_t next_ = 0;
};

TEST(MeasuredStream, CyclesWithABeatUnderWayCountOnce) {
    Bursts bursts;
    MeasuredStream measured(bursts);
    for (int i = 0; i < 3; ++i) {
        measured.next_burst();
    }
    const std::array early{Cycles(30), Cycles(31), Cycles(32), Cycles(33)};
    measured.arrived(early);  // 10 to 33
    const std::array late{Cycles(130), Cycles(131)};
    measured.arrived(late);  // 100 to 131
    EXPECT_EQ(measured.latency(), Cycles(23 + 31));
    EXPECT_EQ(bursts.arrived_, 6U);
}

TEST(MeasuredStream, StallsAddUp) {
    Bursts bursts;
    MeasuredStream measured(bursts);
    measured.stalled(Cycles(4));
    measured.stalled(Cycles(3));
    EXPECT_EQ(measured.stall(), Cycles(7));
}

}  // namespace
}  // namespace npuscope
