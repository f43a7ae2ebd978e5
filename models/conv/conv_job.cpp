// SPDX-License-Identifier: Apache-2.0
#include "models/conv/conv_job.h"

#include <algorithm>

#include "models/conv/conv_registers.h"

namespace npuscope {

namespace {

Convolution geometry_of(const ConvParts& parts) {
    const CscJob& csc = parts.csc;
    Convolution geometry;
    geometry.out_height = csc.output.height;
    geometry.out_width = csc.output.width;
    geometry.stride_y = csc.stride_y;
    geometry.stride_x = csc.stride_x;
    geometry.dilation_y = csc.dilation_y;
    geometry.dilation_x = csc.dilation_x;
    geometry.pad_top = csc.pad_top;
    geometry.pad_left = csc.mode == ConvMode::Image ? parts.cdma.pad_left : csc.pad_left;
    if (csc.mode == ConvMode::Winograd) {  // the DMA has padded already
        geometry.pad_top = geometry.pad_left = 0;
    }
    geometry.pad_value = csc.precision == Precision::Int8
                             ? static_cast<std::int8_t>(csc.pad_value & 0xFFU)
                             : static_cast<std::int16_t>(csc.pad_value);
    return geometry;
}

/// Columns that were turned into channels are restored; whole pixels only.
KernelShape plain_kernels(const ConvParts& parts) {
    KernelShape shape = parts.csc.kernels;
    const std::uint32_t channels = parts.csc.input.channels;
    if (parts.csc.mode == ConvMode::Image && channels > 0) {
        shape.columns = shape.channels / channels;
        shape.channels = channels;
    }
    return shape;
}

}  // namespace

CombinedConvJob combine(const ConvParts& parts, const ConvFeatures& features) {
    CombinedConvJob combined;
    ConvJob& job = combined.job;
    job.parts = parts;
    const Bytes element(bytes_of(parts.csc.precision));
    job.weights = parts.csc.mode == ConvMode::Winograd
                      ? winograd_weights(parts.csc.kernels, features.datapath, element)
                      : direct_weights(parts.csc.kernels, features.datapath, element);
    job.weights.row_group = parts.csc.row_group;
    job.kernels = plain_kernels(parts);
    job.convolution = geometry_of(parts);
    combined.findings = contradictions(job, features);
    return combined;
}

bool CombinedConvJob::computable() const {
    return std::ranges::none_of(
        findings, [](const Diagnostic& finding) { return finding.severity == Severity::Error; });
}

std::uint32_t entries_of_slice(const CdmaJob& job, const ConvFeatures& features) {
    const std::uint64_t element = bytes_of(job.precision);
    const std::uint64_t entry = features.cbuf_entry.value;
    const std::uint64_t width = job.input.width;
    const std::uint64_t padded = width + job.pad_left + job.pad_right;
    if (job.mode == ConvMode::Image) {
        return static_cast<std::uint32_t>(divide_up(padded * job.input.channels * element, entry));
    }
    const std::uint64_t atom = features.datapath.memory_atom.value;
    const std::uint64_t atoms = divide_up(job.input.channels * element, atom);
    if (job.mode == ConvMode::Winograd) {
        // source: nv_full C model; four lines of 4 x 4 patches take four entries per atom
        const std::uint64_t phases = std::uint64_t{job.winograd.stride_y} * job.winograd.stride_x;
        const std::uint64_t patches = padded / (4ULL * job.winograd.stride_x);
        return static_cast<std::uint32_t>(patches * atoms * phases);
    }
    const std::uint64_t in_entry = std::max<std::uint64_t>(entry / atom, 1);
    const std::uint64_t rest = atoms % in_entry;
    // source: nv_full C model; three atoms of four take a whole entry each
    const std::uint64_t rest_entries = rest == 3 ? width : divide_up(rest * width, in_entry);
    return static_cast<std::uint32_t>(atoms / in_entry * width + rest_entries);
}

std::uint64_t entries_of_data(const CdmaJob& job) {
    const std::uint64_t lines =
        job.mode == ConvMode::Winograd ? job.winograd.extended_height : job.input.height;
    return lines * job.batches * job.entries_per_slice;
}

}  // namespace npuscope
