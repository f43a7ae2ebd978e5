// SPDX-License-Identifier: Apache-2.0
#include "sim/convert/picture.h"
#include "tests/sim/fuzz/fuzz_entry.h"

namespace {

void parse(const std::string& text) {
    npuscope::parse_picture({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
                            "fuzz.png");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return npuscope::fuzz::feed(data, size, parse);
}
