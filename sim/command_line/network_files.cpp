// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/network_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "models/base/error.h"
#include "sim/command_line/input_files.h"
#include "sim/command_line/label_ranking.h"
#include "sim/command_line/layer_comparison.h"
#include "sim/command_line/model_cases.h"
#include "sim/command_line/model_source.h"
#include "sim/command_line/plan_runs.h"
#include "sim/command_line/table_run.h"
#include "sim/command_line/tensor_files.h"
#include "sim/compile/nvdla/batched_plan.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/segmented_program.h"
#include "sim/compile/nvdla/wide_layer.h"
#include "sim/compile/partition.h"
#include "sim/compile/surface_files.h"
#include "sim/config/file_name.h"
#include "sim/config/npy_file.h"
#include "sim/model/graph.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

ModelUse use_of(const NetworkFiles& files, const RunOptions& options) {
    return !options.values        ? ModelUse::Shape
           : files.inputs.empty() ? ModelUse::Time
                                  : ModelUse::Values;
}

/// One model with its files.
class ModelRun {
 public:
    ModelRun(const std::string& model, const NetworkFiles& files, const SystemConfig& system,
             const PlanChoices& choices, const RunOptions& options, SurfaceQueries* queries)
        : graph_(
              read_any_network(model, system, files.model, use_of(files, options), files.inputs)),
          view_(graph_),
          files_(files),
          system_(system),
          choices_(choices),
          options_(options),
          queries_(queries) {
        if (is_network_file(model) && files.any()) {
            tensor_files_ = table_files(read_network(model), graph_);
        }
        if (choices.input_type == InputType::Uint8) {  // else it is treated as int8, and may change
            facts_ = held_inputs(graph_, choices.input_type);
        }
        const bool asked = !files.outputs.empty() || !files.model.labels.empty() ||
                           (files.model.batch && most_at_once() == 1);
        if (files.inputs.empty() && asked) {
            throw ConfigError("there are no inputs to compute outputs from",
                              graph_.inputs.empty()
                                  ? "the model has none: name an empty folder, --inputs DIR"
                                  : "name their folder: --inputs DIR");
        }
    }

    Result run() {
        if (files_.split != NetworkSplit::Batch) {
            return shared();
        }
        if (!files_.inputs.empty()) {
            read_inputs();
        }
        if (!files_.model.labels.empty()) {
            labels_ = read_labels(files_.model.labels);
        }
        if (files_.model.batch && files_.stream == 0) {
            plan_at_once();
        }
        ModelResult first = run_one(0);
        Result result = std::move(first.result);
        add_outputs(0, first.outputs, result);
        if (all_inputs() > 1) {
            run_others(result);
        }
        if (!files_.outputs.empty() && result.status() != RunStatus::Fail) {
            const std::size_t cases = std::max<std::size_t>(cases_.size(), 1);
            Diagnostics notes = write_outputs(outputs_, tensor_files_, cases, files_.outputs);
            if (system_.npu.find<NpuConfig>() != nullptr) {  // others write arrays only
                std::ranges::move(notes, std::back_inserter(result.findings));
            }
        }
        if (files_.stream > 0) {
            result.stream = stream(result);
        }
        return result;
    }

 private:
    /// Maximum number of inputs that one operation processes.
    std::uint32_t most_at_once() const {
        const auto* npu = system_.npu.find<NpuConfig>();
        return npu != nullptr && options_.instances == 1 ? most_batches(*npu) : 1;
    }
    std::size_t all_inputs() const {
        return files_.inputs.empty() ? files_.model.batch.value_or(1) : cases_.size();
    }
    /// As many inputs in each program as fit the memory, if operations process several.
    void plan_at_once() {
        const auto most = std::min<std::size_t>(all_inputs(), most_at_once());
        for (auto inputs = static_cast<std::uint32_t>(most); inputs > 1 && !at_once_; inputs /= 2) {
            plan_once();
            at_once_ =
                batched_segments(*segments_, inputs, choices_.target(system_, options_.values));
        }
        if (at_once_ && at_once_->shared_layers == 0) {
            at_once_.reset();
        }
        each_ = at_once_ ? at_once_->inputs : 1;
    }
    /// Number of inputs of the program `index`; the last one has the remainder.
    std::size_t inputs_of(std::size_t index) const {
        return std::min(each_, all_inputs() - index * each_);
    }
    ModelProgram program_at_once(std::size_t index) {
        const std::size_t count = inputs_of(index);
        std::optional<SegmentedPlan> plan = at_once_;
        if (count < each_) {
            plan = batched_segments(*segments_, static_cast<std::uint32_t>(count),
                                    choices_.target(system_, options_.values));
        }
        const std::size_t first = std::min(index * each_, cases_.size());
        return segmented_program(
            graph_, *std::move(plan), system_.host,
            std::span<const GraphInputs>(cases_).subspan(first, cases_.empty() ? 0 : count));
    }

