// SPDX-License-Identifier: Apache-2.0
// Configuration of the units of the convolution pipeline.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

/// Convolution DMA: fetches feature or pixel data and weights into the convolution buffer. Times
/// are nv_small's; source: nv_small RTL, measured on 588 layers and settings.
struct CdmaConfig {
    bool weight_compression = false;
    bool winograd = false;
    std::uint32_t max_batch = 1;
    Cycles flush{8200};
    std::uint32_t request_atoms = 8;  // source: nv_small RTL, CDMA_dc.v and CDMA_wt.v
    Cycles data_request{33};
    Cycles split_change{6};  // source: nv_small RTL, CDMA_dc.v and CDMA_wt.v, need_pending
    Cycles surface_gap{1};   // source: nv_small RTL, CDMA_dc.v, cbuf_is_ready
    Cycles grain_gap{1};     // source: nv_small RTL, CDMA_dc.v
    Cycles data_pipe{3};
    Cycles data_write{7};
    bool surface_pairs = false;  // source: NV_NVDLA_CDMA_dc.v of nvdlav1, req_ch_mode
    Cycles weight_request{29};
    Cycles weight_write{10};
    Cycles group_interval{2};  // source: nv_small RTL, CDMA_wt.v, status update
    Cycles image_request{30};
    std::uint32_t image_requests = 128;  // source: NV_NVDLA_CDMA_IMG_fifo.v
    Cycles image_request_return{7};
    Cycles image_write{9};
    Cycles next_operation{4};
    Cycles next_after_data{9};
    Cycles data_interrupt{12};    // source: nv_small RTL, status read around its change
    Cycles image_interrupt{15};   // source: nv_small RTL, likewise
    Cycles weight_interrupt{17};  // source: nv_small RTL, likewise

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("weight_compression", self.weight_compression, "WMB/WGS decompression exists");
        visit.field("winograd", self.winograd, "Winograd mode exists");
        visit.field("max_batch", self.max_batch,
                    "maximum number of input cubes (batches) per operation");
        visit.field("flush", self.flush, "cycles after reset until S_CBUF_FLUSH_STATUS reads 1");
        visit.field("request_atoms", self.request_atoms,
                    "maximum number of atoms or beats per request");
        visit.field("data_request", self.data_request,
                    "cycles from op-enable to the first request of feature data at the arbiter");
        visit.field("split_change", self.split_change,
                    "part of data_request, weight_request and image_request that applies only when "
                    "the bank split differs from the previous operation's");
        visit.field("surface_gap", self.surface_gap,
                    "cycles without a request after the lines of one surface");
        visit.field("grain_gap", self.grain_gap,
                    "additional cycles without a request after the last surface");
        visit.field("data_pipe", self.data_pipe,
                    "cycles from a beat of feature data on the bus to the DMA's first stage");
        visit.field("data_write", self.data_write,
                    "cycles from taking a beat out of the last stage to its write into CBUF");
        visit.field("weight_request", self.weight_request,
                    "cycles from op-enable to the first request of weights at the arbiter");
        visit.field("surface_pairs", self.surface_pairs,
                    "entries are assembled from two surfaces at once, which wait for each other in "
                    "the shared buffer");
        visit.field("weight_write", self.weight_write,
                    "cycles from a beat of weights on the bus to its write into CBUF");
        visit.field("group_interval", self.group_interval,
                    "cycles between two kernel groups becoming visible to the sequencer");
        visit.field("image_request", self.image_request,
                    "cycles from op-enable to the first request of pixels at the arbiter");
        visit.field("image_requests", self.image_requests,
                    "maximum number of outstanding pixel requests, including those for padding");
        visit.field("image_request_return", self.image_request_return,
                    "cycles from an answered request to the one that reuses its slot");
        visit.field("image_write", self.image_write,
                    "cycles from the pixel packer's last read of a line to its last entry in CBUF");
        visit.field("data_interrupt", self.data_interrupt,
                    "cycles from the last entry of feature data to the interrupt");
        visit.field("image_interrupt", self.image_interrupt,
                    "cycles from the last entry of an image to the interrupt");
        visit.field("weight_interrupt", self.weight_interrupt,
                    "cycles from the last entry of weights to the interrupt");
        visit.field("next_operation", self.next_operation,
                    "cycles by which the next operation starts before the last entry of weights is "
                    "written");
        visit.field("next_after_data", self.next_after_data,
                    "cycles by which the next operation starts before the last entry of data is "
                    "written, where data end the operation");
    }
};

/// The convolution buffer: banks of entries, split between feature data and weights per layer.
struct CbufConfig {
    std::uint32_t banks = 32;
    Bytes bank_width{8};
    std::uint32_t bank_depth = 512;

    Bytes capacity() const { return bank_width * bank_depth * banks; }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("banks", self.banks, "banks, each given to data or to weights by D_BANK");
        visit.field("bank_width", self.bank_width,
                    "width of a bank: bytes of one entry, which is accessed in one cycle");
        visit.field("bank_depth", self.bank_depth, "entries per bank");
    }
};

