// SPDX-License-Identifier: Apache-2.0
// The last step of the SDP: the output convertor on a run of values, the element types of its
// output, and what the saturation counter counts.
#include "models/sdp/sdp_math.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <type_traits>

#include "models/arith/float16.h"
#include "models/base/check.h"
#include "models/layout/precision.h"
#include "models/sdp/sdp_lut_math.h"

// Highway compiles the part between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE once per target:
// its simple loops become vectors of the machine's width.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/sdp/sdp_math.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npuscope {
namespace HWY_NAMESPACE {
namespace {

// source: NV_NVDLA_SDP_HLS_C_int.v: the shifter saturates to 17 bits, and only that is counted
constexpr double kShifterMax = 65535.0;
constexpr double kShifterMin = -65536.0;

/// Limits of the quotient before rounding; from the upper one on, or below the lower one, an
/// element counts as saturated.
struct CountLimits {
    double low;
    double high;
};
constexpr CountLimits kExactCount{kShifterMin, kShifterMax + 0.5};
constexpr CountLimits kCoarseCount{kShifterMin - 1.0, kShifterMax + 2.0};

std::uint64_t count_saturated(const SdpStages& stages, std::span<const double> values) {
    const Conversion& convertor = stages.convertor;
    const CountLimits limits = stages.coarse_saturation ? kCoarseCount : kExactCount;
    const double factor = std::ldexp(1.0, -static_cast<int>(convertor.shift));
    const double offset = convertor.offset;
    const double scale = convertor.scale;
    std::uint64_t saturated = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double scaled = (values[i] - offset) * scale * factor;
        const bool cut = scaled >= limits.high || scaled < limits.low;
        saturated += cut ? std::uint64_t{1} : std::uint64_t{0};
    }
    return saturated;
}

/// Storage type of an output type, and the range to which the convertor limits it.
template <Precision out>
struct Output;
template <>
struct Output<Precision::Int8> {
    using Element = std::int8_t;
    static constexpr double low = -128.0;
    static constexpr double high = 127.0;
};
template <>
struct Output<Precision::Int16> {
    using Element = std::int16_t;
    static constexpr double low = -32768.0;
    static constexpr double high = 32767.0;
};
/// From a 17-bit integer.
template <>
struct Output<Precision::Fp16> {
    using Element = std::int16_t;
    static constexpr double low = kShifterMin;
    static constexpr double high = kShifterMax;
};

/// In place; the results fit the output's range.
template <Precision out>
void through_convertor(const Conversion& convertor, std::span<double> values) {
    const double factor = rounding_factor(convertor.shift);
    const double offset = convertor.offset;
    const double scale = convertor.scale;
    for (double& value : values) {
        value = scale_round((value - offset) * scale, factor, Output<out>::low, Output<out>::high);
    }
}

void to_integers(std::span<const double> values, std::span<std::int32_t> integers) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        integers[i] = static_cast<std::int32_t>(values[i]);
    }
}

/// The low eight or sixteen bits.
template <class Element>
void to_elements(std::span<const std::int32_t> integers, Element* out) {
    for (std::size_t i = 0; i < integers.size(); ++i) {
        out[i] = static_cast<Element>(integers[i]);
    }
}

/// fp16 elements of the largest magnitude: they count as saturated.
std::uint64_t count_largest(std::span<const std::int16_t> elements) {
    constexpr int kLargest = static_cast<int>(Fp16Format::largest);
    return static_cast<std::uint64_t>(std::ranges::count_if(
        elements, [](std::int16_t bits) { return (bits & 0x7FFF) == kLargest; }));
}

constexpr std::size_t kRun = 1024;  // values that pass all stages together; stays in L1

/// Elements [begin, begin + size) of one channel's plane.
struct Run {
    std::uint32_t channel = 0;
    std::size_t begin = 0;
    std::size_t size = 0;
};

OperandRun operand_run(const Tensor<std::int16_t>& operand, const Run& run) {
    if (operand.values.empty()) {
        return {};
    }
    const std::size_t plane = std::size_t{operand.shape.height} * operand.shape.width;
    const std::int16_t* values = operand.values.data() + run.channel * plane;
    if (plane == 1) {
        return {{}, *values};
    }
    return {std::span(values + run.begin, run.size), 0};
}

/// The operand of a part of an X stage, or of a Y stage, which reads its register itself.
template <class Part>
OperandRun run_of(const Part& part, const Tensor<std::int16_t>& memory, const Run& run) {
    if constexpr (std::is_same_v<decltype(part.operand), std::int16_t>) {
        if (part.source == OperandSource::Register) {
            return {{}, part.operand};
        }
    }
    return operand_run(memory, run);
}

void through_x(const SdpXStage& stage, const SdpStageOperands& operands, const Run& run,
               std::span<double> values) {
    if (stage.bypass) {
        return;
    }
    run_x_stage(stage, run_of(stage.alu, operands.alu, run), run_of(stage.mul, operands.mul, run),
                values);
}

