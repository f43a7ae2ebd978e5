// SPDX-License-Identifier: Apache-2.0
// From what a program writes to the register meant: by name as traces spell it, or by address.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/csb/register_blocks.h"

namespace npuscope {

/// One register of one block; both live as long as the program.
struct RegisterPlace {
    const RegisterBlock* block = nullptr;
    const RegisterRow* row = nullptr;

    std::uint32_t address() const { return block->base + row->offset; }
    std::string name() const { return register_name(*block, *row); }
};

/// "NVDLA_CDMA.D_OP_ENABLE_0". The published spelling ends in `_0`, also after a register name that
/// ends in a digit (`D_DATAIN_SIZE_0_0`); it may be left out.
std::optional<RegisterPlace> find_register_by_name(std::string_view name,
                                                   AddressMap map = AddressMap::NvSmall);

/// The register at a byte address of the CSB's space.
std::optional<RegisterPlace> find_register_by_address(std::uint32_t address,
                                                      AddressMap map = AddressMap::NvSmall);

/// The known name that differs from `name` in the fewest letters, for "did you mean".
std::string nearest_register_name(std::string_view name, AddressMap map = AddressMap::NvSmall);

}  // namespace npuscope