    /// The program `index`: of a single input, or of several at once.
    ModelResult run_one(std::size_t index) {
        if (!cases_.empty()) {
            inputs_ = cases_[index * each_];
        }
        ModelProgram model = at_once_ ? program_at_once(index) : program();
        model.findings.insert(model.findings.begin(), graph_.notes.begin(), graph_.notes.end());
        ask(model);
        ModelResult run = run_model(model, system_, options_);
        if (queries_ != nullptr) {
            queries_->answer(run.result);
        }
        const bool wide = system_.npu.find<NpuConfig>() != nullptr && !inputs_.empty() &&
                          map_precision(graph_) != Precision::Int8;
        if (wide && index == 0 && run.result.status() != RunStatus::Fail) {
            run.result.findings.push_back(
                output_noise(graph_, inputs_, part_of(run.outputs, 0, inputs_of(index))));
        }
        return run;
    }
    /// The programs after the first, on several cores; their results are added in order.
    void run_others(Result& result) {
        const auto begin = std::chrono::steady_clock::now();
        options_.value_thread.reset();  // the cores are in use
        const auto run = [this](std::size_t index) {
            const ModelResult one = run_one(index);
            return CaseResult{one.result.cycles, one.result.simulated_cycles, one.outputs};
        };
        const std::vector<CaseResult> others =
            run_cases({1, divide_up(all_inputs(), each_)}, files_.threads, run);
        const Cycles first(result.cycles.value / inputs_of(0));
        auto& batch = result.batch.emplace(BatchRecord{all_inputs(), result.cycles, first, first});
        batch.at_once = each_;
        batch.shared_layers = at_once_ ? at_once_->shared_layers : 0;
        for (std::size_t i = 0; i < others.size(); ++i) {
            const CaseResult& one = others[i];
            const Cycles each(one.cycles.value / inputs_of(i + 1));
            add_outputs(i + 1, one.outputs, result);
            batch.all += one.cycles;
            batch.least = std::min(batch.least, each);
            batch.most = std::max(batch.most, each);
            result.simulated_cycles += one.simulated_cycles;
        }
        result.wall_seconds +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    /// The outputs of one of several inputs.
    static GraphInputs part_of(GraphInputs all, std::size_t input, std::size_t inputs) {
        for (auto& [name, value] : all) {
            value = inputs > 1 ? part_along_first(value, input, inputs) : std::move(value);
        }
        return all;
    }
    /// Outputs of the program `index`, appended to those of earlier programs.
    void add_outputs(std::size_t index, const GraphInputs& outputs, Result& result) {
        constexpr std::size_t most_ranked = 10;  // inputs
        const std::size_t inputs = inputs_of(index);
        const std::size_t before = index * inputs_of(0);
        for (std::size_t i = 0; i < inputs && !labels_.names.empty() && before + i < most_ranked;
             ++i) {
            std::ranges::move(rank_outputs(part_of(outputs, i, inputs), labels_, before + i),
                              std::back_inserter(result.rankings));
        }
        for (const auto& [name, value] : outputs) {
            const auto [found, is_new] = outputs_.emplace(name, value);
            if (!is_new) {
                GraphValue& all = found->second;
                if (all.type.element !=
                    value.type.element) {  // maps whose values determine the sign
                    all.type.element = graph_.types.at(name).element;
                }
                add_along_first(all, value);
            }
        }
    }
    /// By several instances, for its timing only.
    Result shared() const {
        const auto plan_for = [&](std::uint32_t parts) {
            PlanTarget target = choices_.target(system_, false);
            target.parts = parts;
            SegmentedPlan planned = plan_segments(graph_, target, facts_);
            if (planned.segments.size() != 1) {
                throw ConfigError("the model needs host operators between segments",
                                  "use a shape table, or a model of one segment");
            }
            return std::move(planned.segments.front().plan);
        };
        RunOptions options = options_;
        options.values = false;
        Result result = run_shared(files_.split, plan_for, system_, options);
        if (options_.values) {
            result.findings.push_back(
                {.severity = Severity::Note,
                 .id = "timing_of_split",
                 .sentence = "only timing is simulated of a model that several NPUs share"});
        }
        return result;
    }
    /// A model that is one program for the NPU is simulated; any other is estimated from one frame.
    StreamRecord stream(const Result& frame) const {
        if (!segments_ || segments_->segments.size() != 1) {
            return estimate_stream(frame, files_.stream);
        }
        StreamRecord record =
            simulate_stream(segments_->segments.front().plan, files_.stream,
                            choices_.target(system_, false), system_, options_.max_cycles);
        add_host(record, frame.model->host.cycles);
        return record;
    }
    void ask(const ModelProgram& model) {
        if (queries_ == nullptr || !queries_->wishes().any()) {
            return;
        }
        if (files_.inputs.empty()) {
            throw ConfigError("without inputs only the timing of a model is simulated",
                              "name their folder: --inputs DIR");
        }
        queries_->ask(model.program.surfaces, options_);
        if (queries_->wishes().compare_layers) {
            queries_->expect(model_expectations(graph_, model.layers, inputs_), options_);
        }
    }

    /// The segments for one input, if all inputs are known arrays; raw bytes need the plan first.
    void plan_once() {
        if (segments_) {
            return;
        }
        segments_ = plan_segments(graph_, choices_.target(system_, options_.values), facts_);
        if (!files_.inputs.empty()) {
            find_surfaces(*segments_);
            read_images();
        }
    }
    ModelProgram program() {
        const bool given = !files_.inputs.empty();
        if (system_.npu.find<NpuConfig>() != nullptr) {
            plan_once();
            const bool last = cases_.size() < 2 && files_.stream == 0;
            return segmented_program(graph_, last ? *std::move(segments_) : *segments_,
                                     system_.host, given ? &inputs_ : nullptr);
        }
        if (!plan_) {
            read_images();
            plan_ =
                system_.family->target(system_.npu, system_.memory, given)->plan(graph_, facts_);
        }
        return plan_->program(system_.host, given ? &inputs_ : nullptr);
    }

    /// A folder with a file for each input, named after it; or cases, as for `--calibration`. A
    /// model's only input may have several cases in one file.
    void read_inputs() {
        const InputReader reader(graph_, files_.model.pixels);
        const bool is_folder = fs::is_directory(files_.inputs);
        const bool named = is_folder && std::ranges::any_of(graph_.inputs, [&](const auto& name) {
                               return InputReader::find(name, files_.inputs, true).has_value();
                           });
        const auto only = graph_.inputs.size() == 1 && is_folder
                              ? InputReader::find(graph_.inputs.front(), files_.inputs, true)
                              : std::nullopt;
        if (only && only->extension() != ".bin") {  // may hold several cases
            cases_ = reader.cases(*only);
        } else if (named || (is_folder && is_empty_of_cases())) {
            read_named(reader);
            cases_ = {inputs_};
        } else {
            cases_ = reader.cases(files_.inputs);
        }
        cases_.resize(wanted_cases(files_.model.batch, cases_.size()));
        if (!reader.has_used_choices() && !files_.model.calibration.empty()) {
            reader.cases(files_.model.calibration);  // they may be for these alone
        }
        reader.require_use_of_choices();
        if (cases_.size() > 1 && queries_ != nullptr && queries_->wishes().any()) {
            throw ConfigError("surfaces can be examined for a single input only",
                              "give one, or --batch 1");
        }
        find_facts();
    }
    /// Nothing in the folder is a case; then the missing file is named.
    bool is_empty_of_cases() const {
        return std::ranges::none_of(fs::directory_iterator(files_.inputs), [&](const auto& entry) {
            const fs::path& path = entry.path();
            const bool is_case = names_npy(path) || is_picture_file(path);
            return entry.is_directory() || (graph_.inputs.size() == 1 && is_case);
        });
    }
    /// Raw bytes are read once their layout is known; they are int8 or uint8.
    void read_named(const InputReader& reader) {
        for (const std::string& name : graph_.inputs) {
            const auto file = InputReader::find(name, files_.inputs, true);
            if (file && file->extension() == ".bin") {
                images_.insert(name);
            } else {
                inputs_[name] = reader.read(
                    name, file ? *file : fs::path(files_.inputs) / file_name(name, ".npy"));
            }
        }
    }
    /// Value ranges of an input over all cases.
    void find_facts() {
        for (const std::string& name : graph_.inputs) {
            if (images_.contains(name) || !is_float(graph_.types.at(name).element)) {
                continue;
            }
            GraphValue all = cases_.front().at(name);
            for (std::size_t i = 1; i < cases_.size(); ++i) {
                add_along_first(all, cases_[i].at(name));
            }
            facts_[name] = facts_of(all);
        }
    }

    /// Layouts of the tensors that images of the NPU hold, if they are needed.
    void find_surfaces(const SegmentedPlan& plan) {
        for (const PlannedSegment& segment : plan.segments) {
            const bool reads = std::ranges::any_of(
                segment.lowered.inputs,
                [&](const SegmentTensor& input) { return images_.contains(input.tensor); });
            if (reads) {
                find_inputs(segment);
            }
            if (!files_.outputs.empty()) {
                find_outputs(segment, plan.partition);
            }
        }
    }
    void find_inputs(const PlannedSegment& segment) {
        const auto surfaces =
            input_surfaces(segment.lowered.network, segment.plan, nvdla_npu(system_).surfaces);
        for (std::size_t i = 0; i < segment.lowered.inputs.size(); ++i) {
            const std::string& tensor = segment.lowered.inputs[i].tensor;
            InputSurface surface = surfaces[i];
            surface.name = tensor;
            surface.zero = 0;  // values as they are
            tensor_files_.inputs.emplace(tensor, std::move(surface));
        }
    }
    /// An NPU of few layouts may lack one for some output; the array is written all the same.
    void find_outputs(const PlannedSegment& segment, const Partition& partition) {
        std::vector<OutputSurface> surfaces;
        try {
            surfaces =
                output_surfaces(segment.lowered.network, segment.plan, nvdla_npu(system_).surfaces);
        } catch (const ConfigError&) {
            return;
        }
        for (const std::string& output : graph_.outputs) {
            for (const SegmentTensor& made : segment.lowered.outputs) {
                if (made.tensor == root_of(view_, partition, output)) {
                    tensor_files_.outputs[output] =
                        std::ranges::find(surfaces, made.layer, &OutputSurface::name)->file;
                }
            }
        }
    }

    void read_images() {
        for (const std::string& name : images_) {
            const auto surface = tensor_files_.inputs.find(name);
            if (surface == tensor_files_.inputs.end()) {
                throw ConfigError(
                    system_.npu.find<NpuConfig>() != nullptr
                        ? fmt::format("no layer of the NPU reads the input '{}', so it has no "
                                      "layout in memory",
                                      name)
                        : fmt::format("'{}' takes raw bytes for the inputs of shape tables only, "
                                      "not for '{}'",
                                      system_.npu_name(), name),
                    fmt::format("give it as {}", file_name(name, ".npy")));
            }
            std::vector<std::uint8_t> image(surface->second.memory.bytes);
            read_input(surface->second, files_.inputs, image);
            const bool is_unsigned = graph_.types.at(name).element == ElementType::Uint8 ||
                                     surface->second.type == enum_name(InputType::Uint8);
            const ElementType stored = is_unsigned ? ElementType::Uint8 : ElementType::Int8;
            inputs_[name] =
                load_map({stored, graph_.types.at(name).sizes},
                         {name, surface->second.memory, plain_codes(!is_unsigned)}, image);
        }
    }

    Graph graph_;
    GraphView view_;
    const NetworkFiles& files_;
    const SystemConfig& system_;
    const PlanChoices& choices_;
    RunOptions options_;
    SurfaceQueries* queries_;
    std::set<std::string> images_;  ///< inputs in the folder as raw bytes
    ValueRanges facts_;
    GraphInputs inputs_;
    std::vector<GraphInputs> cases_;  ///< inputs of each run
    GraphInputs outputs_;             ///< of all runs, along the first dimension
    Labels labels_;
    std::optional<SegmentedPlan> segments_;
    std::optional<SegmentedPlan> at_once_;  ///< of several inputs; nothing: one after the other
    std::size_t each_ = 1;                  ///< inputs per program, except for the last one
    std::unique_ptr<ModelPlan> plan_;
    TensorFiles tensor_files_;
};

}  // namespace

