// SPDX-License-Identifier: Apache-2.0
// What every function of the C interface does around its work: no exception leaves it, and a
// refusal is a status with a text.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "include/npuscope/npuscope.h"

namespace npuscope {

/// Ends a function of the C interface with this status and text.
struct CallRefusal : std::exception {
    CallRefusal(npuscope_status the_status, std::string the_text)
        : status(the_status), text(std::move(the_text)) {}
    const char* what() const noexcept override { return text.c_str(); }
    npuscope_status status;
    std::string text;
};

/// What npuscope_error() returns in this thread.
std::string& last_error();

/// Returns the status, with its text as the last error.
npuscope_status refuse(npuscope_status status, std::string text);
npuscope_status null_argument(const char* name);

/// For the exception that is being handled.
npuscope_status refuse_current();

template <class Work>
npuscope_status guarded(const Work& work) noexcept {
    try {
        return work();
    } catch (...) {
        return refuse_current();
    }
}

}  // namespace npuscope
