// SPDX-License-Identifier: Apache-2.0
// One launch of the CDP: the cube, where it is, and how it is normalised. The contents of the
// lookup tables are not part of a job: they stay in the unit between launches.
#pragma once

#include "models/base/quantity.h"
#include "models/cdp/cdp_math.h"
#include "models/layout/datapath.h"
#include "models/layout/feature_cube.h"

namespace npuscope {

// Channel data processor: local response normalisation across channels, by lookup table.

/// Defaults are nv_small's. source: nv_small hardware specification, nv_small.spec
struct CdpConfig {
    bool present = true;
    std::uint32_t throughput = 1;
    std::uint32_t block_columns = 8;  // source: NV_NVDLA_CDP_RDMA_ig.v, width of a request
    std::uint32_t read_ahead = 61;    // source: NV_NVDLA_CDP_RDMA_eg.v, latency FIFO
    // source of the rest: nv_small RTL, measured
    std::uint32_t read_buffer = 9;
    std::uint32_t read_runs = 33;
    Cycles read_again{16};
    Cycles start_up{21};
    Cycles pipeline{54};
    Cycles pipeline_without_sum{44};
    Cycles multiply{1};
    Cycles fp16_sum{12};      // source: nv_full RTL, measured
    Cycles fp16_product{17};  // source: nv_full RTL, measured
    Cycles tail{11};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("present", self.present, "the unit exists");
        visit.field("throughput", self.throughput,
                    "elements per cycle; half as many for two-byte elements");
        visit.field("block_columns", self.block_columns,
                    "columns that are read and normalised together");
        visit.field("read_ahead", self.read_ahead, "beats that the latency FIFO of reads holds");
        visit.field("read_buffer", self.read_buffer,
                    "atoms that the buffer between the latency FIFO of reads and the datapath "
                    "holds");
        visit.field("read_runs", self.read_runs,
                    "maximum number of blocks whose reads are in flight");
        visit.field("read_again", self.read_again,
                    "cycles from a slot of the latency FIFO becoming free to the next request");
        visit.field("start_up", self.start_up,
                    "cycles from the read DMA's op-enable to its first read");
        visit.field("pipeline", self.pipeline,
                    "cycles from the element that completes a surface to its first result");
        visit.field("pipeline_without_sum", self.pipeline_without_sum,
                    "cycles from the element that completes a surface to its first result, where "
                    "the sum of squares is bypassed");
        visit.field("multiply", self.multiply,
                    "cycles that are saved when the multiplier is bypassed");
        visit.field("fp16_sum", self.fp16_sum, "cycles that the sum of squares adds for fp16");
        visit.field("fp16_product", self.fp16_product, "cycles that the other stages add for fp16");
        visit.field("tail", self.tail, "cycles from the last write response to the interrupt");
    }
};

struct CdpJob {
    Shape shape;              ///< channels as programmed
    FeatureCube source;       ///< whole atoms of channels
    FeatureCube destination;  ///< whole atoms of channels
    bool source_in_sram = false;
    bool destination_in_sram = false;
    CdpNormalization normalization;
    bool count_lookups = false;
    bool count_stalls = false;

    bool operator==(const CdpJob&) const = default;
};

}  // namespace npuscope
