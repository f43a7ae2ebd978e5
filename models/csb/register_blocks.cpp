// SPDX-License-Identifier: Apache-2.0
#include "models/csb/register_blocks.h"

#include <algorithm>
#include <vector>

#include "models/csb/register_rows.h"

namespace npuscope {
namespace {

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

/// source: NVDLA register specification, nv_small
std::span<const RegisterBlock> nv_small_blocks() {
    static const std::array blocks = {RegisterBlock{"NVDLA_CFGROM", 0x0000, cfgrom_rows()},
                                      RegisterBlock{"NVDLA_GLB", 0x1000, glb_rows()},
                                      RegisterBlock{"NVDLA_MCIF", 0x2000, mcif_rows()},
                                      RegisterBlock{"NVDLA_CDMA", 0x3000, cdma_rows()},
                                      RegisterBlock{"NVDLA_CSC", 0x4000, csc_rows()},
                                      RegisterBlock{"NVDLA_CMAC_A", 0x5000, cmac_a_rows()},
                                      RegisterBlock{"NVDLA_CMAC_B", 0x6000, cmac_b_rows()},
                                      RegisterBlock{"NVDLA_CACC", 0x7000, cacc_rows()},
                                      RegisterBlock{"NVDLA_SDP_RDMA", 0x8000, sdp_rdma_rows()},
                                      RegisterBlock{"NVDLA_SDP", 0x9000, sdp_rows()},
                                      RegisterBlock{"NVDLA_PDP_RDMA", 0xa000, pdp_rdma_rows()},
                                      RegisterBlock{"NVDLA_PDP", 0xb000, pdp_rows()},
                                      RegisterBlock{"NVDLA_CDP_RDMA", 0xc000, cdp_rdma_rows()},
                                      RegisterBlock{"NVDLA_CDP", 0xd000, cdp_rows()},
                                      RegisterBlock{"NVDLA_CVIF", 0xf000, cvif_rows()},
                                      RegisterBlock{"NVDLA_BDMA", 0x10000, bdma_rows()},
                                      RegisterBlock{"NVDLA_RBK", 0x11000, rbk_rows()}};
    return blocks;
}

/// source: register header of nv_full's C model
std::span<const RegisterBlock> nv_full_blocks() {
    static const NvFullRows sdp_rdma(sdp_rdma_rows());
    static const NvFullRows sdp(sdp_rows());
    static const std::array blocks = {RegisterBlock{"NVDLA_GLB", 0x0000, glb_rows()},
                                      RegisterBlock{"NVDLA_MCIF", 0x2000, mcif_rows()},
                                      RegisterBlock{"NVDLA_CVIF", 0x3000, cvif_rows()},
                                      RegisterBlock{"NVDLA_BDMA", 0x4000, bdma_rows()},
                                      RegisterBlock{"NVDLA_CDMA", 0x5000, cdma_rows()},
                                      RegisterBlock{"NVDLA_CSC", 0x6000, csc_rows()},
                                      RegisterBlock{"NVDLA_CMAC_A", 0x7000, cmac_a_rows()},
                                      RegisterBlock{"NVDLA_CMAC_B", 0x8000, cmac_b_rows()},
                                      RegisterBlock{"NVDLA_CACC", 0x9000, cacc_rows()},
                                      RegisterBlock{"NVDLA_SDP_RDMA", 0xa000, sdp_rdma.rows()},
                                      RegisterBlock{"NVDLA_SDP", 0xb000, sdp.rows()},
                                      RegisterBlock{"NVDLA_PDP_RDMA", 0xc000, pdp_rdma_rows()},
                                      RegisterBlock{"NVDLA_PDP", 0xd000, pdp_rows()},
                                      RegisterBlock{"NVDLA_CDP_RDMA", 0xe000, cdp_rdma_rows()},
                                      RegisterBlock{"NVDLA_CDP", 0xf000, cdp_rows()},
                                      RegisterBlock{"NVDLA_RBK", 0x10000, rbk_rows()}};
    return blocks;
}

}  // namespace

std::span<const RegisterBlock> nvdla_register_blocks(AddressMap map) {
    return map == AddressMap::NvSmall ? nv_small_blocks() : nv_full_blocks();
}

const RegisterBlock* find_block(std::string_view name, AddressMap map) {
    const std::span<const RegisterBlock> blocks = nvdla_register_blocks(map);
    const auto block = std::ranges::find(blocks, name, &RegisterBlock::name);
    return block == blocks.end() ? nullptr : &*block;
}

std::string register_name(const RegisterBlock& block, const RegisterRow& row) {
    return std::string(block.name) + "." + std::string(row.name) + "_0";
}

}  // namespace npuscope
