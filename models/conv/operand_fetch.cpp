// SPDX-License-Identifier: Apache-2.0
#include "models/conv/operand_fetch.h"

#include <algorithm>
#include <cstring>

#include "models/conv/cdma_math.h"
#include "models/conv/compressed_stream.h"
#include "models/conv/conv_findings.h"
#include "models/layout/weight_layout.h"
#include "models/link/surface_port.h"

namespace npuscope {

namespace {

/// Counts non-finite fp16 elements, and removes NaNs if requested.
void watch_input(std::span<std::uint8_t> bytes, ConvWork& work) {
    const CdmaJob& job = work.job.parts.cdma;
    if (job.in_precision != Precision::Fp16) {
        return;
    }
    const SpecialCount special = count_special(bytes);
    work.counters.data_nan += special.nans;
    work.counters.data_inf += special.infs;
    if (job.flush_nan) {
        flush_nans(bytes);
    }
}

/// The cube as it is fetched.
FeatureCube fetched_cube(const CdmaJob& job) {
    FeatureCube cube = job.feature;
    if (job.mode == ConvMode::Winograd) {  // kernels cover whole atoms, so pad lanes count
        cube.shape.channels = cube.surfaces() * cube.channels_per_atom();
    }
    return cube;
}

/// Calls `use(line, run)` for the lines of an image, plane by plane.
template <class Use>
void for_each_pixel_line(const PixelSurface& surface, const Use& use) {
    for (std::uint32_t plane = 0; plane < surface.format->planes; ++plane) {
        for (std::uint32_t y = 0; y < surface.height; ++y) {
            use(PixelLine{plane, y}, surface.line({plane, y}));
        }
    }
}

LateBytes fetch_pixels(DmaPort& port, const PixelSurface& surface, const Purpose& purpose) {
    std::size_t size = 0;
    for_each_pixel_line(surface, [&](PixelLine, const ByteRun& run) { size += run.bytes.value; });
    LateBytes lines(size);
    std::span<std::uint8_t> left = lines.all();
    for_each_pixel_line(surface, [&](PixelLine, const ByteRun& run) {
        port.fetch_late(run.address, lines, left.first(run.bytes.value), purpose);
        left = left.subspan(run.bytes.value);
    });
    return lines;
}

ElementTensor pixels_of(const CdmaJob& job, std::span<const std::uint8_t> lines) {
    const PixelSurface& surface = job.pixels;
    Tensor<std::uint16_t> codes(surface.shape());
    for_each_pixel_line(surface, [&](PixelLine line, const ByteRun& run) {
        unpack_pixels(surface, line, lines.first(run.bytes.value), codes);
        lines = lines.subspan(run.bytes.value);
    });
    return convert_pixels(codes, job);
}

Purpose weight_purpose(const ConvWork& work, const char* surface) {
    return {surface, work.name, work.job.parts.cdma.weight_in_secondary};
}

std::vector<std::uint8_t> fetch_bytes(DmaPort& port, Address address, std::uint64_t bytes,
                                      const Purpose& purpose) {
    std::vector<std::uint8_t> result(bytes);
    if (bytes > 0) {
        port.fetch_ahead(address, result, purpose);
    }
    return result;
}

void count_weights(ConvWork& work, std::span<const std::uint8_t> stored) {
    if (work.job.precision() == Precision::Fp16) {
        const SpecialCount special = count_special(stored);
        work.counters.weight_nan += special.nans;
        work.counters.weight_inf += special.infs;
    }
}

WeightKernels decode_kernels(const ConvWork& work, const WeightLayout& layout,
                             std::span<const std::uint8_t> bytes) {
    if (work.job.precision() == Precision::Int8) {
        return decode_weights<std::int8_t>(layout, bytes);
    }
    return decode_weights<std::int16_t>(layout, bytes);
}

template <class T>
Tensor<T> join(const Tensor<T>& kept, std::uint32_t kept_lines, const Tensor<T>& fetched) {
    Tensor<T> all({fetched.shape.channels, kept_lines + fetched.shape.height, fetched.shape.width});
    for (std::uint32_t c = 0; c < all.shape.channels; ++c) {
        std::copy_n(&kept.values[kept.index(c, kept.shape.height - kept_lines, 0)],
                    std::size_t{kept_lines} * all.shape.width, &all.at(c, 0, 0));
        std::copy_n(&fetched.values[fetched.index(c, 0, 0)],
                    std::size_t{fetched.shape.height} * all.shape.width, &all.at(c, kept_lines, 0));
    }
    return all;
}

}  // namespace

std::shared_ptr<const ElementTensor> OperandFetch::data(
    DmaPort& port, const std::shared_ptr<ConvWork>& work) const {
    const CdmaJob& job = work->job.parts.cdma;
    const Purpose purpose{"input", work->name, job.data_in_secondary};
    auto data = std::make_shared<ElementTensor>();
    const bool image = job.mode == ConvMode::Image;
    const LateBytes lines = image ? fetch_pixels(port, job.pixels, purpose)
                                  : fetch_lines_late(port, fetched_cube(job), purpose);
    values_.post([this, data, work, lines] { *data = feature(*work, lines.all()); });
    if (job.in_precision == Precision::Fp16) {  // counted
        values_.settle();
    }
    return data;
}

ElementTensor OperandFetch::feature(ConvWork& work, std::span<std::uint8_t> lines) const {
    const CdmaJob& job = work.job.parts.cdma;
    watch_input(lines, work);
    if (job.mode == ConvMode::Image) {
        return pixels_of(job, lines);
    }
    ElementTensor data = unpack_lines(fetched_cube(job), lines);
    convert_feature(data, job);
    if (job.mode == ConvMode::Winograd) {
        return extend_winograd(data, job, datapath_.atom_channels(job.precision));
    }
    return data;
}

std::shared_ptr<const LateKernels> OperandFetch::weights(DmaPort& port,
                                                         const std::shared_ptr<ConvWork>& work,
                                                         BufferedWeights& buffered) {
    auto weights = std::make_shared<LateKernels>();
    assume_weight_ends(*work);
    if (work->job.parts.cdma.compression) {
        weights->kernels = std::make_shared<const WeightKernels>(
            decode_kernels(*work, work->job.weights, decompressed(port, *work)));
        return weights;
    }
    values_.post([this, weights, work, &buffered, bytes = stored(port, *work)] {
        const std::size_t used = work->job.weights.used_bytes().value;
        count_weights(*work, bytes.all().first(used));
        buffered.append(bytes);
        weights->kernels = decoded(*work, buffered.front(used));
    });
    if (work->job.precision() == Precision::Fp16) {  // counted
        values_.settle();
    }
    return weights;
}

std::shared_ptr<const WeightKernels> OperandFetch::decoded(const ConvWork& work,
                                                           std::span<const std::uint8_t> bytes) {
    const WeightLayout& layout = work.job.weights;
    if (!decoded_.kernels || layout != decoded_.layout ||
        !std::ranges::equal(bytes, decoded_.bytes)) {
        decoded_.layout = layout;
        decoded_.bytes.assign(bytes.begin(), bytes.end());
        decoded_.kernels =
            std::make_shared<const WeightKernels>(decode_kernels(work, layout, bytes));
    }
    return decoded_.kernels;
}

void OperandFetch::announce_weights(ConvWork& work, BufferedWeights& buffered) const {
    assume_weight_ends(work);
    const LateBytes bytes(
        round_up(work.job.parts.cdma.weight_bytes.value, work.buffer.entry.value));
    std::ranges::fill(bytes.all(), std::uint8_t{0});
    buffered.append(bytes);
}

WeightKernels OperandFetch::group_weights(DmaPort& port, ConvWork& work, BufferedWeights& buffered,
                                          std::size_t announced, std::uint32_t group) const {
    const CdmaJob& job = work.job.parts.cdma;
    const std::vector<std::uint64_t>& ends = work.buffer.weight_ends;
    const std::uint64_t begin = group == 0 ? 0 : ends[group - 1];
    std::vector<std::uint8_t> bytes(ends[group] - begin);
    port.fetch(job.weight_address + Bytes(begin), bytes, weight_purpose(work, "weights"));
    const std::uint64_t used = work.job.weights.used_bytes().value;
    count_weights(work,
                  std::span(bytes).first(std::min(ends[group], used) - std::min(begin, used)));
    buffered.put(announced + begin, bytes);

    WeightLayout layout = work.job.weights;
    const std::uint64_t offset = layout.group_offset(group).value;
    const std::uint64_t size = layout.group_bytes(group).value;
    layout.shape.kernels = layout.kernels_of_group(group);
    return decode_kernels(work, layout, buffered.front(offset + size).subspan(offset));
}

/// Whole entries of the buffer.
LateBytes OperandFetch::stored(DmaPort& port, const ConvWork& work) const {
    const CdmaJob& job = work.job.parts.cdma;
    const Purpose purpose = weight_purpose(work, "weights");
    const std::size_t used = work.job.weights.used_bytes().value;
    const std::size_t read = work.buffer.unused_weights > 0 ? job.weight_bytes.value : used;
    LateBytes bytes(round_up(job.weight_bytes.value, work.buffer.entry.value));
    port.fetch_late(job.weight_address, bytes, bytes.all().first(used), purpose);
    if (read > used) {
        port.peek_late(job.weight_address + Bytes(used), bytes,
                       bytes.all().subspan(used, read - used), purpose);
    }
    std::ranges::fill(bytes.all().subspan(read), std::uint8_t{0});
    return bytes;
}

std::vector<std::uint8_t> OperandFetch::decompressed(DmaPort& port, ConvWork& work) const {
    const CdmaJob& job = work.job.parts.cdma;
    const WeightLayout& layout = work.job.weights;
    const std::vector<std::uint8_t> size_bytes = fetch_bytes(
        port, job.compression->sizes, 4ULL * layout.groups(), weight_purpose(work, "WGS"));
    std::vector<std::uint32_t> sizes(layout.groups());
    std::memcpy(sizes.data(), size_bytes.data(), size_bytes.size());
    const std::vector<std::uint8_t> mask = fetch_bytes(
        port, job.compression->mask, used_mask_bytes(layout).value, weight_purpose(work, "WMB"));
    const CompressedGroups groups(layout, mask);
    const std::vector<std::uint8_t> values = fetch_bytes(
        port, job.weight_address, groups.weight_bytes(), weight_purpose(work, "weights"));
    count_weights(work, values);
    DecompressedWeights result = decompress_weights(layout, {values, mask, sizes});
    for (Diagnostic& finding :
         compression_findings(layout, mask, result.faults, compressed_places(job))) {
        finding.operation = work.name;
        log_.add(std::move(finding));
    }
    work.buffer.weight_ends = groups.weight_ends;
    work.buffer.weight_ends.back() = stored_weight_bytes(groups.weight_bytes()).value;
    for (std::size_t group = 0; group < groups.mask_ends.size(); ++group) {
        work.buffer.mask_ends[group] = divide_up(groups.mask_ends[group], 8);
    }
    work.buffer.mask_ends.back() = stored_mask_bytes(layout).value;
    return std::move(result.stored);
}

void assume_weight_ends(ConvWork& work) {
    const WeightLayout& layout = work.job.weights;
    const Bytes bytes = work.job.parts.cdma.weight_bytes;
    BufferUse& use = work.buffer;
    use.weight_ends.clear();
    use.mask_ends.clear();
    if (work.job.parts.cdma.compression) {
        GroupEnds ends = even_group_ends(layout, bytes);
        use.weight_ends = std::move(ends.weights);
        use.mask_ends = std::move(ends.mask);
        return;
    }
    for (std::uint32_t group = 1; group <= layout.groups(); ++group) {
        const bool last = group == layout.groups();
        use.weight_ends.push_back((last ? bytes : layout.group_offset(group)).value);
    }
}

ElementTensor joined_lines(const ElementTensor& kept, std::uint32_t kept_lines,
                           const ElementTensor& fetched) {
    return std::visit(
        [&](const auto& tensor) -> ElementTensor {
            return join(std::get<std::decay_t<decltype(tensor)>>(kept), kept_lines, tensor);
        },
        fetched);
}

}  // namespace npuscope