bool names_network(const std::string& path) { return is_network_file(path) || is_onnx_file(path); }

ValueRanges held_inputs(const Graph& graph, InputType type) {
    const ElementType element = type == InputType::Uint8 ? ElementType::Uint8 : ElementType::Int8;
    ValueRanges facts;
    for (const std::string& name : graph.inputs) {
        if (is_float(graph.types.at(name).element) && !takes_reals(graph)) {
            facts[name] = {true, range_of(element), false};
        }
    }
    return facts;
}

ValueRanges declared_inputs(const std::string& network, const Graph& graph, InputType type) {
    ValueRanges facts = held_inputs(graph, type);
    if (is_network_file(network) && read_network(network).input.type == InputType::Uint8) {
        facts["input"].range = range_of(ElementType::Uint8);
    }
    return facts;
}

Result run_network_files(const std::string& network, const NetworkFiles& files,
                         const SystemConfig& system, const PlanChoices& choices,
                         const RunOptions& options, SurfaceQueries* queries) {
    if (!names_network(network)) {
        throw ConfigError(fmt::format("'{}' is not a network", network),
                          "--inputs and --outputs belong to networks");
    }
    const bool registers = system.npu.find<NpuConfig>() != nullptr;
    if (files.split != NetworkSplit::Batch && !registers) {
        throw ConfigError(fmt::format("'{}' does not support --split", system.npu_name()),
                          "only NPUs with registers can share rows or layers; leave out --split");
    }
    if (files.any() && !options.values) {
        throw ConfigError("--inputs and --outputs need values", "leave out --values off");
    }
    return registers && is_network_file(network)
               ? run_table(network, files, system, choices, options, queries)
               : ModelRun(network, files, system, choices, options, queries).run();
}

}  // namespace npuscope
