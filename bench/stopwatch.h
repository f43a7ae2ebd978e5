// SPDX-License-Identifier: Apache-2.0
// Measurements of time: the best of several runs, that of one thread; and the memory that one run
// of a child process needs.
#pragma once

#include <functional>
#include <vector>

#include "models/base/quantity.h"

namespace npuscope::bench {

/// Seconds of the fastest of `times` runs of each; they alternate.
std::vector<double> best_of_each(unsigned times, const std::vector<std::function<void()>>& works);

/// Processor time of the calling thread so far.
double seconds_of_thread();

/// Largest resident size of a child process that runs `work` and ends.
Bytes peak_memory(const std::function<void()>& work);

}  // namespace npuscope::bench
