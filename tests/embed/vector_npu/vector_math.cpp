// SPDX-License-Identifier: Apache-2.0
#include "vector_math.h"

namespace vector_npu {

using npuscope::Fp16;

Fp16 load_element(std::span<const std::uint8_t> map, std::size_t index) {
    return static_cast<Fp16>(map[2 * index] | map[2 * index + 1] << 8U);
}

void store_element(std::span<std::uint8_t> map, std::size_t index, Fp16 value) {
    map[2 * index] = static_cast<std::uint8_t>(value & 0xffU);
    map[2 * index + 1] = static_cast<std::uint8_t>(value >> 8U);
}

std::vector<std::uint8_t> vector_result(const VectorJob& job, std::span<const std::uint8_t> a,
                                        std::span<const std::uint8_t> b) {
    const float scale = npuscope::widen(job.scale);
    std::vector<std::uint8_t> result(job.map_bytes().value);
    for (std::size_t i = 0; i < job.elements; ++i) {
        const Fp16 other = b.empty() ? job.constant : load_element(b, i);
        const float sum = npuscope::widen(load_element(a, i)) + npuscope::widen(other);
        const float scaled = sum * scale;
        store_element(result, i, npuscope::narrow(job.relu && scaled < 0 ? 0.0F : scaled));
    }
    return result;
}

}  // namespace vector_npu
