// SPDX-License-Identifier: Apache-2.0
// A network as a shape table: its input and its layers in order of execution. Weights and images
// are not part of it; whoever runs it makes them up from the seed. A file looks like
//
//     name: tiny
//     input: {channels: 3, height: 32, width: 32}
//     layers:
//       - {name: conv1, kind: conv, kernels: 16, kernel: 3, padding: 1, relu: true}
//       - {name: pool1, kind: max_pool, kernel: 2, stride: 2, output: 16x16x16}
//
// Further inputs are layers of the kind `input`; any results can be outputs.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/describe.h"
#include "models/layout/shape.h"
#include "sim/model/layer.h"
#include "sim/model/layer_numbers.h"

namespace npuscope {

/// Uint8: numbers from 0 to 255, of which 128 is taken on their way to the multipliers: by the NPU
/// where they lie in memory as pixels, else before they get there.
enum class InputType { Int8, Uint8 };

template <>
struct EnumNames<InputType> {
    static constexpr std::array names{std::pair{InputType::Int8, std::string_view("int8")},
                                      std::pair{InputType::Uint8, std::string_view("uint8")}};
};

struct NetworkInput {
    std::uint32_t channels = 0;
    std::uint32_t height = 0;
    std::uint32_t width = 0;
    std::string layout{};  ///< of its image in files; empty: as the NPU has it
    InputType type = InputType::Int8;

    Shape shape() const { return {channels, height, width}; }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("channels", self.channels, "channels of the input");
        visit.required("height", self.height, "rows of the input");
        visit.required("width", self.width, "columns of the input");
        visit.field("layout", self.layout,
                    "layout of the input image in files; empty: the NPU's usual one. A pixel "
                    "format (T_A8B8G8R8) is also how it lies in the NPU's memory");
        visit.field(
            "type", self.type,
            "of the input's elements; of uint8 128 is subtracted, by the NPU where they are "
            "pixels in its memory");
    }
};

struct Network {
    std::string name;
    std::string file;  ///< as messages name it
    std::uint32_t seed = 1;
    std::uint32_t zeros = 0;
    NetworkInput input;
    std::vector<Layer> layers;
    std::string output_layout{};          ///< of its results in files; empty: as the NPU has it
    std::vector<LayerNumbers> numbers{};  ///< a model's, one entry per layer; empty: made up
    std::vector<std::string> outputs{};   ///< layers; empty: those that nobody reads

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("name", self.name, "name of the network in results");
        visit.field("seed", self.seed, "seed of the weights and images that are made up");
        visit.field("zeros", self.zeros,
                    "percent of the made-up weights that are zero, where a layer says nothing");
        visit.required("input", self.input, "shape of the network's input");
        visit.required("layers", self.layers, "the layers, in order of execution");
        visit.field("output_layout", self.output_layout,
                    "layout of the output images in files; empty: the NPU's usual one");
        visit.field("outputs", self.outputs,
                    "layers whose results stay in memory to the end; default: those that no other "
                    "layer reads");
    }
};

/// ConfigError with the place of whatever is wrong with the text; shapes are not looked at yet.
Network parse_network(const std::string& text, const std::string& file);
/// By the file's name: networks end in .yaml or .yml.
bool is_network_file(const std::filesystem::path& path);
Network read_network(const std::filesystem::path& path);

}  // namespace npuscope
