// SPDX-License-Identifier: Apache-2.0
// SDP and CDP as C functions: their stages, convertors and lookup tables.
#include <algorithm>
#include <array>

#include "models/cdp/cdp_math.h"
#include "models/sdp/sdp_math.h"
#include "sim/embed/unit_arguments.h"

namespace npuscope {
namespace {

inline Precision precision_of(std::string_view name, std::int32_t type) {
    within(name, type, NPUSCOPE_INT8, NPUSCOPE_FP16);
    return static_cast<Precision>(type);
}

void add(const LookupCounters& lookups, npuscope_counters& counters) {
    counters.lut_underflow = lookups.underflow;
    counters.lut_overflow = lookups.overflow;
    counters.lut_hybrid = lookups.hybrid;
    counters.lut_le_hit = lookups.le_hit;
    counters.lut_lo_hit = lookups.lo_hit;
}

// --- SDP -----------------------------------------------------------------------------------------

Conversion conversion_of(const std::string& name, const npuscope_conversion& given,
                         unsigned offset_bits, std::int64_t most_shift) {
    if (given.enabled == 0) {
        return {};
    }
    return {.offset = fitting<std::int32_t>(name + ".offset", given.offset, offset_bits),
            .scale = fitting<std::int16_t>(name + ".scale", given.scale, 16),
            .shift = static_cast<unsigned>(within(name + ".shift", given.shift, 0, most_shift))};
}

/// A stage's second operand, stored in what the stage reads.
template <class Part>
void take_operand(const std::string& name, const npuscope_operand& given, const Shape& shape,
                  Part& part, Tensor<std::int16_t>& memory) {
    using Register = decltype(part.operand);
    if (given.values == nullptr) {
        part.operand = fitting<Register>(name + ".value", given.value, 8 * sizeof(Register));
        return;
    }
    if (given.count != shape.channels && given.count != shape.elements()) {
        bad(fmt::format("{}.count is {}, not {} (one per channel) or {} (one per element)", name,
                        given.count, shape.channels, shape.elements()));
    }
    part.source = OperandSource::Memory;
    memory =
        Tensor<std::int16_t>(given.count == shape.elements() ? shape : Shape{shape.channels, 1, 1});
    std::copy_n(given.values, given.count, memory.values.begin());
}

template <class Alu>
void take_alu(const std::string& name, std::int32_t given, std::int32_t last, Alu& alu) {
    within(name + ".alu", given, NPUSCOPE_ALU_NONE, last);
    alu.bypass = given == NPUSCOPE_ALU_NONE;
    if (!alu.bypass) {
        alu.algorithm = static_cast<AluAlgorithm>(given - NPUSCOPE_ALU_MAX);
    }
}

template <class Mul>
void take_mul(const std::string& name, std::int32_t given, Mul& mul) {
    within(name + ".mul", given, NPUSCOPE_MUL_NONE, NPUSCOPE_MUL_PRELU);
    mul.bypass = given == NPUSCOPE_MUL_NONE;
    mul.prelu = given == NPUSCOPE_MUL_PRELU;
}

SdpXStage x_stage(const std::string& name, const npuscope_sdp_x& given, const Shape& shape,
                  SdpStageOperands& operands) {
    SdpXStage stage;
    stage.bypass = given.enabled == 0;
    if (stage.bypass) {
        return stage;
    }
    take_alu(name, given.alu, NPUSCOPE_ALU_SUM, stage.alu);
    if (!stage.alu.bypass) {
        take_operand(name + ".alu_operand", given.alu_operand, shape, stage.alu, operands.alu);
    }
    stage.alu.shift_left = within(name + ".alu_shift", given.alu_shift, 0, 63);
    take_mul(name, given.mul, stage.mul);
    if (!stage.mul.bypass) {
        take_operand(name + ".mul_operand", given.mul_operand, shape, stage.mul, operands.mul);
    }
    stage.shift_right = within(name + ".shift", given.shift, 0, 63);
    stage.relu = given.relu != 0;
    return stage;
}

SdpOperandConvertor operand_convertor(const std::string& name, const npuscope_conversion& given) {
    return {.bypass = given.enabled == 0, .conversion = conversion_of(name, given, 32, 63)};
}

/// One table's range and slopes; its entries into `entries`.
template <std::size_t size>
LookupRange lookup_range(const std::string& name, const npuscope_lut_range& given, unsigned bits,
                         std::array<std::int16_t, size>& entries) {
    if (given.entries != nullptr) {
        std::copy_n(given.entries, size, entries.begin());
    }
    const auto slope = [&](const char* side, std::int32_t scale, std::int32_t shift) {
        const std::string stem = fmt::format("{}.{}", name, side);
        return LookupSlope{fitting<std::int16_t>(stem + "_scale", scale, 16),
                           fitting<int>(stem + "_shift", shift, 5)};
    };
    return {.start = fitting<std::int64_t>(name + ".start", given.start, bits),
            .end = fitting<std::int64_t>(name + ".end", given.end, bits),
            .index_select = fitting<int>(name + ".index_select", given.index_select, 8),
            .underflow = slope("underflow", given.underflow_scale, given.underflow_shift),
            .overflow = slope("overflow", given.overflow_scale, given.overflow_shift)};
}

/// `bits`: of the tables' bounds.
LookupConfig lookup_of(const std::string& name, const npuscope_lut& given, unsigned bits,
                       LookupTables& tables) {
    const auto answers = [](std::int32_t lo) {
        return lo != 0 ? LookupTable::Lo : LookupTable::Le;
    };
    return {.le_function = given.le_linear != 0 ? LeFunction::Linear : LeFunction::Exponent,
            .le_index_offset = fitting<int>(name + ".le_index_offset", given.le_index_offset, 8),
            .le = lookup_range(name + ".le", given.le, bits, tables.le),
            .lo = lookup_range(name + ".lo", given.lo, bits, tables.lo),
            .underflow_priority = answers(given.underflow_lo),
            .overflow_priority = answers(given.overflow_lo),
            .hybrid_priority = answers(given.hybrid_lo)};
}

SdpYStage y_stage(const npuscope_sdp_y& given, const Shape& shape, SdpStageOperands& operands,
                  LookupTables& tables) {
    SdpYStage stage;
    stage.bypass = given.enabled == 0;
    if (stage.bypass) {
        return stage;
    }
    take_mul("ew", given.mul, stage.mul);
    if (!stage.mul.bypass) {
        take_operand("ew.mul_operand", given.mul_operand, shape, stage.mul, operands.mul);
        stage.mul.convertor = operand_convertor("ew.mul_convertor", given.mul_convertor);
        stage.mul.shift_right = within("ew.shift", given.shift, 0, 1023);
    }
    take_alu("ew", given.alu, NPUSCOPE_ALU_EQUAL, stage.alu);
    if (!stage.alu.bypass) {
        take_operand("ew.alu_operand", given.alu_operand, shape, stage.alu, operands.alu);
        stage.alu.convertor = operand_convertor("ew.alu_convertor", given.alu_convertor);
    }
    stage.lut_bypass = given.lut.enabled == 0;
    if (!stage.lut_bypass) {
        stage.lut = lookup_of("ew.lut", given.lut, 33, tables);
    }
    return stage;
}

struct SdpWork {
    SdpStages stages;
    SdpOperands operands;
    LookupTables tables;
};

SdpWork sdp_work(const npuscope_sdp_parameters& p, const Shape& shape) {
    SdpWork work;
    SdpStages& stages = work.stages;
    stages.processing = precision_of("processing", p.processing);
    stages.output = precision_of("output", p.output);
    stages.bs = x_stage("bs", p.bs, shape, work.operands[bs_stage]);
    stages.bn = x_stage("bn", p.bn, shape, work.operands[bn_stage]);
    stages.ew = y_stage(p.ew, shape, work.operands[ew_stage], work.tables);
    stages.convertor = conversion_of("convertor", p.convertor, 32, 63);
    const bool floats = stages.processing == Precision::Fp16;
    stages.nan_to_zero = floats && p.nan_to_zero != 0;
    stages.count_saturated = true;
    stages.count_nan_outputs = stages.output == Precision::Fp16;
    stages.coarse_saturation = p.coarse_saturation != 0;
    return work;
}

/// Which combinations of types the stages support: those that the registers accept.
void require_types(const SdpStages& stages, std::int32_t input) {
    const bool sums = input == NPUSCOPE_SUMS;
    const Precision stored = sums ? stages.processing : static_cast<Precision>(input);
    const bool int16_as_int8 = stored == Precision::Int16 && stages.processing == Precision::Int8;
    const bool narrows = stages.processing != Precision::Int8 && stages.output == Precision::Int8;
    const PrecisionCell cell =
        precision_cell(ConvertingUnit::Sdp, feature_input(stored), stages.output);
    if ((stored != stages.processing && !int16_as_int8) || narrows || !cell.valid()) {
        throw CallRefusal(
            NPUSCOPE_WRONG_INPUT,
            fmt::format("the SDP does not process {} as {} to {}",
                        sums ? "sums" : precision_name(stored), precision_name(stages.processing),
                        precision_name(stages.output)));
    }
}

// --- CDP -----------------------------------------------------------------------------------------

CdpNormalization normalization_of(const npuscope_cdp_parameters& p, const npuscope_tensor& input,
                                  LookupTables& tables) {
    if (p.local_size % 2 == 0 || p.local_size < 3 || p.local_size > 9) {
        bad(fmt::format("local_size is {}, not 3, 5, 7 or 9", p.local_size));
    }
    return {.precision = static_cast<Precision>(input.type),
            .coarse_saturation = p.coarse_saturation != 0,
            .nan_to_zero = p.nan_to_zero != 0 && input.type == NPUSCOPE_FP16,
            .channels = input.channels,
            .local_size = p.local_size,
            .square_sum_bypass = p.square_sum_bypass != 0,
            .multiply_bypass = p.multiply_bypass != 0,
            .input = conversion_of("input_convertor", p.input_convertor, 16, 31),
            .output = conversion_of("output_convertor", p.output_convertor, 32, 63),
            .lut = lookup_of("lut", p.lut, 38, tables)};
}

}  // namespace
}  // namespace npuscope

