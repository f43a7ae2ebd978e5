// SPDX-License-Identifier: Apache-2.0
// Values of a loadable's tensors and the bytes of their buffers: feature maps in atoms, and pixels
// of whole bytes. Strides are the descriptor's.
//
//   feature  c / A * surface stride + h * line stride + w * atom + c % A * bytes; A = atom / bytes
//   pixels   h * line stride + (w * components + position of c in the format) * bytes
//
// source: NVDLA sw, umd/apps/runtime/DlaImage.cpp; formats: models/layout/pixel_format.h
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "sim/loadable/loadable_program.h"
#include "sim/model/graph.h"

namespace npuscope {

/// Tensors that users bind, without addresses.
std::vector<BoundTensor> bound_tensors(const Loadable& loadable, bool inputs, Bytes memory_atom);

/// N C H W and the element type. ConfigError where the descriptor has none that is known.
TensorType tensor_type(const LoadableTensor& tensor);

/// Whether type and pixel format say where elements are: the conditions of tensor_bytes() and
/// tensor_value() that do not depend on sizes.
bool has_elements(const LoadableTensor& tensor);
/// ConfigError without a place where the elements of such a tensor do not fit its buffer.
void check_elements(const BoundTensor& bound);

/// The bytes of the elements of such a tensor, line by line with all lanes of their atoms.
std::vector<ByteRun> bytes_of_elements(const BoundTensor& bound);

/// The layout after a surface's type; empty where no byte layout can express it.
std::string tensor_layout_text(const LoadableTensor& tensor, Bytes memory_atom);

/// The buffer that holds these values; bytes of no element are 0. ConfigError without a place where
/// values do not fit the type, or elements the buffer.
std::vector<std::uint8_t> tensor_bytes(const BoundTensor& bound, const GraphValue& value);
/// The values that a buffer holds.
GraphValue tensor_value(const BoundTensor& bound, std::span<const std::uint8_t> bytes);

// Dumps of the runtime's test program, `DIMG`: a header and the elements, channel by channel.
//
//     DIMG version format width height channels line surface size    4 bytes each, then elements
//
// Elements are at the offsets of the dump's own format, whatever the NPU's atoms.

/// Bytes of the dumped buffer, and what they are.
struct DumpedBytes {
    std::vector<std::uint64_t> places;  ///< of each element's first byte
    std::vector<std::uint8_t> elements;
    std::uint32_t element = 1;  ///< bytes
    Sizes sizes;                ///< channels, height, width
};
/// ConfigError where it is truncated or of an unknown format.
DumpedBytes parse_tensor_dump(std::span<const std::uint8_t> file, const std::string& name);

}  // namespace npuscope
