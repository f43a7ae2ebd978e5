// SPDX-License-Identifier: Apache-2.0
// Inputs of the machine fuzzer: a preset's YAML. An NPU that it describes within its limits is
// built and runs a small network for some thousand cycles. It may refuse the network or stop; all
// else is a crash.
#pragma once

#include <array>
#include <cctype>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.h"
#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/compile/partition.h"
#include "sim/config/limits.h"
#include "sim/model/network.h"
#include "sim/model/prepare_graph.h"
#include "sim/run/session.h"
#include "tests/support/families.h"

namespace npuscope::fuzz {

inline const std::string machine_seed =
    "name: fuzz\nclock: 1 GHz\n"
    "datapath: {atomic_c: 8, atomic_k: 8, memory_atom: 8}\n"
    "cbuf: {banks: 32, bank_width: 8, bank_depth: 512}\n"
    "cdma: {request_atoms: 8, weight_compression: false}\n"
    "csc: {stripe_groups: 4}\n"
    "sdp: {bs_throughput: 1, output_throughput: 1}\n"
    "pdp: {throughput: 1}\n"
    "mcif: {bus_width: 8}\n"
    "csb: {address_map: nv_small, fifo_depth: 4}\n";

inline const std::string small_network =
    "name: small\ninput: {channels: 8, height: 6, width: 5}\nlayers:\n"
    "  - {name: conv, kind: conv, kernels: 9, kernel: 3, padding: 1, relu: true}\n"
    "  - {name: pool, kind: max_pool, kernel: 2, stride: 2}\n"
    "  - {name: scores, kind: fc, kernels: 3}\n";

inline Program program_for(const SystemConfig& system, const Network& network) {
    return plan_program(plan_network(network, {nvdla_npu(system), system.memory}));
}

inline void build_machine(const std::string& text) {
    SystemConfig system = parse_system(text, "fuzz.yaml", test::families());
    check_limits(system, [](const std::string&) { return Place{"fuzz.yaml", 1, 1}; });
    const Network network = parse_network(small_network, "small.yaml");
    RunOptions options;
    options.max_cycles = Cycles(4000);
    try {
        if (system.npu.find<NpuConfig>() != nullptr) {
            run_program(program_for(system, network), system, options);
            return;
        }
        const Graph graph = finish_graph(network_graph(network));
        const auto target = system.family->target(system.npu, system.memory, false);
        const auto plan = target->plan(graph);
        // without inputs: for its time only
        run_model(plan->program(system.host, nullptr), system, options);
    } catch (const MachineStopped&) {
        return;
    }
}

/// Another number in place of one after a colon: sizes at the edges are what presets get wrong.
inline std::string with_other_number(std::string text, unsigned seed) {
    static constexpr std::array<std::string_view, 24> numbers{
        "0",   "1",   "2",    "3",     "4",          "5",          "7",  "8",
        "12",  "16",  "24",   "31",    "32",         "33",         "64", "128",
        "255", "256", "1024", "65535", "4294967295", "4294967296", "-1", "18446744073709551615"};
    std::minstd_rand random(seed);
    std::vector<std::size_t> places;
    for (std::size_t at = text.find(": "); at != std::string::npos; at = text.find(": ", at + 2)) {
        if (at + 2 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 2])) != 0) {
            places.push_back(at + 2);
        }
    }
    if (!places.empty()) {
        const std::size_t at = places[random() % places.size()];
        const std::size_t end =
            std::min(text.find_first_not_of("0123456789abcdefx", at), text.size());
        text.replace(at, end - at, numbers[random() % numbers.size()]);
    }
    return text;
}

}  // namespace npuscope::fuzz
