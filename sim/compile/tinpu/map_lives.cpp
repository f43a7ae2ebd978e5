// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/tinpu/map_lives.h"

#include <algorithm>
#include <set>

#include "sim/model/graph_view.h"

namespace npuscope {
namespace {

using LastReaders = std::map<std::string, std::size_t>;

LastReaders last_readers(const Graph& graph, const PatternPlan& patterns) {
    LastReaders last;
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        for (const std::string& input : graph.nodes[i].inputs) {
            last.emplace(input, i);
        }
    }
    for (const NpuLayer& layer : patterns.layers) {
        const Candidate& candidate = layer.candidate;
        const std::size_t runs_at = *std::ranges::max_element(candidate.nodes);
        for (const std::string& read : {candidate.input, candidate.norm.residual}) {
            if (!read.empty()) {
                last[read] = std::max(last[read], runs_at);
            }
        }
    }
    return last;
}

bool together(const MapLife& a, const MapLife& b) { return a.first <= b.last && b.first <= a.last; }

}  // namespace

std::vector<MapLife> map_lives(const Graph& graph, const PatternPlan& patterns) {
    const GraphView view(graph);
    const LastReaders last = last_readers(graph, patterns);
    std::set<std::string> seen;
    std::vector<MapLife> lives;
    for (const NpuLayer& layer : patterns.layers) {
        const Candidate& candidate = layer.candidate;
        for (const std::string& tensor :
             {candidate.input, candidate.output, candidate.norm.residual}) {
            if (tensor.empty() || !seen.insert(tensor).second) {
                continue;
            }
            const std::size_t made = view.producer(tensor).value_or(0);
            const auto read = last.find(tensor);
            lives.push_back({tensor, Bytes(count_elements(graph.types.at(tensor).sizes)), made,
                             read == last.end() ? made : std::max(made, read->second), layer.name});
        }
    }
    return lives;
}

Bytes peak_bytes(const std::vector<MapLife>& lives) {
    Bytes peak;
    for (const MapLife& begun : lives) {
        Bytes alive;
        for (const MapLife& life : lives) {
            const bool now = life.first <= begun.first && begun.first <= life.last;
            alive += now ? life.bytes : Bytes(0);
        }
        peak = std::max(peak, alive);
    }
    return peak;
}

std::map<std::string, Bytes> place_maps(const std::vector<MapLife>& lives, Bytes alignment) {
    std::vector<const MapLife*> by_size;
    by_size.reserve(lives.size());
    for (const MapLife& life : lives) {
        by_size.push_back(&life);
    }
    std::ranges::stable_sort(
        by_size, [](const MapLife* a, const MapLife* b) { return a->bytes > b->bytes; });
    std::map<std::string, Bytes> offsets;
    std::vector<const MapLife*> placed;  // by offset
    for (const MapLife* life : by_size) {
        Bytes offset;
        for (const MapLife* other : placed) {
            const Bytes begin = offsets.at(other->tensor);
            if (!together(*life, *other) || begin + other->bytes <= offset) {
                continue;
            }
            if (offset + life->bytes <= begin) {
                break;
            }
            offset = Bytes(round_up((begin + other->bytes).value, alignment.value));
        }
        offsets[life->tensor] = offset;
        const auto behind = std::ranges::upper_bound(
            placed, offset, {}, [&](const MapLife* other) { return offsets.at(other->tensor); });
        placed.insert(behind, life);
    }
    return offsets;
}

}  // namespace npuscope
