// SPDX-License-Identifier: Apache-2.0
#include "models/cdp/cdp_math.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "models/arith/saturate.h"
#include "models/base/check.h"
#include "models/cdp/cdp_lut_math.h"

namespace npuscope {
namespace {

constexpr ConvertorWidths kInputConvertor{25, 9, 9};   // source: HLS_cdp_icvt.v
constexpr ConvertorWidths kOutputConvertor{42, 8, 8};  // source: HLS_cdp_ocvt.v
constexpr unsigned kInputOffsetBits = 8;               // source: NV_NVDLA_CDP_DP_cvtin.v
constexpr unsigned kOutputOffsetBits = 25;             // source: HLS_cdp_ocvt.v

Conversion with_offset_bits(const Conversion& conversion, unsigned bits) {
    Conversion seen = conversion;
    seen.offset = static_cast<std::int32_t>(
        sign_extend(static_cast<std::uint64_t>(std::int64_t{conversion.offset}), bits));
    return seen;
}

/// Behind the input convertor; pad lanes are 0.
Tensor<std::int16_t> convert_input(const CdpNormalization& normalization,
                                   const Tensor<std::int8_t>& input) {
    std::array<std::int16_t, 256> table{};
    for (int value = -128; value < 128; ++value) {
        table[static_cast<std::uint8_t>(value)] =
            cdp_convert_input(static_cast<std::int8_t>(value), normalization.input);
    }
    Tensor<std::int16_t> converted(input.shape);
    const std::size_t plane = std::size_t{input.shape.height} * input.shape.width;
    for (std::size_t i = 0; i < normalization.channels * plane; ++i) {
        converted.values[i] = table[static_cast<std::uint8_t>(input.values[i])];
    }
    return converted;
}

void add_squares(std::span<const std::int16_t> values, std::span<std::int32_t> sums) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        sums[i] += std::int32_t{values[i]} * values[i];
    }
}

/// Turns one channel plane after the other into output.
class Normalizer {
 public:
    Normalizer(const CdpNormalization& normalization, const LookupTables& tables,
               const Tensor<std::int16_t>& converted)
        : normalization_(normalization),
          tables_(tables),
          converted_(converted),
          plane_(std::size_t{converted.shape.height} * converted.shape.width),
          sums_(plane_),
          output_(with_offset_bits(normalization.output, kOutputOffsetBits)) {}

    void process(std::uint32_t channel, std::span<std::int8_t> out, CdpCounters& counters) {
        sum_up(channel);
        const std::span<const std::int16_t> center = plane(channel);
        for (std::size_t i = 0; i < plane_; ++i) {
            const std::int64_t answer =
                cdp_lookup(sums_[i], normalization_.lut, tables_, counters.lut);
            const std::int64_t product =
                normalization_.multiply_bypass ? answer : answer * center[i];
            const Narrowed<std::int64_t> stored =
                convert_flagged(product, output_, kOutputConvertor);
            out[i] = static_cast<std::int8_t>(stored.value);
            counters.saturated += stored.saturated ? 1U : 0U;
        }
    }

 private:
    std::span<const std::int16_t> plane(std::uint32_t channel) const {
        return std::span(converted_.values).subspan(channel * plane_, plane_);
    }

    void sum_up(std::uint32_t channel) {
        const std::span<const std::int16_t> center = plane(channel);
        if (normalization_.square_sum_bypass) {
            std::copy(center.begin(), center.end(), sums_.begin());
            return;
        }
        std::fill(sums_.begin(), sums_.end(), 0);
        const std::uint32_t reach = normalization_.local_size / 2;
        const std::uint32_t first = channel < reach ? 0U : channel - reach;
        const std::uint32_t last = std::min(channel + reach, converted_.shape.channels - 1U);
        for (std::uint32_t c = first; c <= last; ++c) {
            add_squares(plane(c), sums_);
        }
    }

    const CdpNormalization& normalization_;
    const LookupTables& tables_;
    const Tensor<std::int16_t>& converted_;
    std::size_t plane_;
    std::vector<std::int32_t> sums_;
    Conversion output_;
};

}  // namespace

std::int16_t cdp_convert_input(std::int8_t value, const Conversion& conversion) {
    return static_cast<std::int16_t>(
        convert(value, with_offset_bits(conversion, kInputOffsetBits), kInputConvertor));
}

CdpResult compute_cdp(const CdpNormalization& normalization, const Tensor<std::int8_t>& input,
                      const LookupTables& tables) {
    NPU_CHECK(normalization.channels <= input.shape.channels, "the tensor holds every channel");
    const Tensor<std::int16_t> converted = convert_input(normalization, input);
    CdpResult result{Tensor<std::int8_t>(input.shape), {}};
    Normalizer normalizer(normalization, tables, converted);
    const std::size_t plane = std::size_t{input.shape.height} * input.shape.width;
    for (std::uint32_t c = 0; c < input.shape.channels; ++c) {
        normalizer.process(c, std::span(result.values.values).subspan(c * plane, plane),
                           result.counters);
    }
    return result;
}

}  // namespace npuscope
