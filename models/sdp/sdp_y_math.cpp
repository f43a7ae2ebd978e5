// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_y_math.h"

#include "models/arith/fixed_point.h"
#include "models/base/check.h"

namespace npuscope {
namespace {

constexpr ConvertorWidths kOperandConvertor{49, 32, 32};  // source: NV_NVDLA_SDP_HLS_Y_int_cvt.v
constexpr ShifterWidths kProductShifter{64, 32};          // source: NV_NVDLA_SDP_HLS_Y_int_mul.v

/// Hands `step` each value with its operand, wherever that comes from.
template <class Part, class Step>
void combine(std::span<std::int32_t> values, const Part& part, const OperandRun& memory,
             Step step) {
    if (part.source == OperandSource::Memory && !memory.per_element.empty()) {
        NPU_CHECK(memory.per_element.size() == values.size(), "operand run as long as the values");
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = step(values[i], convert_operand(part.convertor, memory.per_element[i]));
        }
        return;
    }
    const std::int32_t constant = part.source == OperandSource::Memory
                                      ? convert_operand(part.convertor, memory.constant)
                                      : part.operand;
    for (std::int32_t& value : values) {
        value = step(value, constant);
    }
}

void run_mul(const SdpYMul& mul, const OperandRun& operand, std::span<std::int32_t> values) {
    combine(values, mul, operand, [&mul](std::int32_t x, std::int32_t op) {
        if (mul.prelu && x >= 0) {
            return x;
        }
        const std::int64_t product = std::int64_t{x} * op;
        return static_cast<std::int32_t>(
            shift_right_saturate(product, mul.shift_right, kProductShifter).value);
    });
}

void run_alu(const SdpYAlu& alu, const OperandRun& operand, std::span<std::int32_t> values) {
    switch (alu.algorithm) {
        case AluAlgorithm::Max:
            combine(values, alu, operand,
                    [](std::int32_t x, std::int32_t op) { return x > op ? x : op; });
            return;
        case AluAlgorithm::Min:
            combine(values, alu, operand,
                    [](std::int32_t x, std::int32_t op) { return x < op ? x : op; });
            return;
        case AluAlgorithm::Sum:
            combine(values, alu, operand, [](std::int32_t x, std::int32_t op) {
                return saturate_to<std::int32_t>(std::int64_t{x} + op);
            });
            return;
        case AluAlgorithm::Equal:
            combine(values, alu, operand,
                    [](std::int32_t x, std::int32_t op) { return x == op ? 0 : 1; });
            return;
    }
    NPU_CHECK(false, "unknown algorithm of the element-wise ALU");
}

}  // namespace

std::int32_t convert_operand(const SdpOperandConvertor& convertor, std::int16_t operand) {
    if (convertor.bypass) {
        return operand;
    }
    return static_cast<std::int32_t>(convert(operand, convertor.conversion, kOperandConvertor));
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

}  // namespace npuscope
