// SPDX-License-Identifier: Apache-2.0
// What every libFuzzer target does: a text is read or refused with a ConfigError; all else is a
// crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/sim/fuzz/parse_inputs.h"

namespace npuscope::fuzz {

inline int feed(const std::uint8_t* data, std::size_t size, void (*parse)(const std::string&)) {
    try {
        parse(std::string(data, data + size));
    } catch (const ConfigError&) {
        return 0;
    }
    return 0;
}

}  // namespace npuscope::fuzz
