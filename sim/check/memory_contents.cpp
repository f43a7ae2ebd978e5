// SPDX-License-Identifier: Apache-2.0
// The bytes that a program itself puts into memory.
#include "sim/check/loaded_bytes.h"
#include "sim/check/memory_rules.h"

namespace npuscope {
std::optional<std::vector<std::uint8_t>> MemoryRules::contents(const ByteRun& run) const {
    if (lost_track_ || !in_memory(run)) {
        return std::nullopt;
    }
    std::vector<std::uint8_t> bytes(run.bytes.value, 0);
    bool known = true;
    bytes_.visit(run, [&](const ByteRun& piece, const ByteState* state) {
        const std::uint64_t at = (piece.address - run.address).value;
        const std::span<std::uint8_t> part = std::span(bytes).subspan(at, piece.bytes.value);
        if (state == nullptr) {
            known = known && machine_.zeroed;
        } else if (state->origin == ByteOrigin::Written) {
            known = false;
        } else if (state->origin == ByteOrigin::Loaded) {
            const LoadMemory& load = *loads_[state->by];
            copy_loaded(load.image, (piece.address - load.address).value, part);
        } else {
            for (std::uint64_t i = 0; i < part.size(); ++i) {
                part[i] = fill_byte(fills_[state->by], piece.address + Bytes(i));
            }
        }
    });
    return known ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace npuscope
