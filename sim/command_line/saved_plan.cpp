// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/saved_plan.h"

#include <charconv>

#include "sim/compile/nvdla/plan_files.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/config/file_io.h"
#include "sim/run/session.h"

namespace npuscope {
namespace {

/// The CRC of every result, from running the program on the simulated machine.
std::vector<std::uint32_t> simulated_crcs(Program program,
                                          const std::vector<ExpectedResult>& results,
                                          const SystemConfig& system) {
    add_expectations(program, results, {});
    std::vector<std::uint32_t> crcs(results.size());
    for (const CheckResult& check : run_program(program, system, {}).checks) {
        const std::string digits = check.actual.substr(2);  // after 0x
        std::from_chars(digits.data(), digits.data() + digits.size(), crcs.at(check.place.line - 1),
                        16);
    }
    return crcs;
}

}  // namespace

SavedPlan finish_plan(Plan plan, const SystemConfig& system, bool expectations) {
    SavedPlan saved;
    saved.memory_map = memory_map_yaml(plan);
    const std::vector<ExpectedResult> results = expected_results(plan);
    saved.program = plan_program(std::move(plan));
    if (expectations) {
        add_expectations(saved.program, results, simulated_crcs(saved.program, results, system));
    }
    return saved;
}

void write_plan(const SavedPlan& plan, const std::filesystem::path& folder) {
    save_program(plan.program, folder);
    write_atomically(folder / "memory_map.yaml", plan.memory_map);
}

}  // namespace npuscope
