// SPDX-License-Identifier: Apache-2.0
// How a process of ours ends, in one place.
#pragma once

#include <functional>
#include <iosfwd>

namespace npuscope {

enum class ExitCode : int {
    Good = 0,
    ExpectationFailed = 1,  ///< a check failed or a finding is an error
    WrongInput = 2,         ///< ConfigError, or a command line that is none
    MachineStopped = 3,     ///< deadlock or cycle limit
    Bug = 70                ///< InternalError and every unexpected exception
};

/// Runs `work`; an exception becomes a line on `errors` and its exit code.
ExitCode guard(const std::function<ExitCode()>& work, std::ostream& errors);

}  // namespace npuscope
