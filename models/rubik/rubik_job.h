// SPDX-License-Identifier: Apache-2.0
// One reshape operation of RUBIK:
//
//     contract  X * Y cubes of one size, interleaved in width and height, as a deconvolution needs:
//               out(s, Y * y + j, X * x + i) = in((j * X + i) * S + s, y, x)
//               where S is the number of output surfaces
//     split     a feature cube to planes, one per channel; 0 after a line up to a whole atom
//     merge     planes to a feature cube; 0 in lanes beyond the last channel
//
// source: NVDLA register specification, NVDLA_RBK.rdl; doc v1/ias/unit_description.rst
#pragma once

#include <cstdint>

#include "models/base/quantity.h"
#include "models/layout/datapath.h"
#include "models/layout/feature_cube.h"

namespace npuscope {

// Reshape engine RUBIK. Its RTL was never measured: times without their own source are those of
// nv_small's other DMA clients.

struct RubikConfig {
    bool present = false;
    std::uint32_t read_ahead = 80;  // source: nv_full RTL, NV_NVDLA_MCIF_READ_ig.v
    std::uint32_t read_runs = 33;   // unknown: as the CDP's
    Cycles read_again{17};          // unknown: as the PDP's
    Cycles start_up{21};            // unknown: as the PDP's
    Cycles forward{1};              // unknown: at least a register after the reorder buffer
    Cycles tail{11};                // unknown: as the PDP's

    /// Values specific to the generation nvdlav1.
    void derive_v1() {
        read_again = Cycles(15);  // source: nv_full RTL, simulated at a latency of 200
        read_runs = 256;          // source: NV_NVDLA_RUBIK_rf_wcmd.v
        start_up = Cycles(22);    // source: nv_full RTL, simulated
        forward = Cycles(12);     // source: likewise
    }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("present", self.present, "the unit exists");
        visit.field("read_ahead", self.read_ahead, "beats that the latency FIFO of reads holds");
        visit.field("read_runs", self.read_runs, "lines in flight");
        visit.field("read_again", self.read_again,
                    "cycles from a slot of the latency FIFO becoming free to the next request");
        visit.field("start_up", self.start_up, "cycles from op-enable to the first read");
        visit.field("forward", self.forward,
                    "cycles from the arrival of the last byte needed for a line (nv_full: for a "
                    "burst) until that line or burst is written");
        visit.field("tail", self.tail, "cycles from the last write response to the interrupt");
    }
};

enum class RubikMode { Contract, Split, Merge };

/// Planes of single channels; lines are padded to whole atoms.
struct PlanarCube {
    Address base;
    Bytes line_stride;
    Bytes plane_stride;
    Bytes line;  ///< bytes of a line, whole atoms

    Address line_address(std::uint32_t channel, std::uint32_t y) const {
        return base + plane_stride * channel + line_stride * y;
    }
    bool operator==(const PlanarCube&) const = default;
};

struct RubikJob {
    RubikMode mode = RubikMode::Contract;
    Shape input;          ///< as programmed
    FeatureCube feature;  ///< the feature cube that is read, or that merge writes
    PlanarCube planar;    ///< the planes that split writes or merge reads
    // contract only
    FeatureCube contracted;
    std::uint32_t stride_x = 1;
    std::uint32_t stride_y = 1;
    Bytes super_line;  ///< from the first line of one input line's results to that of the next
    bool source_in_sram = false;
    bool destination_in_sram = false;

    bool operator==(const RubikJob&) const = default;
};

}  // namespace npuscope
