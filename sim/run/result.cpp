// SPDX-License-Identifier: Apache-2.0
#include "sim/run/result.h"

#include <algorithm>

namespace npuscope {

ClientTraffic Result::total_traffic() const {
    ClientTraffic total;
    for (const NamedTraffic& client : traffic) {
        total += client.traffic;
    }
    return total;
}

RunStatus Result::status() const {
    const bool checks_pass = std::all_of(checks.begin(), checks.end(),
                                         [](const CheckResult& check) { return check.pass; });
    const bool wrong = std::any_of(findings.begin(), findings.end(), [](const Diagnostic& finding) {
        return finding.severity == Severity::Error;
    });
    return checks_pass && !wrong ? RunStatus::Pass : RunStatus::Fail;
}

double host_share(const Result& result) {
    return result.model && result.cycles.value > 0 ? static_cast<double>(result.model->host.value) /
                                                         static_cast<double>(result.cycles.value)
                                                   : 0.0;
}

std::optional<double> mac_utilisation(const OperationRecord& operation) {
    const double possible =
        static_cast<double>(operation.mac_cells) * static_cast<double>(operation.cycles().value);
    if (possible <= 0) {
        return std::nullopt;
    }
    return static_cast<double>(operation.macs) / possible;
}

}  // namespace npuscope
