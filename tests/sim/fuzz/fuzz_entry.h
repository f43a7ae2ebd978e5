// SPDX-License-Identifier: Apache-2.0
// What every libFuzzer target does: a text is read or refused with a ConfigError; all else is a
// crash.
#pragma once

#include <sanitizer/asan_interface.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/sim/fuzz/parse_inputs.h"

namespace npuscope::fuzz {

/// Where SystemC has switched stacks, AddressSanitizer does not know whose frames an exception leaves,
/// and their marks stay: a library without marks of its own then seems to read beyond a variable.
inline void forget_left_frames() {
    constexpr std::size_t depth = std::size_t{1} << 20U;
    const char here = 0;
    __asan_unpoison_memory_region(&here - depth, depth);
}

inline int feed(const std::uint8_t* data, std::size_t size, void (*parse)(const std::string&)) {
    forget_left_frames();
    try {
        parse(std::string(data, data + size));
    } catch (const ConfigError&) {
        return 0;
    }
    return 0;
}

}  // namespace npuscope::fuzz
