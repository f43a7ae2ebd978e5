// SPDX-License-Identifier: Apache-2.0
#include "sim/program/register_names.h"

#include <fmt/format.h>

#include <vector>

#include "sim/config/nearest_name.h"

namespace npuscope {
namespace {

const RegisterBlock* find_block(std::span<const RegisterBlock> blocks, std::string_view name) {
    for (const RegisterBlock& block : blocks) {
        if (block.name == name) {
            return &block;
        }
    }
    return nullptr;
}

std::string_view block_part(std::string_view name) { return name.substr(0, name.find('.')); }

std::string_view register_part(std::string_view name) {
    const std::size_t dot = name.find('.');
    std::string_view part = dot == std::string_view::npos ? "" : name.substr(dot + 1);
    if (part.ends_with("_0")) {
        part.remove_suffix(2);
    }
    return part;
}

std::optional<std::uint32_t> find_address(std::span<const RegisterBlock> blocks,
                                          std::string_view name) {
    const RegisterBlock* block = find_block(blocks, block_part(name));
    const RegisterRow* row =
        block == nullptr ? nullptr : find_register(*block, register_part(name));
    return row == nullptr ? std::nullopt : std::optional(block->base + row->offset);
}

std::optional<std::string> find_name(std::span<const RegisterBlock> blocks, std::uint32_t address) {
    for (const RegisterBlock& block : blocks) {
        for (const RegisterRow& row : block.rows) {
            if (block.base + row.offset == address) {
                return fmt::format("{}.{}_0", block.name, row.name);
            }
        }
    }
    return std::nullopt;
}

std::string suggest(std::span<const RegisterBlock> blocks, std::string_view name) {
    std::vector<std::string> names;
    if (const RegisterBlock* block = find_block(blocks, block_part(name))) {
        for (const RegisterRow& row : block->rows) {
            names.push_back(fmt::format("{}.{}_0", block->name, row.name));
        }
        const auto nearest = nearest_name(name, names);
        return nearest ? fmt::format("did you mean '{}'?", *nearest)
                       : fmt::format("`npuscope list registers` lists those of {}", block->name);
    }
    for (const RegisterBlock& block : blocks) {
        names.emplace_back(block.name);
    }
    return name_remedy(block_part(name), names);
}

}  // namespace

RegisterNames register_names(std::span<const RegisterBlock> blocks) {
    return {[blocks](std::string_view name) { return find_address(blocks, name); },
            [blocks](std::uint32_t address) { return find_name(blocks, address); },
            [blocks](std::string_view name) { return suggest(blocks, name); }};
}

}  // namespace npuscope
