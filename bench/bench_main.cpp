// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_main.h"

#include <iostream>

#include "sim/command_line/command.h"
#include "sim/run/freed_memory.h"

namespace npuscope::bench {

int bench_main(int argc, char** argv, int (*run)(int argc, char** argv)) {
    keep_freed_memory();
    int code = 0;
    const ExitCode exit = guard(
        [&] {
            code = run(argc, argv);
            return ExitCode::Good;
        },
        std::cerr);
    return exit == ExitCode::Good ? code : static_cast<int>(exit);
}

}  // namespace npuscope::bench
