// SPDX-License-Identifier: Apache-2.0
// Several inputs of one model, each simulated by itself: on several cores they run in parallel,
// with the same results.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "models/base/quantity.h"
#include "sim/compile/model_program.h"

namespace npuscope {

struct CaseResult {
    Cycles cycles;
    Cycles simulated_cycles;
    GraphInputs outputs;
};

/// Case numbers, from `begin` to before `end`.
struct CaseSpan {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// The results of all of them in their order, on this many cores; 0: on all. `run` is called in
/// processes that start as copies of this one. If it throws, so does this, as the first failing
/// case does.
std::vector<CaseResult> run_cases(const CaseSpan& cases, std::size_t cores,
                                  const std::function<CaseResult(std::size_t)>& run);

}  // namespace npuscope