template <class T>
std::size_t plane_of(const Tensor<T>& tensor) {
    return std::size_t{tensor.shape.height} * tensor.shape.width;
}

/// All stages in integers, run by run over one tensor.
template <Precision out>
class IntegerPipeline {
 public:
    static constexpr Precision output = out;
    using Element = typename Output<out>::Element;

    IntegerPipeline(const SdpStages& stages, const SdpOperands& operands,
                    const LookupTables& tables)
        : stages_(stages), operands_(operands), tables_(tables) {}

    template <class In>
    void process(const Tensor<In>& source, const Run& run, Element* to, SdpCounters& counters) {
        const In* in = source.values.data() + run.channel * plane_of(source) + run.begin;
        const std::span values(values_.data(), run.size);
        for (std::size_t i = 0; i < run.size; ++i) {
            values[i] = in[i];
        }
        through_x(stages_.bs, operands_[bs_stage], run, values);
        through_x(stages_.bn, operands_[bn_stage], run, values);
        element_wise(run, values, counters);
        if (!stages_.compares()) {
            if (stages_.count_saturated && out != Precision::Fp16) {
                counters.saturated += count_saturated(stages_, values);
            }
            through_convertor<out>(stages_.convertor, values);
        }
        const std::span integers(integers_.data(), run.size);
        to_integers(values, integers);
        if (out == Precision::Fp16 && !stages_.compares()) {
            std::ranges::transform(integers, integers.begin(), fp16_from_int);
        }
        to_elements(integers, to);
    }

 private:
    /// This stage and its tables work on 32-bit integers.
    void element_wise(const Run& run, std::span<double> values, SdpCounters& counters) {
        if (stages_.ew.bypass) {
            return;
        }
        const std::span integers(integers_.data(), run.size);
        to_integers(values, integers);
        const SdpStageOperands& operands = operands_[ew_stage];
        run_y_stage(stages_.ew, operand_run(operands.alu, run), operand_run(operands.mul, run),
                    integers);
        if (!stages_.ew.lut_bypass) {
            run_sdp_lut(stages_.ew.lut, tables_, integers, counters.lut);
        }
        std::copy(integers.begin(), integers.end(), values.begin());
    }

    const SdpStages& stages_;
    const SdpOperands& operands_;
    const LookupTables& tables_;
    std::array<double, kRun> values_{};
    std::array<std::int32_t, kRun> integers_{};
};

/// All stages in floating point, run by run.
template <Precision out>
class FloatPipeline {
 public:
    static constexpr Precision output = out;
    using Element = std::int16_t;

    FloatPipeline(const SdpStages& stages, const SdpOperands& operands, const LookupTables& tables)
        : stages_(stages), operands_(operands), tables_(tables) {}

    template <class In>
    void process(const Tensor<In>& source, const Run& run, Element* to, SdpCounters& counters) {
        const In* in = source.values.data() + run.channel * plane_of(source) + run.begin;
        const std::span values(values_.data(), run.size);
        std::transform(in, in + run.size, values.begin(), [](In element) { return read(element); });
        PerStage<StageRuns> runs;
        for_each_stage(stages_, [&](const auto& stage, std::size_t i) {
            runs[i] = {run_of(stage.alu, operands_[i].alu, run),
                       run_of(stage.mul, operands_[i].mul, run)};
        });
        run_sdp_float(stages_, runs, tables_, values, counters.lut);
        std::ranges::transform(values, to, [this](float value) { return write(value); });
    }

 private:
    static float read(std::int32_t accumulator) { return std::bit_cast<float>(accumulator); }
    static float read(std::int16_t element) { return widen(static_cast<Fp16>(element)); }
    static float read(std::int8_t element) { return element; }

    Element write(float value) const {
        if (stages_.compares()) {
            return static_cast<Element>(std::bit_cast<std::uint32_t>(value));
        }
        const Fp16 narrowed = narrow(value);
        return out == Precision::Fp16 ? static_cast<Element>(narrowed) : int16_from_fp16(narrowed);
    }

    const SdpStages& stages_;
    const SdpOperands& operands_;
    const LookupTables& tables_;
    std::array<float, kRun> values_{};
};

void check_operand(const Tensor<std::int16_t>& operand, const Shape& input) {
    const Shape& shape = operand.shape;
    const bool enough = operand.values.empty() || shape.channels >= input.channels;
    const bool per_channel = shape.height == 1 && shape.width == 1;
    const bool per_element = shape.height == input.height && shape.width == input.width;
    NPU_CHECK(operand.values.empty() || (enough && (per_channel || per_element)),
              "an operand has one value per channel or one per element");
}

