// SPDX-License-Identifier: Apache-2.0
// A TINPU's descriptor is a layer or refused with a ConfigError; all else is a crash.
#include <cstddef>
#include <cstdint>

#include "models/base/error.h"
#include "models/tinpu/tinpu_descriptor.h"
#include "models/tinpu/tinpu_timing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace npuscope;
    if (size < descriptor_bytes) {
        return 0;
    }
    try {
        const TinpuJob job = load_descriptor(
            std::span<const std::uint8_t, descriptor_bytes>(data, descriptor_bytes));
        tinpu_pieces(job, {});
    } catch (const ConfigError&) {
        return 0;
    }
    return 0;
}
