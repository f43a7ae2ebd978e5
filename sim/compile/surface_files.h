// SPDX-License-Identifier: Apache-2.0
// A network's input and output images in files, in the layouts that network and NPU declare:
//
//     DIR/input.bin            bytes in the declared layout
//     DIR/input.npy            int8, channels x rows x columns
//     DIR/<input layer>.bin    the same for further inputs
//     DIR/<layer>.bin, .npy    of every output, written when the run is over
//
// The layout is the network's own (`input: {.., layout: 4W4C8B}`, `output_layout:`), otherwise the
// first of the NPU's that can hold the shape, otherwise row-major. Arrays have the input's type.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "models/layout/feature_cube.h"
#include "models/layout/layout.h"
#include "models/npu/npu_config.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/model/graph.h"
#include "sim/model/network.h"

namespace npuscope {

struct InputSurface {
    std::string name;   ///< of its files
    std::string image;  ///< of the plan
    Layout file;
    Layout memory;          ///< of the planned image
    std::string type;       ///< `int8` or `uint8`
    std::int32_t zero = 0;  ///< memory holds values minus this
};

struct OutputSurface {
    std::string name;  ///< of its files
    Layout file;
    Layout memory;
    ByteRun bytes;  ///< of the layer's result
};

struct NetworkSurfaces {
    std::vector<InputSurface> inputs;  ///< the network's input first
    std::vector<OutputSurface> outputs;

    std::vector<ByteRun> output_bytes() const;
};

/// ConfigError where a declared layout is not one of the NPU's or cannot hold the shape.
NetworkSurfaces network_surfaces(const Network& network, const Plan& plan,
                                 const SurfaceConfig& config);
/// The inputs only.
std::vector<InputSurface> input_surfaces(const Network& network, const Plan& plan,
                                         const SurfaceConfig& config);
std::vector<OutputSurface> output_surfaces(const Network& network, const Plan& plan,
                                           const SurfaceConfig& config);

/// The layout of a cube or an image as the machine holds it, as parse_layout_spec() reads it.
std::string memory_layout_text(const StoredCube& stored);
/// The same for a shape, N C H W.
Layout memory_layout(const StoredCube& stored, const Shape& shape);

/// DIR/<input>.bin or .npy as `image`, in the layout of the NPU's memory.
void read_input(const InputSurface& surface, const std::filesystem::path& folder,
                std::span<std::uint8_t> image);

/// Replaces the synthetic values in the plan's input images by those of DIR/<input>.bin or .npy;
/// lanes that belong to no channel become 0. ConfigError with the numbers where a file does not
/// fit.
void load_inputs(const NetworkSurfaces& surfaces, const std::filesystem::path& folder, Plan& plan);

/// Writes both files of every output. `memory`: the contents of each surface's bytes.
void save_outputs(const NetworkSurfaces& surfaces,
                  const std::vector<std::vector<std::uint8_t>>& memory,
                  const std::filesystem::path& folder);

// Feature maps between the host, which has values, and the NPU, which has int8 bytes in a memory
// layout. The only place where one is converted to the other.

/// How values are stored as bytes: each minus a zero. An 8-bit range has at most 256 values; 16-bit
/// maps have no zero.
struct MapCodes {
    NumberRange range;
    std::int32_t zero = 0;
    ElementType element = ElementType::Int8;
};
/// Element type of the maps of an NPU with registers.
ElementType map_element(Precision precision);
/// For 16-bit maps.
MapCodes wide_codes(Precision precision);
/// For the int8 maps that an NPU's layers read and write.
MapCodes stored_codes(std::int32_t zero);
/// Without conversion, int8 or uint8.
MapCodes plain_codes(bool is_signed);

/// A map in the NPU's memory and the tensor that it holds.
struct MemoryMapOf {
    const std::string& tensor;
    const Layout& layout;
    MapCodes codes;
};

/// Writes a tensor's values; lanes that belong to no channel become 0. ConfigError without a place
/// where a value is out of range.
void store_map(const GraphValue& value, const MemoryMapOf& map, std::span<std::uint8_t> memory);

/// The bytes of `tensors` tensors, which follow each other along the first dimension of `value`.
std::string map_images(const GraphValue& value, std::size_t tensors, const MemoryMapOf& map);

/// The values in memory, as a tensor of this type.
GraphValue load_map(const TensorType& type, const MemoryMapOf& map,
                    std::span<const std::uint8_t> memory);

}  // namespace npuscope
