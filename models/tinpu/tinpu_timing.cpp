// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_timing.h"

#include <algorithm>

namespace npuscope {
namespace {

Cycles hundredths(std::uint64_t count, std::uint64_t cycles_per_100) {
    return Cycles(divide_up(count * cycles_per_100, 100));
}

std::uint64_t places(const Shape& shape) { return std::uint64_t{shape.height} * shape.width; }

Cycles compute_cycles(const TinpuJob& job, const TinpuConfig& config) {
    const std::uint64_t taps = std::uint64_t{job.rows} * job.columns;
    const std::uint64_t kernels = divide_up(job.output.shape.channels, config.output_lanes);
    const std::uint64_t channels = divide_up(job.input.shape.channels, config.input_lanes);
    const std::uint64_t outputs = places(job.output.shape);
    switch (job.work) {
        case TinpuWork::Convolution:
            return hundredths(outputs * kernels * taps * channels, config.cycles_per_100_steps);
        case TinpuWork::Transposed:
            return hundredths(places(job.input.shape) * kernels * taps * channels,
                              config.cycles_per_100_steps);
        case TinpuWork::Depthwise:
            return hundredths(outputs * kernels * taps, config.cycles_per_100_steps);
        case TinpuWork::AveragePool:
        case TinpuWork::MaxPool:
            return hundredths(outputs * job.output.shape.channels * taps,
                              config.cycles_per_100_pool_taps);
    }
    return {};
}

}  // namespace

std::string_view TinpuCycles::bound_by() const {
    const Cycles work = std::max(compute, memory);
    if (set_up >= std::max(work, weights)) {
        return "set_up";
    }
    if (weights >= work) {
        return "weight_fetch";
    }
    return compute >= memory ? "mac" : "memory";
}

TinpuTraffic tinpu_traffic(const TinpuJob& job) {
    TinpuTraffic traffic{job.input.bytes(), job.output.bytes(), {}, {}};
    if (job.weights) {
        traffic.weights = job.weights->bytes();
    }
    if (job.residual) {
        traffic.read += job.residual->bytes();
    }
    if (job.constants) {
        traffic.constants = Bytes(job.output.shape.channels * constant_row_bytes);
    }
    traffic.read += traffic.weights + traffic.constants;
    return traffic;
}

TinpuCycles tinpu_cycles(const TinpuJob& job, const TinpuConfig& config) {
    const TinpuTraffic traffic = tinpu_traffic(job);
    const Bytes weights = job.weights ? job.weights->bytes() : Bytes(0);
    TinpuCycles cycles;
    cycles.weights = hundredths(weights.value, config.cycles_per_100_weight_bytes);
    cycles.compute = compute_cycles(job, config);
    cycles.memory =
        Cycles(divide_up((traffic.read + traffic.written - weights).value, config.bus_width.value));
    cycles.set_up = config.layer_overhead;
    return cycles;
}

}  // namespace npuscope
