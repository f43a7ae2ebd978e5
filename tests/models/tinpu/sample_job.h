// SPDX-License-Identifier: Apache-2.0
// A small layer and its operands, for tests of the unit.
#pragma once

#include "models/layout/packed_surface.h"
#include "models/memory/memory.h"
#include "models/tinpu/tinpu_job.h"

namespace npuscope::sample {

inline constexpr Address base{0x80000000};

/// 1x1 convolution of 4 channels to 4 kernels on a map of `height` x 3.
inline TinpuJob pointwise_job(std::uint32_t height = 2) {
    TinpuJob job;
    job.name = "layer";
    job.input = {base, {4, height, 3}, true};
    job.output = {base + Bytes(0x10000), {4, height, 3}, true};
    job.weights = WeightSurface{base + Bytes(0x20000), {4, 4, 1, 1}, 8};
    job.constants = base + Bytes(0x30000);
    job.geometry.out_height = height;
    job.geometry.out_width = 3;
    job.clip = {-128, 127};
    return job;
}

inline Tensor<std::int32_t> counted_map(const Shape& shape) {
    Tensor<std::int32_t> map(shape);
    for (std::size_t i = 0; i < map.values.size(); ++i) {
        map.values[i] = static_cast<std::int32_t>(i % 24) - 12;
    }
    return map;
}

/// Twice the identity, a bias of -3 and a shift of 1; the output is (2 x - 3) >> 1.
inline void load_operands(Memory& memory, const TinpuJob& job) {
    Kernels<std::int8_t> twice(job.weights->shape);
    for (std::uint32_t k = 0; k < 4; ++k) {
        twice.at(k, k, 0, 0) = 2;
    }
    memory.load(job.input.base, store_map(counted_map(job.input.shape)));
    memory.load(job.weights->base, store_weights(twice, job.weights->bits));
    memory.load(*job.constants, store_constants({4, BnormChannel{-3, 1, 1}}));
}

inline Tensor<std::int32_t> output_of(Memory& memory, const TinpuJob& job) {
    std::vector<std::uint8_t> bytes(job.output.bytes().value);
    memory.read(job.output.base, bytes);
    return load_map(bytes, job.output.shape, job.output.is_signed);
}

}  // namespace npuscope::sample
