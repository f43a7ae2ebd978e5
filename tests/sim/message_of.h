// SPDX-License-Identifier: Apache-2.0
// For tests of errors: the message itself is what users see, so tests compare all of it.
#pragma once

#include <string>

#include "models/base/error.h"

namespace npuscope::sample {

/// The message of a call that must fail; empty if it does not fail.
template <class Call>
std::string message_of(Call call) {
    try {
        call();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

}  // namespace npuscope::sample
