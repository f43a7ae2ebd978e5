// SPDX-License-Identifier: Apache-2.0
// Weights that are more than reordered: transformed for Winograd convolution, or compressed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "models/arith/winograd.h"
#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/convert/conversion.h"

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
        if (number < range.low || number > range.high) {
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

std::uint64_t write_compressed(const FileConversion& job, const ConversionPlan& conversion,
                               std::span<const std::uint8_t> stored,
                               const std::filesystem::path& output) {
    if (job.wmb.empty() || job.wgs.empty()) {
        throw ConfigError("compressed weights need both a mask and group sizes",
                          "give --wmb and --wgs");
    }
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
    const auto write = [](const std::filesystem::path& file, const auto& values) {
        std::string bytes(values.size() * sizeof(values[0]), '\0');
        std::memcpy(bytes.data(), values.data(), bytes.size());
        write_atomically(file, bytes);
    };
    write(job.wmb, compressed.mask);
    write(job.wgs, compressed.sizes);
    write(output, compressed.weights);
    return compressed.weights.size();
}

}  // namespace npuscope
