// SPDX-License-Identifier: Apache-2.0
#include "sim/report/explain_report.h"

#include "sim/compile/explain.h"
#include "sim/report/finding_report.h"

namespace npuscope {

std::string explain_report(const Graph& graph, const Target& target, const ModelPlan& plan) {
    const Explanation told{graph, target, plan.partition(), plan.layers()};
    const std::string refusals = told.refusals();
    return plan.summary() + told.node_table() + (refusals.empty() ? "" : "\n") + refusals +
           findings_text(plan.findings());
}

}  // namespace npuscope
