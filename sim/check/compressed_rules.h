// SPDX-License-Identifier: Apache-2.0
// Compressed weights: one mask bit an element in the order of the uncompressed weights, the
// non-zero values one after the other, and for each kernel group the bytes of its values. The three
// must agree, in a described image and in a program that loads them.
// source: NVDLA format page; nv_full C model
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sim/check/image_surface.h"
#include "sim/check/memory_rules.h"

namespace npuscope {

struct PlacedCompression {
    const PlacedSurface& weights;
    const PlacedSurface& mask;
    const PlacedSurface& sizes;
};

/// The loaded bytes of a run; nothing where one is missing.
using ReadImage = std::function<std::optional<std::vector<std::uint8_t>>(const ByteRun& run)>;

void check_compressed(const PlacedCompression& surfaces, const ReadImage& read, DiagnosticLog& log);
/// The same for an operation, as far as the program itself loads what it reads.
void check_compressed(const CheckedOperation& operation, const MemoryRules& memory,
                      DiagnosticLog& log);

/// A finding about a surface and one of its registers.
Diagnostic image_finding(const PlacedSurface& surface, const char* id, const std::string& message,
                         const char* register_name, const std::string& remedy);

}  // namespace npuscope
