// SPDX-License-Identifier: Apache-2.0
#include "sim/report/explain_report.h"

#include "sim/compile/explain.h"
#include "sim/report/finding_report.h"

namespace npuscope {

std::string explain_report(const Graph& graph, const Target& target, const ModelPlan& plan,
                           std::size_t width) {
    const Explanation told{graph, target, plan.partition(), plan.layers()};
    const std::string refusals = told.refusals();
    return plan.summary(width) + told.node_table(width) +
           fitted((refusals.empty() ? "" : "\n") + refusals, width) +
           findings_text(plan.findings(), true, width);
}

}  // namespace npuscope
