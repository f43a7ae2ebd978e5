// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <string>
#include <vector>

#include "sim/command_line/command.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/tinpu/tinpu_target.h"
#include "sim/config/temporary.h"
#include "sim/run/freed_memory.h"

namespace {

/// A standard stream that is closed must not become the first file that is opened: what is written to
/// it would stand in that file. Writing to the one that takes its place fails, as it did before.
void occupy_standard_streams() {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
        if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF) {
            ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    occupy_standard_streams();
    const npuscope::InterruptionGuard interruptions;
    npuscope::keep_freed_memory();
    const std::vector<npuscope::Command> commands{
        npuscope::run_command(),      npuscope::plan_command(),   npuscope::check_command(),
        npuscope::sweep_command(),    npuscope::report_command(), npuscope::convert_command(),
        npuscope::quantise_command(), npuscope::list_command()};
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
