// SPDX-License-Identifier: Apache-2.0
// One conversion of a tensor between files' bytes: which layouts on both sides, and what happens to
// the values between them (nothing, float to fixed point, or back).
//
//     flow A   float, ONNX order --quantise--> fixed --relayout--> NPU data
//     flow B   NPU data --relayout--> fixed --dequantise--> float, ONNX order
//
// source: Kneron page "Convert ONNX & NPU Data"
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/arith/quantise.h"
#include "models/layout/stride_descriptor.h"
#include "sim/config/npy_file.h"
#include "sim/convert/layout_spec.h"

namespace npuscope {

/// `scale=1.5/1.25,radix=6/5,axis=C,math=float64`: lists are joined by '/', one number serves all.
struct Quantisation {
    std::vector<float> factors;
    char axis = ' ';  ///< that several factors belong to
    QuantiseMath math = QuantiseMath::Float32;
};

/// ConfigError that quotes the item.
Quantisation parse_quantisation(const std::string& text);

struct ConversionRequest {
    LayoutSpec from;
    LayoutSpec to;
    LogicalShape shape;
    const ElementRow* type = nullptr;  ///< of the values on the NPU's side
    std::optional<Quantisation> quantise;
    std::optional<Quantisation> dequantise;
    std::vector<std::uint64_t> stride_npu;  ///< of the Kneron side; empty: by the layout
    GroupRule group_rule = GroupRule::Reader;
};

struct ConversionPlan {
    Layout source;
    Layout target;
    const ElementRow* source_type = nullptr;
    const ElementRow* target_type = nullptr;
    std::optional<Quantisation> quantise;
    std::optional<Quantisation> dequantise;
    std::vector<std::string> warnings;
};

/// ConfigError with the numbers for layouts, types and strides that cannot be.
ConversionPlan plan_conversion(const ConversionRequest& request);

/// `to` holds zeros and target.bytes bytes. ConfigError where a value is not a number.
void convert(const ConversionPlan& conversion, std::span<const std::uint8_t> from,
             std::span<std::uint8_t> to, const std::function<void(std::uint64_t)>& progress);

}  // namespace npuscope
