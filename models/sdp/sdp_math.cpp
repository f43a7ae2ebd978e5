// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "models/base/check.h"
#include "models/sdp/sdp_lut_math.h"
#include "models/sdp/sdp_x_math.h"
#include "models/sdp/sdp_y_math.h"

namespace npuscope {
namespace {

constexpr std::size_t kRun = 1024;  // values that go through all stages together; stays in L1

// source: NV_NVDLA_SDP_HLS_C_int.v: the shifter saturates to 17 bits, and only that is counted
constexpr double kShifterMax = 65535.0;
constexpr double kShifterMin = -65536.0;

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

OperandRun x_operand(OperandSource source, std::int16_t constant,
                     const Tensor<std::int16_t>& memory, const Run& run) {
    return source == OperandSource::Register ? OperandRun{{}, constant} : operand_run(memory, run);
}

void through_x(const SdpXStage& stage, const SdpStageOperands& operands, const Run& run,
               std::span<double> values) {
    if (stage.bypass) {
        return;
    }
    run_x_stage(stage, x_operand(stage.alu.source, stage.alu.operand, operands.alu, run),
                x_operand(stage.mul.source, stage.mul.operand, operands.mul, run), values);
}

/// The element-wise stage and its tables work on integers of 32 bits.
void through_y(const SdpYStage& stage, const SdpStageOperands& operands, const Run& run,
               std::span<std::int32_t> values) {
    run_y_stage(stage, operand_run(operands.alu, run), operand_run(operands.mul, run), values);
}

std::uint64_t count_saturated(const Conversion& convertor, std::span<const double> values) {
    const double factor = std::ldexp(1.0, -static_cast<int>(convertor.shift));
    const double offset = convertor.offset;
    const double scale = convertor.scale;
    std::uint64_t saturated = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double scaled = (values[i] - offset) * scale * factor;
        const bool cut = scaled >= kShifterMax + 0.5 || scaled < kShifterMin;
        saturated += cut ? std::uint64_t{1} : std::uint64_t{0};
    }
    return saturated;
}

/// In place; the results fit int8.
void through_convertor(const Conversion& convertor, std::span<double> values) {
    const double factor = rounding_factor(convertor.shift);
    const double offset = convertor.offset;
    const double scale = convertor.scale;
    for (double& value : values) {
        value = scale_round((value - offset) * scale, factor, -128.0, 127.0);
    }
}

void to_integers(std::span<const double> values, std::span<std::int32_t> integers) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        integers[i] = static_cast<std::int32_t>(values[i]);
    }
}

/// The low eight bits.
void to_bytes(std::span<const std::int32_t> integers, std::int8_t* out) {
    for (std::size_t i = 0; i < integers.size(); ++i) {
        out[i] = static_cast<std::int8_t>(integers[i]);
    }
}

/// All stages for one run after the other of one tensor.
class Pipeline {
 public:
    Pipeline(const SdpStages& stages, const SdpOperands& operands, const LookupTables& tables)
        : stages_(stages), operands_(operands), tables_(tables) {}

    template <class In>
    void process(const Tensor<In>& source, const Run& run, SdpResult& result) {
        const std::size_t plane = std::size_t{source.shape.height} * source.shape.width;
        const In* in = source.values.data() + run.channel * plane + run.begin;
        std::int8_t* out = result.values.values.data() + run.channel * plane + run.begin;
        const std::span values(values_.data(), run.size);
        for (std::size_t i = 0; i < run.size; ++i) {
            values[i] = in[i];
        }
        through_x(stages_.bs, operands_.bs, run, values);
        through_x(stages_.bn, operands_.bn, run, values);
        element_wise(run, values, result.counters);
        if (!stages_.compares()) {
            if (stages_.count_saturated) {
                result.counters.saturated += count_saturated(stages_.convertor, values);
            }
            through_convertor(stages_.convertor, values);
        }
        const std::span integers(integers_.data(), run.size);
        to_integers(values, integers);
        to_bytes(integers, out);
        if (stages_.compares()) {
            result.counters.unequal |= std::any_of(out, out + run.size, [](auto x) { return x; });
        }
    }

 private:
    void element_wise(const Run& run, std::span<double> values, SdpCounters& counters) {
        if (stages_.ew.bypass) {
            return;
        }
        const std::span integers(integers_.data(), run.size);
        to_integers(values, integers);
        through_y(stages_.ew, operands_.ew, run, integers);
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

void check_operand(const Tensor<std::int16_t>& operand, const Shape& input) {
    const bool per_channel = operand.shape == Shape{input.channels, 1, 1};
    NPU_CHECK(operand.values.empty() || per_channel || operand.shape == input,
              "an operand has one value per channel or one per element");
}

/// A stage that reads an operand from memory must have been given one.
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

template <class In>
SdpResult compute(const SdpStages& stages, const Tensor<In>& source, const SdpOperands& operands,
                  const LookupTables& tables) {
    check_stage(stages.bs, operands.bs, source.shape);
    check_stage(stages.bn, operands.bn, source.shape);
    check_stage(stages.ew, operands.ew, source.shape);
    SdpResult result{Tensor<std::int8_t>(source.shape), {}};
    Pipeline pipeline(stages, operands, tables);
    const std::size_t plane = std::size_t{source.shape.height} * source.shape.width;
    for (std::uint32_t c = 0; c < source.shape.channels; ++c) {
        for (std::size_t begin = 0; begin < plane; begin += kRun) {
            pipeline.process(source, {c, begin, std::min(kRun, plane - begin)}, result);
        }
    }
    return result;
}

}  // namespace

SdpResult compute_sdp(const SdpStages& stages, const Tensor<std::int32_t>& accumulators,
                      const SdpOperands& operands, const LookupTables& tables) {
    return compute(stages, accumulators, operands, tables);
}

SdpResult compute_sdp(const SdpStages& stages, const Tensor<std::int8_t>& source,
                      const SdpOperands& operands, const LookupTables& tables) {
    return compute(stages, source, operands, tables);
}

}  // namespace npuscope
