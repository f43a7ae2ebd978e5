// SPDX-License-Identifier: Apache-2.0
// One launch of the PDP: what is pooled, how, from where and to where.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "models/base/quantity.h"
#include "models/layout/datapath.h"
#include "models/layout/feature_cube.h"
#include "models/pdp/pdp_math.h"

namespace npuscope {

// Planar data processor: pooling, fed by the SDP or from memory.

/// Defaults are nv_small's. source: nv_small hardware specification, nv_small.spec
struct PdpConfig {
    bool present = true;
    std::uint32_t throughput = 1;
    std::uint32_t line_buffer_banks = 8;
    std::uint32_t line_buffer_bank_atoms = 16;
    std::uint32_t read_ahead = 61;  // source: NV_NVDLA_PDP_RDMA_eg.v, latency FIFO
    // source of the rest: nv_small RTL, measured (pooling from memory, and fused after SDP)
    std::uint32_t read_buffer = 5;
    std::uint32_t read_runs = 17;
    Cycles read_again{17};
    Cycles awaited_lead{1};
    Cycles start_up{21};
    Cycles hand_over_lead{30};
    Cycles column_gap{3};
    Cycles output_latency{36};
    Cycles drain{22};
    Cycles tail{11};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("present", self.present, "the unit exists");
        visit.field("throughput", self.throughput, "elements per cycle");
        visit.field("read_ahead", self.read_ahead, "beats that the latency FIFO of reads holds");
        visit.field("read_buffer", self.read_buffer,
                    "atoms that the buffer between the latency FIFO of reads and the datapath "
                    "holds");
        visit.field("read_runs", self.read_runs,
                    "maximum number of lines whose reads are in flight");
        visit.field("read_again", self.read_again,
                    "cycles from a slot of the latency FIFO becoming free to the next request");
        visit.field("awaited_lead", self.awaited_lead,
                    "cycles that the acceptance of an atom saves after its arrival from memory if "
                    "the PDP waits for it. The first atom of an operation does not save them");
        visit.field("start_up", self.start_up,
                    "cycles from the read DMA's op-enable to its first read");
        visit.field("hand_over_lead", self.hand_over_lead,
                    "cycles by which an atom arrives here from the SDP before it would appear on "
                    "the SDP's write port");
        visit.field("column_gap", self.column_gap,
                    "cycles between the time slots of two results of one column");
        visit.field("output_latency", self.output_latency,
                    "cycles from the time slot of the atom that completes a window to the window's "
                    "result on the port");
        visit.field("drain", self.drain,
                    "minimum cycles from the last input atom's time slot to the interrupt");
        visit.field("tail", self.tail, "cycles from the last write response to the interrupt");
        // source: NV_NVDLA_PDP_CORE_cal2d.v, "bank depth follows rule of 16 elements in width"
        visit.field("line_buffer_banks", self.line_buffer_banks,
                    "banks that the overlapping output lines share");
        visit.field("line_buffer_bank_atoms", self.line_buffer_bank_atoms,
                    "output atoms that one bank of the line buffer holds");
    }
};

struct PdpJob {
    Shape input;                        ///< channels as programmed
    Shape output;                       ///< channels as programmed
    std::optional<FeatureCube> source;  ///< none: the SDP feeds the PDP; whole atoms of channels
    FeatureCube destination;            ///< whole atoms of channels
    bool source_in_sram = false;
    bool destination_in_sram = false;
    PdpPooling pooling;
    bool count_stalls = false;

    bool flying() const { return !source.has_value(); }
    /// Lines of the input up to the end of the last window.
    std::uint32_t lines_pooled() const {
        const std::uint32_t end = (output.height - 1) * pooling.stride_y + pooling.kernel_height;
        return std::min(input.height, end - std::min(end, pooling.pad_top));
    }
    FlyingCube taken() const { return {.shape = input, .precision = pooling.precision}; }
};

/// Columns of output that the line buffer holds; a wider output must be split.
std::uint32_t line_buffer_columns(const PdpPooling& pooling, const PdpConfig& config);

}  // namespace npuscope
