// SPDX-License-Identifier: Apache-2.0
// Register names of a program to byte addresses: `NVDLA_CDMA.D_OP_ENABLE_0`, the trailing `_0`
// optional.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/base/register_map.h"

namespace npuscope {

struct RegisterNames {
    std::function<std::optional<std::uint32_t>(std::string_view name)> address;
    /// `NVDLA_CDMA.D_OP_ENABLE_0` for a byte address.
    std::function<std::optional<std::string>(std::uint32_t address)> name;
    /// What to tell who wrote an unknown name.
    std::function<std::string(std::string_view name)> remedy;
};

/// The registers of a map. The blocks must outlive the result.
RegisterNames register_names(std::span<const RegisterBlock> blocks);

}  // namespace npuscope
