// SPDX-License-Identifier: Apache-2.0
#include "tests/support/generate_fit.h"

#include <algorithm>
#include <set>

namespace npuscope {

namespace {

oracle::OutputConverter any_converter(Random& random, std::int64_t limit) {
    oracle::OutputConverter converter;
    converter.offset = random.between(-limit, limit - 1);
    converter.scale = static_cast<std::int32_t>(random.between(-32768, 32767));
    converter.shift = random.size(0, 63);
    return converter;
}

}  // namespace

std::uint32_t variety(const oracle::Cube& cube) {
    std::set<std::int64_t> seen;
    for (const std::int64_t value : cube.values) {
        seen.insert(value);
        if (seen.size() == 64) {
            break;
        }
    }
    return static_cast<std::uint32_t>(seen.size());
}

bool still_varied(const oracle::Cube& before, const oracle::Cube& after) {
    return variety(after) * 3 >= variety(before);
}

oracle::OutputConverter fit_converter(Random& random, const oracle::Cube& values,
                                      std::uint32_t offset_bits) {
    const std::int64_t limit = std::int64_t{1} << (offset_bits - 1);
    if (random.chance(4)) {
        return any_converter(random, limit);
    }
    std::vector<std::int64_t> sorted = values.values;
    std::sort(sorted.begin(), sorted.end());
    const std::int64_t low = sorted[sorted.size() / 20];
    const std::int64_t high = sorted[sorted.size() - 1 - sorted.size() / 20];
    const std::int64_t centre = (low + high) / 2;
    const bool off_centre = (centre < 0 ? -centre : centre) > (high - low) / 4;
    oracle::OutputConverter converter;
    std::int64_t span = std::max<std::int64_t>(high - low, 1);
    if (off_centre || random.chance(50)) {
        converter.offset =
            std::clamp(centre + random.between(-span / 8, span / 8), -limit, limit - 1);
    }
    const std::int64_t wanted = random.between(150, 320);
    const std::int64_t finest = std::int64_t{magnitude_bits(span)} - 8 + random.between(1, 13);
    converter.shift = static_cast<std::uint32_t>(std::clamp<std::int64_t>(finest, 0, 40));
    const std::int64_t scale = (wanted << converter.shift) / span;
    converter.scale = static_cast<std::int32_t>(std::clamp<std::int64_t>(scale, 1, 32767));
    converter.scale *= random.chance(10) ? -1 : 1;
    return converter;
}

std::int64_t largest(const oracle::Cube& cube) {
    std::int64_t result = 0;
    for (const std::int64_t value : cube.values) {
        result = std::max(result, value < 0 ? -value : value);
    }
    return result;
}

std::uint32_t magnitude_bits(std::int64_t value) {
    std::uint32_t bits = 0;
    while (value >> bits != 0) {
        ++bits;
    }
    return bits;
}

}  // namespace npuscope
