// SPDX-License-Identifier: Apache-2.0
// Weights that are more than reordered: transformed for Winograd convolution, or compressed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "models/arith/winograd.h"
#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/convert/conversion.h"
#include "sim/convert/mapped_file.h"

namespace npuscope {

bool takes_winograd(const ConversionRequest& request) {
    return request.to.row != nullptr && request.to.row->name == "weight_winograd" &&
           request.shape.extent('R') == 3 && request.shape.extent('S') == 3;
}

LogicalShape winograd_shape(const LogicalShape& shape, const ElementRow& type) {
    const std::uint64_t step = 32 / type.bytes;  // source: NVDLA format page, 32 bytes of channels
    return {
        {{'K', shape.extent('K')}, {'C', round_up(shape.extent('C'), step)}, {'R', 4}, {'S', 4}}};
}

WinogradKernels winograd_kernels(const LogicalShape& shape, const ElementRow& type,
                                 std::span<const std::uint8_t> values) {
    const auto extent = [&](char axis) { return static_cast<std::uint32_t>(shape.extent(axis)); };
    Kernels<double> kernels({extent('K'), extent('C'), extent('R'), extent('S')});
    kernels.values = read_elements(type.type, values);
    LogicalShape shape_after = winograd_shape(shape, type);
    const auto channels = static_cast<std::uint32_t>(shape_after.extent('C'));
    const Kernels<double> patches =
        to_winograd(extend_for_winograd(kernels, {.channels = channels}));
    const NumberRange range = range_of(type.type);
    std::vector<double> numbers = patches.values;
    for (double& number : numbers) {
        number = is_float(type.type) ? number : std::trunc(number);
        const bool overflows =
            std::isfinite(number) && !std::isfinite(stored_number(type.type, number));
        if (number < range.low || number > range.high || overflows) {
            throw ConfigError(
                fmt::format("a transformed weight is {}, beyond {}", number, type.name),
                "transformed kernels can be up to 9/4 of the largest weight: scale the weights "
                "down first");
        }
    }
    std::string bytes;
    append_elements(type.type, numbers, bytes);
    return {std::move(shape_after), {bytes.begin(), bytes.end()}};
}

ConversionPlan plan_winograd(const ConversionRequest& request, const ElementRow& type) {
    return plan_conversion({.from = parse_layout_spec("kcrs"),
                            .to = request.to,
                            .shape = winograd_shape(request.shape, type),
                            .type = &type,
                            .quantise = {},
                            .dequantise = {},
                            .stride_npu = {}});
}

void require_compressible(const FileConversion& job) {
    if (job.wmb.empty() || job.wgs.empty()) {
        throw ConfigError("compressed weights need both a mask and group sizes",
                          "give --wmb and --wgs");
    }
    const auto weights = [](const LayoutSpec& spec) {
        return spec.row != nullptr && spec.row->family == "nvdla weights";
    };
    if (weights(job.request.from) && !weights(job.request.to)) {
        throw ConfigError(
            "convert compresses weights, but does not expand them: --wmb and --wgs are outputs",
            "describe the three surfaces as a memory image (docs/images.md) and write the weights "
            "with `npuscope check IMAGE --dump SURFACE=FILE.npy`");
    }
}

namespace {

/// Values as a file: an array if its name says so.
struct CompressedFile {
    std::filesystem::path path;
    const ElementRow& type;
    std::span<const std::uint8_t> bytes;

    std::string text() const {
        const std::array shape{std::uint64_t{bytes.size() / type.bytes}};
        std::string text = names_npy(path) ? npy_header(type, shape) : std::string();
        text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return text;
    }
};

/// All of them, or none. Streams come first, since what they took cannot be taken back.
void write_together(std::span<const CompressedFile> files) {
    std::vector<std::unique_ptr<MappedOutput>> outputs;
    for (const CompressedFile& file : files) {
        if (!is_stream(file.path)) {
            const std::string text = file.text();
            outputs.push_back(std::make_unique<MappedOutput>(file.path, text.size()));
            std::ranges::copy(text, outputs.back()->bytes().begin());
        }
    }
    for (const CompressedFile& file : files) {
        if (is_stream(file.path)) {
            write_atomically(file.path, file.text());
        }
    }
    for (const auto& output : outputs) {
        output->commit();
    }
}

}  // namespace

std::uint64_t write_compressed(const FileConversion& job, const ConversionPlan& conversion,
                               std::span<const std::uint8_t> stored,
                               const std::filesystem::path& output) {
    const LayoutRow* row = job.request.to.row;
    const std::optional<WeightLayout> weights =
        row == nullptr ? std::nullopt
                       : stored_weights(*row, {conversion.target.shape, conversion.target.element,
                                               job.request.to.parameters});
    if (!weights) {
        throw ConfigError(fmt::format("layout {} is not a weight layout of a convolution",
                                      conversion.target.name),
                          "weight_dc, weight_image, weight_image_post or weight_winograd");
    }
    const CompressedWeights compressed = compress_weights(*weights, stored);
    const std::span<const std::uint8_t> sizes(
        reinterpret_cast<const std::uint8_t*>(compressed.sizes.data()),
        compressed.sizes.size() * sizeof(std::uint32_t));
    const std::array files{CompressedFile{job.wmb, find_element("uint8"), compressed.mask},
                           CompressedFile{job.wgs, find_element("uint32"), sizes},
                           CompressedFile{output, *conversion.target_type, compressed.weights}};
    write_together(files);
    return files.back().text().size();
}

}  // namespace npuscope
