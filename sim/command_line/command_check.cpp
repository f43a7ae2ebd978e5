// SPDX-License-Identifier: Apache-2.0
// `npuscope check`: what is wrong with a driver's program, without running it.
#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "models/csb/register_blocks.h"
#include "sim/check/check_text.h"
#include "sim/check/program_check.h"
#include "sim/command_line/commands.h"
#include "sim/command_line/system_arguments.h"
#include "sim/program/read_program.h"
#include "sim/report/atomic_file.h"

namespace npuscope {
namespace {

struct CheckArguments {
    std::string program;
    SystemArguments system;
    std::string json;
};

CheckReport report_on(const CheckArguments& arguments) {
    const SystemConfig system = read_system(arguments.system);
    const Program program = read_program(
        arguments.program, register_names(nvdla_register_blocks(system.npu.csb.address_map)),
        Images::Read);
    return check_program(program, {system.npu, system.memory});
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
    return {"check", "looks for mistakes in a driver's program without running it",
            "npuscope check traces/dc_8x8x36.cfg --npu nv_small --json findings.json",
            [](CLI::App& app) {
                const auto arguments = std::make_shared<CheckArguments>();
                app.add_option("PROGRAM", arguments->program,
                               "register trace: a .cfg or .txn file, or a folder that holds one")
                    ->required();
                add_system_options(app, arguments->system);
                app.add_option("--json", arguments->json,
                               "file for the findings as JSON; - is standard output");
                return [arguments](const Console& console) { return check(*arguments, console); };
            }};
}

}  // namespace npuscope
