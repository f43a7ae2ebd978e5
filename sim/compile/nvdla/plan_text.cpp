// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/plan_text.h"

#include <fmt/format.h>

#include "sim/config/json_writer.h"
#include "sim/config/text_table.h"
#include "sim/model/network_shapes.h"

namespace npuscope {
namespace {

/// `5 + 27` where the operation uses the convolution buffer.
std::string banks_text(const Operation& operation) {
    const auto* conv = std::get_if<ConvOperation>(&operation.job);
    if (conv == nullptr) {
        return "";
    }
    const BankSplit& banks = conv->conv.cdma.banks;
    return fmt::format("{} + {}", banks.data, banks.weight);
}

std::string percent_more(Cycles other, Cycles chosen) {
    const double ratio = static_cast<double>(other.value) / static_cast<double>(chosen.value);
    return fmt::format("{:+.1f} %", 100.0 * (ratio - 1.0));
}

}  // namespace

std::string plan_table(const Plan& plan) {
    TextTable table({{"layer", Align::Left},
                     {"kind", Align::Left},
                     {"result", Align::Right},
                     {"MACs", Align::Right},
                     {"operations", Align::Right},
                     {"banks", Align::Right},
                     {"predicted", Align::Right},
                     {"address", Align::Right}});
    for (const PlannedLayer& layer : plan.layers) {
        table.add_row({layer.name, std::string(enum_name(layer.kind)),
                       shape_text(layer.stored.cube.shape), with_separators(layer.macs),
                       std::to_string(layer.operations),
                       banks_text(plan.operations[layer.first_operation]),
                       layer.cut ? with_separators(layer.cut->predicted.value) : "",
                       to_hex(layer.stored.cube.base)});
    }
    return table.text();
}

std::string plan_reasons(const Plan& plan) {
    std::string text;
    for (const PlannedLayer& layer : plan.layers) {
        if (!layer.cut) {
            text += fmt::format("{}: {} of the {}, nothing to choose\n", layer.name,
                                counted(layer.operations, "operation"),
                                layer.kind == LayerKind::Add ? "SDP" : "PDP");
            continue;
        }
        const Cycles predicted = layer.cut->predicted;
        text += fmt::format("{}: {}: {} cycles\n", layer.name, layer.cut->choice,
                            with_separators(predicted.value));
        for (const PlanAlternative& other : layer.cut->alternatives) {
            const std::string why = !other.refused.empty() ? "; " + other.refused
                                    : other.predicted < predicted
                                        ? ", too little for more operations"
                                        : "";
            text += fmt::format("    {}: {} cycles ({}){}\n", other.choice,
                                with_separators(other.predicted.value),
                                percent_more(other.predicted, predicted), why);
        }
        if (layer.cut->alternatives.empty()) {
            text += "    nothing else fits the convolution buffer\n";
        }
    }
    return text;
}

std::string memory_map_yaml(const Plan& plan) {
    std::string text =
        fmt::format("network: {}\nbytes: {}\nimages:\n", quoted(plan.name), plan.memory.value);
    for (const PlannedImage& image : plan.images) {
        const auto& pixels = plan.input.pixels;
        const std::string layout =
            image.name == "input" && pixels
                ? fmt::format(", layout: {}, line_stride: {}", pixels->format->name,
                              pixels->line_stride[0].value)
                : "";
        text +=
            fmt::format("  - {{name: {}, file: {}.dat, address: {}, bytes: {}{}}}\n", image.name,
                        image.name, to_hex(image.address), image.bytes.value, layout);
    }
    text += "results:\n";
    for (const PlannedLayer& layer : plan.layers) {
        const FeatureCube& cube = layer.stored.cube;
        text += fmt::format(
            "  - {{name: {}, layout: feature, type: int8, shape: 1x{}, address: {}, bytes: {}, "
            "line_stride: {}, surface_stride: {}, first_operation: {}, last_operation: {}{}{}}}\n",
            layer.name, shape_text(cube.shape), to_hex(cube.base), cube.extent().value,
            cube.line_stride.value, cube.surface_stride.value, layer.first_operation,
            layer.last_reader == 0 ? layer.last_operation() : layer.last_reader,
            layer.stored.in_sram ? ", memory: sram" : "",
            layer.output && layer.readers > 0 ? ", output: true" : "");
    }
    return text;
}

}  // namespace npuscope
