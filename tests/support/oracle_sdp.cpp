// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_sdp.h"

#include <algorithm>
#include <stdexcept>

namespace npuscope::oracle {

namespace {

struct Element {
    std::uint32_t c, y, x;
};

Wide operand(const Operands& operands, std::uint32_t component, Element e, const Memory& memory) {
    return memory.read_signed(operands.address(component, e.c, e.y, e.x), operands.bytes);
}

/// The multiplier's component follows the ALU's if both come from memory.
std::uint32_t mul_component(const Operands& operands) { return operands.components - 1; }

Wide alu(AluAlgorithm algorithm, Wide a, Wide b) {
    switch (algorithm) {
        case AluAlgorithm::Max:
            return std::max(a, b);
        case AluAlgorithm::Min:
            return std::min(a, b);
        case AluAlgorithm::Sum:
            return a + b;
    }
    throw std::invalid_argument("no such ALU algorithm");
}

Wide through_x(const StageX& stage, Wide value, Element e, const Memory& memory) {
    if (stage.bypass) {
        return value;
    }
    if (!stage.alu_bypass) {
        const Wide raw =
            stage.alu_from_memory ? operand(stage.operands, 0, e, memory) : Wide{stage.alu_value};
        const Wide shifted = saturate(raw * (Wide{1} << stage.alu_shift), 32);
        value = alu(stage.algorithm, value, shifted);
    }
    const bool kept = !stage.mul_bypass && stage.prelu && value >= 0;
    if (!stage.mul_bypass && !kept) {
        value *= stage.mul_from_memory
                     ? operand(stage.operands, mul_component(stage.operands), e, memory)
                     : Wide{stage.mul_value};
    }
    // The shift follows a bypassed multiplier too; a positive value under PReLU skips it, and the
    // 33 bits of the ALU's sum are then truncated. source: nv_small RTL, SDP_HLS_X_int_trt
    value = kept ? sign_extend(value, 32) : shift_right(value, stage.mul_shift, {49, 32});
    return stage.relu_bypass ? value : std::max(value, Wide{0});
}

Wide converted(const OperandConverter& converter, Wide value) {
    if (converter.bypass) {
        return value;
    }
    return shift_right((value - converter.offset) * converter.scale, converter.truncate, {49, 32});
}

Wide through_y_core(const StageY& stage, Wide value, Element e, const Memory& memory) {
    if (!stage.mul_bypass && !(stage.prelu && value >= 0)) {
        const Wide factor =
            stage.mul_from_memory
                ? converted(stage.mul_converter,
                            operand(stage.operands, mul_component(stage.operands), e, memory))
                : Wide{stage.mul_value};
        value = shift_right(value * factor, stage.truncate, {64, 32});
    }
    if (!stage.alu_bypass) {
        const Wide other = stage.alu_from_memory ? converted(stage.alu_converter,
                                                             operand(stage.operands, 0, e, memory))
                                                 : Wide{stage.alu_value};
        value = saturate(alu(stage.algorithm, value, other), 32);
    }
    return value;
}

template <class Function>
Cube map(const Cube& input, Function function) {
    Cube result(input.channels, input.height, input.width);
    for_each_element(input, [&](std::uint32_t c, std::uint32_t y, std::uint32_t x) {
        const Wide value = function(Wide{input.at(c, y, x)}, Element{c, y, x});
        result.at(c, y, x) = static_cast<std::int64_t>(value);
    });
    return result;
}

}  // namespace

std::uint64_t Operands::address(std::uint32_t component, std::uint32_t c, std::uint32_t y,
                                std::uint32_t x) const {
    const std::uint64_t element = std::uint64_t{components} * bytes;
    const std::uint64_t inner = std::uint64_t{component} * bytes;
    if (!per_element) {
        return base + c * element + inner;
    }
    return base + c / atom * surface_stride + y * line_stride + std::uint64_t{x} * atom * element +
           c % atom * element + inner;
}

Cube apply_x_stages(const SinglePointJob& job, const Cube& input, const Memory& memory) {
    return map(input, [&](Wide value, Element e) {
        return through_x(job.bn, through_x(job.bs, value, e, memory), e, memory);
    });
}

Cube apply_y_core(const StageY& stage, const Cube& input, const Memory& memory) {
    if (stage.bypass) {
        return input;
    }
    return map(input,
               [&](Wide value, Element e) { return through_y_core(stage, value, e, memory); });
}

Cube post_process(const SinglePointJob& job, const Cube& input, const Memory& memory) {
    const Cube core = apply_y_core(job.ew, apply_x_stages(job, input, memory), memory);
    const bool table = !job.ew.bypass && !job.ew.lut_bypass;
    return map(core, [&](Wide value, Element /*e*/) {
        const Wide looked_up =
            table ? Wide{look_up_sdp(job.ew.lut, static_cast<std::int64_t>(value))} : value;
        const Wide product = (looked_up - job.converter.offset) * job.converter.scale;
        return saturate(shift_right(product, job.converter.shift, {49, 17}), 8);
    });
}

}  // namespace npuscope::oracle
