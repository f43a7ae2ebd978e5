// SPDX-License-Identifier: Apache-2.0
#include "sim/program/register_names.h"

#include <fmt/format.h>

#include <vector>

#include "sim/config/nearest_name.h"

namespace npuscope {

std::optional<std::uint32_t> RegisterNames::address(std::string_view name) const {
    const auto place = find_place(blocks_, name);
    return place ? std::optional(place->address()) : std::nullopt;
}

std::optional<std::string> RegisterNames::name(std::uint32_t address) const {
    const auto place = find_place(blocks_, address);
    return place ? std::optional(place->name()) : std::nullopt;
}

std::string RegisterNames::remedy(std::string_view name) const {
    const std::string_view block_name = name.substr(0, name.find('.'));
    std::vector<std::string> names;
    if (const RegisterBlock* block = find_block(blocks_, block_name)) {
        for (const RegisterRow& row : block->rows) {
            names.push_back(spelled(block->name, row.name));
        }
        const auto nearest = nearest_name(name, names);
        return nearest ? fmt::format("did you mean '{}'?", *nearest)
                       : fmt::format("`npuscope list registers` lists those of {}", block->name);
    }
    for (const RegisterBlock& block : blocks_) {
        names.emplace_back(block.name);
    }
    return name_remedy(block_name, names);
}

}  // namespace npuscope
