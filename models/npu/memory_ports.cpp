// SPDX-License-Identifier: Apache-2.0
#include "models/npu/memory_ports.h"

#include <variant>

#include "models/layout/register_coder.h"

namespace npuscope {
namespace {

class PortCheck {
 public:
    PortCheck(const RegisterValues& unit, const RegisterValues& rdma, Diagnostics& findings)
        : unit_(unit, findings), rdma_(rdma, findings) {}

    void operator()(const SdpJob& job) {
        check(rdma_, job.source && job.source_in_sram, {"D_SRC_DMA_CFG", "SRC_RAM_TYPE"});
        constexpr PerStage<FieldName> operands{{{"D_BRDMA_CFG", "BRDMA_RAM_TYPE"},
                                                {"D_NRDMA_CFG", "NRDMA_RAM_TYPE"},
                                                {"D_ERDMA_CFG", "ERDMA_RAM_TYPE"}}};
        for (std::size_t i = 0; i < operands.size(); ++i) {
            check(rdma_, job.operands[i] && job.operands[i]->in_sram, operands[i]);
        }
        check(unit_, job.destination && !job.to_pdp && job.destination_in_sram,
              {"D_DST_DMA_CFG", "DST_RAM_TYPE"});
    }
    void operator()(const PdpJob& job) {
        check(rdma_, job.source && job.source_in_sram, {"D_SRC_RAM_CFG", "SRC_RAM_TYPE"});
        check(unit_, job.destination_in_sram, {"D_DST_RAM_CFG", "DST_RAM_TYPE"});
    }
    void operator()(const CdpJob& job) {
        check(rdma_, job.source_in_sram, {"D_SRC_DMA_CFG", "SRC_RAM_TYPE"});
        check(unit_, job.destination_in_sram, {"D_DST_DMA_CFG", "DST_RAM_TYPE"});
    }
    /// A unit without a read DMA of its own.
    template <class Job>
    requires requires(const Job& job) { job.source_in_sram; }
    void operator()(const Job& job) {
        check(unit_, job.source_in_sram, {"D_DAIN_RAM_TYPE", "DATAIN_RAM_TYPE"});
        check(unit_, job.destination_in_sram, {"D_DAOUT_RAM_TYPE", "DATAOUT_RAM_TYPE"});
    }
    void operator()(const ConvJob& /*job*/) {}
    void operator()(std::monostate /*job*/) {}

 private:
    static void check(RegisterDecoder& registers, bool secondary, const FieldName& name) {
        registers.refuse_unless(!secondary, name, "the secondary memory port is not available",
                                "use the primary port (MCIF, 1)");
    }

    RegisterDecoder unit_;
    RegisterDecoder rdma_;
};

}  // namespace

void refuse_absent_port(const RegisterJob& job, const RegisterValues& unit,
                        const RegisterValues& rdma, Diagnostics& findings) {
    std::visit(PortCheck(unit, rdma, findings), job);
}

bool reads_nothing(const RegisterValues& rdma, const SdpConfig& sdp) {
    const auto fetches = [&](bool present, std::string_view name, std::string_view field) {
        return present && rdma.field(name, field) == 0;
    };
    return rdma.field("D_FEATURE_MODE_CFG", "FLYING_MODE") == 1 &&
           !fetches(sdp.bs, "D_BRDMA_CFG", "BRDMA_DISABLE") &&
           !fetches(sdp.bn, "D_NRDMA_CFG", "NRDMA_DISABLE") &&
           !fetches(sdp.element_wise, "D_ERDMA_CFG", "ERDMA_DISABLE");
}

}  // namespace npuscope
