// SPDX-License-Identifier: Apache-2.0
#include "models/cdp/cdp_math.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "models/arith/fixed_point.h"
#include "models/base/check.h"
#include "models/cdp/cdp_lut_math.h"

namespace npuscope {
namespace {

/// Wires and types for one element width.
/// source: int8 nv_small RTL, HLS_cdp_icvt.v, HLS_cdp_ocvt.v, NV_NVDLA_CDP_DP_cvtin.v; int16
/// nv_full C model
struct Bytes8 {
    using Element = std::int8_t;
    using Converted = std::int16_t;
    using Sum = std::int32_t;
    static constexpr ConvertorWidths input_convertor{25, 9, 9};
    static constexpr ConvertorWidths output_convertor{42, 8, 8};
    static constexpr unsigned input_offset_bits = 8;
    static constexpr unsigned output_offset_bits = 25;
};
struct Words16 {
    using Element = std::int16_t;
    using Converted = std::int32_t;
    using Sum = std::int64_t;
    static constexpr ConvertorWidths input_convertor{33, 17, 17};
    static constexpr ConvertorWidths output_convertor{50, 16, 16};
    static constexpr unsigned input_offset_bits = 16;
    static constexpr unsigned output_offset_bits = 32;
};

Conversion with_offset_bits(const Conversion& conversion, unsigned bits) {
    Conversion seen = conversion;
    seen.offset = static_cast<std::int32_t>(
        sign_extend(static_cast<std::uint64_t>(std::int64_t{conversion.offset}), bits));
    return seen;
}

template <class Number>
typename Number::Converted convert_element(typename Number::Element value,
                                           const Conversion& conversion) {
    return static_cast<typename Number::Converted>(convert(
        value, with_offset_bits(conversion, Number::input_offset_bits), Number::input_convertor));
}

/// Values after the input convertor; pad lanes are 0.
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

Tensor<std::int32_t> convert_input(const CdpNormalization& normalization,
                                   const Tensor<std::int16_t>& input) {
    Tensor<std::int32_t> converted(input.shape);
    const std::size_t plane = std::size_t{input.shape.height} * input.shape.width;
    for (std::size_t i = 0; i < normalization.channels * plane; ++i) {
        converted.values[i] = convert_element<Words16>(input.values[i], normalization.input);
    }
    return converted;
}

template <class Converted, class Sum>
void add_squares(std::span<const Converted> values, std::span<Sum> sums) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        sums[i] += Sum{values[i]} * values[i];
    }
}

/// Turns channel planes into output, one after the other.
template <class Number>
class Normalizer {
 public:
    using Element = typename Number::Element;
    using Converted = typename Number::Converted;
    using Sum = typename Number::Sum;

    Normalizer(const CdpNormalization& normalization, const LookupTables& tables,
               const Tensor<Converted>& converted)
        : normalization_(normalization),
          tables_(tables),
          converted_(converted),
          plane_(std::size_t{converted.shape.height} * converted.shape.width),
          sums_(plane_),
          output_(with_offset_bits(normalization.output, Number::output_offset_bits)) {}

    void process(std::uint32_t channel, std::span<Element> out, CdpCounters& counters) {
        sum_up(channel);
        const std::span<const Converted> center = plane(channel);
        for (std::size_t i = 0; i < plane_; ++i) {
            const std::int64_t answer =
                cdp_lookup(sums_[i], normalization_.lut, tables_, counters.lut);
            const std::int64_t product =
                normalization_.multiply_bypass ? answer : answer * center[i];
            const Narrowed<std::int64_t> stored =
                convert_flagged(product, output_, Number::output_convertor);
            out[i] = static_cast<Element>(stored.value);
            counters.saturated += stored.saturated && is_counted(product) ? 1U : 0U;
        }
    }

 private:
    /// Whether a saturated value is counted.
    bool is_counted(std::int64_t product) const {
        return !normalization_.coarse_saturation ||
               shifted_far_beyond((product - output_.offset) * output_.scale, output_.shift,
                                  Number::output_convertor.stored);
    }

    std::span<const Converted> plane(std::uint32_t channel) const {
        return std::span(converted_.values).subspan(channel * plane_, plane_);
    }

    void sum_up(std::uint32_t channel) {
        const std::span<const Converted> center = plane(channel);
        if (normalization_.square_sum_bypass) {
            std::copy(center.begin(), center.end(), sums_.begin());
            return;
        }
        std::fill(sums_.begin(), sums_.end(), Sum{0});
        const std::uint32_t reach = normalization_.local_size / 2;
        const std::uint32_t first = channel < reach ? 0U : channel - reach;
        const std::uint32_t last = std::min(channel + reach, converted_.shape.channels - 1U);
        for (std::uint32_t c = first; c <= last; ++c) {
            add_squares(plane(c), std::span<Sum>(sums_));
        }
    }

    const CdpNormalization& normalization_;
    const LookupTables& tables_;
    const Tensor<Converted>& converted_;
    std::size_t plane_;
    std::vector<Sum> sums_;
    Conversion output_;
};

template <class Number>
CdpResult normalise(const CdpNormalization& normalization,
                    const Tensor<typename Number::Element>& input, const LookupTables& tables) {
    const auto converted = convert_input(normalization, input);
    Tensor<typename Number::Element> values(input.shape);
    CdpCounters counters;
    Normalizer<Number> normalizer(normalization, tables, converted);
    const std::size_t plane = std::size_t{input.shape.height} * input.shape.width;
    for (std::uint32_t c = 0; c < input.shape.channels; ++c) {
        normalizer.process(c, std::span(values.values).subspan(c * plane, plane), counters);
    }
    return {std::move(values), counters};
}

}  // namespace

std::int16_t cdp_convert_input(std::int8_t value, const Conversion& conversion) {
    return convert_element<Bytes8>(value, conversion);
}

CdpResult compute_cdp(const CdpNormalization& normalization, const ElementTensor& input,
                      const LookupTables& tables) {
    NPU_CHECK(normalization.channels <= shape_of(input).channels, "the tensor holds every channel");
    if (const auto* bytes = std::get_if<Tensor<std::int8_t>>(&input)) {
        return normalise<Bytes8>(normalization, *bytes, tables);
    }
    const auto& words = std::get<Tensor<std::int16_t>>(input);
    if (normalization.precision == Precision::Int16) {
        return normalise<Words16>(normalization, words, tables);
    }
    CdpResult result = normalise_floats(normalization, words, tables);
    result.counters.nan_outputs = count_specials(result.values).nans;
    return result;
}

}  // namespace npuscope
