// SPDX-License-Identifier: Apache-2.0
// Register names of a program to byte addresses: `NVDLA_CDMA.D_OP_ENABLE_0`, the trailing `_0`
// optional.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/base/register_map.h"

namespace npuscope {

/// The registers of a map. The blocks must outlive it.
class RegisterNames {
 public:
    explicit RegisterNames(std::span<const RegisterBlock> blocks) : blocks_(blocks) {}

    std::optional<std::uint32_t> address(std::string_view name) const;
    /// `NVDLA_CDMA.D_OP_ENABLE_0` for a byte address.
    std::optional<std::string> name(std::uint32_t address) const;
    /// What to do about an unknown name.
    std::string remedy(std::string_view name) const;

 private:
    std::span<const RegisterBlock> blocks_;
};

inline RegisterNames register_names(std::span<const RegisterBlock> blocks) {
    return RegisterNames(blocks);
}

}  // namespace npuscope
