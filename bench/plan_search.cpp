// SPDX-License-Identifier: Apache-2.0
#include "bench/plan_search.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/model/network.h"
#include "sim/run/session.h"

namespace npuscope::bench {
namespace {

constexpr std::uint64_t most_tiles_held = 3;  // more of them in the buffer change nothing
constexpr std::uint64_t most_groups_held = 4;

Result simulated(const Network& network, const SystemConfig& system,
                 const std::optional<TilingKey>& forced) {
    const Plan plan = plan_network(network, {nvdla_npu(system), system.memory, false, forced});
    RunOptions options;
    options.values = false;
    return run_program(plan_program(plan), system, options);
}

Cycles simulate(const Network& network, const SystemConfig& system, const TilingKey& forced) {
    return simulated(network, system, forced).cycles;
}

/// How many tiles and kernel groups a split holds, as far as it matters.
using Holding = std::tuple<std::uint64_t, std::uint64_t, bool>;

Holding holding_of(const ConvProblem& problem, const NpuConfig& npu, const ConvTiling& tiling) {
    std::uint64_t rows = 1;
    for (const RowPiece& tile : tiling.tiles) {
        rows = std::max<std::uint64_t>(rows, tile.in_rows);
    }
    const ConvOperands operands = operands_of(problem, tiling.form, npu);
    const std::uint64_t cube = operands.row_entries * rows;
    const std::uint64_t room = std::uint64_t{tiling.banks.weight} * npu.cbuf.bank_depth;
    const std::uint64_t group = std::max<std::uint64_t>(operands.group_entries - 1, 1);
    return {
        std::min(std::uint64_t{tiling.banks.data} * npu.cbuf.bank_depth / cube, most_tiles_held),
        std::min(room / group, most_groups_held), room >= operands.weight_entries};
}

/// Lower bound of a way of cutting: its stripes, and each beat once.
Cycles lower_bound(const ConvTiling& tiling, const ConvProblem& problem, const TilingCosts& costs) {
    const TilingEstimate estimate(problem, tiling.form, costs);
    const LayerBounds bounds = estimate.bounds();
    const std::uint64_t again = tiling.resident ? 0 : (tiling.tiles.size() - 1) * problem.slices;
    const std::uint64_t memory =
        bounds.memory.value + costs.memory.time_of(again * estimate.operands().weight_beats);
    return Cycles(std::max({bounds.mac.value, bounds.sdp.value, memory}));
}

struct FormSearch {
    const Network& network;
    const SystemConfig& system;
    const ConvProblem& problem;
    const TilingCosts& costs;
    ConvForm form;
};

/// Every way with operands of one form.
void search_form(const FormSearch& search, SearchResult& result) {
    const ConvProblem& problem = search.problem;
    const NpuConfig& npu = nvdla_npu(search.system);
    const std::uint32_t rows = problem.geometry.out_height;
    std::uint64_t height = 0;
    for (std::uint32_t tiles = 1; tiles <= rows; ++tiles) {
        if (divide_up(rows, tiles) == height) {
            continue;
        }
        height = divide_up(rows, tiles);
        std::set<std::pair<Holding, bool>> seen;
        for (std::uint32_t data = 1; data < npu.cbuf.banks; ++data) {
            for (const bool resident : {false, true}) {
                const auto tiling =
                    tiling_with(problem, search.costs, {search.form, tiles, data, resident});
                if (!tiling || tiling->key() == result.chosen ||
                    !seen.insert({holding_of(problem, npu, *tiling), resident}).second) {
                    continue;
                }
                if (lower_bound(*tiling, problem, search.costs) >= result.best_cycles) {
                    ++result.skipped;
                    continue;
                }
                ++result.tried;
                const Cycles cycles = simulate(search.network, search.system, tiling->key());
                if (cycles < result.best_cycles) {
                    result.best_cycles = cycles;
                    result.best = tiling->key();
                }
            }
        }
    }
}

}  // namespace

std::vector<LayerCase> layer_cases(const Network& network) {
    std::vector<LayerCase> cases;
    std::map<std::string, std::size_t> known;
    const std::vector<LayerShapes> shapes = network_shapes(network);
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
        Layer layer = network.layers[i];
        if (layer.kind != LayerKind::Conv && layer.kind != LayerKind::Fc) {
            continue;
        }
        const Shape& input = shapes[i].input;
        const std::string key = shape_text(input) + ">" + shape_text(shapes[i].output) + "k" +
                                std::to_string(shapes[i].window.rows) + "x" +
                                std::to_string(shapes[i].window.columns) + "s" +
                                std::to_string(layer.stride) + "g" + std::to_string(layer.groups);
        const auto [at, fresh] = known.try_emplace(key, cases.size());
        if (!fresh) {
            ++cases[at->second].times;
            continue;
        }
        layer.from.clear();
        LayerCase one;
        one.network.name = layer.name;
        one.network.input = {input.channels, input.height, input.width};
        one.network.layers = {layer};
        cases.push_back(std::move(one));
    }
    return cases;
}

SearchResult search_layer(const LayerCase& layer, const SystemConfig& system) {
    const TilingCosts costs = costs_of({nvdla_npu(system), system.memory, false});
    const Plan plan = plan_network(layer.network, {nvdla_npu(system), system.memory, false});
    const ConvChoice& chosen = *plan.layers.front().cut;
    const ConvProblem& problem = chosen.problem;
    SearchResult result;
    result.chosen = result.best = chosen.key;
    result.estimate = chosen.predicted;
    result.bounds = TilingEstimate(problem, chosen.key.form, costs).bounds();
    const Result run = simulated(layer.network, system, chosen.key);
    result.chosen_cycles = result.best_cycles = run.cycles;
    for (const OperationRecord& operation : run.operations) {
        result.mac += operation.causes[Cause::Mac];
        result.sdp += operation.causes[Cause::SdpDrain];
    }
    for (const ConvForm& form : forms_of(problem, nvdla_npu(system))) {
        search_form({layer.network, system, problem, costs, form}, result);
    }
    return result;
}

}  // namespace npuscope::bench
