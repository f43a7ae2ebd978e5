// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_x_math.h"

#include "models/base/check.h"

namespace npuscope {
namespace {

constexpr double kMin32 = -2147483648.0;
constexpr double kMax32 = 2147483647.0;
constexpr double kTwoTo32 = 4294967296.0;

/// values[i] = step(values[i], operand i). `prepare` turns the 16-bit operand into what `step`
/// takes.
template <class Prepare, class Step>
void combine(std::span<double> values, const OperandRun& operand, Prepare prepare, Step step) {
    if (operand.per_element.empty()) {
        const double constant = prepare(operand.constant);
        for (double& value : values) {
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

double clamp32(double value) {
    const double floored = value < kMin32 ? kMin32 : value;
    return floored > kMax32 ? kMax32 : floored;
}

void run_alu(const SdpXAlu& alu, const OperandRun& operand, std::span<double> values) {
    const double factor = std::ldexp(1.0, static_cast<int>(alu.shift_left));
    const auto shifted = [factor](std::int16_t op) { return clamp32(op * factor); };
    switch (alu.algorithm) {
        case AluAlgorithm::Max:
            combine(values, operand, shifted, [](double x, double op) { return x > op ? x : op; });
            return;
        case AluAlgorithm::Min:
            combine(values, operand, shifted, [](double x, double op) { return x < op ? x : op; });
            return;
        case AluAlgorithm::Sum:
            combine(values, operand, shifted, [](double x, double op) { return x + op; });
            return;
        case AluAlgorithm::Equal:
            break;
    }
    NPU_CHECK(false, "an X stage cannot compare");
}

/// The low 32 bits, signed: what is left of a 33-bit sum that PReLU lets pass.
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

}  // namespace

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

}  // namespace npuscope
