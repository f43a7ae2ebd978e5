// SPDX-License-Identifier: Apache-2.0
// Inputs of the conversion fuzzers: headers of .npy files, and conversions as six lines of text
// (from, to, shape, type, quantisation, strides), of which small ones are carried out.
#pragma once

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <string>

#include "models/base/error.h"
#include "models/layout/relayout.h"
#include "sim/config/npy_file.h"
#include "sim/convert/conversion.h"

namespace npuscope::fuzz {

inline const std::string conversion_seed =
    "N C/3 H:64 W^4 C%3\n1W16C8B:chip=730\n1x20x3x5\nint8\n\n160,1,80,16\n";
inline const std::string quantisation_seed =
    "nchw\n16W1C8BHL\n1x2x3x20\nint16\nscale=1.5/0.75,radix=6/-2,axis=C,math=float64\n\n";
inline const std::string repacking_seed =
    "feature:atom=8,line_stride=64\nncnn:elempack=4,padding=1\n1x10x3x5\nint8\n\n\n";

inline std::string npy_seed() {
    const std::array<std::uint64_t, 3> shape{2, 3, 5};
    return npy_header(find_element("int16"), shape) + std::string(60, 'x');
}

inline void parse_npy(const std::string& text) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    const NpyHeader header = read_npy_header({bytes, text.size()}, "fuzz.npy");
    if (header.elements() * header.type->bytes + header.data_begin != text.size()) {
        throw std::logic_error("a header was taken that does not fit its file");
    }
}

inline ConversionRequest request_of(const std::string& text) {
    std::array<std::string, 6> lines;
    std::istringstream stream(text);
    for (std::string& line : lines) {
        std::getline(stream, line);
    }
    ConversionRequest request;
    request.from = parse_layout_spec(lines[0]);
    request.to = parse_layout_spec(lines[1]);
    const auto extents = static_cast<std::size_t>(std::ranges::count(lines[2], 'x')) + 1;
    request.shape = parse_shape(lines[2], request.from.axes_for(extents));
    request.type = &find_element(lines[3]);
    if (!lines[4].empty()) {
        request.quantise = parse_quantisation(lines[4]);
    }
    std::istringstream strides(lines[5]);
    for (std::uint64_t stride = 0; strides >> stride; strides.ignore()) {
        request.stride_npu.push_back(stride);
    }
    return request;
}

/// Small conversions must produce what the reference path produces.
inline void parse_conversion(const std::string& text) {
    const ConversionPlan conversion = plan_conversion(request_of(text));
    const Layout& source = conversion.source;
    const Layout& target = conversion.target;
    if (source.bytes > 65536 || target.bytes > 65536 || source.shape.elements() > 16384) {
        return;
    }
    std::vector<std::uint8_t> from(source.bytes), to(target.bytes, 0), plain(target.bytes, 0);
    for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] = static_cast<std::uint8_t>(i * 37 % 113);
    }
    convert(conversion, from, to, {});
    if (conversion.quantise || conversion.dequantise) {
        return;
    }
    relayout_plain(source, from, target, plain);
    if (to != plain) {
        throw std::logic_error("the engine and the plain path differ");
    }
}

}  // namespace npuscope::fuzz
