// SPDX-License-Identifier: Apache-2.0
// Units as C functions, against plain loops: random programs of nv_full whose bytes are known,
// their registers handed over as a bench would.
#include <gtest/gtest.h>

#include <map>

#include "include/npuscope/units.h"
#include "models/cdp/cdp_registers.h"
#include "models/npu/register_blocks.h"
#include "models/pdp/pdp_registers.h"
#include "models/sdp/sdp_registers.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/config/preset.h"
#include "tests/support/oracle_memory.h"
#include "tests/support/random_full.h"

namespace npuscope {
namespace {

/// What a program has written, and what it expects.
class Written {
 public:
    explicit Written(const Program& program) {
        for (const RegisterBlock& block : nvdla_register_blocks(AddressMap::NvFull)) {
            blocks_.emplace(block.base, RegisterValues(block));
        }
        for (const Statement& statement : program.statements) {
            std::visit([this](const auto& action) { note(action); }, statement.action);
        }
    }

    const RegisterValues& of(std::string_view name) const {
        for (const auto& [base, values] : blocks_) {
            if (values.block().name == name) {
                return values;
            }
        }
        throw std::invalid_argument("no such block");
    }
    std::vector<std::uint8_t> bytes(Address address, Bytes size) const {
        return memory_.bytes(address.value, size.value);
    }
    LookupTables tables;
    CheckImage expected;

 private:
    void note(const WriteRegister& write) {
        auto block = std::prev(blocks_.upper_bound(write.address));
        block->second.set(write.address - block->first, write.value);
        if (write.name.find("LUT_ACCESS_CFG") != std::string::npos) {
            to_lo_ = (write.value >> 16 & 1) != 0;
            entry_ = write.value & 0x3ff;
        } else if (write.name.find("LUT_ACCESS_DATA") != std::string::npos) {
            (to_lo_ ? tables.lo.at(entry_) : tables.le.at(entry_)) =
                static_cast<std::int16_t>(write.value);
            ++entry_;
        }
    }
    void note(const LoadMemory& load) {
        for (const auto& run : load.image.runs) {
            for (std::uint64_t i = 0; i < run.size; ++i) {
                memory_.write((load.address + Bytes(run.offset + i)).value,
                              load.image.bytes[run.position + i]);
            }
        }
    }
    void note(const CheckImage& check) { expected = check; }
    template <class Other>
    void note(const Other& /*statement*/) {}

    std::map<std::uint32_t, RegisterValues> blocks_;
    oracle::Memory memory_;
    bool to_lo_ = false;
    std::uint32_t entry_ = 0;
};

NpuConfig nv_full() {
    return read_preset<NpuConfig>(find_preset(configs_folder(), "npu", "nv_full"));
}

/// Elements of any width in C order, as the functions take them.
struct Plain {
    std::vector<std::uint8_t> bytes;
    npuscope_tensor tensor{};

