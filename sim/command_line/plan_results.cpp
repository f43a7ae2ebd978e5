// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/plan_results.h"

#include <zlib.h>

namespace npuscope {

ResultBytes simulated_results(const Program& program, std::span<const ExpectedResult> results,
                              const SystemConfig& system, RunOptions options) {
    options.check = false;
    options.keep.clear();
    for (const ExpectedResult& result : results) {
        options.keep.push_back({{result.address, result.bytes}, result.sync});
    }
    return run_program(program, system, options).kept;
}

std::vector<std::uint32_t> crcs_of(const ResultBytes& results) {
    std::vector<std::uint32_t> crcs;
    for (const std::vector<std::uint8_t>& bytes : results) {
        crcs.push_back(static_cast<std::uint32_t>(crc32_z(0, bytes.data(), bytes.size())));
    }
    return crcs;
}

}  // namespace npuscope
