// SPDX-License-Identifier: Apache-2.0
#include "models/layout/surface_limit.h"

#include <fmt/format.h>

#include "models/base/error.h"
#include "models/layout/alignment.h"

namespace npuscope {

void require_surface(const RegisterValues& registers, std::string_view register_name,
                     const SurfaceLines& surface) {
    if (surface.too_large()) {
        throw ConfigError(
            fmt::format("{}: a surface of {} lines of {} bytes is larger than the {} MiB that one "
                        "operation may move here",
                        spelled(registers.block().name, register_name), surface.lines,
                        surface.line.value, largest_surface.value >> 20U),
            "mend the sizes, or cut the operation");
    }
}

}  // namespace npuscope
