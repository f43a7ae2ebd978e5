// SPDX-License-Identifier: Apache-2.0
// A sub-command: its name and help, and a function that adds its options and returns what it then
// does. Also what all of them share: how an npuscope process ends, and the options that name the
// machine.
#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "sim/config/system_config.h"
#include "sim/config/text_table.h"
#include "sim/config/yaml_reader.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace npuscope {

enum class ExitCode : int {
    Good = 0,
    ExpectationFailed = 1,  ///< a check failed or a finding is an error
    WrongInput = 2,         ///< ConfigError, or an invalid command line
    MachineStopped = 3,     ///< deadlock or cycle limit
    Bug = 70                ///< InternalError and every unexpected exception
};

/// Runs `work`; an exception becomes a line on `errors` and its exit code.
ExitCode guard(const std::function<ExitCode()>& work, std::ostream& errors);

/// Where a command writes: results for machines and people, and everything else; and how many
/// columns text for people may have there.
struct Console {
    std::ostream& out;
    std::ostream& err;
    std::string command{};  ///< line as typed
    std::size_t out_width = report_width;
    std::size_t err_width = report_width;
};

/// Writes the file, or to standard output if it is `-`; an empty name is none.
void write_output(const std::string& file, std::string_view text, const Console& console);

/// Columns of the terminal behind a file descriptor, within reason; `report_width` if it is none.
std::size_t output_width(int descriptor);

struct Command {
    std::string name;
    std::string sentence;
    std::string example;
    std::function<std::function<ExitCode(const Console&)>(CLI::App&, NpuFamilies)> add;
};

/// Parses `arguments` (without the program's name) and runs the command that they name, for NPUs of
/// these families. An unknown command or option is refused, suggesting the nearest known one.
ExitCode run_command_line(const std::vector<std::string>& arguments,
                          std::span<const Command> commands, NpuFamilies families,
                          const Console& console);

// The sub-commands, one file each.
Command run_command();
Command list_command();
Command plan_command();
Command check_command();
Command convert_command();
Command quantise_command();
Command sweep_command();
Command report_command();

struct SystemArguments {
    NpuFamilies families{};
    std::string npu = "nv_small";
    std::string memory{};              ///< empty: the default of the NPU
    std::vector<std::string> changes;  ///< KEY=VALUE, in the order given

    // What an experiment has instead of these, unless they were typed.
    ConfigNode npu_fields{};     ///< as a preset's file has them
    ConfigNode memory_fields{};  ///< as a preset's file has them
    ConfigNode host_fields{};    ///< take precedence over the preset's
    std::vector<FieldOverride> earlier_changes{};
};

/// Adds --npu, --memory and --set. `arguments` must outlive the parsing.
void add_system_options(CLI::App& app, SystemArguments& arguments, NpuFamilies families);

/// Reads presets, applies changes. ConfigError names the file or the change that is wrong.
SystemConfig read_system(const SystemArguments& arguments);

}  // namespace npuscope
