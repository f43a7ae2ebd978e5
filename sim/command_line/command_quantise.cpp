// SPDX-License-Identifier: Apache-2.0
// `npuscope quantise`: a float model as an integer model, in an ONNX file for other tools, too.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <ostream>

#include "sim/command_line/command.h"
#include "sim/command_line/model_source.h"
#include "sim/command_line/output_paths.h"
#include "sim/command_line/read_files.h"
#include "sim/config/file_io.h"
#include "sim/config/json_writer.h"
#include "sim/config/preset.h"
#include "sim/config/printable.h"
#include "sim/config/text_table.h"
#include "sim/model/onnx_writer.h"

namespace npuscope {
namespace {

struct QuantiseArguments {
    std::string model;
    std::string out;
    std::string json;
    ModelChoices choices;
};

std::string verdict_of(const QuantisedModel& model, const std::string& file) {
    std::string text = fmt::format(
        "{}: {} quantised to {}; {:.1f} dB signal-to-noise ratio at the outputs over the "
        "calibration inputs{}{}\n",
        file, counted(model.products, "layer"), enum_name(model.type), output_decibels(model.rows),
        model.type == MapType::Fp16 ? "" : fmt::format("; ranges by {}", enum_name(model.method)),
        model.equalised ? "; channels equalised" : "");
    if (model.opset != model.graph.opset) {
        text += fmt::format("opset {} was raised to {}, the first with per-kernel scales\n",
                            model.opset, model.graph.opset);
    }
    if (const std::string sentence = target_sentence(model); !sentence.empty()) {
        text += sentence + "\n";
    }
    return text;
}

std::string table_of(const QuantisedModel& model, std::size_t width) {
    TextTable table({{"layer", Align::Left}, {"tensor", Align::Left}, {"dB", Align::Right}});
    for (const NoiseRow& row : model.rows) {
        table.add_row({row.is_output       ? "output"
                       : row.layer.empty() ? "input"
                                           : row.layer,
                       row.tensor, fmt::format("{:.1f}", row.decibels)});
    }
    return "\nsignal-to-noise ratio, against the float model\n" + table.text(width);
}

std::string json_of(const QuantisedModel& model) {
    std::string text = fmt::format(
        "{{\n  \"layers\": {},\n  \"output_decibels\": {:.3f},\n"
        "  \"worst_input_decibels\": {:.3f},\n  \"decibels_before_target\": {:.3f},\n"
        "  \"chosen_tensors\": {},\n  \"equalised\": {},\n  \"opset\": {},\n"
        "  \"left_in_float\": [",
        model.products, output_decibels(model.rows), model.worst, model.before, model.chosen,
        model.equalised, model.graph.opset);
    for (const LeftLayer& one : model.left) {
        text += fmt::format("{}\n    {{\"layer\": {}, \"operator\": {}, \"macs\": {}}}",
                            &one == model.left.data() ? "" : ",", quoted(one.layer), quoted(one.op),
                            one.macs);
    }
    text += model.left.empty() ? "],\n  \"tensors\": [" : "\n  ],\n  \"tensors\": [";
    for (std::size_t i = 0; i < model.rows.size(); ++i) {
        const NoiseRow& row = model.rows[i];
        text += fmt::format(
            "{}\n    {{\"tensor\": {}, \"layer\": {}, \"decibels\": {:.3f}, "
            "\"is_output\": {}}}",
            i == 0 ? "" : ",", quoted(row.tensor), quoted(row.layer), row.decibels, row.is_output);
    }
    return text + "\n  ]\n}\n";
}

ExitCode quantise(const QuantiseArguments& arguments, const Console& console) {
    const std::string model = find_program(arguments.model).path.string();
    const std::array<OutputPath, 2> outputs{
        {{"--out", arguments.out}, {"--json", arguments.json, OutputKind::Text}}};
    std::vector<std::string> inputs = files_of_inputs(arguments.choices.calibration);
    inputs.insert(inputs.end(), {model, arguments.choices.calibration});
    std::ranges::move(files_of_program(model), std::back_inserter(inputs));
    require_separate(outputs, inputs);
    const QuantisedModel quantised = quantise_file(model, arguments.choices);
    if (!arguments.out.empty()) {
        write_atomically(arguments.out, onnx_bytes(quantised.graph, NPUSCOPE_VERSION));
    }
    write_output(arguments.json, json_of(quantised), console);
    const bool aside = arguments.json == "-";
    const std::size_t width = aside ? console.err_width : console.out_width;
    (aside ? console.err : console.out) << printable(
        fitted(verdict_of(quantised, arguments.model), width) + table_of(quantised, width));
    return ExitCode::Good;
}

}  // namespace

Command quantise_command() {
    return {"quantise", "quantises a float model to integers, calibrated with typical inputs",
            "npuscope quantise model.onnx --calibration inputs --out model_int8.onnx",
            [](CLI::App& app, NpuFamilies /*families*/) {
                const auto arguments = std::make_shared<QuantiseArguments>();
                app.add_option("MODEL", arguments->model, "float model (.onnx)")->required();
                add_quantise_options(app, arguments->choices);
                app.get_option("--calibration")->required()->option_text("DIR REQUIRED");
                app.add_option("--out", arguments->out,
                               "file for the quantised model (.onnx, QDQ), which ONNX Runtime "
                               "runs as well")
                    ->option_text("FILE");
                app.add_option("--json", arguments->json,
                               "file for the signal-to-noise ratio of every tensor as JSON; - is "
                               "standard output")
                    ->option_text("FILE");
                return
                    [arguments](const Console& console) { return quantise(*arguments, console); };
            }};
}

}  // namespace npuscope
