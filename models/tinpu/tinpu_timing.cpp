// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_timing.h"

#include <algorithm>

namespace npuscope {
namespace {

/// Steps of the array for one output step, and output steps of a layer.
struct Steps {
    std::uint64_t outputs = 0;
    std::uint64_t products = 0;
};

Steps steps_of(const TinpuJob& job, const TinpuConfig& config) {
    const std::uint64_t taps = std::uint64_t{job.rows} * job.columns;
    const std::uint64_t places = std::uint64_t{job.output.shape.height} * job.output.shape.width;
    const std::uint64_t kernels = job.output.shape.channels;
    const std::uint64_t channels = job.input.shape.channels;
    switch (job.work) {
        case TinpuWork::Convolution:
            return {places * divide_up(kernels, config.output_lanes),
                    taps * divide_up(channels, config.input_lanes)};
        case TinpuWork::Transposed:  // stride = kernel: every output sees one tap
            return {places * divide_up(kernels, config.output_lanes),
                    divide_up(channels, config.input_lanes)};
        case TinpuWork::Depthwise:
            return {places * divide_up(kernels, config.depthwise_lanes), taps};
        case TinpuWork::AveragePool:
        case TinpuWork::MaxPool:
            return {places * divide_up(kernels, config.pool_lanes), taps};
    }
    return {};
}

}  // namespace

std::string_view TinpuCycles::bound_by() const {
    if (set_up >= std::max(compute, memory)) {
        return "set_up";
    }
    return compute >= memory ? "mac" : "memory";
}

TinpuTraffic tinpu_traffic(const TinpuJob& job) {
    TinpuTraffic traffic{job.input.bytes(), job.output.bytes()};
    if (job.weights) {
        traffic.read += job.weights->bytes();
    }
    if (job.residual) {
        traffic.read += job.residual->bytes();
    }
    if (job.constants) {
        traffic.read += Bytes(job.output.shape.channels * constant_row_bytes);
    }
    return traffic;
}

TinpuCycles tinpu_cycles(const TinpuJob& job, const TinpuConfig& config) {
    const Steps steps = steps_of(job, config);
    const TinpuTraffic traffic = tinpu_traffic(job);
    TinpuCycles cycles;
    cycles.compute =
        Cycles(steps.outputs * (steps.products * config.cycles_per_step + config.store_cycles)) +
        config.row_overhead * job.output.shape.height;
    cycles.memory =
        Cycles(divide_up((traffic.read + traffic.written).value, config.bus_width.value));
    cycles.set_up = config.layer_overhead;
    return cycles;
}

}  // namespace npuscope
