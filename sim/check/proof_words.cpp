// SPDX-License-Identifier: Apache-2.0
#include "sim/check/proof_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "models/arith/float16.h"
#include "models/pdp/pdp_math.h"
#include "sim/check/job_maps.h"

namespace npuscope {
namespace {

std::string text_of(const Shape& shape, Precision precision) {
    return fmt::format("{}x{}x{} {}", shape.channels, shape.height, shape.width,
                       precision_name(precision));
}

/// `1`, or `2x1` if height and width differ.
std::string pair_text(std::uint32_t y, std::uint32_t x) {
    return y == x ? fmt::format("{}", y) : fmt::format("{}x{}", y, x);
}

/// `, padding 1`, or both sides if they differ; nothing without padding.
std::string padding_text(std::uint32_t top, std::uint32_t left) {
    if (top == 0 && left == 0) {
        return {};
    }
    return top == left ? fmt::format(", padding {}", top)
                       : fmt::format(", padding {} above and {} on the left", top, left);
}

/// `(x - 3) * 5 >> 2`; nothing if the value stays as it is.
std::string conversion_text(const std::string& offset, std::int64_t scale, std::uint64_t shift) {
    std::string text = offset == "0" ? "x" : fmt::format("(x - {})", offset);
    text += scale == 1 ? "" : fmt::format(" * {}", scale);
    text += shift == 0 ? "" : fmt::format(" >> {}", shift);
    return text == "x" ? std::string() : text;
}

std::string conversion_text(const Conversion& conversion) {
    return conversion_text(fmt::format("{}", conversion.offset), conversion.scale,
                           conversion.shift);
}

std::string conversion_text(const InputConversion& conversion) {
    const std::string means =
        fmt::format("the channel's mean of {}", fmt::join(conversion.mean, ", "));
    const std::string text =
        conversion_text(conversion.use_mean ? means : fmt::format("{}", conversion.offset),
                        conversion.scale, conversion.truncate);
    return text.empty() ? text : ": " + text;
}

std::string spread_text(const std::optional<SdpOperandFetch>& fetch) {
    if (!fetch) {
        return "an operand that is not fetched";
    }
    return fmt::format(
        "{} at {}",
        fetch->surface.spread == OperandSpread::PerChannel ? "one per channel" : "one per element",
        to_hex(fetch->surface.base));
}

/// An operand register where fp16 is processed: fp16 in BS and BN, fp32 in EW.
float float_of(std::int16_t operand) { return widen(static_cast<Fp16>(operand)); }
float float_of(std::int32_t operand) { return std::bit_cast<float>(operand); }

/// Collects the steps of a job, in the order in which values pass them. fp16 values are neither
/// shifted nor converted, whatever the registers have.
class SdpSteps {
 public:
    explicit SdpSteps(const SdpStages& stages) : floats_(stages.processing == Precision::Fp16) {}

    void add_x(const SdpXStage& stage, const std::optional<SdpOperandFetch>& fetch) {
        const auto& [bypass, alu, mul, shift_right, relu] = stage;  // each member has its words
        if (bypass) {
            return;
        }
        add_alu(alu, fetch);
        if (!alu.bypass && alu.shift_left > 0 && !floats_) {
            steps_.back() += fmt::format(" << {}", alu.shift_left);
        }
        add_mul(mul, fetch);
        add_shift(shift_right);
        if (relu) {
            steps_.emplace_back("ReLU");
        }
    }
    void add_y(const SdpYStage& stage, const std::optional<SdpOperandFetch>& fetch) {
        if (stage.bypass) {
            return;
        }
        add_mul(stage.mul, fetch);
        add_shift(stage.mul.bypass ? 0 : stage.mul.shift_right);
        add_alu(stage.alu, fetch);
        if (!stage.lut_bypass) {
            steps_.emplace_back("lookup table");
        }
    }
    void add_convertor(const Conversion& out) {
        if (out.offset != 0 && !floats_) {
            steps_.push_back(fmt::format("- {}", out.offset));
        }
        if (out.scale != 1 && !floats_) {
            steps_.push_back(fmt::format("* {}", out.scale));
        }
        add_shift(out.shift);
    }
    std::string text() const {
        return steps_.empty() ? "unchanged" : fmt::format("{}", fmt::join(steps_, ", "));
    }

