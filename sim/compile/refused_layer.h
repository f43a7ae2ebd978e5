// SPDX-License-Identifier: Apache-2.0
// What stands against a layer of a model on an NPU, as results list it.
#pragma once

#include <string>
#include <vector>

namespace npuscope {

/// A layer of a model that the NPU does not take.
struct RefusedLayer {
    struct Problem {
        std::string node;
        std::string sentence;
        std::string remedy;
    };
    std::string layer;
    std::string pattern;
    std::vector<Problem> problems;
};

}  // namespace npuscope
