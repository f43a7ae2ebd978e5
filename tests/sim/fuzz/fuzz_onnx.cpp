// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>

#include "models/base/error.h"
#include "sim/compile/tinpu/layer_plan.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace npuscope;
    try {
        const std::string bytes(reinterpret_cast<const char*>(data), size);
        const Graph graph = finish_graph(parse_onnx(bytes, "fuzz.onnx"));
        plan_layers(graph, LayerNpuConfig{});
    } catch (const ConfigError&) {
        return 0;
    }
    return 0;
}
