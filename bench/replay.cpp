// SPDX-License-Identifier: Apache-2.0
#include "bench/replay.h"

#include <algorithm>
#include <exception>

#include "sim/program/read_program.h"

namespace npuscope::bench {
namespace {

std::int64_t difference(std::uint64_t ours, std::uint64_t theirs) {
    return static_cast<std::int64_t>(ours) - static_cast<std::int64_t>(theirs);
}

std::uint64_t read_beats_of(const Result& result, const std::string& client) {
    const auto found = std::ranges::find(result.traffic, client, &NamedTraffic::client);
    return found == result.traffic.end() ? 0 : found->traffic.read_beats;
}

void compare_beats(const Result& result, ReplayedRow& row) {
    const ReferenceRow& reference = row.reference;
    for (const auto& [client, beats] : reference.read_beats) {
        row.beat_errors[client] = difference(read_beats_of(result, client), beats);
    }
    const ClientTraffic total = result.total_traffic();
    if (reference.all_read_beats) {
        row.beat_errors["all reads"] = difference(total.read_beats, *reference.all_read_beats);
    }
    if (reference.write_beats) {
        row.beat_errors["all writes"] = difference(total.write_beats, *reference.write_beats);
    }
}

void compare_first_mac(const Result& result, ReplayedRow& row) {
    if (row.reference.first_mac && !result.operations.empty() &&
        result.operations.front().first_mac) {
        const Cycles first = *result.operations.front().first_mac - result.first_op_enable;
        row.first_mac_error = difference(first.value, *row.reference.first_mac);
    }
}

bool causes_sum(const OperationRecord& operation) {
    Cycles sum;
    for (const Cycles cycles : operation.causes.cycles) {
        sum += cycles;
    }
    return sum == operation.cycles();
}

Program program_of_row(const ReferenceRow& row, const SystemConfig& system) {
    if (row.pair) {
        return program_of(*row.pair, row.name);
    }
    const FamilyRegisters registers = system.family->registers(system.npu);
    return read_program(row.program, RegisterNames(registers.blocks));
}

}  // namespace

bool ReplayedRow::beats_right() const {
    return std::ranges::all_of(beat_errors, [](const auto& entry) { return entry.second == 0; });
}

ReplayedRow replay(const ReferenceRow& row, SystemConfig system, const RunOptions& options) {
    ReplayedRow replayed;
    replayed.reference = row;
    system.memory.read_latency = Cycles(row.setting.latency);
    system.memory.beat_interval = Cycles(row.setting.beat_interval);
    try {
        const Result result = run_program(program_of_row(row, system), system, options);
        replayed.cycles = result.cycles.value;
        replayed.values_right = std::ranges::all_of(result.checks, &CheckResult::pass);
        replayed.causes_sum = std::ranges::all_of(result.operations, causes_sum);
        compare_beats(result, replayed);
        compare_first_mac(result, replayed);
    } catch (const std::exception& error) {
        replayed.failure = error.what();
    }
    return replayed;
}

}  // namespace npuscope::bench
