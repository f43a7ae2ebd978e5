// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_timing.h"

#include <algorithm>

namespace npuscope {
namespace {

/// Finer pieces would cost events and add little.
constexpr std::uint64_t most_pieces = 256;

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

/// Along one axis: how many lines of the input the last tap of an output's window needs, from the
/// map's beginning. Taps in the padding need those before it.
struct AxisReach {
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t pad = 0;
    std::int64_t size = 1;    ///< of the input
    bool transposed = false;  ///< strides apply to the output

    std::uint64_t lines(std::uint64_t place, std::uint64_t tap) const {
        const auto at = static_cast<std::int64_t>(place);
        const std::int64_t last =
            transposed ? (at + pad) / stride
                       : at * stride + static_cast<std::int64_t>(tap) * dilation - pad;
        return static_cast<std::uint64_t>(std::clamp<std::int64_t>(last + 1, 0, size));
    }
};

/// How far into the input a layer's windows reach.
struct WindowReach {
    explicit WindowReach(const TinpuJob& job)
        : rows{job.geometry.stride_y, job.geometry.dilation_y, job.geometry.pad_top,
               job.input.shape.height, job.work == TinpuWork::Transposed},
          columns{job.geometry.stride_x, job.geometry.dilation_x, job.geometry.pad_left,
                  job.input.shape.width, job.work == TinpuWork::Transposed},
          width(job.input.shape.width),
          channels(job.input.shape.channels),
          last_column(job.columns - 1) {}

    /// Bytes up to the row `tap` of the window at (y, x).
    Bytes bytes(std::uint64_t y, std::uint64_t x, std::uint64_t tap) const {
        const std::uint64_t lines = rows.lines(y, tap);
        if (lines == 0) {
            return Bytes(0);
        }
        const std::uint64_t in_line = columns.lines(x, last_column);
        return Bytes(((lines - 1) * width + in_line) * channels);
    }

    AxisReach rows;
    AxisReach columns;
    std::uint64_t width;
    std::uint64_t channels;
    std::uint64_t last_column;
};

}  // namespace

double products_per_cycle(const TinpuConfig& config) {
    return 100.0 * config.input_lanes * config.output_lanes / config.cycles_per_100_steps;
}

TinpuTraffic tinpu_traffic(const TinpuJob& job) {
    TinpuTraffic traffic{job.input.bytes(), job.output.bytes(), {}, {}};
    if (job.weights) {
        traffic.weights = job.weights->bytes();
    }
    if (job.residual) {
        traffic.read += job.residual->bytes();
    }
    traffic.constants = job.constant_bytes();
    traffic.read += traffic.weights + traffic.constants;
    return traffic;
}

Cycles tinpu_weight_cycles(Bytes bytes, const TinpuConfig& config) {
    return hundredths(bytes.value, config.cycles_per_100_weight_bytes);
}

TinpuCycles tinpu_cycles(const TinpuJob& job, const TinpuConfig& config, Bytes bus_width) {
    const TinpuTraffic traffic = tinpu_traffic(job);
    TinpuCycles cycles;
    cycles.weights = tinpu_weight_cycles(traffic.weights, config);
    cycles.compute = compute_cycles(job, config);
    cycles.reads = Cycles(divide_up(traffic.maps().value, bus_width.value));
    cycles.writes = Cycles(divide_up(traffic.written.value, bus_width.value));
    cycles.set_up = config.layer_overhead;
    return cycles;
}

std::vector<TinpuPiece> tinpu_pieces(const TinpuJob& job, const TinpuConfig& config) {
    const WindowReach reach(job);
    const std::uint64_t all = places(job.output.shape);
    const std::uint64_t width = job.output.shape.width;
    const std::uint64_t size = divide_up(all, most_pieces);
    const std::uint64_t rows =
        std::clamp<std::uint64_t>(most_pieces / divide_up(all, size), 1, job.rows);
    const std::uint64_t compute = compute_cycles(job, config).value;
    std::vector<TinpuPiece> pieces;
    Bytes input;
    std::uint64_t spent = 0;
    for (std::uint64_t first = 0; first < all; first += size) {
        const std::uint64_t end = std::min(first + size, all);
        const std::uint64_t last = end - 1;
        for (std::uint64_t part = 1; part <= rows; ++part) {
            const std::uint64_t tap = job.rows * part / rows - 1;
            input = std::max(input, reach.bytes(last / width, last % width, tap));
            const std::uint64_t share =
                compute * (first * rows + (end - first) * part) / (all * rows);
            const std::uint64_t complete = part == rows ? end : first;
            pieces.push_back(
                {input, Cycles(share - spent), Bytes(complete * job.output.shape.channels)});
            spent = share;
        }
    }
    pieces.back().input = job.input.bytes();
    return pieces;
}

}  // namespace npuscope
