// SPDX-License-Identifier: Apache-2.0
// Why a node of a model cannot run as part of a register program, and what could.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace npuscope {

struct LoweringProblem {
    std::size_t node = 0;
    std::string sentence;
    std::string remedy;
};
using LoweringProblems = std::vector<LoweringProblem>;

}  // namespace npuscope
