// SPDX-License-Identifier: Apache-2.0
#include "models/base/quantity.h"

#include <fmt/format.h>

namespace npuscope {

std::string to_hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

}  // namespace npuscope
