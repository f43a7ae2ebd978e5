// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_constants.h"

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

}  // namespace npuscope
