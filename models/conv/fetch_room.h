// SPDX-License-Identifier: Apache-2.0
// The room that a fetch finds in its part of the convolution buffer: what was promised before it,
// what was released since. Times only.
#pragma once

#include <cstdint>
#include <optional>

#include "models/link/release_ledger.h"

namespace npuscope {

struct FetchRoom {
    const ReleaseLedger* releases = nullptr;
    std::uint64_t capacity = 0;  ///< entries
    std::uint64_t promised = 0;  ///< entries of operations before

    /// From when on there is room for the first `entries` of this fetch; nothing as long as no one
    /// knows. `total` of the answer is what had been released in all.
    std::optional<ReleaseLedger::Step> known_for(std::uint64_t entries) const {
        const std::uint64_t end = promised + entries;
        return releases->reached(end <= capacity ? 0 : end - capacity);
    }
};

}  // namespace npuscope
