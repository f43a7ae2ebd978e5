// SPDX-License-Identifier: Apache-2.0
// The commands of npuscope for one more family.
#include <iostream>
#include <string>
#include <vector>

#include "sim/command_line/command.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/tinpu/tinpu_target.h"
#include "vector_family.h"

int main(int argc, char** argv) {
    const std::vector<npuscope::Command> commands{
        npuscope::run_command(), npuscope::plan_command(), npuscope::check_command(),
        npuscope::convert_command(), npuscope::list_command()};
    const npuscope::NvdlaFamily nvdla;
    const npuscope::TinpuFamily tinpu;
    const vector_npu::VectorFamily vector;
    const std::vector<const npuscope::NpuFamily*> families{&nvdla, &tinpu, &vector};
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return static_cast<int>(
        npuscope::run_command_line(arguments, commands, families, {std::cout, std::cerr}));
}
