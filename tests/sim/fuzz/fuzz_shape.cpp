// SPDX-License-Identifier: Apache-2.0
// Models by their shapes only, floats treated as integers, and written again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "models/base/error.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/onnx_writer.h"
#include "sim/model/prepare_graph.h"
#include "sim/quantise/quantise_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace npuscope;
    try {
        const std::string bytes(reinterpret_cast<const char*>(data), size);
        Graph graph = parse_onnx(bytes, "fuzz.onnx", {{"N=2", "x=1x3x8x8"}, true});
        constexpr std::size_t most = std::size_t{1} << 22U;  // no test of patience and memory
        std::size_t elements = 0;
        for (const auto& [name, value] : graph.constants) {
            elements += value.numbers.size();
        }
        if (elements > most) {
            return 0;
        }
        prepare_graph(graph);
        quantise_by_shape(graph);
        onnx_bytes(finish_graph(graph, ScaleForm::Rounded), "0");
    } catch (const ConfigError&) {
        return 0;
    }
    return 0;
}
