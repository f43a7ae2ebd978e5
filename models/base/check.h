// SPDX-License-Identifier: Apache-2.0
// Internal bugs: a broken invariant throws InternalError, in every build type (exit 70).
#pragma once

#include <stdexcept>
#include <string>

namespace npuscope {

/// A bug of the simulator, never the user's.
class InternalError : public std::logic_error {
 public:
    using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const std::string& sentence, const char* file,
                             int line);

}  // namespace npuscope

/// The only macro of the project: it needs the text and location of its condition.
#define NPU_CHECK(condition, sentence)                                          \
    do {                                                                        \
        if (!(condition)) {                                                     \
            ::npuscope::fail_check(#condition, (sentence), __FILE__, __LINE__); \
        }                                                                       \
    } while (false)
