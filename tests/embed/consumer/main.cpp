// SPDX-License-Identifier: Apache-2.0
// A program outside the project: runs a register program on the default NPU and says whether it passed.
#include <cstdio>

#include "models/npu/register_blocks.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/program/read_program.h"
#include "sim/run/session.h"

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    const npuscope::Program program =
        npuscope::read_program(argv[1], npuscope::RegisterNames(npuscope::nvdla_register_blocks()));
    const npuscope::Result result = npuscope::run_program(program, npuscope::nvdla_system(), {});
    std::printf("%llu cycles\n", static_cast<unsigned long long>(result.cycles.value));
    return result.status() == npuscope::RunStatus::Pass ? 0 : 1;
}
