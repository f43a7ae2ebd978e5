// SPDX-License-Identifier: Apache-2.0
// Plain SDP, int8: two X stages (BS, BN), the Y stage (EW with its table), the output converter.
//     X: ALU (operand << shift) -> x 16 bits -> >> shift -> ReLU
//     Y: x 32 bits -> >> -> ALU -> LUT
// Not modelled: the EQL mode, winograd, batches.
// source: NVDLA precision page; nv_small RTL, SDP_HLS_X_int_*, SDP_HLS_Y_int_*, SDP_HLS_C_int
#pragma once

#include <cstdint>

#include "tests/support/oracle_lut.h"
#include "tests/support/oracle_memory.h"

namespace npuscope::oracle {

/// An operand surface: per channel, or per element with the strides of a feature surface. Of two
/// components the first is the ALU's, the second the multiplier's.
struct Operands {
    std::uint64_t base = 0;
    std::uint64_t line_stride = 0;
    std::uint64_t surface_stride = 0;
    std::uint32_t atom = 8;   ///< elements of one atom
    std::uint32_t bytes = 1;  ///< of one component, 1 or 2
    std::uint32_t components = 1;
    bool per_element = false;

    std::uint64_t address(std::uint32_t component, std::uint32_t c, std::uint32_t y,
                          std::uint32_t x) const;
};

enum class AluAlgorithm : std::uint8_t { Max = 0, Min = 1, Sum = 2 };

struct StageX {
    bool bypass = true;
    bool alu_bypass = true;
    bool mul_bypass = true;
    bool relu_bypass = true;
    bool prelu = false;
    AluAlgorithm algorithm = AluAlgorithm::Sum;
    bool alu_from_memory = false;
    bool mul_from_memory = false;
    std::uint32_t alu_shift = 0;
    std::uint32_t mul_shift = 0;
    std::int32_t alu_value = 0;
    std::int32_t mul_value = 0;
    Operands operands;
};

struct OperandConverter {
    bool bypass = true;
    std::int64_t offset = 0;
    std::int32_t scale = 1;
    std::uint32_t truncate = 0;
};

struct StageY {
    bool bypass = true;
    bool alu_bypass = true;
    bool mul_bypass = true;
    bool lut_bypass = true;
    bool prelu = false;
    AluAlgorithm algorithm = AluAlgorithm::Sum;
    bool alu_from_memory = false;
    bool mul_from_memory = false;
    std::int64_t alu_value = 0;
    std::int64_t mul_value = 0;
    std::uint32_t truncate = 0;
    OperandConverter alu_converter;
    OperandConverter mul_converter;
    Operands operands;
    Lut lut;
};

struct OutputConverter {
    std::int64_t offset = 0;
    std::int32_t scale = 1;
    std::uint32_t shift = 0;
};

struct SinglePointJob {
    StageX bs;
    StageX bn;
    StageY ew;
    OutputConverter converter;
};

/// Through BS and BN only; what EW sees.
Cube apply_x_stages(const SinglePointJob& job, const Cube& input, const Memory& memory);
/// Through EW up to its table.
Cube apply_y_core(const StageY& stage, const Cube& input, const Memory& memory);
/// All stages and the converter: int8 values of every lane.
Cube post_process(const SinglePointJob& job, const Cube& input, const Memory& memory);

}  // namespace npuscope::oracle
