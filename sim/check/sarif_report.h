// SPDX-License-Identifier: Apache-2.0
// The findings of a check in the format that code hosts and editors show beside the source.
// source: OASIS, Static Analysis Results Interchange Format (SARIF) 2.1.0
#pragma once

#include <string>

#include "sim/check/check_report.h"

namespace npuscope {

/// One run of npuscope: a result for each finding, and the rules that they break.
std::string check_sarif(const CheckReport& report, const std::string& version);

}  // namespace npuscope
