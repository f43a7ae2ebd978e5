// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_job.h"

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

}  // namespace npuscope
