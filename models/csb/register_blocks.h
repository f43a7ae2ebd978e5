// SPDX-License-Identifier: Apache-2.0
// All register blocks of NVDLA in the two published address maps: nv_small's, which every
// configurable preset shares, and nv_full's, where the same blocks stand at other addresses. A
// block stands here whether a preset has the unit or not. The error collector GEC is not modelled.
// nv_full's fields are narrower than these rows in places (addresses and strides without their
// low five bits, bank numbers of four bits); a legal program means the same with either.
// source: NVDLA register specification; nv_full: register header of its C model
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "models/base/describe.h"
#include "models/base/quantity.h"
#include "models/base/register_map.h"

namespace npuscope {

enum class AddressMap { NvSmall, NvFull };

template <>
struct EnumNames<AddressMap> {
    static constexpr std::array names{std::pair{AddressMap::NvSmall, std::string_view("nv_small")},
                                      std::pair{AddressMap::NvFull, std::string_view("nv_full")}};
};

inline constexpr Bytes register_block_size{0x1000};  ///< address space of one block

std::span<const RegisterBlock> nvdla_register_blocks(AddressMap map = AddressMap::NvSmall);

/// `name` as published, e.g. "NVDLA_CDMA"; nullptr where there is none.
const RegisterBlock* find_block(std::string_view name, AddressMap map = AddressMap::NvSmall);

/// `NVDLA_CDMA.D_OP_ENABLE_0`: a register as traces and messages spell it.
std::string register_name(const RegisterBlock& block, const RegisterRow& row);

}  // namespace npuscope
