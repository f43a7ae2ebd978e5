// SPDX-License-Identifier: Apache-2.0
// The unit behind its memory interface.
#include "models/tinpu/tinpu.h"

#include <gtest/gtest.h>

#include <numeric>

#include "models/base/error.h"
#include "models/npu/layer_npu.h"
#include "models/tinpu/tinpu_timing.h"
#include "tests/models/tinpu/sample_job.h"
#include "tests/support/simulate.h"

namespace npuscope::tinpu_test {
namespace {

using sample::pointwise_job;

MemoryConfig memory_of(std::uint64_t latency, std::uint64_t interval = 1) {
    MemoryConfig config;
    config.read_latency = Cycles(latency);
    config.beat_interval = Cycles(interval);
    return config;
}

TinpuConfig quick_engine() {
    TinpuConfig config;
    config.layer_overhead = Cycles(10);
    return config;
}

/// One simulation after the other; it is declared before what belongs to the kernel.
struct Kernel {
    Kernel() = default;
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    ~Kernel() { sc_core::sc_get_curr_simcontext()->reset(); }
};

struct Bench {
    Kernel kernel;
    DiagnosticLog log;
    Memory memory;
    LayerNpu npu;
    Scene scene;
    std::vector<OperationRecord> ended;

    explicit Bench(const MemoryConfig& memory_config = memory_of(0),
                   const TinpuConfig& engine = quick_engine(), const McifConfig& mcif = {})
        : memory("memory", memory_config, log), npu("npu", {mcif, engine}, log) {
        npu.mcif.memory.bind(memory.socket);
        npu.tinpu.on_done([this](const TinpuLaunch& launch) { ended.push_back(launch.record); });
        sc_core::sc_spawn_options spawn;
        spawn.spawn_method();
        spawn.dont_initialize();
        spawn.set_sensitivity(&over_);
        sc_core::sc_spawn(
            [this] {
                scene.kill_threads();
                npu.tinpu.kill_threads();
            },
            "end_of_threads", &spawn);
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;
    /// Threads end in the kernel, which otherwise keeps what they hold.
    ~Bench() {
        over_.notify(sc_core::SC_ZERO_TIME);
        advance(sc_core::sc_time(1, sc_core::SC_NS));
    }
    /// Launches all at once and runs until the last has ended.
    const std::vector<OperationRecord>& run(const std::vector<TinpuJob>& jobs, bool values = true) {
        scene.thread("host", [&](Activity& /*activity*/) {
            for (const TinpuJob& job : jobs) {
                npu.tinpu.launch(job, values);
            }
        });
        scene.run();
        if (npu.tinpu.failure()) {
            std::rethrow_exception(npu.tinpu.failure());
        }
        return ended;
    }

 private:
    sc_core::sc_event over_;
};

Cycles sum_of(const CauseCycles& causes) {
    return std::accumulate(causes.cycles.begin(), causes.cycles.end(), Cycles(0));
}

/// Cycles of a single layer.
Cycles time_of(const TinpuJob& job, const MemoryConfig& memory, const McifConfig& mcif = {}) {
    Bench bench(memory, quick_engine(), mcif);
    return bench.run({job}, false).at(0).cycles();
}

TEST(Tinpu, LayersReadAndWriteMemory) {
    Bench bench;
    const TinpuJob job = pointwise_job();
    sample::load_operands(bench.memory, job);
    const auto& ended = bench.run({job});
    ASSERT_EQ(ended.size(), 1U);
    const Tensor<std::int32_t> input = sample::counted_map(job.input.shape);
    const Tensor<std::int32_t> output = sample::output_of(bench.memory, job);
    for (std::size_t i = 0; i < input.values.size(); ++i) {
        EXPECT_EQ(output.values[i], (2 * input.values[i] - 3) >> 1);
    }
    EXPECT_TRUE(bench.log.findings().empty());
    EXPECT_EQ(ended[0].macs, job.macs());
}

TEST(Tinpu, TrafficIsThatOfTheSurfaces) {
    Bench bench;
    const TinpuJob job = pointwise_job(40);
    bench.run({job}, false);
    for (const Mcif::Traffic& entry : bench.npu.traffic()) {
        const bool maps = entry.client == "tinpu_maps";
        const Bytes read = maps                              ? job.input.bytes()
                           : entry.client == "tinpu_weights" ? job.weights->bytes()
                                                             : job.constant_bytes();
        EXPECT_EQ(entry.moved.read_bytes, read) << entry.client;
        EXPECT_EQ(entry.moved.write_bytes, maps ? job.output.bytes() : Bytes(0)) << entry.client;
    }
    EXPECT_EQ(bench.npu.traffic().size(), 3U);
}

TEST(Tinpu, CausesAreAllOfTheCycles) {
    for (const std::uint64_t latency : {0U, 7U, 300U}) {
        Bench bench(memory_of(latency, 3));
        const OperationRecord& record = bench.run({pointwise_job(30)}, false).at(0);
        EXPECT_EQ(sum_of(record.causes), record.cycles());
        EXPECT_EQ(record.causes[Cause::StartUp], Cycles(10));
        EXPECT_EQ(record.causes[Cause::Mac],
                  tinpu_cycles(pointwise_job(30), quick_engine(), Bytes(8)).compute);
    }
}

TEST(Tinpu, TimeAloneIsTheSameTime) {
    const TinpuJob job = pointwise_job(25);
    const auto whole = [&] {
        Bench bench(memory_of(20));
        sample::load_operands(bench.memory, job);
        return bench.run({job}).at(0).cycles();
    };
    EXPECT_EQ(time_of(job, memory_of(20)), whole());
}

TEST(Tinpu, LatencyIsPaidWhereNothingHidesIt) {
    const TinpuJob job = pointwise_job(30);
    const Cycles quick = time_of(job, memory_of(0));
    const Cycles slow = time_of(job, memory_of(100));
    // before the first weight, the first element of the input, and after the last write
    EXPECT_GE(slow, quick + Cycles(290));
    EXPECT_LE(slow, quick + Cycles(310));
}

TEST(Tinpu, ANarrowMemoryBoundsALayerOfFewProducts) {
    TinpuJob job = pointwise_job(200);
    job.work = TinpuWork::Depthwise;
    job.weights->shape = {1, 4, 1, 1};
    const McifConfig mcif{.bus_width = Bytes(4)};
    const std::uint64_t beats = job.input.bytes().value / 4;
    EXPECT_LT(time_of(job, memory_of(0), mcif), Cycles(4 * beats));
    for (const std::uint64_t interval : {8U, 16U, 32U}) {
        const Cycles cycles = time_of(job, memory_of(0, interval), mcif);
        EXPECT_GE(cycles, Cycles(interval * beats));
        EXPECT_LE(cycles, Cycles(interval * (beats + 20) + 100));
    }
}

TEST(Tinpu, FewReadsInFlightPayForLatency) {
    const TinpuJob job = pointwise_job(100);
    McifConfig mcif{.bus_width = Bytes(4), .outstanding_reads = 1};
    const std::uint64_t beats = job.input.bytes().value / 4;
    EXPECT_GE(time_of(job, memory_of(60), mcif), Cycles(60 * beats));
    mcif.outstanding_reads = 64;
    EXPECT_LE(time_of(job, memory_of(60), mcif), Cycles(20 * beats));
}

/// Two layers launched at once, the second on what the first wrote.
struct TwoLayers {
    OperationRecord first;
    OperationRecord second;
    Tensor<std::int32_t> output;
};

TwoLayers run_two(std::uint32_t weight_buffers) {
    TinpuJob first = pointwise_job(60);
    TinpuJob second = first;
    second.input = first.output;
    second.output.base = first.input.base;
    TinpuConfig engine = quick_engine();
    engine.weight_buffers = weight_buffers;
    Bench bench(memory_of(5), engine);
    sample::load_operands(bench.memory, first);
    const auto& ended = bench.run({first, second});
    EXPECT_TRUE(bench.log.findings().empty());
    return {ended.at(0), ended.at(1), sample::output_of(bench.memory, second)};
}

TEST(Tinpu, ALayerLaunchedAheadIsSetUpUnderTheOneBefore) {
    const TwoLayers layers = run_two(1);
    EXPECT_EQ(layers.second.start, layers.first.end);
    EXPECT_EQ(sum_of(layers.second.causes), layers.second.cycles());
    EXPECT_EQ(layers.second.causes[Cause::StartUp], Cycles(0));
    EXPECT_GT(layers.second.causes[Cause::WeightFetch], Cycles(0));
}

TEST(Tinpu, ASecondWeightBufferHidesTheWeightsOfTheNextLayer) {
    const TwoLayers one = run_two(1);
    const TwoLayers two = run_two(2);
    EXPECT_EQ(two.second.causes[Cause::WeightFetch], Cycles(0));
    EXPECT_EQ(sum_of(two.second.causes), two.second.cycles());
    EXPECT_LT(two.second.end, one.second.end);
    EXPECT_EQ(two.output.values, one.output.values);
}

std::vector<std::string> kinds_of(const DiagnosticLog& log) {
    std::vector<std::string> kinds;
    for (const Diagnostic& finding : log.findings()) {
        EXPECT_EQ(finding.unit, "tinpu");
        EXPECT_EQ(finding.operation, "layer");
        EXPECT_TRUE(finding.address.has_value());
        kinds.push_back(finding.id + " " + finding.surface);
    }
    return kinds;
}

TEST(Tinpu, FaultsOfADriverAreFindingsWithTheirSurface) {
    using Kinds = std::vector<std::string>;
    const auto run = [](const TinpuJob& job) {
        Bench bench;
        sample::load_operands(bench.memory, pointwise_job());
        bench.run({job});
        return kinds_of(bench.log);
    };
    EXPECT_EQ(run(pointwise_job()), Kinds{});
    TinpuJob job = pointwise_job();
    job.input.base = job.input.base + Bytes(4096);
    EXPECT_EQ(run(job), Kinds{"uninitialised_read input"});
    job = pointwise_job();
    job.output.base = job.output.base + Bytes(2);
    EXPECT_EQ(run(job), Kinds{"misaligned output"});
    job = pointwise_job();
    job.output.base = Address(0x7fffffff'0000);
    EXPECT_EQ(run(job), Kinds{"address_width output"});
    job = pointwise_job();
    job.output.base = Address(0x100);
    EXPECT_EQ(run(job), Kinds{"outside_memory output"});
    job.output.base = job.weights->base;  // read already
    EXPECT_EQ(run(job), Kinds{});
}

TEST(Tinpu, AnEngineThatCannotWorkIsRefused) {
    TinpuConfig engine;
    engine.output_lanes = 0;
    EXPECT_THROW(Bench(memory_of(0), engine), ConfigError);
}

}  // namespace
}  // namespace npuscope::tinpu_test
