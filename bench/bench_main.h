// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace npuscope::bench {

/// Body of a benchmark's main: runs it, prints what it throws, returns the process's exit code.
int bench_main(int argc, char** argv, int (*run)(int argc, char** argv));

}  // namespace npuscope::bench
