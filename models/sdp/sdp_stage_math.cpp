// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_stage_math.h"

#include <bit>

#include "models/arith/fixed_point.h"
#include "models/arith/float16.h"
#include "models/base/check.h"
#include "models/sdp/sdp_lut_math.h"

// Highway compiles the part between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE once per target:
// its simple loops become vectors of the machine's width.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/sdp/sdp_stage_math.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npuscope {
namespace HWY_NAMESPACE {
namespace {

constexpr double kMin32 = -2147483648.0;
constexpr double kMax32 = 2147483647.0;
constexpr double kTwoTo32 = 4294967296.0;

/// values[i] = step(values[i], operand i). `prepare` turns the 16-bit operand into the input of
/// `step`.
template <class Value, class Prepare, class Step>
void combine(std::span<Value> values, const OperandRun& operand, Prepare prepare, Step step) {
    if (operand.per_element.empty()) {
        const Value constant = prepare(operand.constant);
        for (Value& value : values) {
            value = step(value, constant);
        }
        return;
    }
    NPU_CHECK(operand.per_element.size() == values.size(), "operand run as long as the values");
    const std::int16_t* operands = operand.per_element.data();
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = step(values[i], prepare(operands[i]));
    }
}

/// The same for a part of the Y stage, whose register has 32 bits.
template <class Part, class Value, class Prepare, class Step>
void combine_y(const Part& part, std::span<Value> values, const OperandRun& memory, Prepare prepare,
               Step step) {
    if (part.source == OperandSource::Memory) {
        combine(values, memory, prepare, step);
        return;
    }
    const auto constant = std::bit_cast<Value>(part.operand);
    for (Value& value : values) {
        value = step(value, constant);
    }
}

constexpr auto larger = [](auto x, auto op) { return x > op ? x : op; };
constexpr auto smaller = [](auto x, auto op) { return x < op ? x : op; };

/// Calls `visit` with the ALU's function.
template <class Visit, class Max, class Min, class Sum, class Equal>
void with_algorithm(AluAlgorithm algorithm, Visit visit, Max max, Min min, Sum sum, Equal equal) {
    switch (algorithm) {
        case AluAlgorithm::Max:
            return visit(max);
        case AluAlgorithm::Min:
            return visit(min);
        case AluAlgorithm::Sum:
            return visit(sum);
        case AluAlgorithm::Equal:
            return visit(equal);
    }
    NPU_CHECK(false, "unknown algorithm of an ALU");
}

// --- X stages in integers -----------------------------------------------------------------------

double clamp32(double value) {
    const double floored = value < kMin32 ? kMin32 : value;
    return floored > kMax32 ? kMax32 : floored;
}

void run_alu(const SdpXAlu& alu, const OperandRun& operand, std::span<double> values) {
    const double factor = std::ldexp(1.0, static_cast<int>(alu.shift_left));
    const auto shifted = [factor](std::int16_t op) { return clamp32(op * factor); };
    NPU_CHECK(alu.algorithm != AluAlgorithm::Equal, "an X stage cannot compare");
    const auto sum = [](double x, double op) { return x + op; };
    with_algorithm(
        alu.algorithm, [&](auto step) { combine(values, operand, shifted, step); }, larger, smaller,
        sum, sum);
}

/// The low 32 bits, signed: what remains of a 33-bit sum that PReLU passes unchanged.
double wrap32(double value) { return value > kMax32 ? value - kTwoTo32 : value; }

void run_mul(const SdpXStage& stage, const OperandRun& operand, std::span<double> values) {
    const double factor = rounding_factor(stage.shift_right);
    const auto plain = [](std::int16_t op) { return static_cast<double>(op); };
    if (stage.mul.prelu) {
        combine(values, operand, plain, [factor](double x, double op) {
            const double product = scale_round(x * op, factor, kMin32, kMax32);
            return x < 0.0 ? product : wrap32(x);
        });
        return;
    }
    combine(values, operand, plain,
            [factor](double x, double op) { return scale_round(x * op, factor, kMin32, kMax32); });
}

// --- the Y stage in integers ---------------------------------------------------------------------

constexpr ShifterWidths kProductShifter{64, 32};  // source: NV_NVDLA_SDP_HLS_Y_int_mul.v

auto converted(const SdpOperandConvertor& convertor) {
    return [&convertor](std::int16_t operand) { return convert_operand(convertor, operand); };
}

void run_mul(const SdpYMul& mul, const OperandRun& operand, std::span<std::int32_t> values) {
    combine_y(mul, values, operand, converted(mul.convertor),
              [&mul](std::int32_t x, std::int32_t op) {
                  if (mul.prelu && x >= 0) {
                      return x;
                  }
                  const std::int64_t product = std::int64_t{x} * op;
                  return static_cast<std::int32_t>(
                      shift_right_saturate(product, mul.shift_right, kProductShifter).value);
              });
}

void run_alu(const SdpYAlu& alu, const OperandRun& operand, std::span<std::int32_t> values) {
    with_algorithm(
        alu.algorithm,
        [&](auto step) { combine_y(alu, values, operand, converted(alu.convertor), step); }, larger,
        smaller,
        [](std::int32_t x, std::int32_t op) {
            return saturate_to<std::int32_t>(std::int64_t{x} + op);
        },
        [](std::int32_t x, std::int32_t op) { return x == op ? 0 : 1; });
}

// --- both in floating point ----------------------------------------------------------------------

float add(float a, float b) { return float_add<Fp32Rules>(a, b); }
float multiply(float a, float b) { return float_mul<Fp32Rules>(a, b); }
/// As bits; the result is a bit pattern too.
float differ(float a, float b) {
    const bool same = std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
    return std::bit_cast<float>(same ? 0U : 1U);
}

/// An fp16 operand as the stages see it.
class OperandReading {
 public:
    explicit OperandReading(bool nan_to_zero) : nan_to_zero_(nan_to_zero) {}