/// Convolution sequence controller: cuts a layer into kernel groups, stripes and channel blocks.
/// Times are nv_small's; source: nv_small RTL, measured on 588 layers and settings.
struct CscConfig {
    std::uint32_t stripe_groups = 2;        // source: nv_small RTL, CSC_sg.v, upper and lower limit
    std::uint32_t image_stripe_groups = 2;  // source: NV_NVDLA_CSC.h, CSC_IMG_STRIPE
    std::uint32_t shortest_stripe = 0;      // source: NV_NVDLA_CSC.h, CSC_MIN_STRIPE
    std::uint32_t shortest_load = 2;
    bool miscounts_image_blocks = true;  // source: nv_small RTL, CSC_dl.v channel_op_cnt
    Cycles weight_to_mac{29};
    Cycles data_to_mac{32};
    Cycles weight_release{4};
    Cycles data_release{17};
    Cycles next_operation{57};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("stripe_groups", self.stripe_groups,
                    "outputs of a full stripe, as a multiple of the MAC cells");
        visit.field("image_stripe_groups", self.image_stripe_groups,
                    "outputs of a full stripe in image mode, as a multiple of the MAC cells");
        visit.field("shortest_stripe", self.shortest_stripe,
                    "minimum cycles of a stripe per block, where loading weights takes fewer; 0: "
                    "as long as loading a full group");
        visit.field("shortest_load", self.shortest_load,
                    "minimum cycles to load a kernel group into the MAC cells; otherwise one cycle "
                    "per kernel");
        visit.field(
            "miscounts_image_blocks", self.miscounts_image_blocks,
            "bug of the RTL: image kernel rows of three or more blocks may use wrong pixels");
        visit.field("weight_to_mac", self.weight_to_mac,
                    "cycles from a group's last weight entry in CBUF to its first atom in the "
                    "MACs, excluding weight loading");
        visit.field(
            "data_to_mac", self.data_to_mac,
            "cycles from the last data entry in CBUF to the first atom, excluding weight loading");
        visit.field("weight_release", self.weight_release,
                    "cycles from loading a group's last block until its entries can be refilled");
        visit.field("data_release", self.data_release,
                    "cycles from the last atom in the MACs until the data's entries are free");
        visit.field("next_operation", self.next_operation,
                    "cycles from an operation's last atom in the MACs to the next one's first, "
                    "excluding weight loading");
    }
};

/// Convolution accumulator: partial sums, truncation, and credits that hold the sequencer back.
struct CaccConfig {
    std::uint32_t buffered_groups = 2;  // source: nv_small RTL, assembly buffer of 2 x atomic_k
    Cycles fill_latency{15};            // source: nv_small RTL, measured
    Cycles credit_return{32};           // source: nv_small RTL, measured
    Cycles delivery_latency{2};         // source: nv_small RTL, measured
    Cycles interrupt{14};               // source: nv_small RTL, status read around its change
    bool stale_end_marks = true;        // source: nv_small RTL, NV_NVDLA_CACC_delivery_ctrl.v
    std::uint32_t partial_sum_bits = 34;
    std::uint32_t partial_sum_bits_int16 = 48;  // source: nv_full RTL, CACC_CALC_int16.v

    /// Maximum number of atoms waiting for SDP, with `atomic_k` MAC cells.
    std::uint64_t depth(std::uint32_t atomic_k) const {
        return std::uint64_t{buffered_groups} * atomic_k;
    }
    /// Whether the end of a convolution of `atoms` atoms can meet the previous one's end.
    bool ends_may_meet(std::uint64_t atoms, std::uint32_t atomic_k) const {
        return stale_end_marks && atoms < depth(atomic_k);
    }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("buffered_groups", self.buffered_groups,
                    "credits: atoms that may wait for the SDP, as a multiple of the MAC cells");
        visit.field("fill_latency", self.fill_latency,
                    "cycles from an atom's last MAC to the accumulator's output");
        visit.field(
            "credit_return", self.credit_return,
            "cycles from the SDP accepting an atom to its credit returning to the sequencer");
        visit.field(
            "delivery_latency", self.delivery_latency,
            "minimum cycles from an atom at the accumulator's output to the SDP accepting it");
        visit.field("interrupt", self.interrupt,
                    "cycles from SDP taking the last atom to the interrupt");
        visit.field("stale_end_marks", self.stale_end_marks,
                    "bug of the RTL: two operation ends that meet in the delivery buffer leave a "
                    "wrong end marker");
        visit.field("partial_sum_bits", self.partial_sum_bits,
                    "width at which a partial sum saturates, int8");
        visit.field("partial_sum_bits_int16", self.partial_sum_bits_int16,
                    "width at which a partial sum saturates, int16");
    }
};

}  // namespace npuscope