/// A stage that reads an operand from memory must have received one.
void check_present(OperandSource source, bool bypass, const Tensor<std::int16_t>& operand) {
    NPU_CHECK(bypass || source == OperandSource::Register || !operand.values.empty(),
              "a stage lacks its operand from memory");
}

template <class Stage>
void check_stage(const Stage& stage, const SdpStageOperands& operands, const Shape& input) {
    check_operand(operands.alu, input);
    check_operand(operands.mul, input);
    check_present(stage.alu.source, stage.bypass || stage.alu.bypass, operands.alu);
    check_present(stage.mul.source, stage.bypass || stage.mul.bypass, operands.mul);
}

/// Adds what the result's elements contribute to the counters.
template <Precision out, class Element>
void count_output(const SdpStages& stages, std::span<const Element> values, SdpCounters& counters) {
    if (stages.compares()) {
        counters.unequal = std::ranges::any_of(values, [](auto x) { return x != 0; });
        return;
    }
    if constexpr (out == Precision::Fp16) {
        counters.saturated = stages.count_saturated ? count_largest(values) : 0;
    }
}

template <Precision out, class Pipeline, class In>
SdpResult through(Pipeline& pipeline, const SdpStages& stages, const Tensor<In>& source) {
    Tensor<typename Pipeline::Element> values(source.shape);
    SdpCounters counters;
    const std::size_t plane = plane_of(source);
    for (std::uint32_t c = 0; c < source.shape.channels; ++c) {
        for (std::size_t begin = 0; begin < plane; begin += kRun) {
            pipeline.process(source, {c, begin, std::min(kRun, plane - begin)},
                             values.values.data() + c * plane + begin, counters);
        }
    }
    count_output<out>(stages, std::span<const typename Pipeline::Element>(values.values), counters);
    SdpResult result{std::move(values), counters};
    if (stages.count_nan_outputs) {
        result.counters.nan_outputs = count_specials(result.values).nans;
    }
    return result;
}

template <class In>
SdpResult compute(const SdpStages& stages, const Tensor<In>& source, const SdpOperands& operands,
                  const LookupTables& tables) {
    for_each_stage(stages, [&](const auto& stage, std::size_t i) {
        check_stage(stage, operands[i], source.shape);
    });
    const auto run = [&]<class Pipeline>(Pipeline&& pipeline) {  // a few KiB: not copied
        return through<std::remove_reference_t<Pipeline>::output>(pipeline, stages, source);
    };
    if (stages.processing == Precision::Fp16) {
        return stages.output == Precision::Fp16
                   ? run(FloatPipeline<Precision::Fp16>(stages, operands, tables))
                   : run(FloatPipeline<Precision::Int16>(stages, operands, tables));
    }
    switch (stages.output) {
        case Precision::Int8:
            return run(IntegerPipeline<Precision::Int8>(stages, operands, tables));
        case Precision::Int16:
            return run(IntegerPipeline<Precision::Int16>(stages, operands, tables));
        case Precision::Fp16:
            return run(IntegerPipeline<Precision::Fp16>(stages, operands, tables));
    }
    NPU_CHECK(false, "unknown precision");
    return {};
}

SdpResult compute_sums(const SdpStages& stages, const Tensor<std::int32_t>& accumulators,
                       const SdpOperands& operands, const LookupTables& tables) {
    return compute(stages, accumulators, operands, tables);
}

SdpResult compute_elements(const SdpStages& stages, const ElementTensor& source,
                           const SdpOperands& operands, const LookupTables& tables) {
    return std::visit([&](const auto& values) { return compute(stages, values, operands, tables); },
                      source);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace npuscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npuscope {
namespace {

HWY_EXPORT(compute_sums);
HWY_EXPORT(compute_elements);

}  // namespace

SdpCounters& SdpCounters::operator+=(const SdpCounters& more) {
    saturated += more.saturated;
    lut.underflow += more.lut.underflow;
    lut.overflow += more.lut.overflow;
    lut.hybrid += more.lut.hybrid;
    lut.le_hit += more.lut.le_hit;
    lut.lo_hit += more.lut.lo_hit;
    unequal = unequal || more.unequal;
    inputs.nans += more.inputs.nans;
    inputs.infs += more.inputs.infs;
    nan_outputs += more.nan_outputs;
    return *this;
}

SdpResult compute_sdp(const SdpStages& stages, const Tensor<std::int32_t>& accumulators,
                      const SdpOperands& operands, const LookupTables& tables) {
    return HWY_DYNAMIC_DISPATCH(compute_sums)(stages, accumulators, operands, tables);
}

SdpResult compute_sdp(const SdpStages& stages, const ElementTensor& source,
                      const SdpOperands& operands, const LookupTables& tables) {
    SdpResult result = HWY_DYNAMIC_DISPATCH(compute_elements)(stages, source, operands, tables);
    if (stages.count_input_specials) {
        result.counters.inputs = count_specials(source);
    }
    return result;
}

}  // namespace npuscope
#endif
