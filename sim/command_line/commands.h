// SPDX-License-Identifier: Apache-2.0
// The sub-commands, one file each.
#pragma once

#include "sim/command_line/command.h"

namespace npuscope {

Command run_command();
Command list_command();
Command plan_command();
Command check_command();
Command convert_command();

}  // namespace npuscope
