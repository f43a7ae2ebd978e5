// SPDX-License-Identifier: Apache-2.0
// Findings about what a program awaits, from a static check before a run and from a finished run.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "models/base/diagnostic.h"

namespace npuscope {

/// `interrupt`: as in programs, SDP_0. `sync`: the id that it is to raise; empty: not reported.
inline Diagnostic masked_interrupt(const std::string& interrupt, const std::string& sync,
                                   const Place& place) {
    return {.id = "interrupt_masked",
            .sentence = fmt::format("interrupt {} is awaited{}, but masked", interrupt,
                                    sync.empty() ? "" : fmt::format(" for '{}'", sync)),
            .remedy = "clear its bit in NVDLA_GLB.S_INTR_MASK_0",
            .place = place};
}

/// A wait that lasts forever, as `sentence` says.
inline Diagnostic endless_wait(std::string sentence, std::string remedy, const Place& place) {
    return {.id = "never_ends",
            .sentence = std::move(sentence),
            .remedy = std::move(remedy),
            .place = place};
}

}  // namespace npuscope
