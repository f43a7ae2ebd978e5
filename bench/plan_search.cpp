// SPDX-License-Identifier: Apache-2.0
#include "bench/plan_search.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "models/data/weight_layout.h"
#include "sim/plan/channel_cut.h"
#include "sim/plan/network_planner.h"
#include "sim/plan/plan_program.h"
#include "sim/run/session.h"
#include "sim/workload/network_shapes.h"

namespace npuscope::bench {
namespace {

constexpr std::uint64_t most_tiles_held = 3;  // more of them in the buffer change nothing
constexpr std::uint64_t most_groups_held = 4;

Cycles simulate(const Network& network, const SystemConfig& system,
                const std::optional<TilingKey>& forced) {
    const Plan plan = plan_network(network, {system.npu, system.memory, false, forced});
    RunOptions options;
    options.values = false;
    return run_program(plan_program(plan), system, options).cycles;
}

ConvProblem problem_of_layer(const Network& network, const NpuConfig& npu) {
    const Layer& layer = network.layers.front();
    const LayerShapes shapes = network_shapes(network).front();
    const auto atom = static_cast<std::uint32_t>(npu.datapath.memory_atom.value);
    const StoredCube input{packed_cube(Address(0), shapes.input, npu.datapath.memory_atom), atom};
    const CutTask task{layer, shapes, input};
    const ChannelCut cut = cut_channels(task, npu);
    ConvProblem problem = problem_of(task, cut.slices.front());
    problem.slices = static_cast<std::uint32_t>(cut.slices.size());
    return problem;
}

/// How many tiles and kernel groups a split holds, as far as it matters.
using Holding = std::tuple<std::uint64_t, std::uint64_t, bool>;

Holding holding_of(const ConvProblem& problem, const NpuConfig& npu, const ConvTiling& tiling) {
    CdmaJob line;
    line.input = problem.input;
    std::uint64_t rows = 1;
    for (const ConvTile& tile : tiling.tiles) {
        rows = std::max<std::uint64_t>(rows, tile.in_rows);
    }
    const std::uint64_t cube = entries_of_slice(line, conv_features(npu)) * rows;
    const WeightLayout weights = direct_weights(problem.kernels, npu.datapath);
    const std::uint64_t entry = npu.cbuf.bank_width.value;
    const std::uint64_t room = std::uint64_t{tiling.banks.weight} * npu.cbuf.bank_depth;
    const std::uint64_t group = divide_up(weights.group_bytes(0).value, entry);
    return {
        std::min(std::uint64_t{tiling.banks.data} * npu.cbuf.bank_depth / cube, most_tiles_held),
        std::min(room / group, most_groups_held),
        room >= divide_up(weights.stored_bytes().value, entry)};
}

/// What a way of cutting cannot be faster than: its stripes, and its beats once each.
Cycles lower_bound(const ConvTiling& tiling, const ConvProblem& problem, const TilingCosts& costs) {
    const LayerBounds bounds = TilingEstimate(problem, costs).bounds();
    const WeightLayout weights = direct_weights(problem.kernels, costs.npu.datapath);
    const std::uint64_t beats =
        divide_up(weights.stored_bytes().value, costs.npu.mcif.bus_width.value);
    const std::uint64_t again = tiling.resident ? 0 : (tiling.tiles.size() - 1) * problem.slices;
    const std::uint64_t memory = bounds.memory.value + again * beats * costs.beat_interval;
    return Cycles(std::max({bounds.mac.value, bounds.sdp.value, memory}));
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
    const TilingCosts costs{system.npu, system.memory.beat_interval.value,
                            system.memory.read_latency, std::nullopt};
    const ConvProblem problem = problem_of_layer(layer.network, system.npu);
    const ConvTiling chosen = choose_tiling(problem, costs);
    SearchResult result;
    result.chosen = result.best = chosen.key();
    result.estimate = chosen.estimate;
    result.bounds = TilingEstimate(problem, costs).bounds();
    result.chosen_cycles = result.best_cycles = simulate(layer.network, system, chosen.key());
    const std::uint32_t rows = problem.geometry.out_height;
    std::uint64_t height = 0;
    for (std::uint32_t tiles = 1; tiles <= rows; ++tiles) {
        if (divide_up(rows, tiles) == height) {
            continue;
        }
        height = divide_up(rows, tiles);
        std::set<std::pair<Holding, bool>> seen;
        for (std::uint32_t data = 1; data < system.npu.cbuf.banks; ++data) {
            for (const bool resident : {false, true}) {
                const auto tiling = tiling_with(problem, costs, {tiles, data, resident});
                if (!tiling || tiling->key() == chosen.key() ||
                    !seen.insert({holding_of(problem, system.npu, *tiling), resident}).second) {
                    continue;
                }
                if (lower_bound(*tiling, problem, costs) >= result.best_cycles) {
                    ++result.skipped;
                    continue;
                }
                ++result.tried;
                const Cycles cycles = simulate(layer.network, system, tiling->key());
                if (cycles < result.best_cycles) {
                    result.best_cycles = cycles;
                    result.best = tiling->key();
                }
            }
        }
    }
    return result;
}

}  // namespace npuscope::bench
