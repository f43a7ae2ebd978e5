// SPDX-License-Identifier: Apache-2.0
// `npuscope check`: what is wrong with a driver's program, without running it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sim/check/check_report.h"
#include "sim/check/image_check.h"
#include "sim/check/rules.h"
#include "sim/command_line/command.h"
#include "sim/command_line/experiment.h"
#include "sim/command_line/experiment_run.h"
#include "sim/command_line/loadable_files.h"
#include "sim/command_line/network_files.h"
#include "sim/command_line/output_paths.h"
#include "sim/command_line/program_kind.h"
#include "sim/command_line/proof_run.h"
#include "sim/command_line/read_files.h"
#include "sim/command_line/surface_queries.h"
#include "sim/compile/explain.h"
#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/compile/partition.h"
#include "sim/config/file_io.h"
#include "sim/config/nearest_name.h"
#include "sim/config/printable.h"
#include "sim/config/yaml_reader.h"
#include "sim/model/onnx_reader.h"
#include "sim/program/read_program.h"
#include "sim/run/static_check.h"

namespace npuscope {
namespace {

struct CheckArguments : ExperimentArguments {
    std::string sarif;
    bool map = false;       ///< of memory, is printed
    bool rules = false;     ///< list the rules and check nothing
    std::string explained;  ///< id of a rule to explain, without a check
    std::vector<std::string> ignored;
    bool warnings_are_errors = false;
    std::vector<std::string> dumped;  ///< SURFACE=FILE, of a memory image
    std::vector<std::string> golden;  ///< SURFACE=FILE, of a memory image
    std::string against;              ///< another image
    bool prove = false;
    std::string proof_folder;  ///< for the arrays of proved results
    std::string model;         ///< model whose layers are compared with the results
};

const Rule& known_rule(const std::string& option, const std::string& id) {
    if (const Rule* rule = find_rule(id)) {
        return *rule;
    }
    std::vector<std::string> ids;
    for (const Rule& rule : rules()) {
        ids.emplace_back(rule.id);
    }
    throw ConfigError(fmt::format("{} {}: there is no such rule", option, id),
                      name_remedy(id, ids));
}

/// Only the requested findings, with the requested severity.
void choose_findings(const CheckArguments& arguments, Diagnostics& findings) {
    for (const std::string& id : arguments.ignored) {
        known_rule("--ignore", id);
        std::erase_if(findings, [&](const Diagnostic& one) { return one.id == id; });
    }
    for (Diagnostic& finding : findings) {
        if (arguments.warnings_are_errors && finding.severity == Severity::Warning) {
            finding.severity = Severity::Error;
        }
    }
}

ExitCode explain_rule(const std::string& id, const Console& console) {
    const Rule& rule = known_rule("--explain", id);
    console.out << wrapped(fmt::format("{}: {}, reported by {}", id, enum_name(rule.severity),
                                       rule.applied),
                           0, 4, console.out_width)
                << wrapped(fmt::format("{}", rule.sentence), 4, 4, console.out_width)
                << wrapped(fmt::format("source: {}", rule.source), 4, 4, console.out_width);
    return ExitCode::Good;
}

/// A described memory image and the machine that it is for.
struct DescribedImage {
    ImageDescription image;
    SystemConfig system;

