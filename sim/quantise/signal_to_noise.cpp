// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/signal_to_noise.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "sim/model/host_values.h"

namespace npuscope {
namespace {

constexpr double most_decibels = equal_decibels;

/// Of the finite values: an infinity has no power. A result that is not finite where it should be
/// is all noise.
struct Power {
    double signal = 0;
    double noise = 0;

    void add(double wanted, double found) {
        if (!std::isfinite(wanted)) {
            return;
        }
        signal += wanted * wanted;
        noise += (wanted - found) * (wanted - found);
    }
    void add(const GraphValue& wanted, const GraphValue& found) {
        for (std::size_t i = 0; i < wanted.numbers.size(); ++i) {
            add(wanted.numbers[i], found.numbers[i]);
        }
    }
    double decibels() const {
        if (noise == 0) {
            return most_decibels;
        }
        if (!std::isfinite(noise)) {
            return -most_decibels;
        }
        return signal == 0 ? 0 : std::min(10 * std::log10(signal / noise), most_decibels);
    }
};

/// For an output of one case. An output of only zeros has no ratio, and counts as exact.
double output_ratio(const GraphValue& wanted, const GraphValue& found) {
    Power power;
    power.add(wanted, found);
    return power.signal == 0 ? most_decibels : std::max(power.decibels(), -most_decibels);
}

std::vector<NoiseRow> rows_of(const Graph& graph, const QuantisedGraph& model,
                              const std::vector<std::string>& outputs,
                              const std::vector<Power>& powers) {
    const GraphView view(graph);
    std::vector<NoiseRow> rows;
    for (std::size_t i = 0; i < powers.size(); ++i) {
        const bool is_output = i >= model.same.size();
        const std::string& tensor =
            is_output ? outputs[i - model.same.size()] : model.same[i].first;
        const auto producer = view.producer(tensor);
        rows.push_back({tensor, producer ? node_name(view.node(*producer)) : "",
                        powers[i].decibels(), is_output});
    }
    return rows;
}

}  // namespace

std::vector<std::string> measured_outputs(const Graph& graph) {
    std::vector<std::string> floats;
    std::ranges::copy_if(graph.outputs, std::back_inserter(floats), [&](const std::string& output) {
        return is_float(graph.types.at(output).element);
    });
    return floats.empty() ? graph.outputs : floats;
}

Noise signal_to_noise(const Graph& graph, const QuantisedGraph& model,
                      const std::vector<Case>& cases) {
    const std::vector<std::string> outputs = measured_outputs(graph);
    std::vector<Power> powers(model.same.size() + outputs.size());
    Noise noise;
    for (const Case& one : cases) {
        const HostValues wanted = run_on_host(graph, one);
        const HostValues found = run_on_host(model.graph, one);
        for (std::size_t i = 0; i < model.same.size(); ++i) {
            powers[i].add(wanted.at(model.same[i].first), found.at(model.same[i].second));
        }
        double least = most_decibels;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            const GraphValue& output = wanted.at(outputs[i]);
            powers[model.same.size() + i].add(output, found.at(outputs[i]));
            least = std::min(least, output_ratio(output, found.at(outputs[i])));
        }
        noise.by_case.push_back(least);
    }
    noise.rows = rows_of(graph, model, outputs, powers);
    return noise;
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

double worst_decibels(const Noise& noise) { return *std::ranges::min_element(noise.by_case); }

WantedOutputs::WantedOutputs(const Graph& graph, const std::vector<Case>& cases)
    : cases_(cases), measured_(measured_outputs(graph)) {
    for (const Case& one : cases) {
        const HostValues values = run_on_host(graph, one);
        std::vector<GraphValue>& outputs = outputs_.emplace_back();
        for (const std::string& output : measured_) {
            outputs.push_back(values.at(output));
        }
    }
}

double WantedOutputs::decibels(const Graph& model, std::size_t index) const {
    const HostValues values = run_on_host(model, cases_[index]);
    double least = most_decibels;
    for (std::size_t i = 0; i < measured_.size(); ++i) {
        least = std::min(least, output_ratio(outputs_[index][i], values.at(measured_[i])));
    }
    return least;
}

}  // namespace npuscope
