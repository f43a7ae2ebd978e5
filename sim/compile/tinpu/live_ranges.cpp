// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/tinpu/live_ranges.h"

#include <algorithm>
#include <set>

#include "sim/model/graph.h"

namespace npuscope {
namespace {

using LastReaders = std::map<std::string, std::size_t>;

LastReaders last_readers(const Graph& graph, const Partition& partition) {
    LastReaders last;
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        for (const std::string& input : graph.nodes[i].inputs) {
            last.emplace(input, i);
        }
    }
    for (const NodeGroup& group : partition.groups) {
        const Candidate& candidate = *group.layer;
        const std::size_t runs_at = group.last_node();
        for (const std::string& read : {candidate.input, candidate.norm.residual}) {
            if (!read.empty()) {
                last[read] = std::max(last[read], runs_at);
            }
        }
    }
    return last;
}

bool together(const LiveRange& a, const LiveRange& b) {
    return a.first <= b.last && b.first <= a.last;
}

}  // namespace

std::vector<LiveRange> live_ranges(const Graph& graph, const Partition& partition) {
    const GraphView view(graph);
    const LastReaders last = last_readers(graph, partition);
    std::set<std::string> seen;
    std::vector<LiveRange> ranges;
    for (const NodeGroup& group : partition.groups) {
        const Candidate& candidate = *group.layer;
        for (const std::string& tensor :
             {candidate.input, candidate.output, candidate.norm.residual}) {
            if (tensor.empty() || !seen.insert(tensor).second) {
                continue;
            }
            const std::size_t made = view.producer(tensor).value_or(0);
            const auto read = last.find(tensor);
            ranges.push_back({tensor, Bytes(count_elements(graph.types.at(tensor).sizes)), made,
                              read == last.end() ? made : std::max(made, read->second),
                              group.name});
        }
    }
    return ranges;
}

Bytes peak_bytes(const std::vector<LiveRange>& ranges) {
    Bytes peak;
    for (const LiveRange& begun : ranges) {
        Bytes alive;
        for (const LiveRange& range : ranges) {
            const bool now = range.first <= begun.first && begun.first <= range.last;
            alive += now ? range.bytes : Bytes(0);
        }
        peak = std::max(peak, alive);
    }
    return peak;
}

std::map<std::string, Bytes> place_maps(const std::vector<LiveRange>& ranges, Bytes alignment) {
    std::vector<const LiveRange*> by_size;
    by_size.reserve(ranges.size());
    for (const LiveRange& range : ranges) {
        by_size.push_back(&range);
    }
    std::ranges::stable_sort(
        by_size, [](const LiveRange* a, const LiveRange* b) { return a->bytes > b->bytes; });
    std::map<std::string, Bytes> offsets;
    std::vector<const LiveRange*> placed;  // by offset
    for (const LiveRange* range : by_size) {
        Bytes offset;
        for (const LiveRange* other : placed) {
            const Bytes begin = offsets.at(other->tensor);
            if (!together(*range, *other) || begin + other->bytes <= offset) {
                continue;
            }
            if (offset + range->bytes <= begin) {
                break;
            }
            offset = Bytes(round_up((begin + other->bytes).value, alignment.value));
        }
        offsets[range->tensor] = offset;
        const auto next = std::ranges::upper_bound(
            placed, offset, {}, [&](const LiveRange* other) { return offsets.at(other->tensor); });
        placed.insert(next, range);
    }
    return offsets;
}

}  // namespace npuscope
