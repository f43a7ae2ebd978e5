// SPDX-License-Identifier: Apache-2.0
// Single-point data processor: bias, batch normalisation and element-wise stages, convertor. Widths
// are nv_small's; source: nv_small hardware specification, nv_small.spec. Times are nv_small's;
// source: nv_small RTL, measured on the fused and lone operations.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct SdpConfig {
    bool bs = true;
    bool bn = true;
    bool element_wise = false;
    bool lut = true;
    bool winograd = false;
    std::uint32_t max_batch = 1;
    std::uint32_t bs_throughput = 1;
    std::uint32_t bn_throughput = 1;
    std::uint32_t element_wise_throughput = 1;
    std::uint32_t output_throughput = 1;
    Cycles flying_bubble{1};
    Cycles stage_latency{4};
    Cycles alu_latency{2};
    Cycles mul_latency{1};
    std::uint32_t operands_ahead = 0;
    Cycles operands_ahead_lead{0};
    Cycles element_wise_latency{2};   // source: NV_NVDLA_SDP_core.v, u_ew_dppack, u_ew_dpunpack
    Cycles element_wise_operator{2};  // source: NV_NVDLA_SDP_HLS_Y_int_alu.v and _mul.v, p1 and p2
    Cycles lut_latency{10};           // source: RTL of branch master, measured
    Cycles pipeline{24};
    Cycles done{11};
    Cycles request{21};
    Cycles next_request{15};
    Cycles next_atom{20};
    Cycles to_pooling{7};                // source: nv_small RTL, measured
    std::uint32_t pooling_places{17};    // source: RTL of branch master, measured
    std::uint32_t source_fifo = 80;      // source: nv_small RTL, latency FIFO of MRDMA
    std::uint32_t source_unpacked = 12;  // source: nv_small RTL, measured
    std::uint32_t operand_fifo = 160;    // source: nv_small RTL, latency FIFO of BRDMA and NRDMA
    std::uint32_t operand_unpacked = 8;  // source: nv_small RTL, measured
    std::uint32_t beat_group = 4;        // source: nv_small RTL, SDP RDMA unpack
    bool operand_packs = false;
    Cycles pack_request{10};  // source: RTL of branch master, simulated
    Cycles request_unpacked{16};
    Cycles request_taken{19};
    Cycles source_to_atom{12};
    Cycles operand_to_atom{10};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("bs", self.bs, "the first stage (X1, bias) exists");
        visit.field("bn", self.bn, "the second stage (X2, batch normalisation) exists");
        visit.field("element_wise", self.element_wise, "the third stage (Y, element-wise) exists");
        visit.field("lut", self.lut, "the element-wise stage, where it exists, has look-up tables");
        visit.field("winograd", self.winograd, "atoms may arrive in Winograd tile order");
        visit.field("max_batch", self.max_batch, "maximum number of cubes (batches) per operation");
        visit.field("bs_throughput", self.bs_throughput, "elements per cycle of the first stage");
        visit.field("bn_throughput", self.bn_throughput, "elements per cycle of the second stage");
        visit.field("element_wise_throughput", self.element_wise_throughput,
                    "elements per cycle of the element-wise stage");
        visit.field("output_throughput", self.output_throughput,
                    "elements per cycle of the output convertor");
        describe_times(visit, self);
    }

 private:
    template <class Visitor, class Self>
    static void describe_times(Visitor& visit, Self& self) {
        visit.field("flying_bubble", self.flying_bubble,
                    "cycles lost per atom from the accumulator");
        visit.field("stage_latency", self.stage_latency,
                    "latency of an active BS or BN stage without operators, in cycles");
        visit.field("alu_latency", self.alu_latency,
                    "additional cycles of an active ALU in a BS or BN stage");
        visit.field("mul_latency", self.mul_latency,
                    "additional cycles of an active multiplier in a BS or BN stage");
        visit.field("operands_ahead", self.operands_ahead,
                    "atoms whose operands queue before a stage that uses both an ALU and a "
                    "multiplier operand");
        visit.field("operands_ahead_lead", self.operands_ahead_lead,
                    "cycles from the last of the atoms that operands_ahead counts until further "
                    "operands are accepted");
        visit.field("element_wise_latency", self.element_wise_latency,
                    "cycles that an active element-wise stage adds without operators, where it is "
                    "as wide as the others");
        visit.field("element_wise_operator", self.element_wise_operator,
                    "additional cycles of each active operator (ALU, multiplier) of the "
                    "element-wise stage");
        visit.field("lut_latency", self.lut_latency,
                    "additional cycles of the look-up tables of the element-wise stage");
        visit.field("pipeline", self.pipeline,
                    "cycles from accepting an atom to its write, excluding the stages");
        visit.field("done", self.done, "cycles from the last write response to the interrupt");
        visit.field("request", self.request,
                    "cycles from op-enable of the read DMA to its first requests at the arbiter");
        visit.field("next_request", self.next_request,
                    "cycles from the last atom of an operation that uses operands from memory to "
                    "the next operation's first requests");
        visit.field("next_atom", self.next_atom,
                    "cycles from accepting an operation's last atom to the next operation's first, "
                    "excluding the stages");
        visit.field("to_pooling", self.to_pooling,
                    "cycles from accepting a beat of an atom to handing it to the PDP without "
                    "contention, excluding the stages");
        visit.field("pooling_places", self.pooling_places,
                    "beats on the path to the PDP when all of them wait, in addition to one per "
                    "cycle of the stages");
        describe_streams(visit, self);
    }

    /// Of the read DMAs.
    template <class Visitor, class Self>
    static void describe_streams(Visitor& visit, Self& self) {
        visit.field("source_fifo", self.source_fifo,
                    "beats of the source cube in flight or in the latency FIFO");
        visit.field("source_unpacked", self.source_unpacked,
                    "beats of the source cube after the latency FIFO that wait for their atom to "
                    "be accepted");
        visit.field("operand_fifo", self.operand_fifo,
                    "beats of a stage's operands in flight or in the latency FIFO");
        visit.field(
            "operand_unpacked", self.operand_unpacked,
            "beats of operands after the latency FIFO that wait for their atom to be accepted");
        visit.field("beat_group", self.beat_group,
                    "beats of a line that the read DMAs forward as one group");
        visit.field("operand_packs", self.operand_packs,
                    "a source from memory and operands wait after their FIFO in packs that end "
                    "with a line");
        visit.field(
            "pack_request", self.pack_request,
            "cycles from the stage's last element of an atom to the request for the FIFO slot that "
            "its operands free, where they wait in packs, excluding earlier stages");
        visit.field("request_unpacked", self.request_unpacked,
                    "cycles from a beat that passes the FIFO without waiting to the request that "
                    "reuses its slot");
        visit.field("request_taken", self.request_taken,
                    "cycles from accepting an atom to the requests that reuse its slots");
        visit.field("source_to_atom", self.source_to_atom,
                    "cycles from the last beat of a group to its first atom taken");
        visit.field("operand_to_atom", self.operand_to_atom,
                    "cycles from the last beat of a group of operands to the atom that uses them");
    }
};

}  // namespace npuscope
