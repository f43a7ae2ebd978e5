// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/model_source.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>

#include "models/base/error.h"
#include "models/npu/npu_config.h"
#include "sim/command_line/choice.h"
#include "sim/command_line/input_files.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/single_operations.h"
#include "sim/compile/nvdla/wide_layer.h"
#include "sim/config/text_table.h"
#include "sim/model/host_values.h"
#include "sim/model/network.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/quantise/float_graph.h"
#include "sim/quantise/quantise_model.h"
#include "sim/quantise/signal_to_noise.h"

namespace npuscope {
namespace {

/// Nodes whose time is not counted: the host has no such operator, or their sizes are unknown.
void note_uncounted(Graph& graph) {
    constexpr std::size_t most_named = 4;
    std::vector<std::string> nodes;
    for (const GraphNode& node : graph.nodes) {
        if (!host_knows(node)) {
            nodes.push_back(node_text(node));
        }
    }
    for (const auto& [node, reason] : graph.left_out) {
        nodes.push_back(node_text(node));
    }
    if (nodes.empty()) {
        return;
    }
    std::string named;
    for (std::size_t i = 0; i < std::min(most_named, nodes.size()); ++i) {
        named += (i == 0 ? "" : ", ") + nodes[i];
    }
    named += nodes.size() > most_named ? " .." : "";
    if (std::ranges::none_of(graph.nodes, host_knows)) {
        throw ConfigError(Place{graph.file, 0, 0},
                          fmt::format("none of its nodes can be timed: neither the NPU nor the "
                                      "host implements {}",
                                      named),
                          "`npuscope list operators` lists what the host implements");
    }
    const std::string number = counted(nodes.size(), "node");
    Diagnostic note{
        .severity = Severity::Note,
        .id = "time_not_counted",
        .sentence = fmt::format("the time of {} on the host is not counted: {}", number, named),
        .remedy = "add it separately"};
    if (!graph.by_shape) {
        note.sentence = fmt::format("the run ends before {}: {}", number, named);
        note.remedy = "compute the rest from this run's outputs";
    }
    if (!graph.left_out.empty()) {
        const auto& [node, reason] = graph.left_out.front();
        note.remedy += fmt::format("; reason for '{}': {}", node_name(node), reason);
    }
    graph.notes.push_back(std::move(note));
}

}  // namespace

void add_quantise_options(CLI::App& app, ModelChoices& choices) {
    app.add_option(
           "--shape", choices.shape,
           "sizes for dynamic dimensions: 1x3x224x224 for the only input that has any, "
           "INPUT=1x3x224x224, or NAME=4 for every dimension of that name; may be repeated; "
           "default: those of the arrays given as inputs or for calibration")
        ->allow_extra_args(false)
        ->option_text("SIZES");
    app.add_option("--calibration", choices.calibration,
                   "typical inputs to quantise a float model with: a folder of .npy files or "
                   "pictures, one per case, or one folder per case with a file for each input")
        ->option_text("DIR");
    app.add_option("--mean", choices.pixels.mean,
                   "value subtracted from the pixels of pictures and uint8 arrays: one number, or "
                   "one per channel, e.g. 123.675,116.28,103.53; default: 0")
        ->option_text("NUMBERS");
    app.add_option("--scale", choices.pixels.scale,
                   "factor applied to pixels after subtracting the mean: one number, or one per "
                   "channel; fractions such as 1/255 are allowed; default: 1")
        ->option_text("NUMBERS");
    const std::map<std::string, ChannelOrder> orders{{"rgb", ChannelOrder::Rgb},
                                                     {"bgr", ChannelOrder::Bgr}};
    app.add_option("--order", choices.pixels.order,
                   "order of a picture's channels in the input: rgb or bgr; default: rgb for a "
                   "model, bgr for a loadable")
        ->transform(one_of(orders))
        ->option_text("rgb|bgr");
    app.add_option(
           "--type", choices.quantise.type,
           "type of the quantised feature maps and weights: int8 (default); int16 or fp16 for "
           "NPUs that support it")
        ->transform(one_of<MapType>())
        ->option_text("TYPE");
    app.add_option(
           "--method", choices.quantise.method,
           "quantisation range: minmax (all values), percentile (all but the outermost 0.01 %), "
           "mse (least mean squared error), best (default: the one with the most accurate outputs)")
        ->transform(one_of<RangeMethod>())
        ->option_text("METHOD");
    app.add_flag("--bias-correction,!--no-bias-correction", choices.quantise.correct_biases,
                 "biases compensate for the mean shift caused by weight rounding (default)");
    app.add_flag("--equalise,!--no-equalise", choices.quantise.equalise,
                 "cross-layer equalisation: channels between two layers are scaled to one range "
                 "where that makes outputs more accurate (default)");
    app.add_option("--target-decibels", choices.quantise.target_decibels,
                   "target signal-to-noise ratio at the outputs for every calibration input: below "
                   "it, ranges are chosen tensor by tensor, and then the layers that lose most "
                   "stay in float on the host; default: 25; 0: no target")
        ->transform(whole_number(0, most_target_decibels))
        ->option_text("DB");
}

void add_model_options(CLI::App& app, ModelChoices& choices) {
    add_quantise_options(app, choices);
    app.add_option(
           "--sums", choices.sums,
           "how often an addition of two feature maps with different scales may read one of them. "
           "NVDLA: twice is more accurate, at a third more traffic; default: once where the SDP "
           "has a third stage (as accurate, lower throughput), else twice. TINPU: twice reads the "
           "input map again, divided by 8, for finer weights at twice the time; default: twice "
           "where results could otherwise be more than one step off")
        ->transform(one_of<SumReads>())
        ->option_text("once|twice");
}

void add_value_options(CLI::App& app, ModelChoices& choices) {
    app.add_option("--batch", choices.batch,
                   "number of inputs to run, one after the other, or at once where the NPU's "
                   "multi-batch mode takes fewer cycles; default: all, one after the other")
        ->transform(whole_number(1, most_cases))
        ->option_text("N");
    app.add_option("--labels", choices.labels,
                   "file with one class name per line: print the top five of each output with as "
                   "many elements")
        ->option_text("FILE");
}

std::string target_sentence(const QuantisedModel& model) {
    if (model.chosen == 0 && model.left.empty() && model.before == model.worst) {
        return {};
    }
    std::string sentence = fmt::format(
        "the worst calibration input had {:.1f} dB at the outputs, below the target, and now has "
        "{:.1f} dB",
        model.before, model.worst);
    if (model.chosen > 0) {
        sentence +=
            fmt::format(": ranges of {} were chosen one by one", counted(model.chosen, "tensor"));
    }
    if (!model.left.empty()) {
        std::string names;
        for (const LeftLayer& one : model.left) {
            names += (names.empty() ? "" : ", ") + one.layer;
        }
        sentence +=
            fmt::format("{} {} left in float on the host (most accuracy lost by quantisation): {}",
                        model.chosen > 0 ? "," : ":", counted(model.left.size(), "layer"), names);
    }
    return sentence;
}

namespace {

struct FloatModel {
    Graph graph;
    std::vector<Case> cases;  ///< for its calibration; none if it has no floats
};

/// Dynamic sizes are those of the inputs and of the calibration.
ModelReading reading_of(const ModelChoices& choices, bool by_shape, const std::string& inputs) {
    const FindArrays arrays = [calibration = choices.calibration,
                               inputs](const std::vector<std::string>& names) {
        std::vector<GivenArray> all;
        for (const std::string& path : {inputs, calibration}) {
            std::ranges::move(given_arrays(names, path), std::back_inserter(all));
        }
        return all;
    };
    return {choices.shape, by_shape, arrays};
}

FloatModel read_float_model(const std::string& model, const ModelChoices& choices,
                            const std::string& inputs = {}) {
    FloatModel floats{read_onnx(model, reading_of(choices, false, inputs)), {}};
    prepare_graph(floats.graph);
    if (!is_float_model(floats.graph) &&
        leaves_layers_in_float(finish_graph(floats.graph, ScaleForm::Rounded))) {
        floats.graph = without_quantisers(std::move(floats.graph));
        prepare_graph(floats.graph);
        floats.graph.notes.push_back(
            {.severity = Severity::Note,
             .id = "quantised_here",
             .sentence = "not all layers of the model are quantised: its quantisers were removed, "
                         "and the whole model is quantised again",
             .remedy = "without --calibration the float layers run on the host"});
    }
    if (is_float_model(floats.graph)) {
        const InputReader reader(floats.graph, choices.pixels, InputUse::Calibration);
        floats.cases = reader.cases(choices.calibration);
        if (inputs.empty()) {
            reader.require_use_of_choices();
        }
    }
    return floats;
}

}  // namespace

QuantisedModel quantise_file(const std::string& model, const ModelChoices& choices) {
    FloatModel floats = read_float_model(model, choices);
    if (!floats.graph.left_out.empty()) {
        const auto& [node, reason] = floats.graph.left_out.front();
        refuse_node(floats.graph, node, reason, "quantise the part of the model before it");
    }
    return quantise_model(std::move(floats.graph), floats.cases, choices.quantise);
}

namespace {

/// A quantised model as an NPU computes it.
struct ModelOnNpu {
    QuantisedModel model;
    Graph graph;
    std::uint32_t target = 0;       ///< decibels that the model was quantised for
    std::optional<double> worst{};  ///< decibels at the outputs of the worst input, if computed
};

/// Scales of a TINPU are rounded once more than in the quantised model. If outputs miss the target
/// because of that, the model is quantised for a higher one.
ModelOnNpu quantise_for(const std::string& network, const ModelChoices& choices, ScaleForm form,
                        const std::string& inputs) {
    constexpr int most_attempts = 4;
    const FloatModel floats = read_float_model(network, choices, inputs);
    QuantiseOptions options = choices.quantise;
    const auto quantised = [&] {
        QuantisedModel model = quantise_model(floats.graph, floats.cases, options);
        Graph graph = finish_graph(model.graph, form);
        return ModelOnNpu{std::move(model), std::move(graph), options.target_decibels};
    };
    ModelOnNpu best = quantised();
    const double target = choices.quantise.target_decibels;
    if (!is_folded(form) || options.type == MapType::Fp16 || target == 0) {
        return best;
    }
    const WantedOutputs wanted(floats.graph, floats.cases);
    const auto worst_of = [&](const Graph& graph) {
        double worst = most_target_decibels;
        for (std::size_t i = 0; i < floats.cases.size(); ++i) {
            worst = std::min(worst, wanted.decibels(graph, i));
        }
        return worst;
    };
    double worst = worst_of(best.graph);
    best.worst = worst;
    for (int attempt = 1; attempt < most_attempts && worst < target; ++attempt) {
        options.target_decibels = std::min(
            options.target_decibels + static_cast<std::uint32_t>(std::ceil(target - worst)),
            most_target_decibels);
        ModelOnNpu next = quantised();
        worst = worst_of(next.graph);
        next.worst = worst;
        if (worst > *best.worst && next.model.products > 0) {  // else the host computes all of it
            best = std::move(next);
        }
    }
    return best;
}

void note_quantisation(ModelOnNpu& on_npu, std::uint32_t target) {
    const QuantisedModel& model = on_npu.model;
    std::vector<Diagnostic>& notes = on_npu.graph.notes;
    notes.push_back(
        {.severity = Severity::Note,
         .id = "quantised_here",
         .sentence = fmt::format("quantised to {} for this run: {}, {:.1f} dB signal-to-noise "
                                 "ratio at the outputs over the calibration inputs",
                                 enum_name(model.type), counted(model.products, "layer"),
                                 output_decibels(model.rows))});
    std::string sentence = target_sentence(model);
    const bool raised = on_npu.target != target;
    if (raised || (on_npu.worst && *on_npu.worst < target)) {
        sentence +=
            fmt::format("{}{}the NPU rounds scales once more; on it the worst input has {:.1f} dB",
                        sentence.empty() ? "" : "; ",
                        raised ? fmt::format("quantised for {} dB, because ", on_npu.target) : "",
                        *on_npu.worst);
    }
    if (!sentence.empty()) {
        notes.push_back(
            {.severity = Severity::Note,
             .id = "quantised_for_target",
             .sentence = sentence,
             .remedy = "for another target: --target-decibels DB; 0 keeps all layers on the NPU"});
    }
}

/// A loadable's descriptors cannot express a stage that adds a map and multiplies by a constant, so
/// NPUs with a third stage add the second map there, multiplied, unless `sums` sets the reads.
ScaleForm form_for(const SystemConfig& system, std::optional<SumReads> sums) {
    const auto* npu = system.npu.find<NpuConfig>();
    if (npu == nullptr) {
        return !sums                     ? ScaleForm::FoldedNear
               : sums == SumReads::Twice ? ScaleForm::FoldedTwice
                                         : ScaleForm::Folded;
    }
    const bool can = npu->sdp.bs && npu->sdp.bn;
    if (sums == SumReads::Twice && !can) {
        throw ConfigError(
            fmt::format("--sums twice: {} cannot read a map twice for a sum", system.npu_name()),
            "leave it out; it needs an SDP with two stages that can add maps");
    }
    if (sums || !can) {
        return sums == SumReads::Twice ? ScaleForm::RoundedTwice : ScaleForm::Rounded;
    }
    return looks_up_in_sdp(*npu) ? ScaleForm::RoundedThird : ScaleForm::RoundedTwice;
}

}  // namespace

Graph read_any_network(const std::string& network, const SystemConfig& system,
                       const ModelChoices& choices, ModelUse use, const std::string& inputs) {
    const ScaleForm form = form_for(system, choices.sums);
    if (is_network_file(network)) {
        return finish_graph(network_graph(read_network(network)), form);
    }
    if (!is_onnx_file(network)) {
        throw ConfigError(fmt::format("'{}' is not a network", network),
                          "networks are ONNX models (.onnx) and shape tables (.yaml)");
    }
    if (!choices.calibration.empty()) {
        ModelOnNpu model = quantise_for(network, choices, form, inputs);
        note_quantisation(model, choices.quantise.target_decibels);
        note_uncounted(model.graph);
        return std::move(model.graph);
    }
    Graph graph = read_onnx(network, reading_of(choices, use == ModelUse::Shape, inputs));
    prepare_graph(graph);
    const bool halves = is_rounded(form) && nvdla_npu(system).datapath.fp16 &&
                        map_precision(graph) == Precision::Fp16;
    const MapType type = choices.quantise.type;
    if (type != MapType::Int8 && (use == ModelUse::Values || !is_float_model(graph))) {
        const bool floats = is_float_model(graph);
        throw ConfigError(
            fmt::format("--type {}: {}", enum_name(type),
                        floats ? "a float model that is not quantised is computed on the host"
                               : "the model has no float layers to quantise"),
            floats ? "name typical inputs to quantise it with: --calibration DIR" : "leave it out");
    }
    if (halves) {
        // the NPU computes with them
    } else if (use != ModelUse::Values) {
        quantise_by_shape(graph, type);
    } else if (is_float_model(graph)) {
        graph.notes.push_back(
            {.severity = Severity::Note,
             .id = "float_on_host",
             .sentence =
                 "the model's layers are float and not quantised: all of it ran on the host",
             .remedy = "quantise it for this run: --calibration DIR"});
    }
    note_uncounted(graph);
    return finish_graph(std::move(graph), form);
}

}  // namespace npuscope
