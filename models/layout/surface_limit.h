// SPDX-License-Identifier: Apache-2.0
// How large a surface one operation may have here. Size registers reach far beyond any memory, and
// an operation's values are computed as a whole; a size that makes no sense is refused before
// anything is moved.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/base/register_map.h"
#include "models/layout/shape.h"

namespace npuscope {

inline constexpr Bytes largest_surface{512U << 20U};  // no hardware limit

/// Lines of one length that an operation moves.
struct SurfaceLines {
    std::uint64_t lines = 1;
    Bytes line{};

    bool too_large() const { return lines != 0 && line.value > largest_surface.value / lines; }
};

/// ConfigError that names the register, the lines and the limit.
void require_surface(const RegisterValues& registers, std::string_view register_name,
                     const SurfaceLines& surface);

}  // namespace npuscope