    ImageTarget target() const {
        return {system.npu_name(), system.npu.find<NpuConfig>(), system.memory};
    }
};

/// The image's own NPU is used if the command line names none.
DescribedImage read_image(const CheckArguments& arguments, const std::string& file) {
    ImageDescription image = parse_image(read_whole_file(file, {}, largest_config), file);
    SystemArguments chosen = arguments.system;
    const bool npu_given = arguments.app->count("--npu") > 0 ||
                           arguments.experiment.npu.kind != ConfigNode::Kind::Null;
    if (!npu_given && !image.npu.empty()) {
        chosen.npu = image.npu;
    }
    return {std::move(image), read_system(chosen)};
}

const PlacedSurface& find_described(const ImageContents& contents, const std::string& name) {
    if (const PlacedSurface* surface = contents.find(name)) {
        return *surface;
    }
    std::vector<std::string> known;
    for (const PlacedSurface& surface : contents.surfaces()) {
        known.push_back(surface.described.name);
    }
    throw ConfigError(fmt::format("unknown surface '{}'", name), name_remedy(name, known));
}

/// Requested operations on the elements of an image: files of them, and differences.
void look_into_image(const CheckArguments& arguments, const DescribedImage& described,
                     Diagnostics& findings) {
    if (arguments.dumped.empty() && arguments.golden.empty() && arguments.against.empty()) {
        return;
    }
    const ImageContents contents(described.image, described.target(),
                                 files_beside(described.image.file));
    const auto add = [&](const Diagnostics& found, const PlacedSurface* surface) {
        for (Diagnostic one : found) {
            one.place = (surface != nullptr ? *surface : find_described(contents, one.surface))
                            .described.place;
            findings.push_back(std::move(one));
        }
    };
    for (const std::string& text : arguments.dumped) {
        const SurfaceFile wish = parse_surface_file(text, "--dump");
        const PlacedSurface& surface = find_described(contents, wish.surface);
        write_atomically(wish.file,
                         surface_npy(contents.spec(surface), contents.elements(surface)));
    }
    for (const std::string& text : arguments.golden) {
        const SurfaceFile wish = parse_surface_file(text, "--golden");
        const PlacedSurface& surface = find_described(contents, wish.surface);
        add(golden_differences(contents, surface, wish.file), &surface);
    }
    if (!arguments.against.empty()) {
        const DescribedImage other = read_image(arguments, arguments.against);
        add(image_differences(contents, ImageContents(other.image, other.target(),
                                                      files_beside(arguments.against))),
            nullptr);
    }
}

CheckReport report_on_image(const CheckArguments& arguments, const std::string& file) {
    const DescribedImage described = read_image(arguments, file);
    CheckReport report =
        check_image_description(described.image, described.target(), files_beside(file));
    look_into_image(arguments, described, report.findings);
    return report;
}

/// Findings about the plan of a model; as notes, what the NPU does not support and the host runs.
CheckReport report_on_model(const CheckArguments& arguments, const SystemConfig& system) {
    const Experiment& experiment = arguments.experiment;
    const Graph graph = read_any_network(experiment.program, system, experiment.model,
                                         ModelUse::Time, experiment.inputs);
    const PlanChoices& choices = experiment.plan;
    const std::shared_ptr<const Target> target =
        system.npu.find<NpuConfig>() == nullptr
            ? system.family->target(system.npu, system.memory, true)
            : std::make_shared<NvdlaTarget>(choices.target(system, true));
    const auto plan = target->plan(graph, choices.input_type == InputType::Uint8
                                              ? held_inputs(graph, choices.input_type)
                                              : ValueRanges{});
    ModelProgram model = plan->program(system.host, nullptr);
    CheckReport report;
    report.subject = model.program.name;
    report.npu = system.npu_name();
    report.findings = graph.notes;
    report.findings.insert(report.findings.end(), model.findings.begin(), model.findings.end());
    std::ranges::move(refusal_notes(model.refused), std::back_inserter(report.findings));
    report.add(check_on(system, model.program, arguments.map));
    return report;
}

/// A step of a plan's segments: a register program, or a node that the host runs.
struct SegmentStep {
    std::string segment;
    std::string program;
    ConfigNode host;
    ConfigNode inputs;
    ConfigNode outputs;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("segment", self.segment, "folder of a register program and its memory map");
        visit.field("program", self.program, "the register program");
        visit.field("host", self.host, "a node that the host runs");
        visit.field("inputs", self.inputs, "tensors that the segment takes");
        visit.field("outputs", self.outputs, "tensors that it gives");
    }
};
struct SegmentOrder {
    std::string model;
    std::string npu;
    std::vector<SegmentStep> steps;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("model", self.model, "the model that was planned");
        visit.field("npu", self.npu, "preset of the NPU");
        visit.required("steps", self.steps, "what runs, in this order");
    }
};

/// Every segment's memory map and register program.
CheckReport report_on_segments(const CheckArguments& arguments) {
    const std::filesystem::path file = arguments.experiment.program;
    const auto order =
        read_yaml<SegmentOrder>(read_whole_file(file, {}, largest_config), file.string());
    CheckReport report;
    report.subject = file.string();
    report.npu = order.npu;
    for (const SegmentStep& step : order.steps) {
        if (step.segment.empty()) {
            continue;
        }
        const std::filesystem::path folder = file.parent_path() / step.segment;
        const std::string map = (folder / "memory_map.yaml").string();
        CheckReport described = report_on_image(arguments, map);
        described.map = {};  // that of the program shows operations, too
        report.add(std::move(described));
        const SystemConfig system = read_image(arguments, map).system;
        report.npu = system.npu_name();
        const Program program =
            read_any_program((file.parent_path() / step.program).string(), system, Images::Read);
        report.add(check_on(system, program, arguments.map), step.segment);
    }
    return report;
}

