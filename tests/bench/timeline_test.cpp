// SPDX-License-Identifier: Apache-2.0
// The timeline of a whole run agrees with what the units count, and recording changes nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/layer_pair.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/run/session.h"

namespace npuscope::bench {
namespace {

Result run(bool timeline) {
    RunOptions options;
    options.timeline = timeline;
    const LayerShape layer{.width = 9,
                           .height = 9,
                           .channels = 32,
                           .kernels = 24,
                           .kernel_size = 3,
                           .padding = 1,
                           .data_banks = 2,
                           .weight_banks = 2};
    return run_program(program_of({{layer, layer}}, "p"), nvdla_system(), options);
}

TEST(TimelineOfARun, RecordingChangesNoCycle) {
    EXPECT_EQ(run(true).cycles, run(false).cycles);
    EXPECT_FALSE(run(false).timeline);
}

TEST(TimelineOfARun, SpansOfALaneDoNotOverlap) {
    const Result result = run(true);
    ASSERT_TRUE(result.timeline);
    ASSERT_FALSE(result.timeline->lanes.empty());
    for (const auto& [name, spans] : result.timeline->lanes) {
        for (std::size_t i = 0; i < spans.size(); ++i) {
            EXPECT_LT(spans[i].begin, spans[i].end) << name;
            EXPECT_LE(spans[i].end, result.simulated_cycles) << name;
            EXPECT_LE(i == 0 ? Cycles(0) : spans[i - 1].end, spans[i].begin) << name;
        }
    }
}

TEST(TimelineOfARun, WorkIsWhatTheUnitsCountAsBusy) {
    const Result result = run(true);
    ASSERT_TRUE(result.timeline);
    for (const NamedUnit& unit : result.units) {
        Cycles busy;
        for (const auto& [name, spans] : result.timeline->lanes) {
            for (const TimelineSpan& span : spans) {
                const bool counts = name.starts_with(unit.unit + ".") && span.reason == "work";
                busy += counts ? span.end - span.begin : Cycles(0);
            }
        }
        EXPECT_EQ(busy, unit.statistics.busy) << unit.unit;
    }
}

TEST(TimelineOfARun, BufferFillsAndEmptiesWithinItsCapacity) {
    const Result result = run(true);
    ASSERT_TRUE(result.timeline);
    const auto& counters = result.timeline->counters;
    for (const char* name : {"cbuf.data", "cbuf.weights"}) {
        ASSERT_TRUE(counters.contains(name)) << name;
        const auto& steps = counters.at(name);
        const auto [least, most] = std::ranges::minmax(steps, {}, &TimelineStep::value);
        EXPECT_GE(least.value, 0) << name;
        EXPECT_GT(most.value, 0) << name;
        EXPECT_LE(most.value, 2 * 512) << name;  // two banks of 512 entries
        EXPECT_EQ(steps.back().value, 0) << name;
    }
}

}  // namespace
}  // namespace npuscope::bench
