// SPDX-License-Identifier: Apache-2.0
// `npuscope check`: what is wrong with a driver's program, without running it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "sim/check/check_report.h"
#include "sim/check/image_description.h"
#include "sim/check/rules.h"
#include "sim/check/sarif_report.h"
#include "sim/command_line/command.h"
#include "sim/command_line/experiment.h"
#include "sim/command_line/loadable_files.h"
#include "sim/command_line/network_files.h"
#include "sim/command_line/surface_queries.h"
#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/compile/partition.h"
#include "sim/config/file_io.h"
#include "sim/config/nearest_name.h"
#include "sim/config/printable.h"
#include "sim/model/onnx_reader.h"
#include "sim/program/read_program.h"

namespace npuscope {
namespace {

struct CheckArguments : ExperimentArguments {
    std::string sarif;
    std::string explained;  ///< id of a rule that is explained, and nothing checked
    std::vector<std::string> ignored;
    bool warnings_are_errors = false;
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

/// Only what the user asked for, as grave as asked for.
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

/// The image's own NPU counts where the command line names none.
CheckReport report_on_image(const CheckArguments& arguments) {
    const std::string& program = arguments.experiment.program;
    const ImageDescription image = parse_image(read_whole_file(program), program);
    SystemArguments chosen = arguments.system;
    const bool npu_given = arguments.app->count("--npu") > 0 ||
                           arguments.experiment.npu.kind != ConfigNode::Kind::Null;
    if (!npu_given && !image.npu.empty()) {
        chosen.npu = image.npu;
    }
    const SystemConfig system = read_system(chosen);
    return check_image_description(image, {nvdla_npu(system), system.memory},
                                   files_beside(program));
}

/// The register programs of a model's segments, one by one.
void check_segments(Program program, const CheckTarget& target, CheckReport& report) {
    Program segment;
    const auto check_part = [&] {
        const CheckReport part = check_program(segment, target);
        report.operations += part.operations;
        report.findings.insert(report.findings.end(), part.findings.begin(), part.findings.end());
        segment.statements.clear();
    };
    for (Statement& statement : program.statements) {
        if (std::holds_alternative<BeginSegment>(statement.action)) {
            check_part();
        }
        segment.statements.push_back(std::move(statement));
    }
    check_part();
}

/// What the plan of a model lacks, and, as notes, what the NPU does not take and the host runs.
CheckReport report_on_model(const Experiment& experiment, const SystemConfig& system) {
    const Graph graph =
        read_any_network(experiment.program, system, experiment.model, ModelUse::Time);
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
    for (const RefusedLayer& layer : model.refused) {
        for (Diagnostic problem : layer.problems) {
            problem.severity = Severity::Note;
            problem.id = problem.id.empty() ? "not_taken" : problem.id;
            problem.unit = "host";
            report.findings.push_back(std::move(problem));
        }
    }
    for (const Statement& statement : model.program.statements) {
        report.operations += std::holds_alternative<LaunchJob>(statement.action) ? 1U : 0U;
    }
    if (const auto* npu = system.npu.find<NpuConfig>()) {
        check_segments(std::move(model.program), {*npu, system.memory}, report);
    }
    return report;
}

CheckReport report_on(const CheckArguments& arguments) {
    const std::string& file = arguments.experiment.program;
    if (is_image_file(file)) {
        return report_on_image(arguments);
    }
    const SystemConfig system = read_system(arguments.system);
    const auto* npu = system.npu.find<NpuConfig>();
    if (is_onnx_file(file) || (is_network_file(file) && npu == nullptr)) {
        return report_on_model(arguments.experiment, system);
    }
    if (is_network_file(file)) {
        const PlanTarget target = arguments.experiment.plan.target(system, true);
        return check_program(plan_program(plan_network(read_network(file), target)),
                             {*npu, system.memory});
    }
    const Program program = is_loadable_file(file) ? read_loadable_program(file, {}, system).program
                                                   : read_any_program(file, system, Images::Read);
    CheckReport report = npu != nullptr ? check_program(program, {*npu, system.memory})
                                        : check_jobs(program, system.memory);
    report.npu = system.npu_name();
    name_surfaces(report.findings, program.surfaces);
    return report;
}

ExitCode check(CheckArguments& arguments, const Console& console) {
    if (!arguments.explained.empty()) {
        return explain_rule(arguments.explained, console);
    }
    if (arguments.experiment.program.empty()) {
        throw ConfigError("PROGRAM is required",
                          "name what is to be checked, or a rule: --explain ID");
    }
    arguments.open();
    CheckReport report = report_on(arguments);
    choose_findings(arguments, report.findings);
    if (!arguments.sarif.empty()) {
        write_atomically(arguments.sarif, check_sarif(report, NPUSCOPE_VERSION));
    }
    const std::string& json = arguments.experiment.write.json;
    if (json == "-") {
        console.out << check_json(report);
    } else if (!json.empty()) {
        write_atomically(json, check_json(report));
    }
    if (json == "-") {
        console.err << printable(check_text(report, console.err_width));
    } else {
        console.out << printable(check_text(report, console.out_width));
    }
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
                    "register trace: a .cfg or .txn file, or a folder that holds one; a "
                    "loadable for NVDLA (.fbuf, .nvdla); a memory image's description (.yaml); "
                    "or a network to be planned: a "
                    "model (.onnx) or a shape table (.yaml), of which it also says what "
                    "the NPU does not take");
                add_plan_options(app, arguments->experiment.plan);
                add_model_options(app, arguments->experiment.model);
                app.add_option("--json", arguments->experiment.write.json,
                               "file for the findings as JSON; - is standard output");
                app.add_option("--sarif", arguments->sarif,
                               "file for the findings as SARIF 2.1.0, for code hosts and editors");
                app.add_option("--ignore", arguments->ignored,
                               "leave out the findings of this rule; may be repeated")
                    ->allow_extra_args(false)
                    ->option_text("ID");
                app.add_flag("--werror", arguments->warnings_are_errors, "warnings are errors");
                app.add_option("--explain", arguments->explained,
                               "say what the rule with this id asks for, and check nothing")
                    ->option_text("ID");
                app.get_option("PROGRAM")->required(false);
                return [arguments](const Console& console) { return check(*arguments, console); };
            }};
}

}  // namespace npuscope