bool launches_jobs(const Program& program) {
    return std::ranges::any_of(program.statements, [](const Statement& statement) {
        return std::holds_alternative<LaunchJob>(statement.action);
    });
}

/// Report on the program and, if requested, on the meaning of its results.
CheckReport report_on_program(const CheckArguments& arguments, const Program& program,
                              const SystemConfig& system,
                              std::span<const ProgramOutput> outputs = {}) {
    CheckReport report = check_on(system, program, arguments.map, outputs);
    report.npu = system.npu_name();
    if (arguments.prove && system.npu.find<NpuConfig>() == nullptr && !launches_jobs(program)) {
        throw ConfigError("--prove: the program launches no job, so nothing is to be proved",
                          "leave out --prove: all of it runs on the host");
    }
    if (arguments.prove) {
        std::optional<ModelLayers> layers;
        if (!arguments.model.empty()) {
            layers = model_layers(program, arguments.model, arguments.experiment, system);
        }
        prove(program, system, arguments.proof_folder, layers, report);
    }
    name_surfaces(report.findings, program.surfaces);
    return report;
}

/// Only a program of registers or jobs, or a table that results in one of registers, can be proved.
void refuse_proof(const CheckArguments& arguments) {
    if (arguments.prove) {
        throw ConfigError(
            fmt::format("--prove: '{}' is not a program", arguments.experiment.program),
            "name the program; for a plan, its program.cfg");
    }
}

CheckReport report_on(const CheckArguments& arguments) {
    const std::string& file = arguments.experiment.program;
    if (!arguments.proof_folder.empty() && !arguments.prove) {
        throw ConfigError("--out is given without --prove", "add --prove");
    }
    if (!arguments.model.empty() && !arguments.prove) {
        throw ConfigError("--model is given without --prove", "add --prove");
    }
    if (is_image_file(file)) {
        refuse_proof(arguments);
        return report_on_image(arguments, file);
    }
    if (!arguments.dumped.empty() || !arguments.golden.empty() || !arguments.against.empty()) {
        throw ConfigError(fmt::format("'{}' is not the description of a memory image", file),
                          "--dump, --golden and --against need one; for a program, use --dump and "
                          "--golden of `run`");
    }
    if (is_segments_file(file)) {
        refuse_proof(arguments);
        return report_on_segments(arguments);
    }
    const SystemConfig system = read_system(arguments.system);
    require_use_of_plan_options(arguments.experiment.plan, system);
    const auto* npu = system.npu.find<NpuConfig>();
    if (is_onnx_file(file) || (is_network_file(file) && npu == nullptr)) {
        refuse_proof(arguments);
        return report_on_model(arguments, system);
    }
    if (is_network_file(file)) {
        const PlanTarget target = arguments.experiment.plan.target(system, true);
        return report_on_program(arguments, plan_program(plan_network(read_network(file), target)),
                                 system);
    }
    if (is_loadable_file(file)) {
        const LoadableProgram loadable = read_loadable_program(file, {}, system);
        return report_on_program(arguments, loadable.program, system, program_outputs(loadable));
    }
    return report_on_program(arguments, read_any_program(file, system, Images::Read), system);
}

void require_own_files(const CheckArguments& arguments) {
    std::vector<OutputPath> outputs{{"--json", arguments.experiment.write.json, OutputKind::Text},
                                    {"--sarif", arguments.sarif, OutputKind::Text},
                                    {"--out", arguments.proof_folder, OutputKind::Folder}};
    for (const std::string& text : arguments.dumped) {
        outputs.push_back({"--dump", parse_surface_file(text, "--dump").file});
    }
    std::vector<std::string> inputs = arguments.inputs();
    inputs.insert(inputs.end(), {arguments.model, arguments.against});
    for (const std::string& file : {arguments.model, arguments.against}) {
        std::ranges::move(files_of_program(file), std::back_inserter(inputs));
    }
    for (const std::string& text : arguments.golden) {
        inputs.push_back(parse_surface_file(text, "--golden").file);
    }
    require_separate(outputs, inputs);
}