    float operator()(std::int16_t bits) const {
        const float value = widen(static_cast<Fp16>(bits));
        return nan_to_zero_ && is_nan(value) ? 0.0F : value;
    }

 private:
    bool nan_to_zero_;
};

template <class Visit>
void with_float_algorithm(AluAlgorithm algorithm, Visit visit) {
    with_algorithm(algorithm, visit, float_max, float_min, add, differ);
}

float multiply_negative(float value, float operand) {
    return is_negative(value) ? multiply(value, operand) : value;
}

void run_x(const SdpXStage& stage, const StageRuns& operands, const OperandReading& read,
           std::span<float> values) {
    if (stage.bypass) {
        return;
    }
    if (!stage.alu.bypass) {
        with_float_algorithm(stage.alu.algorithm,
                             [&](auto step) { combine(values, operands.alu, read, step); });
    }
    if (!stage.mul.bypass) {
        combine(values, operands.mul, read, stage.mul.prelu ? multiply_negative : multiply);
    }
    if (stage.relu) {
        for (float& value : values) {
            value = float_relu(value);
        }
    }
}

/// Operands are fp16 from memory, fp32 from the register.
void run_y(const SdpYStage& stage, const StageRuns& operands, const OperandReading& read,
           std::span<float> values) {
    if (!stage.mul.bypass) {
        combine_y(stage.mul, values, operands.mul, read,
                  stage.mul.prelu ? multiply_negative : multiply);
    }
    if (!stage.alu.bypass) {
        with_float_algorithm(stage.alu.algorithm, [&](auto step) {
            combine_y(stage.alu, values, operands.alu, read, step);
        });
    }
}

void run_x_stage(const SdpXStage& stage, const OperandRun& alu, const OperandRun& mul,
                 std::span<double> values) {
    if (stage.bypass) {
        return;
    }
    if (!stage.alu.bypass) {
        run_alu(stage.alu, alu, values);
    }
    if (!stage.mul.bypass) {
        run_mul(stage, mul, values);
    } else {
        const double factor = rounding_factor(stage.shift_right);
        for (double& value : values) {
            value = scale_round(value, factor, kMin32, kMax32);
        }
    }
    if (stage.relu) {
        for (double& value : values) {
            value = value > 0.0 ? value : 0.0;
        }
    }
}

void run_y_stage(const SdpYStage& stage, const OperandRun& alu, const OperandRun& mul,
                 std::span<std::int32_t> values) {
    if (stage.bypass) {
        return;
    }
    if (!stage.mul.bypass) {
        run_mul(stage.mul, mul, values);
    }
    if (!stage.alu.bypass) {
        run_alu(stage.alu, alu, values);
    }
}

void run_sdp_float(const SdpStages& stages, const PerStage<StageRuns>& operands,
                   const LookupTables& tables, std::span<float> values, LookupCounters& counters) {
    if (stages.nan_to_zero) {
        for (float& value : values) {
            value = is_nan(value) ? 0.0F : value;
        }
    }
    const OperandReading read(stages.nan_to_zero);
    run_x(stages.bs, operands[bs_stage], read, values);
    run_x(stages.bn, operands[bn_stage], read, values);
    if (stages.ew.bypass) {
        return;
    }
    run_y(stages.ew, operands[ew_stage], read, values);
    if (!stages.ew.lut_bypass) {
        run_sdp_lut(stages.ew.lut, tables, values, counters);
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace npuscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npuscope {
namespace {

constexpr ConvertorWidths kOperandConvertor{49, 32, 32};  // source: NV_NVDLA_SDP_HLS_Y_int_cvt.v

HWY_EXPORT(run_x_stage);
HWY_EXPORT(run_y_stage);
HWY_EXPORT(run_sdp_float);

}  // namespace

void run_x_stage(const SdpXStage& stage, const OperandRun& alu, const OperandRun& mul,
                 std::span<double> values) {
    HWY_DYNAMIC_DISPATCH(run_x_stage)(stage, alu, mul, values);
}

std::int32_t convert_operand(const SdpOperandConvertor& convertor, std::int16_t operand) {
    if (convertor.bypass) {
        return operand;
    }
    return static_cast<std::int32_t>(convert(operand, convertor.conversion, kOperandConvertor));
}

void run_y_stage(const SdpYStage& stage, const OperandRun& alu, const OperandRun& mul,
                 std::span<std::int32_t> values) {
    HWY_DYNAMIC_DISPATCH(run_y_stage)(stage, alu, mul, values);
}

void run_sdp_float(const SdpStages& stages, const PerStage<StageRuns>& operands,
                   const LookupTables& tables, std::span<float> values, LookupCounters& counters) {
    HWY_DYNAMIC_DISPATCH(run_sdp_float)(stages, operands, tables, values, counters);
}

}  // namespace npuscope
#endif
