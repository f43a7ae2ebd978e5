// SPDX-License-Identifier: Apache-2.0
// What a user sees who types a command line.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "sim/command_line/command.h"
#include "tests/support/families.h"

namespace npuscope::sample {

struct Answer {
    ExitCode code;
    std::string out;
    std::string err;
};

inline Answer typed(const std::vector<std::string>& arguments,
                    const std::vector<Command>& commands = {run_command(), list_command()}) {
    std::ostringstream out;
    std::ostringstream err;
    const ExitCode code = run_command_line(arguments, commands, test::families(), {out, err});
    return {code, out.str(), err.str()};
}

}  // namespace npuscope::sample
