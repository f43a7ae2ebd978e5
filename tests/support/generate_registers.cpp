// SPDX-License-Identifier: Apache-2.0
#include "tests/support/generate_registers.h"

#include <array>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace npuscope {

namespace {

struct UnitRow {
    std::string_view unit;
    std::string_view registers;  ///< name:mask of writable bits, in hexadecimal
};

// Addresses and strides are kept at multiples of 32 where they are random.
// source: spec/manual/NVDLA_<unit>.rdl of nv_small
constexpr std::array unit_table{
    UnitRow{"CDMA", R"(
MISC_CFG:11113301 DATAIN_FORMAT:113f01 DATAIN_SIZE_0:1fff1fff DATAIN_SIZE_1:1fff
DATAIN_SIZE_EXT_0:1fff1fff PIXEL_OFFSET:7001f DAIN_RAM_TYPE:1 DAIN_ADDR_HIGH_0:ffffffff
DAIN_ADDR_LOW_0:ffffffe0 DAIN_ADDR_HIGH_1:ffffffff DAIN_ADDR_LOW_1:ffffffe0 LINE_STRIDE:ffffffe0
LINE_UV_STRIDE:ffffffe0 SURF_STRIDE:ffffffe0 DAIN_MAP:10001 BATCH_NUMBER:1f BATCH_STRIDE:ffffffe0
ENTRY_PER_SLICE:3fff FETCH_GRAIN:fff WEIGHT_FORMAT:1 WEIGHT_SIZE_0:3ffff WEIGHT_SIZE_1:1fff
WEIGHT_RAM_TYPE:1 WEIGHT_ADDR_HIGH:ffffffff WEIGHT_ADDR_LOW:ffffffe0 WEIGHT_BYTES:ffffffff
WGS_ADDR_HIGH:ffffffff WGS_ADDR_LOW:ffffffe0 WMB_ADDR_HIGH:ffffffff WMB_ADDR_LOW:ffffffe0
WMB_BYTES:fffffff MEAN_FORMAT:1 MEAN_GLOBAL_0:ffffffff MEAN_GLOBAL_1:ffffffff CVT_CFG:3f1
CVT_OFFSET:ffff CVT_SCALE:ffff CONV_STRIDE:70007 ZERO_PADDING:3f1f3f1f ZERO_PADDING_VALUE:ffff
BANK:1f001f NAN_FLUSH_TO_ZERO:1 NAN_INPUT_DATA_NUM:0 NAN_INPUT_WEIGHT_NUM:0 INF_INPUT_DATA_NUM:0
INF_INPUT_WEIGHT_NUM:0 PERF_ENABLE:1 PERF_DAT_READ_STALL:0 PERF_WT_READ_STALL:0
PERF_DAT_READ_LATENCY:0 PERF_WT_READ_LATENCY:0 CYA:ffffffff)"},
    UnitRow{"CSC", R"(
MISC_CFG:11113301 DATAIN_FORMAT:1 DATAIN_SIZE_EXT_0:1fff1fff DATAIN_SIZE_EXT_1:1fff BATCH_NUMBER:1f
POST_Y_EXTENSION:3 ENTRY_PER_SLICE:3fff WEIGHT_FORMAT:1 WEIGHT_SIZE_EXT_0:1f001f
WEIGHT_SIZE_EXT_1:1fff1fff WEIGHT_BYTES:ffffffff WMB_BYTES:fffffff DATAOUT_SIZE_0:1fff1fff
DATAOUT_SIZE_1:1fff ATOMICS:1fffff RELEASE:fff CONV_STRIDE_EXT:70007 DILATION_EXT:1f001f
ZERO_PADDING:1f001f ZERO_PADDING_VALUE:ffff BANK:1f001f PRA_CFG:3 CYA:ffffffff)"},
    UnitRow{"CMAC_A", R"(
MISC_CFG:3001)"},
    UnitRow{"CMAC_B", R"(
MISC_CFG:3001)"},
    UnitRow{"CACC", R"(
MISC_CFG:3001 DATAOUT_SIZE_0:1fff1fff DATAOUT_SIZE_1:1fff DATAOUT_ADDR:ffffffff BATCH_NUMBER:1f
LINE_STRIDE:ffffff SURF_STRIDE:ffffff DATAOUT_MAP:10001 CLIP_CFG:1f OUT_SATURATION:0 CYA:ffffffff)"},
    UnitRow{"SDP", R"(
DATA_CUBE_WIDTH:1fff DATA_CUBE_HEIGHT:1fff DATA_CUBE_CHANNEL:1fff DST_BASE_ADDR_LOW:ffffffe0
DST_BASE_ADDR_HIGH:ffffffff DST_LINE_STRIDE:ffffffe0 DST_SURFACE_STRIDE:ffffffe0 DP_BS_CFG:7f
DP_BS_ALU_CFG:3f01 DP_BS_ALU_SRC_VALUE:ffff DP_BS_MUL_CFG:ff01 DP_BS_MUL_SRC_VALUE:ffff
DP_BN_CFG:7f DP_BN_ALU_CFG:3f01 DP_BN_ALU_SRC_VALUE:ffff DP_BN_MUL_CFG:ff01
DP_BN_MUL_SRC_VALUE:ffff DP_EW_CFG:7f DP_EW_ALU_CFG:3 DP_EW_ALU_SRC_VALUE:ffffffff
DP_EW_ALU_CVT_OFFSET_VALUE:ffffffff DP_EW_ALU_CVT_SCALE_VALUE:ffff DP_EW_ALU_CVT_TRUNCATE_VALUE:3f
DP_EW_MUL_CFG:3 DP_EW_MUL_SRC_VALUE:ffffffff DP_EW_MUL_CVT_OFFSET_VALUE:ffffffff
DP_EW_MUL_CVT_SCALE_VALUE:ffff DP_EW_MUL_CVT_TRUNCATE_VALUE:3f DP_EW_TRUNCATE_VALUE:3ff
FEATURE_MODE_CFG:1f0f DST_DMA_CFG:1 DST_BATCH_STRIDE:ffffffe0 DATA_FORMAT:f CVT_OFFSET:ffffffff
CVT_SCALE:ffff CVT_SHIFT:3f STATUS:0 STATUS_NAN_INPUT_NUM:0 STATUS_INF_INPUT_NUM:0
STATUS_NAN_OUTPUT_NUM:0 PERF_ENABLE:f PERF_WDMA_WRITE_STALL:0 PERF_LUT_UFLOW:0 PERF_LUT_OFLOW:0
PERF_OUT_SATURATION:0 PERF_LUT_HYBRID:0 PERF_LUT_LE_HIT:0 PERF_LUT_LO_HIT:0)"},
    UnitRow{"SDP_RDMA", R"(
DATA_CUBE_WIDTH:1fff DATA_CUBE_HEIGHT:1fff DATA_CUBE_CHANNEL:1fff SRC_BASE_ADDR_LOW:ffffffe0
SRC_BASE_ADDR_HIGH:ffffffff SRC_LINE_STRIDE:ffffffe0 SRC_SURFACE_STRIDE:ffffffe0 BRDMA_CFG:3f
BS_BASE_ADDR_LOW:ffffffe0 BS_BASE_ADDR_HIGH:ffffffff BS_LINE_STRIDE:ffffffe0
BS_SURFACE_STRIDE:ffffffe0 BS_BATCH_STRIDE:ffffffe0 NRDMA_CFG:3f BN_BASE_ADDR_LOW:ffffffe0
BN_BASE_ADDR_HIGH:ffffffff BN_LINE_STRIDE:ffffffe0 BN_SURFACE_STRIDE:ffffffe0
BN_BATCH_STRIDE:ffffffe0 ERDMA_CFG:3f EW_BASE_ADDR_LOW:ffffffe0 EW_BASE_ADDR_HIGH:ffffffff
EW_LINE_STRIDE:ffffffe0 EW_SURFACE_STRIDE:ffffffe0 EW_BATCH_STRIDE:ffffffe0 FEATURE_MODE_CFG:1fff
SRC_DMA_CFG:1 STATUS_NAN_INPUT_NUM:0 STATUS_INF_INPUT_NUM:0 PERF_ENABLE:3 PERF_MRDMA_READ_STALL:0
PERF_BRDMA_READ_STALL:0 PERF_NRDMA_READ_STALL:0 PERF_ERDMA_READ_STALL:0)"},
    UnitRow{"PDP", R"(
DATA_CUBE_IN_WIDTH:1fff DATA_CUBE_IN_HEIGHT:1fff DATA_CUBE_IN_CHANNEL:1fff DATA_CUBE_OUT_WIDTH:1fff
DATA_CUBE_OUT_HEIGHT:1fff DATA_CUBE_OUT_CHANNEL:1fff OPERATION_MODE_CFG:ff13 NAN_FLUSH_TO_ZERO:1
PARTIAL_WIDTH_IN:3fffffff PARTIAL_WIDTH_OUT:3fffffff POOLING_KERNEL_CFG:ff0f0f
RECIP_KERNEL_WIDTH:1ffff RECIP_KERNEL_HEIGHT:1ffff POOLING_PADDING_CFG:7777
POOLING_PADDING_VALUE_1_CFG:7ffff POOLING_PADDING_VALUE_2_CFG:7ffff
POOLING_PADDING_VALUE_3_CFG:7ffff POOLING_PADDING_VALUE_4_CFG:7ffff
POOLING_PADDING_VALUE_5_CFG:7ffff POOLING_PADDING_VALUE_6_CFG:7ffff
POOLING_PADDING_VALUE_7_CFG:7ffff SRC_BASE_ADDR_LOW:ffffffe0 SRC_BASE_ADDR_HIGH:ffffffff
SRC_LINE_STRIDE:ffffffe0 SRC_SURFACE_STRIDE:ffffffe0 DST_BASE_ADDR_LOW:ffffffe0
DST_BASE_ADDR_HIGH:ffffffff DST_LINE_STRIDE:ffffffe0 DST_SURFACE_STRIDE:ffffffe0 DST_RAM_CFG:1
DATA_FORMAT:3 INF_INPUT_NUM:0 NAN_INPUT_NUM:0 NAN_OUTPUT_NUM:0 PERF_ENABLE:1 PERF_WRITE_STALL:0
CYA:ffffffff)"},
    UnitRow{"PDP_RDMA", R"(
DATA_CUBE_IN_WIDTH:1fff DATA_CUBE_IN_HEIGHT:1fff DATA_CUBE_IN_CHANNEL:1fff FLYING_MODE:1
SRC_BASE_ADDR_LOW:ffffffe0 SRC_BASE_ADDR_HIGH:ffffffff SRC_LINE_STRIDE:ffffffe0
SRC_SURFACE_STRIDE:ffffffe0 SRC_RAM_CFG:1 DATA_FORMAT:3 OPERATION_MODE_CFG:ff POOLING_KERNEL_CFG:ff
POOLING_PADDING_CFG:f PARTIAL_WIDTH_IN:3fffffff PERF_ENABLE:1 PERF_READ_STALL:0 CYA:ffffffff)"},
    UnitRow{"CDP", R"(
FUNC_BYPASS:3 DST_BASE_ADDR_LOW:ffffffe0 DST_BASE_ADDR_HIGH:ffffffff DST_LINE_STRIDE:ffffffe0
DST_SURFACE_STRIDE:ffffffe0 DST_DMA_CFG:1 DST_COMPRESSION_EN:0 DATA_FORMAT:3 NAN_FLUSH_TO_ZERO:1
LRN_CFG:3 DATIN_OFFSET:ffff DATIN_SCALE:ffff DATIN_SHIFTER:1f DATOUT_OFFSET:ffffffff
DATOUT_SCALE:ffff DATOUT_SHIFTER:3f NAN_INPUT_NUM:0 INF_INPUT_NUM:0 NAN_OUTPUT_NUM:0
OUT_SATURATION:0 PERF_ENABLE:3 PERF_WRITE_STALL:0 PERF_LUT_UFLOW:0 PERF_LUT_OFLOW:0
PERF_LUT_HYBRID:0 PERF_LUT_LE_HIT:0 PERF_LUT_LO_HIT:0 CYA:ffffffff)"},
    UnitRow{"CDP_RDMA", R"(
DATA_CUBE_WIDTH:1fff DATA_CUBE_HEIGHT:1fff DATA_CUBE_CHANNEL:1fff SRC_BASE_ADDR_LOW:ffffffe0
SRC_BASE_ADDR_HIGH:ffffffff SRC_LINE_STRIDE:ffffffe0 SRC_SURFACE_STRIDE:ffffffe0 SRC_DMA_CFG:1
SRC_COMPRESSION_EN:0 OPERATION_MODE:0 DATA_FORMAT:3 PERF_ENABLE:1 PERF_READ_STALL:0 CYA:ffffffff)"},
};

std::string_view registers_of(std::string_view unit) {
    for (const UnitRow& row : unit_table) {
        if (row.unit == unit) {
            return row.registers;
        }
    }
    throw std::invalid_argument("no unit '" + std::string(unit) + "'");
}

}  // namespace