using namespace npuscope;  // NOLINT(google-build-using-namespace): the interface has C's own

extern "C" {

npuscope_status npuscope_sdp(const npuscope_sdp_parameters* parameters,
                             const npuscope_tensor* input, void* output, size_t bytes,
                             npuscope_counters* counters) {
    return guarded([&] {
        const npuscope_sdp_parameters& p = sized(parameters, "parameters");
        const npuscope_tensor& in = checked(input, NPUSCOPE_SUMS);
        check(counters);
        const Shape shape{in.channels, in.height, in.width};
        const SdpWork work = sdp_work(p, shape);
        require_types(work.stages, in.type);
        const Output out{output, bytes};
        out.expect(shape.elements(), bytes_of(work.stages.output));
        const SdpResult result =
            in.type == NPUSCOPE_SUMS
                ? compute_sdp(work.stages, values_of<std::int32_t>(in), work.operands, work.tables)
                : compute_sdp(work.stages, elements_of(in), work.operands, work.tables);
        out.write(result.values);
        npuscope_counters counted = zero_counters();
        counted.saturated = result.counters.saturated;
        counted.nan_outputs = result.counters.nan_outputs;
        counted.unequal = result.counters.unequal ? 1 : 0;
        add(result.counters.lut, counted);
        tell(counted, counters);
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_cdp(const npuscope_cdp_parameters* parameters,
                             const npuscope_tensor* input, void* output, size_t bytes,
                             npuscope_counters* counters) {
    return guarded([&] {
        const npuscope_cdp_parameters& p = sized(parameters, "parameters");
        const npuscope_tensor& in = checked(input, NPUSCOPE_FP16);
        check(counters);
        LookupTables tables;
        const CdpNormalization normalization = normalization_of(p, in, tables);
        const Output out{output, bytes};
        out.expect(Shape{in.channels, in.height, in.width}.elements(),
                   bytes_of(normalization.precision));
        const CdpResult result = compute_cdp(normalization, elements_of(in), tables);
        out.write(result.values);
        npuscope_counters counted = zero_counters();
        counted.saturated = result.counters.saturated;
        counted.nan_outputs = result.counters.nan_outputs;
        add(result.counters.lut, counted);
        tell(counted, counters);
        return NPUSCOPE_OK;
    });
}

}  // extern "C"
