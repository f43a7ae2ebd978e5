// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/tensor_files.h"

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/base/error.h"
#include "sim/config/file_name.h"
#include "sim/config/output_folder.h"
#include "sim/convert/conversion.h"

namespace npuscope {
namespace {

LogicalShape logical(const Shape& shape) {
    return {{{'N', 1}, {'C', shape.channels}, {'H', shape.height}, {'W', shape.width}}};
}

/// The declared layout; row-major if there is none.
Layout declared(const std::string& text, const Shape& shape, const Network& network,
                const char* which) {
    if (text.empty()) {
        return plain_layout(logical(shape), 1);
    }
    try {
        return parse_layout_spec(text).bind_to(logical(shape), 1);
    } catch (const ConfigError& error) {
        throw ConfigError(Place{network.file, 0, 0},
                          fmt::format("the network's {}: {}", which, error.sentence()),
                          error.remedy());
    }
}

}  // namespace

TensorFiles table_files(const Network& network, const Graph& graph) {
    TensorFiles files;
    const NetworkInput& input = network.input;
    const auto add_input = [&](const std::string& name, Layout file, InputType type) {
        Layout memory = plain_layout(file.shape, 1);
        files.inputs.emplace(name, InputSurface{name, name, std::move(file), std::move(memory),
                                                std::string(enum_name(type))});
    };
    add_input("input", declared(input.layout, input.shape(), network, "input"), input.type);
    const std::vector<LayerShapes> shapes = network_shapes(network);
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
        if (network.layers[i].kind == LayerKind::Input) {
            add_input(network.layers[i].name, plain_layout(logical(shapes[i].output), 1),
                      InputType::Int8);
        }
    }
    const std::vector<std::size_t> outputs = network_outputs(network, shapes);
    NPU_CHECK(outputs.size() == graph.outputs.size(), "the graph has the table's outputs");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        files.names[graph.outputs[i]] = network.layers[outputs[i]].name;
        files.outputs[graph.outputs[i]] =
            declared(network.output_layout, shapes[outputs[i]].output, network, "output");
    }
    return files;
}

Diagnostics write_outputs(const GraphInputs& outputs, const TensorFiles& files, std::size_t cases,
                          const std::filesystem::path& folder) {
    Diagnostics notes;
    OutputFolder out(folder);
    for (const auto& [tensor, value] : outputs) {
        const auto named = files.names.find(tensor);
        const std::string& name = named == files.names.end() ? tensor : named->second;
        const std::string array = file_name(name, ".npy");
        const std::string raw = file_name(name, ".bin");
        out.write(array, npy_bytes(value));
        const auto layout = files.outputs.find(tensor);
        const ElementType type = value.type.element;
        const bool bytes = type == ElementType::Int8 || type == ElementType::Uint8;
        if (bytes && layout != files.outputs.end()) {
            const MapCodes codes = plain_codes(type == ElementType::Int8);
            out.write(raw, map_images(value, cases, {tensor, layout->second, codes}));
            continue;
        }
        out.remove(raw);
        if (bytes) {
            notes.push_back(
                {.severity = Severity::Note,
                 .id = "no_raw_output",
                 .sentence = fmt::format("output '{}' is written as {} only: the host computes it, "
                                         "or the NPU has no layout for it",
                                         tensor, array)});
        }
    }
    out.commit();
    return notes;
}

}  // namespace npuscope
