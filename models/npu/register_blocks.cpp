// SPDX-License-Identifier: Apache-2.0
#include "models/npu/register_blocks.h"

#include <algorithm>
#include <array>
#include <vector>

#include "models/base/register_rows.h"
#include "models/npu/pipelines.h"

namespace npuscope {
namespace {

// Registers of NVDLA_CFGROM: the read-only description of the configuration, as nv_small returns
// it. source: NVDLA register specification, nv_small, NVDLA_CFGROM.rdl
constexpr RegisterText cfgrom_text[] = {
    {"CFGROM_HW_VERSION", 0x00, {ro("HW_VERSION", 0, 32, 0x10001)}},
    {"CFGROM_GLB_DESC", 0x04, {ro("GLB_DESC", 0, 32, 1)}},
    {"CFGROM_CIF_DESC", 0x08, {ro("CIF_DESC", 0, 32, 0x180002)}},
    {"CFGROM_CIF_CAP_INCOMPAT", 0x0c, {ro("CIF_CAP_INCOMPAT", 0, 32)}},
    {"CFGROM_CIF_CAP_COMPAT", 0x10, {ro("CIF_CAP_COMPAT", 0, 32)}},
    {"CFGROM_CIF_BASE_WIDTH", 0x14, {ro("CIF_BASE_WIDTH", 0, 8, 8)}},
    {"CFGROM_CIF_BASE_LATENCY", 0x18, {ro("CIF_BASE_LATENCY", 0, 32, 0x32)}},
    {"CFGROM_CIF_BASE_BURST_LENGTH_MAX", 0x1c, {ro("BASE_BURST_LENGTH_MAX", 5, 27, 4)}},
    {"CFGROM_CIF_BASE_MEM_ADDR_WIDTH", 0x20, {ro("CIF_BASE_MEM_ADDR_WIDTH", 5, 27, 0x20)}},
    {"CFGROM_CDMA_DESC", 0x24, {ro("CDMA_DESC", 0, 32, 0x340003)}},
    {"CFGROM_CDMA_CAP_INCOMPAT", 0x28, {ro("CDMA_CAP_INCOMPAT", 0, 32)}},
    {"CFGROM_CDMA_CAP_COMPAT", 0x2c, {ro("CDMA_CAP_COMPAT", 0, 32, 0x10)}},
    {"CFGROM_CDMA_BASE_FEATURE_TYPES", 0x30, {ro("CDMA_BASE_FEATURE_TYPES", 0, 12, 0x10)}},
    {"CFGROM_CDMA_BASE_WEIGHT_TYPES", 0x34, {ro("CDMA_BASE_WEIGHT_TYPES", 0, 12, 0x10)}},
    {"CFGROM_CDMA_BASE_ATOMIC_C", 0x38, {ro("CDMA_BASE_ATOMIC_C", 0, 32, 8)}},
    {"CFGROM_CDMA_BASE_ATOMIC_K", 0x3c, {ro("CDMA_BASE_ATOMIC_K", 0, 32, 8)}},
    {"CFGROM_CDMA_BASE_ATOMIC_M", 0x40, {ro("CDMA_BASE_ATOMIC_M", 0, 32, 8)}},
    {"CFGROM_CDMA_BASE_CBUF_BANK_NUM", 0x44, {ro("CDMA_BASE_CBUF_BANK_NUM", 0, 32, 0x20)}},
    {"CFGROM_CDMA_BASE_CBUF_BANK_WIDTH", 0x48, {ro("CDMA_BASE_CBUF_BANK_WIDTH", 0, 32, 8)}},
    {"CFGROM_CDMA_BASE_CBUF_BANK_DEPTH", 0x4c, {ro("CDMA_BASE_CBUF_BANK_DEPTH", 0, 32, 0x200)}},
    {"CFGROM_CDMA_MULTI_BATCH_MAX", 0x50, {ro("CDMA_MULTI_BATCH_MAX", 0, 32)}},
    {"CFGROM_CDMA_IMAGE_IN_FORMATS_PACKED",
     0x54,
     {ro("CDMA_IMAGE_IN_FORMATS_PACKED", 0, 32, 0xcfff001)}},
    {"CFGROM_CDMA_IMAGE_IN_FORMATS_SEMI", 0x58, {ro("CDMA_IMAGE_IN_FORMATS_SEMI", 0, 32, 3)}},
    {"CFGROM_CBUF_DESC", 0x5c, {ro("CBUF_DESC", 0, 32, 0x180004)}},
    {"CFGROM_CBUF_CAP_INCOMPAT", 0x60, {ro("CBUF_CAP_INCOMPAT", 0, 32)}},
    {"CFGROM_CBUF_CAP_COMPAT", 0x64, {ro("CBUF_CAP_COMPAT", 0, 32)}},
    {"CFGROM_CBUF_BASE_CBUF_BANK_NUM", 0x68, {ro("CBUF_BASE_CBUF_BANK_NUM", 0, 32, 0x20)}},
    {"CFGROM_CBUF_BASE_CBUF_BANK_WIDTH", 0x6c, {ro("CBUF_BASE_CBUF_BANK_WIDTH", 0, 32, 8)}},
    {"CFGROM_CBUF_BASE_CBUF_BANK_DEPTH", 0x70, {ro("CBUF_BASE_CBUF_BANK_DEPTH", 0, 32, 0x200)}},
    {"CFGROM_CBUF_BASE_CDMA_ID", 0x74, {ro("CBUF_BASE_CDMA_ID", 0, 32, 3)}},
    {"CFGROM_CSC_DESC", 0x78, {ro("CSC_DESC", 0, 32, 0x300005)}},
    {"CFGROM_CSC_CAP_INCOMPAT", 0x7c, {ro("CSC_CAP_INCOMPAT", 0, 32)}},
    {"CFGROM_CSC_CAP_COMPAT", 0x80, {ro("CSC_CAP_COMPAT", 0, 32, 0x10)}},
    {"CFGROM_CSC_BASE_FEATURE_TYPES", 0x84, {ro("CSC_BASE_FEATURE_TYPES", 0, 12, 0x10)}},
    {"CFGROM_CSC_BASE_WEIGHT_TYPES", 0x88, {ro("CSC_BASE_WEIGHT_TYPES", 0, 12, 0x10)}},
    {"CFGROM_CSC_BASE_ATOMIC_C", 0x8c, {ro("CSC_BASE_ATOMIC_C", 0, 32, 8)}},
    {"CFGROM_CSC_BASE_ATOMIC_K", 0x90, {ro("CSC_BASE_ATOMIC_K", 0, 32, 8)}},
    {"CFGROM_CSC_BASE_ATOMIC_M", 0x94, {ro("CSC_BASE_ATOMIC_M", 0, 32, 8)}},
    {"CFGROM_CSC_BASE_CBUF_BANK_NUM", 0x98, {ro("CSC_BASE_CBUF_BANK_NUM", 0, 32, 0x20)}},
    {"CFGROM_CSC_BASE_CBUF_BANK_WIDTH", 0x9c, {ro("CSC_BASE_CBUF_BANK_WIDTH", 0, 32, 8)}},
    {"CFGROM_CSC_BASE_CBUF_BANK_DEPTH", 0xa0, {ro("CSC_BASE_CBUF_BANK_DEPTH", 0, 32, 0x200)}},
    {"CFGROM_CSC_BASE_CDMA_ID", 0xa4, {ro("CSC_BASE_CDMA_ID", 0, 32, 3)}},
    {"CFGROM_CSC_MULTI_BATCH_MAX", 0xa8, {ro("CSC_MULTI_BATCH_MAX", 0, 32)}},
    {"CFGROM_CMAC_A_DESC", 0xac, {ro("CMAC_A_DESC", 0, 32, 0x1c0006)}},
    {"CFGROM_CMAC_A_CAP_INCOMPAT", 0xb0, {ro("CMAC_A_CAP_INCOMPAT", 0, 32)}},
    {"CFGROM_CMAC_A_CAP_COMPAT", 0xb4, {ro("CMAC_A_CAP_COMPAT", 0, 32, 0x10)}},
    {"CFGROM_CMAC_A_BASE_FEATURE_TYPES", 0xb8, {ro("CMAC_A_BASE_FEATURE_TYPES", 0, 12, 0x10)}},
    {"CFGROM_CMAC_A_BASE_WEIGHT_TYPES", 0xbc, {ro("CMAC_A_BASE_WEIGHT_TYPES", 0, 12, 0x10)}},
    {"CFGROM_CMAC_A_BASE_ATOMIC_C", 0xc0, {ro("CMAC_A_BASE_ATOMIC_C", 0, 32, 8)}},
    {"CFGROM_CMAC_A_BASE_ATOMIC_K", 0xc4, {ro("CMAC_A_BASE_ATOMIC_K", 0, 32, 8)}},
    {"CFGROM_CMAC_A_BASE_CDMA_ID", 0xc8, {ro("CMAC_A_BASE_CDMA_ID", 0, 32, 3)}},
    {"CFGROM_CMAC_B_DESC", 0xcc, {ro("CMAC_B_DESC", 0, 32, 0x1c0006)}},
    {"CFGROM_CMAC_B_CAP_INCOMPAT", 0xd0, {ro("CMAC_B_CAP_INCOMPAT", 0, 32)}},
    {"CFGROM_CMAC_B_CAP_COMPAT", 0xd4, {ro("CMAC_B_CAP_COMPAT", 0, 32, 0x10)}},
    {"CFGROM_CMAC_B_BASE_FEATURE_TYPES", 0xd8, {ro("CMAC_B_BASE_FEATURE_TYPES", 0, 12, 0x10)}},
    {"CFGROM_CMAC_B_BASE_WEIGHT_TYPES", 0xdc, {ro("CMAC_B_BASE_WEIGHT_TYPES", 0, 12, 0x10)}},
    {"CFGROM_CMAC_B_BASE_ATOMIC_C", 0xe0, {ro("CMAC_B_BASE_ATOMIC_C", 0, 32, 8)}},
    {"CFGROM_CMAC_B_BASE_ATOMIC_K", 0xe4, {ro("CMAC_B_BASE_ATOMIC_K", 0, 32, 8)}},
    {"CFGROM_CMAC_B_BASE_CDMA_ID", 0xe8, {ro("CMAC_B_BASE_CDMA_ID", 0, 32, 3)}},
    {"CFGROM_CACC_DESC", 0xec, {ro("CACC_DESC", 0, 32, 0x200007)}},
    {"CFGROM_CACC_CAP_INCOMPAT", 0xf0, {ro("CACC_CAP_INCOMPAT", 0, 32)}},
    {"CFGROM_CACC_CAP_COMPAT", 0xf4, {ro("CACC_CAP_COMPAT", 0, 32)}},
    {"CFGROM_CACC_BASE_FEATURE_TYPES", 0xf8, {ro("CACC_BASE_FEATURE_TYPES", 0, 12, 0x10)}},
    {"CFGROM_CACC_BASE_WEIGHT_TYPES", 0xfc, {ro("CACC_BASE_WEIGHT_TYPES", 0, 12, 0x10)}},
    {"CFGROM_CACC_BASE_ATOMIC_C", 0x100, {ro("CACC_BASE_ATOMIC_C", 0, 32, 8)}},
    {"CFGROM_CACC_BASE_ATOMIC_K", 0x104, {ro("CACC_BASE_ATOMIC_K", 0, 32, 8)}},
    {"CFGROM_CACC_BASE_CDMA_ID", 0x108, {ro("CACC_BASE_CDMA_ID", 0, 32, 3)}},
    {"CFGROM_CACC_MULTI_BATCH_MAX", 0x10c, {ro("CACC_MULTI_BATCH_MAX", 0, 32)}},
    {"CFGROM_SDP_RDMA_DESC", 0x110, {ro("SDP_RDMA_DESC", 0, 32, 0xe0008)}},
    {"CFGROM_SDP_RDMA_CAP_INCOMPAT", 0x114, {ro("SDP_RDMA_CAP_INCOMPAT", 0, 32)}},
    {"CFGROM_SDP_RDMA_CAP_COMPAT", 0x118, {ro("SDP_RDMA_CAP_COMPAT", 0, 32)}},
    {"CFGROM_SDP_RDMA_BASE_ATOMIC_M", 0x11c, {ro("SDP_RDMA_BASE_ATOMIC_M", 0, 32, 8)}},
    {"CFGROM_SDP_RDMA_BASE_SDP_ID", 0x120, {ro("SDP_RDMA_BASE_SDP_ID", 0, 32, 9)}},
    {"CFGROM_SDP_DESC", 0x124, {ro("SDP_DESC", 0, 32, 0x200009)}},
    {"CFGROM_SDP_CAP_INCOMPAT", 0x128, {ro("SDP_CAP_INCOMPAT", 0, 32)}},
    {"CFGROM_SDP_CAP_COMPAT", 0x12c, {ro("SDP_CAP_COMPAT", 0, 32, 0x18)}},
    {"CFGROM_SDP_BASE_FEATURE_TYPES", 0x130, {ro("SDP_BASE_FEATURE_TYPES", 0, 12, 0x10)}},
    {"CFGROM_SDP_BASE_WEIGHT_TYPES", 0x134, {ro("SDP_BASE_WEIGHT_TYPES", 0, 12, 0x10)}},
    {"CFGROM_SDP_BASE_CDMA_ID", 0x138, {ro("SDP_BASE_CDMA_ID", 0, 32, 3)}},
    {"CFGROM_SDP_MULTI_BATCH_MAX", 0x13c, {ro("SDP_MULTI_BATCH_MAX", 0, 32)}},
    {"CFGROM_SDP_BS_THROUGHPUT", 0x140, {ro("SDP_BS_THROUGHPUT", 0, 32, 1)}},
    {"CFGROM_SDP_BN_THROUGHPUT", 0x144, {ro("SDP_BN_THROUGHPUT", 0, 32, 1)}},
    {"CFGROM_SDP_EW_THROUGHPUT", 0x148, {ro("SDP_EW_THROUGHPUT", 0, 32)}},
    {"CFGROM_PDP_RDMA_DESC", 0x14c, {ro("PDP_RDMA_DESC", 0, 32, 0xe000a)}},
    {"CFGROM_PDP_RDMA_CAP_INCOMPAT", 0x150, {ro("PDP_RDMA_CAP_INCOMPAT", 0, 32)}},
    {"CFGROM_PDP_RDMA_CAP_COMPAT", 0x154, {ro("PDP_RDMA_CAP_COMPAT", 0, 32)}},
    {"CFGROM_PDP_RDMA_BASE_ATOMIC_M", 0x158, {ro("PDP_RDMA_BASE_ATOMIC_M", 0, 32, 8)}},
    {"CFGROM_PDP_RDMA_BASE_PDP_ID", 0x15c, {ro("PDP_RDMA_BASE_PDP_ID", 0, 32, 0xb)}},
    {"CFGROM_PDP_DESC", 0x160, {ro("PDP_DESC", 0, 32, 0x10000b)}},
    {"CFGROM_PDP_CAP_INCOMPAT", 0x164, {ro("PDP_CAP_INCOMPAT", 0, 32)}},
    {"CFGROM_PDP_CAP_COMPAT", 0x168, {ro("PDP_CAP_COMPAT", 0, 32)}},
    {"CFGROM_PDP_BASE_FEATURE_TYPES", 0x16c, {ro("PDP_BASE_FEATURE_TYPES", 0, 12, 0x10)}},
    {"CFGROM_PDP_BASE_THROUGHPUT", 0x170, {ro("PDP_BASE_THROUGHPUT", 0, 32, 1)}},
    {"CFGROM_CDP_RDMA_DESC", 0x174, {ro("CDP_RDMA_DESC", 0, 32, 0xe000c)}},
    {"CFGROM_CDP_RDMA_CAP_INCOMPAT", 0x178, {ro("CDP_RDMA_CAP_INCOMPAT", 0, 32)}},
    {"CFGROM_CDP_RDMA_CAP_COMPAT", 0x17c, {ro("CDP_RDMA_CAP_COMPAT", 0, 32)}},
    {"CFGROM_CDP_RDMA_BASE_ATOMIC_M", 0x180, {ro("CDP_RDMA_BASE_ATOMIC_M", 0, 32, 8)}},
    {"CFGROM_CDP_RDMA_BASE_CDP_ID", 0x184, {ro("CDP_RDMA_BASE_CDP_ID", 0, 32, 0xd)}},
    {"CFGROM_CDP_DESC", 0x188, {ro("CDP_DESC", 0, 32, 0x10000d)}},
    {"CFGROM_CDP_CAP_INCOMPAT", 0x18c, {ro("CDP_CAP_INCOMPAT", 0, 32)}},
    {"CFGROM_CDP_CAP_COMPAT", 0x190, {ro("CDP_CAP_COMPAT", 0, 32)}},
    {"CFGROM_CDP_BASE_FEATURE_TYPES", 0x194, {ro("CDP_BASE_FEATURE_TYPES", 0, 12, 0x10)}},
    {"CFGROM_CDP_BASE_THROUGHPUT", 0x198, {ro("CDP_BASE_THROUGHPUT", 0, 32, 1)}},
    {"CFGROM_END_OF_LIST", 0x19c, {ro("END_OF_LIST", 0, 32)}},
};
constexpr auto cfgrom_rows = to_rows(cfgrom_text);

constexpr RegisterBlock cfgrom_block{"NVDLA_CFGROM", 0x0, cfgrom_rows};

/// Registers that nv_small resets to "bypassed" and nv_full to zero.
/// source: register header of nv_full's C model; nv_full RTL
constexpr std::array<std::string_view, 8> zero_in_nv_full = {
    "D_DP_BS_CFG",     "D_DP_BN_CFG", "D_DP_EW_CFG", "D_DP_EW_ALU_CFG",
    "D_DP_EW_MUL_CFG", "D_BRDMA_CFG", "D_NRDMA_CFG", "D_ERDMA_CFG"};

/// The rows of an SDP block with nv_full's reset values. Owns what the rows point to.
class NvFullRows {
 public:
    explicit NvFullRows(std::span<const RegisterRow> rows) : rows_(rows.begin(), rows.end()) {
        fields_.reserve(zero_in_nv_full.size());  // the spans below stay valid
        for (RegisterRow& row : rows_) {
            if (std::ranges::find(zero_in_nv_full, row.name) == zero_in_nv_full.end()) {
                continue;
            }
            std::vector<RegisterField>& fields =
                fields_.emplace_back(row.fields.begin(), row.fields.end());
            for (RegisterField& field : fields) {
                field.reset = 0;
            }
            row.fields = fields;
        }
    }

