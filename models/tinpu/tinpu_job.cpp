// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "models/base/error.h"
#include "models/base/rule_ids.h"
#include "models/layout/packed_surface.h"

namespace npuscope {

std::vector<std::uint8_t> store_constants(const std::vector<BnormChannel>& channels) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(channels.size() * constant_row_bytes);
    for (const BnormChannel& channel : channels) {
        const auto bias = static_cast<std::uint32_t>(channel.bias);
        for (unsigned shift = 0; shift < 32; shift += 8) {
            bytes.push_back(static_cast<std::uint8_t>(bias >> shift));
        }
        bytes.push_back(channel.scale);
        bytes.push_back(channel.shift);
    }
    return bytes;
}

std::vector<BnormChannel> load_constants(std::span<const std::uint8_t> bytes) {
    std::vector<BnormChannel> channels(bytes.size() / constant_row_bytes);
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const auto row = bytes.subspan(c * constant_row_bytes, constant_row_bytes);
        std::uint32_t bias = 0;
        for (std::size_t i = 4; i-- > 0;) {
            bias = bias << 8U | row[i];
        }
        channels[c] = {static_cast<std::int32_t>(bias), row[4],
                       static_cast<std::uint8_t>(row[5] & 31U)};
    }
    return channels;
}

Bytes WeightSurface::bytes() const { return Bytes(packed_bytes(shape.elements(), bits)); }

Bytes TinpuJob::constant_bytes() const {
    return Bytes(constants ? output.shape.channels * constant_row_bytes : 0);
}

std::uint64_t TinpuJob::macs() const {
    const std::uint64_t taps = std::uint64_t{rows} * columns;
    switch (work) {
        case TinpuWork::Convolution:
            return output.shape.elements() * input.shape.channels * taps;
        case TinpuWork::Depthwise:
            return output.shape.elements() * taps;
        case TinpuWork::Transposed:
            return input.shape.elements() * output.shape.channels * taps;
        case TinpuWork::AveragePool:
        case TinpuWork::MaxPool:
            return 0;
    }
    return 0;
}

namespace {

constexpr std::uint32_t most_size = 1U << 16U;
constexpr std::uint64_t most_elements = 1ULL << 28U;  // of one surface

void require(bool holds, const std::string& field, const std::string& sentence) {
    if (!holds) {
        throw ConfigError(fmt::format("{} of the layer: {}", field, sentence),
                          "make the layer's sizes agree");
    }
}

void check_shape(const Shape& shape, const std::string& map) {
    for (const auto& [name, size] :
         {std::pair{"channels", shape.channels}, std::pair{"height", shape.height},
          std::pair{"width", shape.width}}) {
        require(size > 0 && size <= most_size, map + " " + name,
                fmt::format("{}, must be 1 to {}", size, most_size));
    }
    require(shape.elements() <= most_elements, map,
            fmt::format("{} elements, must be at most {}", shape.elements(), most_elements));
}

/// One direction of a layer's windows.
struct WindowAxis {
    std::string name;
    std::uint64_t input;
    std::uint64_t output;
    std::uint64_t taps;
    std::uint64_t stride;
    std::uint64_t dilation;
    std::uint64_t pad_begin;
    std::uint64_t pad_end;

    std::uint64_t span() const { return (taps - 1) * dilation + 1; }
    std::uint64_t padded() const { return input + pad_begin + pad_end; }
    /// The window of an output has an element that is not padding.
    bool sees_input(std::uint64_t place) const {
        const std::uint64_t begin = place * stride;  // in the padded input
        const std::uint64_t tap =
            begin >= pad_begin ? 0 : (pad_begin - begin + dilation - 1) / dilation;
        return tap < taps && begin + tap * dilation < pad_begin + input;
    }
};

std::array<WindowAxis, 2> axes_of(const TinpuJob& job) {
    const Convolution& g = job.geometry;
    const Shape& in = job.input.shape;
    const Shape& out = job.output.shape;
    return {WindowAxis{"rows", in.height, out.height, job.rows, g.stride_y, g.dilation_y, g.pad_top,
                       job.pad_bottom},
            WindowAxis{"columns", in.width, out.width, job.columns, g.stride_x, g.dilation_x,
                       g.pad_left, job.pad_right}};
}

void check_windows(const WindowAxis& axis, TinpuWork work) {
    require(axis.taps > 0, "window", "it has no " + axis.name);
    require(axis.stride > 0, "stride", fmt::format("0 {}, must be at least 1", axis.name));
    require(axis.dilation > 0, "dilation", fmt::format("0 {}, must be at least 1", axis.name));
    const std::uint64_t last = (axis.output - 1) * axis.stride;  // where the last window begins
    switch (work) {
        case TinpuWork::Convolution:
        case TinpuWork::Depthwise:
            require(last + axis.span() <= axis.padded(), "output",
                    fmt::format("its windows span {} {}, but the padded input has {}",
                                last + axis.span(), axis.name, axis.padded()));
            return;
        case TinpuWork::Transposed: {
            const std::uint64_t reach = (axis.input - 1) * axis.stride + axis.span();
            require(axis.output + axis.pad_begin + axis.pad_end < reach + axis.stride, "output",
                    fmt::format("{} {}, but the transposed input spans only {}", axis.output,
                                axis.name, reach));
            return;
        }
        case TinpuWork::AveragePool:
        case TinpuWork::MaxPool:
            require(last < axis.padded(), "output",
                    fmt::format("its last window begins after the {} {} of the padded input",
                                axis.padded(), axis.name));
            break;
    }
    for (std::uint64_t place = 0; work == TinpuWork::MaxPool && place < axis.output; ++place) {
        require(axis.sees_input(place), "window",
                fmt::format("window {} covers only padding {}", place, axis.name));
    }
}

void check_weights(const TinpuJob& job) {
    const WeightSurface& weights = *job.weights;
    require(weights.bits == 8 || weights.bits == 4 || weights.bits == 2, "weights",
            fmt::format("{} bits, must be 8, 4 or 2", weights.bits));
    const std::uint64_t window = std::uint64_t{job.rows} * job.columns;
    const std::uint64_t kernels = std::uint64_t{weights.shape.kernels} * weights.shape.channels;
    require(
        kernels <= most_elements / window, "weights",
        fmt::format("{} times {} elements, must be at most {}", kernels, window, most_elements));
}

void check_clip(const TinpuJob& job) {
    const ClipRange widest = job.output.is_signed ? ClipRange{-128, 127} : ClipRange{0, 255};
    const bool fits =
        job.clip.low <= job.clip.high && job.clip.low >= widest.low && job.clip.high <= widest.high;
    require(fits, "clip",
            fmt::format("{} to {}, but the output type holds {} to {}", job.clip.low, job.clip.high,
                        widest.low, widest.high));
}

}  // namespace

