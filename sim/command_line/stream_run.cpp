// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/stream_run.h"

#include <algorithm>

#include "models/base/check.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/compile/nvdla/streamed_plan.h"

namespace npuscope {

StreamRecord simulate_stream(const Plan& plan, std::size_t frames, const PlanTarget& target,
                             const SystemConfig& system, Cycles max_cycles) {
    const Plan bare = without_images(plan);
    const Result result = run_program(plan_program(streamed_plan(bare, frames, target)), system,
                                      {.max_cycles = max_cycles, .values = false});
    const std::size_t layers = plan.layers.size();
    NPU_CHECK(result.layers.size() == frames * layers, "every frame has all layers");
    StreamRecord stream;
    stream.frames = frames;
    stream.simulated = true;
    std::vector<Cycles> ends;
    Cycles latencies;
    for (std::size_t frame = 0; frame < frames; ++frame) {
        Cycles start{UINT64_MAX};
        Cycles end;
        for (std::size_t i = frame * layers; i < (frame + 1) * layers; ++i) {
            for (const std::size_t operation : result.layers[i].operations) {
                start = std::min(start, result.operations[operation].start);
                end = std::max(end, result.operations[operation].end);
            }
        }
        ends.push_back(end);
        latencies += end - start;
        stream.most_latency = std::max(stream.most_latency, end - start);
    }
    stream.all = result.cycles;
    stream.latency = Cycles(latencies.value / frames);
    stream.interval = Cycles((ends.back() - ends.front()).value / (frames - 1));
    return stream;
}

StreamRecord estimate_stream(const Result& frame, std::size_t frames) {
    const Cycles host = frame.model ? frame.model->host.cycles : Cycles(0);
    const Cycles npu = frame.cycles - host;
    StreamRecord stream;
    stream.frames = frames;
    stream.interval = stream.latency = stream.most_latency = npu;
    add_host(stream, host);
    return stream;
}

void add_host(StreamRecord& stream, Cycles host) {
    stream.host = host;
    stream.interval = std::max(stream.interval, host);
    stream.latency += host;
    stream.most_latency += host;
    stream.all = stream.latency + Cycles((stream.frames - 1) * stream.interval.value);
}

}  // namespace npuscope
