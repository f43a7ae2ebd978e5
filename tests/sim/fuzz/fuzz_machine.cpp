// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/sim/fuzz/fuzz_entry.h"
#include "tests/sim/fuzz/machine_inputs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return npuscope::fuzz::feed(data, size, npuscope::fuzz::build_machine);
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

/// Three of four changes are another number, so that most inputs are still presets.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
    if (seed % 4 == 0) {
        return LLVMFuzzerMutate(data, size, most);
    }
    const std::string text = npuscope::fuzz::with_other_number({data, data + size}, seed);
    const std::size_t length = std::min(text.size(), most);
    std::copy_n(text.begin(), length, data);
    return length;
}