 private:
    template <class Part>
    std::string operand_text(const Part& part, const std::optional<SdpOperandFetch>& fetch) const {
        if (part.source == OperandSource::Memory) {
            return fmt::format("({})", spread_text(fetch));
        }
        return floats_ ? fmt::format("{}", float_of(part.operand))
                       : fmt::format("{}", part.operand);
    }
    template <class Alu>
    void add_alu(const Alu& alu, const std::optional<SdpOperandFetch>& fetch) {
        constexpr std::array names{"max with ", "min with ", "+ ", "compared with "};
        if (!alu.bypass) {
            steps_.push_back(names[static_cast<std::size_t>(alu.algorithm)] +
                             operand_text(alu, fetch));
        }
    }
    template <class Mul>
    void add_mul(const Mul& mul, const std::optional<SdpOperandFetch>& fetch) {
        if (!mul.bypass) {
            steps_.push_back((mul.prelu ? "PReLU * " : "* ") + operand_text(mul, fetch));
        }
    }
    void add_shift(unsigned shift) {
        if (shift > 0 && !floats_) {
            steps_.push_back(fmt::format(">> {}", shift));
        }
    }

    bool floats_;
    std::vector<std::string> steps_;
};

std::string stages_text(const SdpJob& job) {
    SdpSteps steps(job.stages);
    steps.add_x(job.stages.bs, job.operands[bs_stage]);
    steps.add_x(job.stages.bn, job.operands[bn_stage]);
    steps.add_y(job.stages.ew, job.operands[ew_stage]);
    steps.add_convertor(job.stages.convertor);
    return steps.text();
}

std::string result_at(const Shape& shape, Precision precision, Address address) {
    return fmt::format("{} at {}", text_of(shape, precision), to_hex(address));
}

}  // namespace

std::string meaning_of(const ConvJob& job, bool data_kept, bool weights_kept) {
    const CdmaJob& cdma = job.parts.cdma;
    const CscJob& csc = job.parts.csc;
    const bool image = job.mode() == ConvMode::Image;
    const auto place = [](bool kept, Address address) {
        return kept ? std::string("kept in the convolution buffer") : "at " + to_hex(address);
    };
    std::string text = fmt::format(
        "{} {} * {}x{}x{}x{} {} {}",
        image ? fmt::format("{}x{}x{} {}", job.input().channels, job.input().height,
                            job.input().width, cdma.pixels.format->name)
              : text_of(job.input(), cdma.in_precision),
        place(data_kept, image ? cdma.pixels.base[0] : cdma.feature.base), job.kernels.kernels,
        job.kernels.channels, job.kernels.rows, job.kernels.columns,
        precision_name(job.precision()), place(weights_kept, cdma.weight_address));
    if (job.batches() > 1) {
        text = fmt::format("{} inputs of {}", job.batches(), text);
    }
    text += fmt::format(", stride {}", pair_text(csc.stride_y, csc.stride_x));
    const std::uint32_t left = job.mode() == ConvMode::Direct ? csc.pad_left : cdma.pad_left;
    const std::uint32_t top =
        job.mode() == ConvMode::Winograd ? cdma.winograd.pad_top : csc.pad_top;
    text += padding_text(top, left);
    if ((left > 0 || top > 0) && job.convolution.pad_value != 0) {
        const auto code = static_cast<std::int16_t>(job.convolution.pad_value);
        text += job.precision() == Precision::Fp16 ? fmt::format(" of {}", float_of(code))
                                                   : fmt::format(" of {}", code);
    }
    if (image && cdma.pixels.x_offset > 0) {
        text += fmt::format(", lines from pixel {} on", cdma.pixels.x_offset);
    }
    text += cdma.flush_nan ? ", NaN of the input as 0" : "";
    if (csc.dilation_y > 1 || csc.dilation_x > 1) {
        text += fmt::format(", dilation {}", pair_text(csc.dilation_y, csc.dilation_x));
    }
    text += job.mode() == ConvMode::Winograd ? ", Winograd" : "";
    text += cdma.compression && !weights_kept ? ", compressed weights" : "";
    if (cdma.conversion.enabled && cdma.in_precision != Precision::Fp16) {  // fp16 passes unchanged
        text += ", input converted" + conversion_text(cdma.conversion);
    }
    if (job.parts.cacc.clip_truncate > 0) {
        text += fmt::format(" >> {}", job.parts.cacc.clip_truncate);
    }
    return text;
}

std::string meaning_of(const SdpJob& job, const std::string& input) {
    const Precision source =
        job.source && job.source->element == Bytes(1) ? Precision::Int8 : job.stages.processing;
    const std::string from = job.source ? result_at(job.shape, source, job.source->base) : input;
    std::string text = fmt::format("{} -> {} -> ", from, stages_text(job));
    if (job.to_pdp || !job.destination) {
        return text + text_of(job.shape, job.stages.output);
    }
    text += result_at(job.shape, job.stages.output, job.destination->base);
    return job.batches > 1 ? fmt::format("{}, {} batches", text, job.batches) : text;
}

namespace {

/// What an average multiplies its sums by, unless that is what its name says.
std::string reciprocals_text(const PdpPooling& pooling) {
    if (pooling.method != PoolingMethod::Average || pooling.precision == Precision::Fp16) {
        return {};
    }
    const auto is_usual = [](std::uint32_t reciprocal, std::uint32_t kernel) {
        constexpr std::int64_t one = 65536;  // source: PdpPooling::recip_width
        const std::int64_t off = std::int64_t{reciprocal} * kernel - one;
        return off > -std::int64_t{kernel} && off < std::int64_t{kernel};
    };
    return is_usual(pooling.recip_width, pooling.kernel_width) &&
                   is_usual(pooling.recip_height, pooling.kernel_height)
               ? std::string()
               : fmt::format(", sums multiplied by {}/65536 and {}/65536", pooling.recip_width,
                             pooling.recip_height);
}

}  // namespace

std::string meaning_of(const PdpJob& job, const std::string& input) {
    const PdpPooling& pooling = job.pooling;
    constexpr std::array names{"average", "maximum", "minimum"};
    const std::uint32_t left = pooling.parts.front().pad_left;
    std::string text =
        fmt::format("{} -> {} of {}x{}, stride {}",
                    job.source ? result_at(job.input, pooling.precision, job.source->base) : input,
                    names[static_cast<std::size_t>(pooling.method)], pooling.kernel_height,
                    pooling.kernel_width, pair_text(pooling.stride_y, pooling.stride_x));
    text += reciprocals_text(pooling) + padding_text(pooling.pad_top, left);
    if (pooling.method == PoolingMethod::Average &&
        std::ranges::any_of(pooling.pad_value, [](std::int32_t value) { return value != 0; })) {
        const auto pads = std::span(pooling.pad_value).subspan(1);
        text += ", ";
        if (pooling.precision == Precision::Fp16) {
            std::vector<float> values(pads.size());
            std::ranges::transform(pads, values.begin(), [](std::int32_t code) {
                return fp17_of_code(static_cast<std::uint32_t>(code));
            });
            text += fmt::format("{}", fmt::join(values, ", "));
        } else {
            text += fmt::format("{}", fmt::join(pads, ", "));
        }
        text += " for missing elements";
    }
    text += pooling.nan_to_zero ? ", NaN as 0" : "";
    return text + " -> " + result_at(job.output, pooling.precision, job.destination.base);
}

std::string meaning_of(const CdpJob& job) {
    // each member has its words, or changes no value
    const auto& [precision, saturation, nan_to_zero, channels, local_size, sum_bypass, mul_bypass,
                 input, output, lut] = job.normalization;
    const bool floats = precision == Precision::Fp16;  // which are not converted
    const std::string in = floats ? std::string() : conversion_text(input);
    const std::string out = floats ? std::string() : conversion_text(output);
    return fmt::format(
        "{} ->{}{} {} ({}){} -> {}", result_at(job.shape, precision, job.source.base),
        in.empty() ? "" : fmt::format(" converted: {} ->", in), nan_to_zero ? " NaN as 0 ->" : "",
        mul_bypass ? "looked up in the tables"
                   : fmt::format("normalised over {} channels", local_size),
        sum_bypass ? "lookup of the value itself"
                   : fmt::format("lookup of the sum of {} squares", local_size),
        out.empty() ? "" : fmt::format(" -> converted: {}", out),
        result_at(job.shape, precision, job.destination.base));
}

std::string meaning_of(const TinpuJob& job) {
    const Convolution& g = job.geometry;
    std::string text = map_text(job.input);
    if (job.weights) {
        const bool by_channel = job.work == TinpuWork::Depthwise;
        text += fmt::format(" {} {}x{}x{}x{} int{} at {}",
                            job.work == TinpuWork::Transposed ? "transposed *" : "*",
                            job.output.shape.channels, by_channel ? 1 : job.input.shape.channels,
                            job.rows, job.columns, job.weights->bits, to_hex(job.weights->base));
        text += by_channel ? ", depthwise" : "";
    } else {
        text += fmt::format(" -> {} of {}x{}", job.work == TinpuWork::MaxPool ? "maximum" : "sum",
                            job.rows, job.columns);
    }
    text += fmt::format(", stride {}", pair_text(g.stride_y, g.stride_x));
    text += padding_text(g.pad_top, g.pad_left);
    if (g.dilation_y > 1 || g.dilation_x > 1) {
        text += fmt::format(", dilation {}", pair_text(g.dilation_y, g.dilation_x));
    }
    if (job.constants) {
        text += fmt::format(" -> (+ bias) * scale >> shift, one row per channel at {}",
                            to_hex(*job.constants));
    }
    if (job.residual) {
        text += " + " + map_text(*job.residual);
    }
    if (job.constants) {
        text += fmt::format(", clipped to {}..{}", job.clip.low, job.clip.high);
    }
    return text + " -> " + map_text(job.output);
}

}  // namespace npuscope
