// SPDX-License-Identifier: Apache-2.0
#include "models/csb/register_place.h"

#include <cstddef>
#include <limits>
#include <utility>

#include "models/base/edit_distance.h"

namespace npuscope {

std::optional<RegisterPlace> find_register_by_name(std::string_view name, AddressMap map) {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) {
        return std::nullopt;
    }
    const RegisterBlock* block = find_block(name.substr(0, dot), map);
    if (block == nullptr) {
        return std::nullopt;
    }
    const std::string_view spelled = name.substr(dot + 1);
    const RegisterRow* row = nullptr;
    if (spelled.ends_with("_0")) {
        row = find_register(*block, spelled.substr(0, spelled.size() - 2));
    }
    if (row == nullptr) {
        row = find_register(*block, spelled);
    }
    return row == nullptr ? std::nullopt : std::optional(RegisterPlace{block, row});
}

std::optional<RegisterPlace> find_register_by_address(std::uint32_t address, AddressMap map) {
    for (const RegisterBlock& block : nvdla_register_blocks(map)) {
        if (address < block.base || address - block.base >= register_block_size.value) {
            continue;
        }
        const RegisterRow* row = find_register(block, address - block.base);
        return row == nullptr ? std::nullopt : std::optional(RegisterPlace{&block, row});
    }
    return std::nullopt;
}

std::string nearest_register_name(std::string_view name, AddressMap map) {
    std::string nearest;
    std::size_t smallest = std::numeric_limits<std::size_t>::max();
    for (const RegisterBlock& block : nvdla_register_blocks(map)) {
        for (const RegisterRow& row : block.rows) {
            std::string candidate = register_name(block, row);
            const std::size_t distance = edit_distance(name, candidate);
            if (distance < smallest) {
                smallest = distance;
                nearest = std::move(candidate);
            }
        }
    }
    return nearest;
}

}  // namespace npuscope
