// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/expectations.h"

#include <algorithm>

#include "models/base/check.h"
#include "sim/compile/nvdla/plan_program.h"

namespace npuscope {

std::vector<ExpectedResult> expected_results(const Plan& plan) {
    std::vector<ExpectedResult> results;
    for (const PlannedLayer& layer : plan.layers) {
        results.push_back({layer.name, sync_name(layer.last_operation()), layer.stored.cube.base,
                           layer.stored.cube.extent(),
                           layer.stored.in_sram ? MemoryPort::Secondary : MemoryPort::Primary});
    }
    return results;
}

void insert_behind(Program& program, const std::string& sync, Statement statement) {
    const auto raises = [&](const Statement& other) {
        const auto* notify = std::get_if<NotifyOnInterrupt>(&other.action);
        return notify != nullptr && notify->sync == sync;
    };
    const auto found = std::ranges::find_if(program.statements, raises);
    NPU_CHECK(found != program.statements.end(), "nothing raises " + sync);
    program.statements.insert(std::next(found), std::move(statement));
}

void add_expectations(Program& program, const std::vector<ExpectedResult>& results,
                      const std::vector<std::uint32_t>& crcs) {
    for (std::size_t i = 0; i < results.size(); ++i) {
        const ExpectedResult& result = results[i];
        const CheckCrc check{result.sync, result.memory, result.address, result.bytes,
                             crcs.empty() ? 0 : crcs.at(i)};
        insert_behind(program, result.sync,
                      {Place{result.layer, static_cast<unsigned>(i + 1), 0}, check});
    }
}

}  // namespace npuscope