UnitRegisters::UnitRegisters(std::string_view unit, std::uint32_t group)
    : unit_(unit), group_(group) {}

std::string UnitRegisters::full_name(std::string_view name) const {
    return "NVDLA_" + unit_ + "." + std::string(name) + "_0";
}

void UnitRegisters::set_signed(const std::string& name, std::int64_t value, std::uint32_t bits) {
    set(name, field(value, bits));
}

void UnitRegisters::set_address(const std::string& name, std::uint64_t address) {
    set(name + "_LOW", static_cast<std::uint32_t>(address));
    set(name + "_HIGH", static_cast<std::uint32_t>(address >> 32U));
}

void UnitRegisters::emit(ProgramText& text, Random& random) const {
    std::istringstream rows{std::string(registers_of(unit_))};
    std::vector<RegisterValue> writes;
    std::size_t used = 0;
    for (std::string row; rows >> row;) {
        const std::size_t colon = row.find(':');
        const std::string name = "D_" + row.substr(0, colon);
        const auto mask =
            static_cast<std::uint32_t>(std::stoul(row.substr(colon + 1), nullptr, 16));
        const auto known = values_.find(name);
        used += known != values_.end() ? 1U : 0U;
        const std::uint32_t value = known != values_.end() ? known->second : random.word() & mask;
        writes.push_back({full_name(name), value});
    }
    if (used != values_.size()) {
        throw std::logic_error("a register was set that " + unit_ + " does not have");
    }
    point(text);
    while (!writes.empty()) {
        const std::size_t i = random.bits() % writes.size();
        text.write(writes[i]);
        writes.erase(writes.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

void UnitRegisters::point(ProgramText& text) const { text.write(full_name("S_POINTER"), group_); }

void UnitRegisters::enable(ProgramText& text) const { text.write(full_name("D_OP_ENABLE"), 1); }

std::uint32_t field(std::int64_t value, std::uint32_t bits, std::uint32_t shift) {
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(value) & mask) << shift);
}

std::uint32_t ram_type(std::uint64_t address) { return address >= primary_memory_start ? 1 : 0; }

}  // namespace npuscope