ExitCode check(CheckArguments& arguments, const Console& console) {
    if (arguments.rules) {
        console.out << rules_text({}, "check");
        return ExitCode::Good;
    }
    if (!arguments.explained.empty()) {
        return explain_rule(arguments.explained, console);
    }
    if (arguments.experiment.program.empty()) {
        throw ConfigError("PROGRAM is required", "give a file to check, or a rule: --explain ID");
    }
    arguments.open();
    require_own_files(arguments);
    require_use_of_options(arguments.experiment, !arguments.model.empty());
    CheckReport report = report_on(arguments);
    choose_findings(arguments, report.findings);
    const std::string& json = arguments.experiment.write.json;
    if (!arguments.sarif.empty()) {
        write_output(arguments.sarif, check_sarif(report, NPUSCOPE_VERSION), console);
    }
    if (!json.empty()) {
        write_output(json, check_json(report), console);
    }
    const bool aside = json == "-" || arguments.sarif == "-";
    const std::size_t width = aside ? console.err_width : console.out_width;
    const std::string map = arguments.map ? memory_maps_text(report, width) : "";
    (aside ? console.err : console.out) << printable(check_text(report, width) + map);
    return report.clean() ? ExitCode::Good : ExitCode::ExpectationFailed;
}

}  // namespace

Command check_command() {
    return {"check", "looks for mistakes in a driver's program or memory image without running it",
            "npuscope check traces/dc_8x8x36.cfg --npu nv_small --json findings.json",
            [](CLI::App& app, NpuFamilies families) {
                const auto arguments = std::make_shared<CheckArguments>();
                add_experiment_options(
                    app, *arguments, families, "PROGRAM",
                    "register trace: a .cfg or .txn file, or a folder that holds one; a loadable "
                    "for NVDLA (.fbuf, .nvdla); a memory image's description (.yaml); or a "
                    "network, a model (.onnx) or a shape table (.yaml), which is planned first and "
                    "for which unsupported nodes are listed as well");
                add_plan_options(app, arguments->experiment.plan);
                add_model_options(app, arguments->experiment.model);
                app.add_option("--json", arguments->experiment.write.json,
                               "file for the findings as JSON; - is standard output")
                    ->option_text("FILE");
                app.add_option("--sarif", arguments->sarif,
                               "file for the findings as SARIF 2.1.0, for code hosts and "
                               "editors; - is standard output")
                    ->option_text("FILE");
                app.add_option("--ignore", arguments->ignored,
                               "leave out the findings of this rule; may be repeated")
                    ->allow_extra_args(false)
                    ->option_text("ID");
                app.add_flag("--werror", arguments->warnings_are_errors,
                             "report warnings as errors; the exit code is 1 for either");
                app.add_flag("--prove", arguments->prove,
                             "run the program, describe in words the tensor operation behind each "
                             "result, and verify the machine's bytes against it");
                app.add_option("--out", arguments->proof_folder,
                               "with --prove: folder for the inputs, weights and results of the "
                               "operations as arrays (.npy)")
                    ->option_text("DIR");
                app.add_option("--model", arguments->model,
                               "with --prove: the model (.onnx) that the program was planned from, "
                               "whose layers are compared with the results")
                    ->option_text("MODEL");
                app.add_flag("--map", arguments->map,
                             "draw the memory map: what lies where, with gaps and overlaps, and "
                             "which operations of a register program use it");
                app.add_flag("--rules", arguments->rules,
                             "list the rules that check applies, and exit");
                app.add_option("--explain", arguments->explained,
                               "print what the rule with this id requires, and exit")
                    ->option_text("ID");
                app.add_option("--dump", arguments->dumped,
                               "write the elements of a surface in a memory image as an array "
                               "(.npy); may be repeated")
                    ->allow_extra_args(false)
                    ->option_text("SURFACE=FILE");
                app.add_option("--golden", arguments->golden,
                               "the surface of a memory image must hold the contents of the file: "
                               "an array (.npy) or bytes as they lie in memory; may be repeated")
                    ->allow_extra_args(false)
                    ->option_text("SURFACE=FILE");
                app.add_option("--against", arguments->against,
                               "another memory image, whose inputs of the same names must hold "
                               "the same elements, whatever their layouts")
                    ->option_text("IMAGE");
                app.get_option("PROGRAM")->required(false);
                return [arguments](const Console& console) { return check(*arguments, console); };
            }};
}

}  // namespace npuscope
