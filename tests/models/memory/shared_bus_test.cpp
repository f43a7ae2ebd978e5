// SPDX-License-Identifier: Apache-2.0
#include "models/memory/shared_bus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace npuscope {
namespace {

constexpr Hertz gigahertz{1'000'000'000};

TEST(SharedBus, OneBeatEachInItsTime) {
    SharedBus bus(BytesPerSecond(8'000'000'000), gigahertz);  // 8 bytes a cycle
    for (std::uint64_t beat = 0; beat < 100; ++beat) {
        EXPECT_EQ(bus.pass(Bytes(8), Cycles(beat)), Cycles(beat + 1));
    }
    EXPECT_EQ(bus.pass(Bytes(64), Cycles(1000)), Cycles(1008));
}

TEST(SharedBus, WhoComesTooSoonWaits) {
    SharedBus bus(BytesPerSecond(1'000'000'000), gigahertz);  // a byte a cycle
    Cycles last;
    for (int beat = 0; beat < 100; ++beat) {
        last = bus.pass(Bytes(8), Cycles(0));
    }
    EXPECT_EQ(last, Cycles(800));
}

TEST(SharedBus, FractionsOfACycleAddUp) {
    SharedBus bus(BytesPerSecond(3'000'000'000), gigahertz);
    Cycles last;
    for (int beat = 0; beat < 3000; ++beat) {
        last = bus.pass(Bytes(8), Cycles(0));
    }
    EXPECT_EQ(last, Cycles(8000));
}

TEST(SharedBus, FewBytesASecondTakeTheirTime) {
    SharedBus bus(BytesPerSecond(2), gigahertz);  // a byte in half a second
    EXPECT_EQ(bus.pass(Bytes(8), Cycles(100)), Cycles(4'000'000'100));
    std::vector<Cycles> times{Cycles(101), Cycles(102)};
    bus.pass_each(Bytes(8), times);
    EXPECT_EQ(times[0], Cycles(8'000'000'096));  // of a window's begin, at 96
    EXPECT_EQ(times[1], Cycles(12'000'000'096));
}

TEST(SharedBus, RoomBetweenTheBytesOfOneIsForAnother) {
    SharedBus bus(BytesPerSecond(8'000'000'000), gigahertz);
    // one port is evaluated for a long time before the other, and uses every second cycle
    for (std::uint64_t beat = 0; beat < 1000; ++beat) {
        bus.pass(Bytes(8), Cycles(beat * 2));
    }
    Cycles last;
    for (std::uint64_t beat = 0; beat < 1000; ++beat) {
        last = bus.pass(Bytes(8), Cycles(beat * 2));
    }
    EXPECT_LE(last, Cycles(2016));
}

TEST(SharedBus, NeverMoreThanItsBandwidth) {
    std::mt19937 random(3);
    SharedBus bus(BytesPerSecond(5'000'000'000), gigahertz);
    std::uint64_t bytes = 0;
    Cycles end;
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t size = 1 + random() % 512;
        const Cycles asked(random() % 4000 + static_cast<std::uint64_t>(i) * 20);
        const Cycles passed = bus.pass(Bytes(size), asked);
        EXPECT_GT(passed, asked);
        bytes += size;
        end = std::max(end, passed);
    }
    EXPECT_GE(end.value * 5 + 16 * 5, bytes);
}

/// The same windows, evaluated one after the other from the requested cycle on.
class PlainBus {
 public:
    /// Bytes a cycle, and cycles of a window.
    PlainBus(std::uint64_t pace, std::uint64_t window)
        : pace_(pace), window_(window), capacity_(window * pace) {}

    Cycles pass(std::uint64_t bytes, Cycles asked) {
        Cycles end = asked + Cycles(divide_up(bytes, pace_));
        for (std::uint64_t number = asked.value / window_; bytes > 0; ++number) {
            taken_.resize(std::max<std::size_t>(taken_.size(), number + 1));
            const std::uint64_t part = std::min(bytes, capacity_ - taken_[number]);
            taken_[number] += part;
            bytes -= part;
            if (part > 0) {
                end = std::max(end, Cycles(number * window_ + divide_up(taken_[number], pace_)));
            }
        }
        return end;
    }

 private:
    std::uint64_t pace_;
    std::uint64_t window_;
    std::uint64_t capacity_;
    std::vector<std::uint64_t> taken_;
};

TEST(SharedBus, TakesTheFirstRoomWhateverOrderItIsAskedIn) {
    struct Window {
        std::uint64_t pace;    // bytes a cycle
        std::uint64_t cycles;  // the fewest in which 32 bytes pass, a power of two from 4 to 16
    };
    for (const Window window : {Window{1, 16}, Window{5, 8}, Window{8, 4}, Window{40, 4}}) {
        for (const unsigned apart : {1U, 3U, 9U}) {  // more than the bus can take, and less
            std::mt19937 random(apart);
            SharedBus bus(BytesPerSecond(window.pace * 1'000'000'000), gigahertz);
            PlainBus plain(window.pace, window.cycles);
            for (std::uint64_t i = 0; i < 20000; ++i) {
                const std::uint64_t size =
                    1 + random() % (random() % 16 == 0 ? 51 : 3) * window.pace;
                const Cycles asked(i * apart + random() % 400);
                ASSERT_EQ(bus.pass(Bytes(size), asked), plain.pass(size, asked))
                    << window.pace << ' ' << apart << ' ' << i;
            }
        }
    }
}

TEST(SharedBus, ARequestOfLongAgoComesAfterWhatIsRemembered) {
    SharedBus bus(BytesPerSecond(1'000'000'000), gigahertz);
    bus.pass(Bytes(8), Cycles(10'000'000));
    const Cycles late = bus.pass(Bytes(8), Cycles(5));
    EXPECT_GT(late, Cycles(9'000'000));
    EXPECT_LT(late, Cycles(10'000'000));
}

TEST(SharedBus, RemembersWhatALongReadOfAnotherPortLeavesBehind) {
    for (const std::uint64_t pace : {1U, 8U, 64U}) {  // bytes a cycle
        SharedBus bus(BytesPerSecond(pace * 1'000'000'000), gigahertz);
        for (std::uint64_t beat = 0; beat < 100'000; ++beat) {  // one port, every second cycle
            bus.pass(Bytes(pace), Cycles(beat * 2));
        }
        EXPECT_LE(bus.pass(Bytes(pace), Cycles(100)), Cycles(100 + 17)) << pace;
    }
}

TEST(SharedBus, ManyAtOnceAreAsOneAfterTheOther) {
    std::mt19937 random(11);
    const auto below = [&](std::uint64_t end) { return random() % end; };
    for (int round = 0; round < 200; ++round) {
        const BytesPerSecond bandwidth(100'000'000 + below(40'000'000'000));
        SharedBus together(bandwidth, gigahertz);
        SharedBus single(bandwidth, gigahertz);
        const Bytes beat(8U << below(4));
        std::uint64_t asked = below(3) * 1000;
        for (int burst = 0; burst < 60; ++burst) {
            // another one requests one beat, before or after
            const Cycles other(asked + below(400) - std::min<std::uint64_t>(asked, below(400)));
            if (below(3) == 0) {
                ASSERT_EQ(together.pass(Bytes(16), other), single.pass(Bytes(16), other));
            }
            std::vector<Cycles> times;
            for (std::uint64_t i = below(40); i > 0; --i) {
                asked += 1 + (below(8) == 0 ? below(50) : 0);
                times.emplace_back(asked);
            }
            std::vector<Cycles> each = times;
            for (Cycles& time : each) {
                time = single.pass(beat, time);
            }
            together.pass_each(beat, times);
            ASSERT_EQ(times, each) << "round " << round << ", burst " << burst;
        }
    }
}

}  // namespace
}  // namespace npuscope
