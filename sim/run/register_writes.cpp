// SPDX-License-Identifier: Apache-2.0
#include "sim/run/register_writes.h"

namespace npuscope {

bool starts_operation(const WriteRegister& write) {
    const bool trigger = write.name.find(".D_OP_ENABLE") != std::string::npos ||
                         write.name.find(".CFG_LAUNCH") != std::string::npos;
    return trigger && (write.value & 1U) != 0;
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
    return place;
}

}  // namespace npuscope
