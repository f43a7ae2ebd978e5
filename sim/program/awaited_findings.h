// SPDX-License-Identifier: Apache-2.0
// Findings about what a program awaits, of a static check before a run and of a run that is over.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "models/base/diagnostic.h"

namespace npuscope {

/// `interrupt`: as programs spell it, SDP_0. `sync`: the id that it is to raise; empty: not told.
inline Diagnostic masked_interrupt(const std::string& interrupt, const std::string& sync,
                                   const Place& place) {
    return {.id = "interrupt_masked",
            .sentence = fmt::format("interrupt {} is awaited{}, but masked", interrupt,
                                    sync.empty() ? "" : fmt::format(" for '{}'", sync)),
            .remedy = "clear its bit in NVDLA_GLB.S_INTR_MASK_0",
            .place = place};
}

/// A wait that lasts for ever, as `sentence` says.
inline Diagnostic endless_wait(std::string sentence, std::string remedy, const Place& place) {
    return {.id = "never_ends",
            .sentence = std::move(sentence),
            .remedy = std::move(remedy),
            .place = place};
}

}  // namespace npuscope