    std::span<const RegisterRow> rows() const { return rows_; }

 private:
    std::vector<RegisterRow> rows_;
    std::vector<std::vector<RegisterField>> fields_;
};

std::vector<RegisterBlock> nv_small_blocks() {
    std::vector<RegisterBlock> blocks{cfgrom_block};
    for (const PlacedBlock& place : placed_blocks) {
        blocks.push_back(*place.block);
    }
    std::ranges::sort(blocks, {}, &RegisterBlock::base);
    return blocks;
}

/// The same blocks at the same addresses with the wide fields of the convolution's registers.
std::vector<RegisterBlock> widened(std::vector<RegisterBlock> blocks) {
    for (RegisterBlock& block : blocks) {
        for (const RegisterBlock& wide : {wide_cdma_block(), wide_csc_block()}) {
            block.rows = block.name == wide.name ? wide.rows : block.rows;
        }
    }
    return blocks;
}

std::vector<RegisterBlock> nv_full_blocks() {
    static const NvFullRows sdp_rdma(sdp_rdma_block.rows);
    static const NvFullRows sdp(sdp_block.rows);
    std::vector<RegisterBlock> blocks;
    for (const auto& [block, base] : placed_blocks) {
        blocks.push_back({block->name, base, block->rows});
        if (block == &sdp_block || block == &sdp_rdma_block) {
            blocks.back().rows = (block == &sdp_block ? sdp : sdp_rdma).rows();
        }
    }
    return blocks;
}

}  // namespace

std::span<const RegisterBlock> nvdla_register_blocks(AddressMap map, bool wide) {
    static const std::array narrow_blocks{nv_small_blocks(), nv_full_blocks()};
    static const std::array wide_blocks{widened(narrow_blocks[0]), widened(narrow_blocks[1])};
    return (wide ? wide_blocks : narrow_blocks)[map == AddressMap::NvSmall ? 0 : 1];
}

}  // namespace npuscope
