// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/fuzz/fuzz_entry.h"
#include "tests/sim/fuzz/image_inputs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return npuscope::fuzz::feed(data, size, npuscope::fuzz::parse_images);
}
