// SPDX-License-Identifier: Apache-2.0
// For tests of refusals: the message, which must come with a remedy, and of what decoders report.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "models/base/error.h"

namespace npuscope {

/// Why the call is refused; `accepted` if it is not.
template <class Call>
std::string refusal_of(const Call& call) {
    try {
        call();
    } catch (const ConfigError& error) {
        EXPECT_FALSE(error.remedy().empty());
        return error.sentence();
    }
    return "accepted";
}

/// The job that `decode` makes; ConfigError with its first finding, if there is one.
template <class Decode>
auto decoded(const Decode& decode) {
    Diagnostics findings;
    auto job = decode(findings);
    if (!findings.empty()) {
        EXPECT_TRUE(findings.front().unit.starts_with("NVDLA_"));
        throw ConfigError(findings.front());
    }
    return *job;
}

}  // namespace npuscope
