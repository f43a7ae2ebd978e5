// SPDX-License-Identifier: Apache-2.0
// A sub-command: its name and help, and a function that adds its options and gives what it then
// does.
#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "sim/command_line/exit_code.h"
#include "sim/config/system_config.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace npuscope {

/// Where a command writes: results for machines and people, and everything else.
struct Console {
    std::ostream& out;
    std::ostream& err;
};

struct Command {
    std::string name;
    std::string sentence;
    std::string example;
    std::function<std::function<ExitCode(const Console&)>(CLI::App&, NpuFamilies)> add;
};

/// Parses `arguments` (without the program's name) and runs the command that they name, for NPUs of
/// these families. An unknown command or option is refused with the nearest known one.
ExitCode run_command_line(const std::vector<std::string>& arguments,
                          std::span<const Command> commands, NpuFamilies families,
                          const Console& console);

}  // namespace npuscope
