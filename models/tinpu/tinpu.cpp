// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu.h"

#include "models/data/packed_surface.h"
#include "models/tinpu/tinpu_math.h"

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

Tensor<std::int32_t> Tinpu::fetch(const MapSurface& surface) const {
    std::vector<std::uint8_t> bytes(surface.bytes().value);
    memory_.read(surface.base, bytes);
    return load_map(bytes, surface.shape, surface.is_signed);
}

Kernels<std::int8_t> Tinpu::fetch(const WeightSurface& surface) const {
    std::vector<std::uint8_t> bytes(surface.bytes().value);
    memory_.read(surface.base, bytes);
    return load_weights(bytes, surface.shape, surface.bits);
}

BnormStage Tinpu::fetch_constants(const TinpuJob& job) const {
    BnormStage stage;
    stage.clip = job.clip;
    stage.channels.resize(job.output.shape.channels);
    std::vector<std::uint8_t> bytes(stage.channels.size() * constant_row_bytes);
    memory_.read(*job.constants, bytes);
    for (std::size_t c = 0; c < stage.channels.size(); ++c) {
        const std::uint8_t* row = bytes.data() + c * constant_row_bytes;
        std::uint32_t bias = 0;
        for (unsigned i = 4; i-- > 0;) {
            bias = bias << 8U | row[i];
        }
        stage.channels[c] = {static_cast<std::int32_t>(bias), row[4], row[5]};
    }
    return stage;
}

Tensor<std::int32_t> Tinpu::compute(const TinpuJob& job, ClipCounters& clipped) const {
    const Tensor<std::int32_t> input = fetch(job.input);
    if (job.work == TinpuWork::MaxPool) {
        return tinpu_max_pool(job, input);
    }
    const Tensor<std::int64_t> sums =
        job.weights ? tinpu_sums(job, input, fetch(*job.weights)) : tinpu_pool_sums(job, input);
    const BnormStage stage = fetch_constants(job);
    if (!job.residual) {
        return bnorm(sums, stage, nullptr, &clipped);
    }
    const Tensor<std::int32_t> residual = fetch(*job.residual);
    return bnorm(sums, stage, &residual, &clipped);
}

TinpuRecord Tinpu::launch(const TinpuJob& job, bool values) {
    TinpuRecord record{now_, tinpu_cycles(job, config_), tinpu_traffic(job), {}};
    if (values) {
        memory_.write(job.output.base, store_map(compute(job, record.clipped)));
    }
    now_ = record.end();
    return record;
}

}  // namespace npuscope
