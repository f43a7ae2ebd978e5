// SPDX-License-Identifier: Apache-2.0
// Conversions from file to file: .npy arrays and raw bytes, mapped, so that neither has to fit
// memory. The output is there in full or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/convert/conversion.h"

namespace npuscope {

/// What the command line says; what it leaves open a .npy file may tell.
struct FileConversion {
    ConversionRequest request;  ///< shape and type may be missing
    std::string axes;           ///< letters of the shape; empty: the usual ones
    std::string type;           ///< empty: the file's (of quantised values: int8)
    std::function<void(double share)> progress{};
};

struct ConvertedFile {
    ConversionPlan conversion;
    std::uint64_t bytes = 0;  ///< of the output
};

/// ConfigError with the numbers where the input's size, shape or type cannot be.
ConvertedFile convert_file(const FileConversion& job, const std::filesystem::path& input,
                           const std::filesystem::path& output);

}  // namespace npuscope