void check_layer(const TinpuJob& job) {
    const Shape& in = job.input.shape;
    const Shape& out = job.output.shape;
    check_shape(in, "input");
    check_shape(out, "output");
    for (const WindowAxis& axis : axes_of(job)) {
        check_windows(axis, job.work);
    }
    const bool mixes = job.work == TinpuWork::Convolution || job.work == TinpuWork::Transposed;
    require(
        mixes || in.channels == out.channels, "output channels",
        fmt::format("{} instead of {}: this kind of layer keeps them", out.channels, in.channels));
    if (job.weights) {
        check_weights(job);
    }
    if (job.work != TinpuWork::MaxPool) {
        check_clip(job);
    }
}

std::string window_mismatch(const TinpuJob& job) {
    for (const WindowAxis& axis : axes_of(job)) {
        const std::uint64_t end = (axis.output - 1) * axis.stride + axis.span();
        if (job.work == TinpuWork::Transposed) {
            continue;
        }
        if (end >= axis.padded() + axis.stride) {  // for pools, the last may go beyond
            return fmt::format("its last window ends after {} {}, but the padded input has {}", end,
                               axis.name, axis.padded());
        }
        // padding after the input that no window reaches does nothing
        const bool unread = end + axis.stride <= axis.pad_begin + axis.input;
        if (unread || (end + axis.stride <= axis.padded() && axis.pad_begin > axis.pad_end)) {
            return fmt::format(
                "its windows end after {} of the {} {} of the padded input: the output has {}, but "
                "there is room for {}",
                end, axis.padded(), axis.name, axis.output,
                (axis.padded() - axis.span()) / axis.stride + 1);
        }
    }
    return {};
}

Diagnostics misaligned_surfaces(const TinpuJob& job, Bytes alignment) {
    Diagnostics findings;
    const auto check = [&](const char* surface, Address base) {
        const std::uint64_t below = base.value / alignment.value * alignment.value;
        if (base.value != below) {
            findings.push_back(
                {.id = rule_ids::misaligned,
                 .sentence = fmt::format("{} at {} must begin at a multiple of {} bytes", surface,
                                         to_hex(base), alignment.value),
                 .remedy = fmt::format("the nearest legal values are {:#x} and {:#x}", below,
                                       below + alignment.value),
                 .address = base,
                 .unit = "tinpu",
                 .surface = surface,
                 .operation = job.name});
        }
    };
    check("input", job.input.base);
    check("output", job.output.base);
    if (job.residual) {
        check("residual", job.residual->base);
    }
    if (job.weights) {
        check("weights", job.weights->base);
    }
    if (job.constants) {
        check("constants", *job.constants);
    }
    return findings;
}

void check_engine(const TinpuConfig& config, Bytes bus_width) {
    const std::pair<const char*, std::uint64_t> numbers[] = {
        {"engine.input_lanes", config.input_lanes},
        {"engine.output_lanes", config.output_lanes},
        {"engine.weight_buffers", config.weight_buffers},
        {"engine.launch_queue", config.launch_queue},
        {"engine.alignment", config.alignment.value},
        {"mcif.bus_width", bus_width.value}};
    for (const auto& [name, number] : numbers) {
        if (number == 0) {
            throw ConfigError(
                fmt::format("npu.{} must not be 0: the engine would never progress", name),
                "set it to 1 or more");
        }
    }
}

}  // namespace npuscope
