// SPDX-License-Identifier: Apache-2.0
#include "bench/speed_measure.h"

#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "bench/layer_of_program.h"
#include "bench/stopwatch.h"
#include "models/arith/convolve.h"
#include "sim/run/session.h"

namespace npuscope::bench {
namespace {

template <class Values>
void fill_random(Values& values) {
    std::mt19937 random(1);
    for (auto& value : values) {
        value = static_cast<std::int8_t>(random());
    }
}

/// The bare convolution of a layer on random operands.
std::function<void()> kernel_of(const LayerGeometry& layer) {
    auto data = std::make_shared<Tensor<std::int8_t>>(layer.input);
    auto kernels = std::make_shared<Kernels<std::int8_t>>(layer.kernels);
    fill_random(data->values);
    fill_random(kernels->values);
    if (sums_fit_32_bits(layer.kernels)) {
        return [=] { convolve(*data, *kernels, layer.convolution); };
    }
    return [=] { convolve_wide(*data, *kernels, layer.convolution); };
}

/// Those of all layers, one after the other; no two share their operands.
std::function<void()> kernel_of(const std::vector<LayerGeometry>& layers) {
    std::vector<std::function<void()>> kernels;
    kernels.reserve(layers.size());
    for (const LayerGeometry& layer : layers) {
        kernels.push_back(kernel_of(layer));
    }
    return [kernels = std::move(kernels)] {
        for (const std::function<void()>& kernel : kernels) {
            kernel();
        }
    };
}

Bytes image_bytes(const Program& program) {
    Bytes sum;
    for (const Statement& statement : program.statements) {
        if (const auto* load = std::get_if<LoadMemory>(&statement.action)) {
            sum += Bytes(load->image.bytes.size());
        }
    }
    return sum;
}

}  // namespace

std::vector<LayerGeometry> convolutions_of(const Network& network) {
    const std::vector<LayerShapes> shapes = network_shapes(network);
    std::vector<LayerGeometry> layers;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const Layer& layer = network.layers[i];
        if (shapes[i].macs == 0) {
            continue;
        }
        const LayerWindow& window = shapes[i].window;
        const Shape& input = shapes[i].input;
        const Shape& output = shapes[i].output;
        LayerGeometry one{
            .input = {input.channels / layer.groups, input.height, input.width},
            .kernels = {output.channels / layer.groups, input.channels / layer.groups, window.rows,
                        window.columns},
            .convolution = {output.height, output.width, window.stride_y, window.stride_x,
                            window.dilation_y, window.dilation_x, window.pad_top, window.pad_left}};
        layers.insert(layers.end(), layer.groups, one);
    }
    return layers;
}

Bytes measure_memory(const SpeedSubject& subject, const SystemConfig& system) {
    return peak_memory([&] { run_program(subject.read(), system, {}); });
}

SpeedResult measure_speed(const SpeedSubject& subject, const SystemConfig& system, unsigned times) {
    SpeedResult result;
    result.name = subject.name;
    const Program program = subject.read();
    result.images = image_bytes(program);
    RunOptions time_alone;
    time_alone.values = false;
    RunOptions one_thread;
    one_thread.value_thread.reset();
    result.simulated = run_program(program, system, time_alone).simulated_cycles;
    std::vector<LayerGeometry> layers = subject.layers;
    if (const auto layer = layer_of(program); layer && layers.empty()) {
        layers.push_back(*layer);
    }
    const std::function<void()> kernel = kernel_of(layers);
    // in turns, so that all see the same machine
    const std::vector<double> best =
        best_of_each(times, {[&] { subject.read(); }, [&] { run_program(program, system, {}); },
                             kernel, [&] { run_program(program, system, time_alone); },
                             [&] { run_program({}, system, time_alone); },
                             [&] { run_program(program, system, one_thread); }});
    result.read = best[0];
    result.with_values = best[1];
    result.without_values = best[3];
    result.elaboration = best[4];
    result.one_thread = best[5];
    for (const LayerGeometry& layer : layers) {
        result.macs += layer.macs();
        result.kernel = best[2];
    }
    return result;
}

}  // namespace npuscope::bench
