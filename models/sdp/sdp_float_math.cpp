// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_float_math.h"

#include "models/arith/float_rules.h"
#include "models/base/check.h"
#include "models/sdp/sdp_float_lut.h"

namespace npuscope {
namespace {

float add(float a, float b) { return float_add<Fp32Rules>(a, b); }
float multiply(float a, float b) { return float_mul<Fp32Rules>(a, b); }
/// As bits, and the answer is a bit pattern too.
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

/// values[i] = step(values[i], operand i).
template <class Step>
void combine(std::span<float> values, const OperandRun& operand, const OperandReading& read,
             Step step) {
    if (operand.per_element.empty()) {
        const float constant = read(operand.constant);
        for (float& value : values) {
            value = step(value, constant);
        }
        return;
    }
    NPU_CHECK(operand.per_element.size() == values.size(), "operand run as long as the values");
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = step(values[i], read(operand.per_element[i]));
    }
}

/// Hands `visit` the ALU's function.
template <class Visit>
void with_algorithm(AluAlgorithm algorithm, Visit visit) {
    switch (algorithm) {
        case AluAlgorithm::Max:
            return visit(float_max);
        case AluAlgorithm::Min:
            return visit(float_min);
        case AluAlgorithm::Sum:
            return visit(add);
        case AluAlgorithm::Equal:
            return visit(differ);
    }
    NPU_CHECK(false, "unknown algorithm of an ALU");
}

float multiply_negative(float value, float operand) {
    return is_negative(value) ? multiply(value, operand) : value;
}

void run_x(const SdpXStage& stage, const OperandRun& alu, const OperandRun& mul,
           const OperandReading& read, std::span<float> values) {
    if (stage.bypass) {
        return;
    }
    if (!stage.alu.bypass) {
        with_algorithm(stage.alu.algorithm, [&](auto step) { combine(values, alu, read, step); });
    }
    if (!stage.mul.bypass) {
        combine(values, mul, read, stage.mul.prelu ? multiply_negative : multiply);
    }
    if (stage.relu) {
        for (float& value : values) {
            value = float_relu(value);
        }
    }
}

/// The operand of a Y part: fp16 from memory, fp32 from the register.
template <class Part, class Step>
void combine_y(const Part& part, const OperandRun& memory, const OperandReading& read,
               std::span<float> values, Step step) {
    if (part.source == OperandSource::Memory) {
        combine(values, memory, read, step);
        return;
    }
    const float constant = std::bit_cast<float>(part.operand);
    for (float& value : values) {
        value = step(value, constant);
    }
}

void run_y(const SdpYStage& stage, const SdpFloatOperands& operands, const OperandReading& read,
           std::span<float> values) {
    if (!stage.mul.bypass) {
        combine_y(stage.mul, operands.ew_mul, read, values,
                  stage.mul.prelu ? multiply_negative : multiply);
    }
    if (!stage.alu.bypass) {
        with_algorithm(stage.alu.algorithm, [&](auto step) {
            combine_y(stage.alu, operands.ew_alu, read, values, step);
        });
    }
}

}  // namespace

void run_sdp_float(const SdpStages& stages, const SdpFloatOperands& operands,
                   const LookupTables& tables, std::span<float> values, SdpCounters& counters) {
    if (stages.nan_to_zero) {
        for (float& value : values) {
            value = is_nan(value) ? 0.0F : value;
        }
    }
    const OperandReading read(stages.nan_to_zero);
    run_x(stages.bs, operands.bs_alu, operands.bs_mul, read, values);
    run_x(stages.bn, operands.bn_alu, operands.bn_mul, read, values);
    if (stages.ew.bypass) {
        return;
    }
    run_y(stages.ew, operands, read, values);
    if (!stages.ew.lut_bypass) {
        run_sdp_float_lut(stages.ew.lut, tables, values, counters.lut);
    }
}

}  // namespace npuscope
