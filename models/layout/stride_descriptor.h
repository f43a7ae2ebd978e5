// SPDX-License-Identifier: Apache-2.0
// Kneron's version-2 tensor descriptor: one stride in scalars per ONNX axis.
//
//     plain and compact layouts     scalar = sum of index * stride_npu
//     1W16C8B, 1W16C8BHL            scalar = the same + (c / 16) * (G - 16),
//                                            c = the index on the axis of stride 1
//
// G, the channel-group stride, is not in the descriptor. The vendor's readers take the maximum of
// stride * extent over the axes whose stride is not 1. That is wrong where the batch stride covers
// all groups or unit axes have stride 1; the maximum over axes longer than 1 is wrong where a
// single row is padded. Where the two differ the descriptor is ambiguous and this is reported.
// source: Kneron page "Convert ONNX & NPU Data"; one subtraction of 16: C readers, computed cases
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/layout/layout.h"

namespace npuscope {

struct StrideDescriptor {
    std::string name;                       ///< of the layout
    LogicalShape shape;                     ///< ONNX axes
    std::vector<std::uint64_t> stride_npu;  ///< scalars, one for each axis
    std::uint32_t element = 1;
    ElementCode code = ElementCode::Plain;
    bool outer_groups = false;  ///< strides describe one group of 16 channels
};

enum class GroupRule : std::uint8_t {
    Reader,  ///< over axes whose stride is not 1, like the vendor's readers
    Extent,  ///< over axes longer than 1, without the channels
};

struct GroupStrides {
    std::size_t channel_axis = 0;
    std::uint64_t reader = 0;
    std::uint64_t extent = 0;
};

/// ConfigError unless exactly one axis longer than 1 has stride 1 (or the tensor has one element).
GroupStrides group_strides(const StrideDescriptor& descriptor);

struct DescriptorLayout {
    Layout layout;
    std::string ambiguity;  ///< empty where both rules agree
};

/// Rule Extent replaces Reader where Reader would make elements overlap; the ambiguity says so.
/// ConfigError with the numbers for impossible strides.
DescriptorLayout bind_descriptor(const StrideDescriptor& descriptor,
                                 GroupRule rule = GroupRule::Reader);

/// The strides of a layout's name and shape in a descriptor's form; empty where there is none.
std::vector<std::uint64_t> strides_of(const Layout& layout);

}  // namespace npuscope
