// SPDX-License-Identifier: Apache-2.0
// Loadables: read, planned for nv_small as the firmware would run them, and checked. The first byte
// chooses: 0 the file as it is; else a small good one, changed by the bytes after it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "models/base/error.h"
#include "sim/check/check_report.h"
#include "sim/command_line/command.h"
#include "sim/loadable/loadable_program.h"
#include "tests/support/families.h"
#include "tests/support/sample_loadable.h"

namespace {

/// Changes of three bytes each: a 16-bit offset and the byte that goes there.
std::string changed(const std::uint8_t* data, std::size_t size) {
    static const std::string good = npuscope::loadable_bytes(npuscope::test::sdp_chain());
    std::string bytes = good;
    for (std::size_t i = 0; i + 3 <= size; i += 3) {
        const std::size_t place = std::size_t{data[i]} << 8U | data[i + 1];
        bytes[place % bytes.size()] = static_cast<char>(data[i + 2]);
    }
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace npuscope;
    static const SystemConfig system = [] {
        SystemArguments arguments;
        arguments.families = test::families();
        return read_system(arguments);
    }();
    if (size == 0) {
        return 0;
    }
    const std::string bytes = data[0] == 0
                                  ? std::string(reinterpret_cast<const char*>(data) + 1, size - 1)
                                  : changed(data + 1, size - 1);
    try {
        const LoadableProgram made =
            loadable_program(parse_loadable(bytes, "fuzz.fbuf"), "fuzz.fbuf", system, {});
        check_program(made.program, {nvdla_npu(system), system.memory});
    } catch (const ConfigError&) {
        return 0;
    }
    return 0;
}
