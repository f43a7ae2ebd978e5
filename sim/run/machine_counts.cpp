// SPDX-License-Identifier: Apache-2.0
#include "sim/run/machine_counts.h"

#include <string>
#include <unordered_map>

#include "sim/run/attribution.h"

namespace npuscope {

void count_machine(Machine& machine, const Memory& memory, Result& result) {
    for (const Mcif::Traffic& entry : machine.traffic()) {
        result.traffic.push_back({entry.client, entry.moved});
    }
    for (const Machine::PortTraffic& entry : machine.ports()) {
        result.ports.push_back({entry.port, entry.moved, entry.beat});
    }
    for (const Machine::UnitEntry& entry : machine.units()) {
        result.units.push_back({entry.name, entry.unit->statistics()});
    }
    result.actions = machine.actions();
    for (const Memory::NamedDram& dram : memory.dram_statistics()) {
        result.drams.push_back({dram.region, dram.statistics});
    }
}

void add_operation_counts(const Machine& machine, std::vector<OperationRecord>& operations) {
    std::unordered_map<std::string, std::size_t> by_name;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        by_name.emplace(operations[i].name, i);
        for (const std::string& joined : operations[i].joined) {
            by_name.emplace(joined, i);
        }
    }
    for (const Machine::OperationTraffic& moved : machine.operation_traffic()) {
        if (const auto found = by_name.find(moved.operation); found != by_name.end()) {
            add_traffic(operations[found->second].traffic, moved.traffic);
        }
    }
}

}  // namespace npuscope
