// SPDX-License-Identifier: Apache-2.0
#include "sim/run/register_writes.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "models/base/register_map.h"
#include "models/npu/pipelines.h"

namespace npuscope {
namespace {

/// Whether the two blocks launch together.
bool same_unit(std::string_view one, std::string_view other) {
    return std::ranges::any_of(pipeline_rows, [&](const PipelineRow& row) {
        const auto has = [&](std::string_view block) {
            return std::ranges::find(row.blocks, block) != row.blocks.end();
        };
        return has(one) && has(other);
    });
}

/// Where the unit of the finding was last enabled: a register that was never written has no other
/// place.
std::optional<Place> last_enable(std::span<const Statement> statements, const Diagnostic& finding) {
    std::map<std::string_view, std::uint32_t> groups;
    std::optional<Place> place;
    for (const Statement& statement : statements) {
        const auto* write = std::get_if<WriteRegister>(&statement.action);
        const std::string_view block = write == nullptr ? "" : block_of(write->name);
        if (write == nullptr || !same_unit(block, block_of(finding.register_name))) {
            continue;
        }
        if (write->name.substr(block.size()).starts_with(".S_POINTER")) {
            groups[block] = write->value & 1U;
        } else if (starts_operation(*write) && (!finding.group || groups[block] == finding.group)) {
            place = statement.place;
        }
    }
    return place;
}

}  // namespace

bool starts_operation(const WriteRegister& write) {
    const bool trigger = write.name.find(".D_OP_ENABLE") != std::string::npos ||
                         write.name.find(".CFG_LAUNCH") != std::string::npos;
    return trigger && (write.value & 1U) != 0;
}

bool needs_unmasking(std::span<const Statement> statements, std::uint32_t mask) {
    const auto writes_mask = [mask](const Statement& statement) {
        const auto* write = std::get_if<WriteRegister>(&statement.action);
        return write != nullptr && write->address == mask;
    };
    const auto awaits = [](const Statement& statement) {
        return std::holds_alternative<NotifyOnInterrupt>(statement.action);
    };
    return std::ranges::any_of(statements, awaits) && std::ranges::none_of(statements, writes_mask);
}

std::optional<Place> last_write(std::span<const Statement> statements, AddressMap map,
                                const Diagnostic& finding) {
    const auto meant = find_place(nvdla_register_blocks(map), finding.register_name);
    if (!meant) {
        return std::nullopt;
    }
    const RegisterRow* pointer = find_register(*meant->block, "S_POINTER");
    const bool grouped = finding.group && pointer != nullptr && meant->row->name.starts_with("D_");
    std::uint32_t producer = 0;
    std::optional<Place> place;
    for (const Statement& statement : statements) {
        const auto* write = std::get_if<WriteRegister>(&statement.action);
        if (write == nullptr) {
            continue;
        }
        if (grouped && write->address == meant->block->base + pointer->offset) {
            producer = write->value & 1U;
        } else if (write->address == meant->address() && (!grouped || producer == finding.group)) {
            place = statement.place;
        }
    }
    return place ? place : last_enable(statements, finding);
}

}  // namespace npuscope
