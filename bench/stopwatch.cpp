// SPDX-License-Identifier: Apache-2.0
#include "bench/stopwatch.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace npuscope::bench {

std::vector<double> best_of_each(unsigned times, const std::vector<std::function<void()>>& works) {
    std::vector<double> best(works.size(), std::numeric_limits<double>::max());
    for (unsigned i = 0; i < times; ++i) {
        for (std::size_t k = 0; k < works.size(); ++k) {
            const auto begin = std::chrono::steady_clock::now();
            works[k]();
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
            best[k] = std::min(best[k], took.count());
        }
    }
    return best;
}

double seconds_of_thread() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Bytes peak_memory(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    int status = 0;
    rusage usage{};
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        return Bytes(0);
    }
    return Bytes(static_cast<std::uint64_t>(usage.ru_maxrss) * 1024);  // Linux counts in KiB
}

}  // namespace npuscope::bench
