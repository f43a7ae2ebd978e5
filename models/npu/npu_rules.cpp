// SPDX-License-Identifier: Apache-2.0
// What follows from a configuration's widths and the generation of its RTL.
#include <algorithm>

#include "models/npu/npu_config.h"

namespace npuscope {
namespace {

/// Calls `visit` for the knobs of every unit.
template <class Visit>
struct UnitVisitor {
    Visit visit;
    template <class Value>
    void field(const char* /*name*/, Value& value, const char* /*sentence*/) {
        visit(value);
    }
};
template <class Visit>
void each_unit(NpuConfig& npu, Visit visit) {
    UnitVisitor<Visit> visitor{visit};
    NpuConfig::describe(visitor, npu);
}

/// Beats that the latency FIFO of a read DMA holds, for a throughput in elements per cycle.
/// source: projects.spec, NVDLA_VMOD_*_RDMA_LATENCY_FIFO_DEPTH
std::uint32_t latency_fifo(const NpuConfig& npu, std::uint32_t throughput) {
    const std::uint64_t bus = npu.mcif.bus_width.value;
    const std::uint64_t bandwidth = std::max<std::uint64_t>(bus / 4, 1);
    const std::uint64_t used = std::min<std::uint64_t>(throughput, bandwidth);
    const std::uint64_t width =
        std::max<std::uint64_t>({bus, npu.datapath.memory_atom.value, 1});  // limits come later
    return static_cast<std::uint32_t>(
        std::max<std::uint64_t>(4, divide_up(npu.mcif.covered_latency.value * used, width)));
}

/// Branch master: the specification's depths, one stage fewer in front of the memory's commands and
/// behind its responses.
void derive_master(NpuConfig& npu) {
    npu.mcif.request_stages = true;
    npu.sdp.source_fifo = latency_fifo(npu, npu.sdp.output_throughput);
    npu.sdp.operand_fifo = latency_fifo(npu, 4 * npu.sdp.bs_throughput);
    npu.sdp.operand_packs = true;
    npu.pdp.read_ahead = latency_fifo(npu, npu.pdp.throughput);
    npu.cdp.read_ahead = latency_fifo(npu, npu.cdp.throughput);
    // source: NV_NVDLA_PDP_RDMA_ro_fifo.v and NV_NVDLA_CDP_RDMA_ro_fifo.v, 32 and one at its end
    npu.pdp.read_buffer = 33;
    npu.cdp.read_buffer = 33;
    // source: NV_NVDLA_PDP_RDMA_cq.v and NV_NVDLA_CDP_RDMA_cq.v, 256 and one at its end
    npu.pdp.read_runs = 257;
    npu.cdp.read_runs = 257;
}

/// nvdlav1: the units of nv_full, whose stages and FIFOs are its own.
void derive_v1(NpuConfig& npu) {
    // eight atoms of one client reach the bus together, each beat as its own command
    // source: NV_NVDLA_MCIF_READ_IG_bpt.v and NV_NVDLA_MCIF_READ_IG_spt.v of nvdlav1
    const std::uint64_t turn =
        8 * npu.datapath.memory_atom.value / std::max<std::uint64_t>(npu.mcif.bus_width.value, 1);
    npu.mcif.turn_beats = static_cast<std::uint32_t>(std::max<std::uint64_t>(turn, 1));
    npu.cdma.surface_pairs = true;
    npu.csc.shortest_stripe = 10;        // source: NV_NVDLA_CSC_sg.v, dat_max_cycles
    npu.csc.image_stripe_groups = 4;     // source: NV_NVDLA_CSC_sg.v, upper_limit_w: 64
    npu.cacc.buffered_groups = 4;        // source: NV_NVDLA_CSC_sg.v, credit_cnt: 256, two per atom
    npu.cacc.fill_latency = Cycles(22);  // source: nv_full RTL, measured
    npu.cdma.data_request = Cycles(33);  // source: nv_full RTL, simulated, as what follows
    npu.cdma.weight_request = Cycles(31);
    npu.cdma.image_request = Cycles(30);
    npu.cdma.image_write = Cycles(9);
    npu.cdma.weight_write = Cycles(6);
    npu.cdma.data_write = Cycles(7);
    npu.sdp.flying_bubble = Cycles(0);  // source: NV_NVDLA_CACC_delivery_ctrl.v, a beat a cycle
    npu.sdp.request = Cycles(22);
    npu.sdp.next_request = Cycles(19);
    npu.sdp.request_unpacked = Cycles(16);  // source: nv_full RTL, simulated at a latency of 200
    npu.sdp.pipeline = Cycles(20);          // source: nv_full RTL, simulated, as what follows
    npu.sdp.beat_group = 1;
    npu.sdp.source_to_atom = Cycles(10);
    npu.sdp.operand_to_atom = Cycles(8);
    // the stages' operators are pipelines that a bypass does not shorten
    // source: NV_NVDLA_SDP_CORE_x.v and NV_NVDLA_SDP_CORE_y.v of nvdlav1
    npu.sdp.stage_latency = Cycles(13);
    npu.sdp.alu_latency = Cycles(0);
    npu.sdp.mul_latency = Cycles(0);
    npu.sdp.operands_ahead = 6;  // equally where atoms are taken every 2 cycles and every 8
    npu.sdp.operands_ahead_lead = Cycles(19);
    npu.sdp.element_wise_latency = Cycles(11);
    npu.sdp.element_wise_operator = Cycles(0);
    npu.sdp.lut_latency = Cycles(22);
    npu.sdp.done = Cycles(12);
    npu.pdp.start_up = Cycles(22);
    npu.pdp.hand_over_lead = npu.sdp.pipeline + Cycles(4);
    npu.pdp.output_latency = Cycles(37);
    npu.pdp.awaited_lead = Cycles(0);  // source: nv_full RTL, simulated at a latency of 50
    npu.pdp.read_again = Cycles(17);   // source: nv_full RTL, simulated at a latency of 200
    npu.pdp.tail = Cycles(12);
    npu.cdp.start_up = Cycles(21);
    npu.cdp.pipeline = Cycles(53);
    npu.cdp.pipeline_without_sum = Cycles(43);
    npu.cdp.tail = Cycles(11);
    each_unit(npu, [](auto& unit) {
        if constexpr (requires { unit.derive_v1(); }) {
            unit.derive_v1();
        }
    });
}

}  // namespace

void NpuConfig::derive() {
    const DatapathConfig& widths = datapath;
    const bool newer = rtl != RtlGeneration::NvSmall;
    // source: NV_NVDLA_CSC.h, NVDLA_CC_CREDIT_SIZE and CSC_IMG_STRIPE
    const std::uint32_t groups = widths.atomic_c == 4 * widths.atomic_k ? 4 : 2;
    cacc.buffered_groups = groups;
    csc.image_stripe_groups = groups;
    // beats of an accumulated group on the way to the SDP
    const Cycles beats(std::max<std::uint64_t>(
        divide_up(widths.atomic_k, std::max(sdp.output_throughput, 1U)), 1));
    cacc.credit_return = Cycles(24) + beats;
    // the operands' packing is two beats ahead of the atoms, whose ends cost a cycle each
    sdp.next_request = Cycles((newer ? 14 : 15) - 2 / beats.value);
    sdp.next_atom = Cycles(12) + beats;
    sdp.pipeline = Cycles(newer ? 14 : 16) + beats;
    // source: NV_NVDLA_MCIF_READ_ig.v of branch master, without NV_NVDLA_NOCIF_DRAM_READ_IG_spt
    const Cycles earlier(newer ? 1 : 0);
    cdma.data_request = Cycles(33) - earlier;
    cdma.weight_request = Cycles(29) - earlier;
    cdma.image_request = Cycles(30) - earlier;
    sdp.request = Cycles(21) - earlier;
    pdp.start_up = Cycles(21) - earlier;
    cdp.start_up = Cycles(21) - earlier;
    // source: NV_NVDLA_MCIF_READ_eg.v of branch master
    cdma.data_pipe = Cycles(3) - earlier;
    cdma.weight_write = Cycles(10) - earlier;
    sdp.request_unpacked = Cycles(newer ? 14 : 16);
    sdp.source_to_atom = Cycles(12) - earlier;
    sdp.operand_to_atom = Cycles(10) - earlier;
    // the data path in and out is three stages shorter
    pdp.output_latency = Cycles(newer ? 33 : 36);
    pdp.read_again = Cycles(newer ? 15 : 17);
    // beats of the SDP that are wider than the pooling pass a FIFO
    // source: NV_NVDLA_PDP_CORE_preproc.v, u_ro_fifo
    const bool fifo = newer && sdp.output_throughput > pdp.throughput;
    pdp.hand_over_lead = sdp.pipeline + Cycles(newer ? 5 : 6) - Cycles(fifo ? 1 : 0);
    cdp.pipeline = Cycles(newer ? 51 : 54);
    cdp.pipeline_without_sum = cdp.pipeline - Cycles(10);
    cdp.read_again = Cycles(newer ? 14 : 16);
    sdp.source_fifo = 80;
    sdp.operand_fifo = 160;
    pdp.read_ahead = 61;
    cdp.read_ahead = 61;
    if (rtl == RtlGeneration::Master) {
        derive_master(*this);
    } else if (rtl == RtlGeneration::V1) {
        derive_v1(*this);
    }
    // a burst is requested where there is room for all of it
    const auto widen = [this](std::uint32_t& reads) {
        reads = std::max({reads, mcif.max_burst, mcif.turn_beats});
    };
    widen(sdp.source_fifo);
    widen(sdp.operand_fifo);
    each_unit(*this, [&](auto& unit) {
        if constexpr (requires { unit.read_ahead; }) {
            widen(unit.read_ahead);
        }
    });
}

}  // namespace npuscope