    Plain() = default;
    Plain(const FeatureCube& cube, const Shape& shape, const std::vector<std::uint8_t>& memory,
          npuscope_type type) {
        const std::size_t width = cube.element.value;
        for (std::uint32_t c = 0; c < shape.channels; ++c) {
            for (std::uint32_t y = 0; y < shape.height; ++y) {
                for (std::uint32_t x = 0; x < shape.width; ++x) {
                    const std::uint64_t at = (cube.address_of(c, y, x) - cube.base).value;
                    bytes.insert(bytes.end(), memory.begin() + static_cast<std::ptrdiff_t>(at),
                                 memory.begin() + static_cast<std::ptrdiff_t>(at + width));
                }
            }
        }
        tensor = {bytes.data(), bytes.size(), type, shape.channels, shape.height, shape.width};
    }
    Plain(const Plain&) = delete;
    Plain& operator=(const Plain&) = delete;
};

/// What the program expects at a destination.
std::vector<std::uint8_t> expected_of(const Written& written, const FeatureCube& cube,
                                      const Shape& shape) {
    std::vector<std::uint8_t> memory(written.expected.image.end());
    for (const auto& run : written.expected.image.runs) {
        for (std::uint64_t i = 0; i < run.size; ++i) {
            memory.at(run.offset + i) = written.expected.image.bytes[run.position + i];
        }
    }
    return Plain(cube, shape, memory, NPUSCOPE_INT8).bytes;
}

npuscope_conversion c_conversion(const Conversion& conversion) {
    return {1, conversion.offset, conversion.scale, static_cast<std::int32_t>(conversion.shift)};
}

npuscope_lut_range c_range(const LookupRange& range, const std::int16_t* entries) {
    return {entries,
            range.start,
            range.end,
            range.index_select,
            range.underflow.scale,
            range.overflow.scale,
            range.underflow.shift,
            range.overflow.shift};
}

npuscope_lut c_lut(const LookupConfig& lut, const LookupTables& tables) {
    const auto lo = [](LookupTable table) { return table == LookupTable::Lo ? 1 : 0; };
    return {1,
            lut.le_function == LeFunction::Linear ? 1 : 0,
            lut.le_index_offset,
            c_range(lut.le, tables.le.data()),
            c_range(lut.lo, tables.lo.data()),
            lo(lut.underflow_priority),
            lo(lut.overflow_priority),
            lo(lut.hybrid_priority)};
}

class UnitsOfC : public testing::TestWithParam<full::Type> {
 protected:
    /// Compares `random`'s programs with what `compute` makes of them: it returns the destination
    /// and fills the output.
    template <class Compute>
    void expect_same(Program (*random)(full::Type, std::uint64_t), Compute compute) {
        const NpuConfig npu = nv_full();
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            const Written written(random(GetParam(), seed));
            Diagnostics findings;
            std::vector<std::uint8_t> output;
            const auto [cube, shape] = compute(written, npu, findings, output);
            ASSERT_EQ(output, expected_of(written, cube, shape)) << "seed " << seed;
        }
    }
    struct Destination {
        FeatureCube cube;
        Shape shape;
    };
};

TEST_P(UnitsOfC, poolAsThePdpDoes) {
    expect_same(full::random_pdp, [](const Written& written, const NpuConfig& npu,
                                     Diagnostics& findings, std::vector<std::uint8_t>& output) {
        const PdpJob job = decode_pdp(written.of("NVDLA_PDP"), written.of("NVDLA_PDP_RDMA"),
                                      npu.pdp, npu.datapath, findings)
                               .value();
        const Plain input(*job.source, job.input,
                          written.bytes(job.source->base, job.source->extent()),
                          static_cast<npuscope_type>(GetParam()));
        npuscope_pdp_parameters p{};
        p.size = sizeof p;
        p.method = static_cast<int>(job.pooling.method);
        p.kernel_height = job.pooling.kernel_height;
        p.kernel_width = job.pooling.kernel_width;
        p.stride_y = job.pooling.stride_y;
        p.stride_x = job.pooling.stride_x;
        p.pad_top = job.pooling.pad_top;
        p.pad_left = job.pooling.parts.front().pad_left;
        p.out_height = job.output.height;
        p.out_width = job.output.width;
        p.recip_height = job.pooling.recip_height;
        p.recip_width = job.pooling.recip_width;
        std::ranges::copy(job.pooling.pad_value, p.pad_value);
        p.nan_to_zero = job.pooling.nan_to_zero ? 1 : 0;
        output.resize(job.output.elements() * job.destination.element.value);
        EXPECT_EQ(npuscope_pdp(&p, &input.tensor, output.data(), output.size()), NPUSCOPE_OK)
            << npuscope_error();
        return Destination{job.destination, job.output};
    });
}

TEST_P(UnitsOfC, normaliseAsTheCdpDoes) {
    expect_same(full::random_cdp, [](const Written& written, const NpuConfig& npu,
                                     Diagnostics& findings, std::vector<std::uint8_t>& output) {
        const CdpJob job = decode_cdp(written.of("NVDLA_CDP"), written.of("NVDLA_CDP_RDMA"),
                                      npu.cdp, npu.datapath, findings)
                               .value();
        const CdpNormalization& normalization = job.normalization;
        const Plain input(job.source, job.shape,
                          written.bytes(job.source.base, job.source.extent()),
                          static_cast<npuscope_type>(GetParam()));
        npuscope_cdp_parameters p{};
        p.size = sizeof p;
        p.local_size = normalization.local_size;
        p.square_sum_bypass = normalization.square_sum_bypass ? 1 : 0;
        p.multiply_bypass = normalization.multiply_bypass ? 1 : 0;
        p.input_convertor = c_conversion(normalization.input);
        p.output_convertor = c_conversion(normalization.output);
        p.lut = c_lut(normalization.lut, written.tables);
        output.resize(input.bytes.size());
        npuscope_counters counters{};
        counters.size = sizeof counters;
        EXPECT_EQ(npuscope_cdp(&p, &input.tensor, output.data(), output.size(), &counters),
                  NPUSCOPE_OK)
            << npuscope_error();
        EXPECT_GT(counters.lut_le_hit + counters.lut_lo_hit + counters.lut_hybrid +
                      counters.lut_overflow + counters.lut_underflow,
                  0U);
        return Destination{job.destination, job.shape};
    });
}

/// One operand surface of a stage.
class Operand {
 public:
    Operand(const std::optional<SdpOperandFetch>& fetch, bool memory, bool multiplier,
            std::int32_t value, const Written& written)
        : operand{nullptr, 0, value} {
        if (!memory) {
            return;
        }
        const OperandSurface& surface = fetch.value().surface;
        const Tensor<std::int16_t> all =
            unpack_operand(surface, multiplier && surface.components == 2 ? 1 : 0,
                           written.bytes(surface.base, surface.extent()));
        values_ = all.values;
        shape_ = all.shape;
    }
    /// Without the pad lanes.
    void cut(const Shape& shape) {
        if (!values_.empty()) {
            shape_.channels = shape.channels;
            values_.resize(shape_.elements());
            operand.values = values_.data();
            operand.count = values_.size();
        }
    }
    npuscope_operand operand;

