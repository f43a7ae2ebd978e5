// SPDX-License-Identifier: Apache-2.0
// `npuscope check`: what is wrong with a driver's program, without running it.
#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "sim/check/check_report.h"
#include "sim/check/image_check.h"
#include "sim/check/program_check.h"
#include "sim/command_line/commands.h"
#include "sim/command_line/system_arguments.h"
#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/config/file_io.h"
#include "sim/config/yaml_reader.h"
#include "sim/program/read_program.h"

namespace npuscope {
namespace {

struct CheckArguments {
    std::string program;
    SystemArguments system;
    std::string json;
    bool npu_given = false;
};

bool has_key(const std::string& text, const std::string& file, std::string_view key) {
    const ConfigNode node = parse_yaml(text, file);
    return node.kind == ConfigNode::Kind::Map && node.find(key) != nullptr;
}

/// The image's own NPU counts where the command line names none.
CheckReport report_on_image(const CheckArguments& arguments, const std::string& text) {
    const ImageDescription image = parse_image(text, arguments.program);
    SystemArguments chosen = arguments.system;
    if (!arguments.npu_given && !image.npu.empty()) {
        chosen.npu = image.npu;
    }
    const SystemConfig system = read_system(chosen);
    return check_image_description(image, {nvdla_npu(system), system.memory},
                                   files_beside(arguments.program));
}

CheckReport report_on(const CheckArguments& arguments) {
    if (is_network_file(arguments.program)) {
        const std::string text = read_whole_file(arguments.program);
        if (has_key(text, arguments.program, "surfaces")) {
            return report_on_image(arguments, text);
        }
        const SystemConfig system = read_system(arguments.system);
        const Network network = parse_network(text, arguments.program);
        const NpuConfig& npu = nvdla_npu(system);
        return check_program(plan_program(plan_network(network, {npu, system.memory})),
                             {npu, system.memory});
    }
    const SystemConfig system = read_system(arguments.system);
    const NpuConfig& npu = nvdla_npu(system);
    const RegisterNames names = register_names(system.family->registers(system.npu).blocks);
    return check_program(read_program(arguments.program, names, Images::Read),
                         {npu, system.memory});
}

ExitCode check(const CheckArguments& arguments, const Console& console) {
    const CheckReport report = report_on(arguments);
    const bool json_on_out = arguments.json == "-";
    if (json_on_out) {
        console.out << check_json(report);
    } else if (!arguments.json.empty()) {
        write_atomically(arguments.json, check_json(report));
    }
    (json_on_out ? console.err : console.out) << check_text(report);
    return report.clean() ? ExitCode::Good : ExitCode::ExpectationFailed;
}

}  // namespace

Command check_command() {
    return {"check", "looks for mistakes in a driver's program or memory image without running it",
            "npuscope check traces/dc_8x8x36.cfg --npu nv_small --json findings.json",
            [](CLI::App& app, NpuFamilies families) {
                const auto arguments = std::make_shared<CheckArguments>();
                app.add_option("PROGRAM", arguments->program,
                               "register trace: a .cfg or .txn file, or a folder that holds one; a "
                               "memory image's description, or a network to be planned: a .yaml "
                               "file")
                    ->required();
                add_system_options(app, arguments->system, families);
                app.add_option("--json", arguments->json,
                               "file for the findings as JSON; - is standard output");
                const CLI::Option* npu = app.get_option("--npu");
                return [arguments, npu](const Console& console) {
                    arguments->npu_given = npu->count() > 0;
                    return check(*arguments, console);
                };
            }};
}

}  // namespace npuscope
