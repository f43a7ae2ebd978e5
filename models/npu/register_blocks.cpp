// SPDX-License-Identifier: Apache-2.0
#include "models/npu/register_blocks.h"

#include <algorithm>
#include <array>
#include <vector>

#include "models/bdma/bdma_registers.h"
#include "models/cdp/cdp_registers.h"
#include "models/conv/conv_registers.h"
#include "models/csb/cfgrom_registers.h"
#include "models/glb/glb_registers.h"
#include "models/mcif/mcif_registers.h"
#include "models/pdp/pdp_registers.h"
#include "models/rubik/rubik_registers.h"
#include "models/sdp/sdp_rdma_registers.h"
#include "models/sdp/sdp_registers.h"

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
    static const std::array blocks = {
        cfgrom_block,   glb_block,  mcif_block,     cdma_block, csc_block,      cmac_a_block,
        cmac_b_block,   cacc_block, sdp_rdma_block, sdp_block,  pdp_rdma_block, pdp_block,
        cdp_rdma_block, cdp_block,  cvif_block,     bdma_block, rbk_block};
    return blocks;
}

RegisterBlock moved(const RegisterBlock& block, std::uint32_t base) {
    return {block.name, base, block.rows};
}

/// source: register header of nv_full's C model
std::span<const RegisterBlock> nv_full_blocks() {
    static const NvFullRows sdp_rdma(sdp_rdma_block.rows);
    static const NvFullRows sdp(sdp_block.rows);
    static const std::array blocks = {moved(glb_block, 0x0000),
                                      moved(mcif_block, 0x2000),
                                      moved(cvif_block, 0x3000),
                                      moved(bdma_block, 0x4000),
                                      moved(cdma_block, 0x5000),
                                      moved(csc_block, 0x6000),
                                      moved(cmac_a_block, 0x7000),
                                      moved(cmac_b_block, 0x8000),
                                      moved(cacc_block, 0x9000),
                                      RegisterBlock{sdp_rdma_block.name, 0xa000, sdp_rdma.rows()},
                                      RegisterBlock{sdp_block.name, 0xb000, sdp.rows()},
                                      moved(pdp_rdma_block, 0xc000),
                                      moved(pdp_block, 0xd000),
                                      moved(cdp_rdma_block, 0xe000),
                                      moved(cdp_block, 0xf000),
                                      moved(rbk_block, 0x10000)};
    return blocks;
}

}  // namespace

std::span<const RegisterBlock> nvdla_register_blocks(AddressMap map) {
    return map == AddressMap::NvSmall ? nv_small_blocks() : nv_full_blocks();
}

}  // namespace npuscope
