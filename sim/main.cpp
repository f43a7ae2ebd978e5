// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "sim/command_line/command.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/tinpu/tinpu_target.h"
#include "sim/run/freed_memory.h"

int main(int argc, char** argv) {
    npuscope::keep_freed_memory();
    const std::vector<npuscope::Command> commands{
        npuscope::run_command(), npuscope::plan_command(), npuscope::check_command(),
        npuscope::convert_command(), npuscope::list_command()};
    const npuscope::NvdlaFamily nvdla;
    const npuscope::TinpuFamily tinpu;
    const std::vector<const npuscope::NpuFamily*> families{&nvdla, &tinpu};
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const npuscope::Console console{.out = std::cout,
                                    .err = std::cerr,
                                    .out_width = npuscope::output_width(STDOUT_FILENO),
                                    .err_width = npuscope::output_width(STDERR_FILENO)};
    return static_cast<int>(npuscope::run_command_line(arguments, commands, families, console));
}