 private:
    std::vector<std::int16_t> values_;
    Shape shape_;
};

template <class Part>
bool of_memory(const Part& part) {
    return !part.bypass && part.source == OperandSource::Memory;
}

/// BS or BN with its operands.
struct StageX {
    StageX(const SdpXStage& stage, const std::optional<SdpOperandFetch>& fetch, const Shape& shape,
           const Written& written)
        : alu(fetch, !stage.bypass && of_memory(stage.alu), false, stage.alu.operand, written),
          mul(fetch, !stage.bypass && of_memory(stage.mul), true, stage.mul.operand, written) {
        alu.cut(shape);
        mul.cut(shape);
        x.enabled = stage.bypass ? 0 : 1;
        x.alu = stage.alu.bypass ? NPUSCOPE_ALU_NONE : static_cast<int>(stage.alu.algorithm) + 1;
        x.alu_operand = alu.operand;
        x.alu_shift = stage.alu.shift_left;
        x.mul = stage.mul.bypass  ? NPUSCOPE_MUL_NONE
                : stage.mul.prelu ? NPUSCOPE_MUL_PRELU
                                  : NPUSCOPE_MUL_ALL;
        x.mul_operand = mul.operand;
        x.shift = stage.shift_right;
        x.relu = stage.relu ? 1 : 0;
    }
    Operand alu;
    Operand mul;
    npuscope_sdp_x x{};
};

struct StageY {
    StageY(const SdpYStage& stage, const std::optional<SdpOperandFetch>& fetch, const Shape& shape,
           const Written& written)
        : alu(fetch, !stage.bypass && of_memory(stage.alu), false, stage.alu.operand, written),
          mul(fetch, !stage.bypass && of_memory(stage.mul), true, stage.mul.operand, written) {
        alu.cut(shape);
        mul.cut(shape);
        y.enabled = stage.bypass ? 0 : 1;
        y.mul = stage.mul.bypass  ? NPUSCOPE_MUL_NONE
                : stage.mul.prelu ? NPUSCOPE_MUL_PRELU
                                  : NPUSCOPE_MUL_ALL;
        y.mul_operand = mul.operand;
        y.mul_convertor = c_conversion(stage.mul.convertor.conversion);
        y.mul_convertor.enabled = stage.mul.convertor.bypass ? 0 : 1;
        y.shift = stage.mul.shift_right;
        y.alu = stage.alu.bypass ? NPUSCOPE_ALU_NONE : static_cast<int>(stage.alu.algorithm) + 1;
        y.alu_operand = alu.operand;
        y.alu_convertor = c_conversion(stage.alu.convertor.conversion);
        y.alu_convertor.enabled = stage.alu.convertor.bypass ? 0 : 1;
        y.lut = c_lut(stage.lut, written.tables);
        y.lut.enabled = stage.lut_bypass ? 0 : 1;
    }
    Operand alu;
    Operand mul;
    npuscope_sdp_y y{};
};

TEST_P(UnitsOfC, processAsTheSdpDoes) {
    expect_same(full::random_sdp, [](const Written& written, const NpuConfig& npu,
                                     Diagnostics& findings, std::vector<std::uint8_t>& output) {
        const SdpJob job = decode_sdp(written.of("NVDLA_SDP"), written.of("NVDLA_SDP_RDMA"),
                                      npu.sdp, npu.datapath, findings)
                               .value();
        const SdpStages& stages = job.stages;
        const auto type = job.source->element == Bytes(1)        ? NPUSCOPE_INT8
                          : stages.processing == Precision::Fp16 ? NPUSCOPE_FP16
                                                                 : NPUSCOPE_INT16;
        const Plain input(*job.source, job.shape,
                          written.bytes(job.source->base, job.source->extent()), type);
        const StageX bs(stages.bs, job.operands[bs_stage], job.shape, written);
        const StageX bn(stages.bn, job.operands[bn_stage], job.shape, written);
        const StageY ew(stages.ew, job.operands[ew_stage], job.shape, written);
        npuscope_sdp_parameters p{};
        p.size = sizeof p;
        p.processing = static_cast<int>(stages.processing);
        p.output = static_cast<int>(stages.output);
        p.bs = bs.x;
        p.bn = bn.x;
        p.ew = ew.y;
        p.convertor = c_conversion(stages.convertor);
        p.nan_to_zero = stages.nan_to_zero ? 1 : 0;
        output.resize(job.shape.elements() * bytes_of(stages.output));
        EXPECT_EQ(npuscope_sdp(&p, &input.tensor, output.data(), output.size(), nullptr),
                  NPUSCOPE_OK)
            << npuscope_error();
        return Destination{job.destination.value(), job.shape};
    });
}

INSTANTIATE_TEST_SUITE_P(Types, UnitsOfC,
                         testing::Values(full::Type::Int8, full::Type::Int16, full::Type::Fp16));

}  // namespace
}  // namespace npuscope
