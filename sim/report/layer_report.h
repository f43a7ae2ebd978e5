// SPDX-License-Identifier: Apache-2.0
// Results of a planned graph's run, for machines and for people.
#pragma once

#include <string>

#include "sim/compile/tinpu/layer_plan.h"
#include "sim/run/layer_session.h"

namespace npuscope {

struct LayerResult {
    std::string program;
    const Graph& graph;
    const LayerPlan& plan;
    const LayerSystem& system;
    LayerRun run;
    double wall_seconds = 0;
    bool values = true;
};

/// Keys as those of other programs, with `pattern` at every operation, and `host`: what the host
/// took.
std::string layer_json(const LayerResult& result);
std::string layer_summary(const LayerResult& result);

}  // namespace npuscope
