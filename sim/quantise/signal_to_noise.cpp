// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/signal_to_noise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/model/host_values.h"

namespace npuscope {
namespace {

constexpr double most_decibels = 200;  // of tensors that are equal

struct Power {
    double signal = 0;
    double noise = 0;

    void add(const GraphValue& wanted, const GraphValue& found) {
        for (std::size_t i = 0; i < wanted.numbers.size(); ++i) {
            const double missed = wanted.numbers[i] - found.numbers[i];
            signal += wanted.numbers[i] * wanted.numbers[i];
            noise += missed * missed;
        }
    }
    double decibels() const {
        if (noise == 0) {
            return most_decibels;
        }
        return signal == 0 ? 0 : std::min(10 * std::log10(signal / noise), most_decibels);
    }
};

HostValues run(const Graph& graph, const Case& inputs) {
    HostValues values(graph, {});
    for (const std::string& input : graph.inputs) {
        values.take_input(input, inputs);
    }
    for (const GraphNode& node : graph.nodes) {
        values.evaluate(node);
    }
    return values;
}

}  // namespace

std::vector<NoiseRow> signal_to_noise(const Graph& graph, const QuantisedGraph& model,
                                      const std::vector<Case>& cases) {
    std::vector<Power> powers(model.same.size() + graph.outputs.size());
    for (const Case& one : cases) {
        const HostValues wanted = run(graph, one);
        const HostValues found = run(model.graph, one);
        for (std::size_t i = 0; i < model.same.size(); ++i) {
            powers[i].add(wanted.at(model.same[i].first), found.at(model.same[i].second));
        }
        for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
            powers[model.same.size() + i].add(wanted.at(graph.outputs[i]),
                                              found.at(graph.outputs[i]));
        }
    }
    const GraphView view(graph);
    std::vector<NoiseRow> rows;
    for (std::size_t i = 0; i < powers.size(); ++i) {
        const bool is_output = i >= model.same.size();
        const std::string& tensor =
            is_output ? graph.outputs[i - model.same.size()] : model.same[i].first;
        const auto producer = view.producer(tensor);
        rows.push_back({tensor, producer ? node_name(view.node(*producer)) : "",
                        powers[i].decibels(), is_output});
    }
    return rows;
}

double decibels_between(const GraphValue& wanted, const GraphValue& found) {
    Power power;
    power.add(wanted, found);
    return power.decibels();
}

double output_decibels(const std::vector<NoiseRow>& rows) {
    double least = std::numeric_limits<double>::infinity();
    for (const NoiseRow& row : rows) {
        least = row.is_output ? std::min(least, row.decibels) : least;
    }
    return least;
}

}  // namespace npuscope
