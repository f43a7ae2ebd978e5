// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/space.h"
#include "tests/sim/fuzz/fuzz_entry.h"

namespace {

/// A space is read, sampled, and its objectives are computed.
void parse_space(const std::string& text) {
    const npuscope::Space space(npuscope::parse_yaml(text, "space.yaml"), "/");
    if (space.grid() > 1'000) {
        return;
    }
    std::uint64_t left_out = 0;
    for (const npuscope::Design& design : space.designs(left_out)) {
        static_cast<void>(space.changes(design));
        for (const npuscope::Objective& objective : space.objectives()) {
            objective.cost([&](const std::string& name) { return space.value(design, name); });
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return npuscope::fuzz::feed(data, size, parse_space);
}
