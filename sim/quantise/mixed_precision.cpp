// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/mixed_precision.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/model/layer_sequence.h"
#include "sim/model/operators.h"
#include "sim/quantise/calibration.h"

namespace npuscope {
namespace {

constexpr std::size_t most_watched = 8;  // number of (worst) inputs used for choices
constexpr double most_work = 1e11;       // for runs that search for a better choice: minutes
constexpr double ranges_share = 0.5;     // share of the work for tensors
constexpr double least_gain = 0.05;      // in decibels; below it a layer counts as exact
constexpr double no_bound = -std::numeric_limits<double>::infinity();
constexpr std::array factors{0.93, 0.85, 0.75, 1.1, 0.65, 0.55};  // of a tensor's range

/// Copies corrected biases, in their current scales.
void take_biases(QuantisedGraph& model, const QuantisedGraph& from) {
    for (const QuantisedBias& bias : model.biases) {
        const auto old = std::ranges::find(from.biases, bias.source, &QuantisedBias::source);
        if (old == from.biases.end()) {
            continue;
        }
        std::vector<double>& integers = model.graph.constants.at(bias.integers).numbers;
        const std::vector<double>& before = from.graph.constants.at(old->integers).numbers;
        for (std::size_t k = 0; k < integers.size(); ++k) {
            integers[k] = std::clamp(std::nearbyint(before[k] * old->scales[k] / bias.scales[k]),
                                     -largest_bias, largest_bias);
        }
    }
}

/// The host's work for a node: its MACs, plus a larger cost per element.
double work_of(const Graph& graph, const GraphNode& node) {
    constexpr double of_number = 16;
    double numbers = 1;
    if (const auto type = graph.types.find(node.outputs.front()); type != graph.types.end()) {
        for (const std::int64_t size : type->second.sizes) {
            numbers *= static_cast<double>(size);
        }
    }
    return static_cast<double>(count_macs(graph, node)) + of_number * numbers;
}

double power_ratio(double decibels) { return std::pow(10, -decibels / 10); }

class Search {
 public:
    Search(QuantiseWay way, const CalibrationCases& cases, double target)
        : way_(std::move(way)),
          cases_(cases),
          target_(target),
          wanted_(way_.model().graph, cases.all),
          now_(quantise_with(way_, cases)) {
        const Graph& graph = way_.model().graph;
        for (const GraphNode& node : graph.nodes) {
            host_work_.push_back(work_of(graph, node));
            run_work_ += host_work_.back();
        }
        watch_the_worst();
    }

    /// Tensor by tensor, as long as their share of the work lasts.
    void choose_ranges(const std::vector<RangeMethod>& methods) {
        for (const std::vector<std::string>& tensors : tensors_of_grids()) {
            bool chosen = false;
            const auto attempt = [&](auto change) {
                if (decibels_ < target_ && work_ < ranges_share * most_work) {
                    QuantiseWay way = way_;
                    change(way);
                    chosen = take_if_better(std::move(way), decibels_) || chosen;
                }
            };
            for (const RangeMethod method : methods) {
                attempt([&](QuantiseWay& way) { way.choose(tensors, method); });
            }
            for (const double factor : factors) {
                attempt([&](QuantiseWay& way) { way.stretch(tensors, factor); });
            }
            now_.chosen += chosen ? tensors.size() : 0;
        }
    }

    void leave_layers() {
        std::vector<std::size_t> order;  // most costly layer last
        for (watch_the_worst(); decibels_ < target_; watch_the_worst()) {
            while (decibels_ < target_) {
                if (order.empty() || work_ < most_work) {
                    order = layers_by_cost();
                }
                if (order.empty()) {
                    return;  // all are in float
                }
                leave(order.back());
                order.pop_back();
            }
        }
        take_back();
    }

    MixedModel result() {
        const Graph& graph = way_.model().graph;
        for (const std::size_t node : way_.left()) {
            now_.left.push_back({node_name(graph.nodes[node]), graph.nodes[node].op,
                                 count_macs(graph, graph.nodes[node])});
        }
        return std::move(now_);
    }

 private:
    /// As many inputs as allow trying each layer.
    void watch_the_worst() {
        std::vector<std::pair<double, std::size_t>> all;
        for (std::size_t i = 0; i < cases_.all.size(); ++i) {
            all.emplace_back(wanted_.decibels(now_.model.graph, i), i);
            work_ += run_work_;
        }
        std::ranges::sort(all);
        decibels_ = all.front().first;
        const double runs = 4 * run_work_ * static_cast<double>(host_work_.size());
        const double most = std::clamp(most_work / std::max(runs, 1.0), 1.0,
                                       static_cast<double>(std::min(all.size(), most_watched)));
        watched_.clear();
        for (std::size_t i = 0; i < static_cast<std::size_t>(most); ++i) {
            watched_.push_back(all[i].second);
        }
    }
    /// Decibels of the worst watched input. Stops at the first one with at most `least`.
    double worst_of(const QuantisedGraph& model, double least = no_bound) {
        double worst = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < watched_.size() && worst > least; ++i) {
            const double one = wanted_.decibels(model.graph, watched_[i]);
            work_ += run_work_;
            if (one < worst) {
                worst = one;
                std::swap(watched_[0], watched_[i]);
            }
        }
        return worst;
    }

    MixedModel changed(const QuantiseWay& way) const {
        MixedModel model{way.places(), {}, {}, now_.chosen};
        model.model = way.quantise(model.places);
        take_biases(model.model, now_.model);
        return model;
    }
    bool take_if_better(QuantiseWay way, double least) {
        MixedModel model = changed(way);
        const double found = worst_of(model.model, least);
        if (found <= least) {
            return false;
        }
        take(std::move(way), std::move(model), found);
        return true;
    }
    void take(QuantiseWay way, MixedModel model, double decibels) {
        way_ = std::move(way);
        now_ = std::move(model);
        decibels_ = decibels;
    }

    std::vector<std::vector<std::string>> tensors_of_grids() const {
        std::vector<std::vector<std::string>> tensors(now_.places.grid_count);
        for (const auto& [tensor, grid] : now_.places.grids) {
            tensors[grid].push_back(tensor);
        }
        return tensors;
    }

    /// Integer layers, by the noise that they cost per unit of host work; the most costly one is
    /// last. Those that cost none come first, by what the outputs lose without them.
    std::vector<std::size_t> layers_by_cost() {
        std::vector<std::pair<double, std::size_t>> costs;
        for (std::size_t i = 0; i < now_.places.roles.size(); ++i) {
            if (now_.places.roles[i] != Role::Product && now_.places.roles[i] != Role::Map) {
                continue;
            }
            QuantiseWay way = way_;
            way.left().insert(i);
            const double found = worst_of(changed(way).model);
            const double noise = power_ratio(decibels_) - power_ratio(std::min(found, target_ + 1));
            costs.emplace_back(
                found > decibels_ + least_gain ? noise / host_work_[i] : found - decibels_ - 1e6,
                i);
        }
        std::ranges::sort(costs);
        std::vector<std::size_t> order;
        order.reserve(costs.size());
        for (const auto& [cost, node] : costs) {
            order.push_back(node);
        }
        return order;
    }
    /// With the current biases or newly corrected ones, whichever is better.
    void leave(std::size_t node) {
        QuantiseWay way = way_;
        way.left().insert(node);
        MixedModel model = changed(way);
        double decibels = worst_of(model.model);
        MixedModel corrected = quantise_with(way, cases_);
        const double again = worst_of(corrected.model);
        if (again > decibels) {
            corrected.chosen = now_.chosen;
            model = std::move(corrected);
            decibels = again;
        }
        take(std::move(way), std::move(model), decibels);
    }
    /// Quantises layers again that the target does not need in float, the largest first.
    void take_back() {
        std::vector<std::size_t> left(way_.left().begin(), way_.left().end());
        std::ranges::sort(left, std::greater{}, [&](std::size_t node) { return host_work_[node]; });
        for (const std::size_t node : left) {
            if (work_ >= 2 * most_work) {
                return;
            }
            const QuantiseWay way = way_;
            MixedModel model = now_;
            const double decibels = decibels_;
            QuantiseWay fewer = way_;
            fewer.left().erase(node);
            if (take_if_better(std::move(fewer), target_)) {
                watch_the_worst();
                if (decibels_ < target_) {  // for an input that was not watched
                    take(way, std::move(model), decibels);
                }
            }
        }
    }

    QuantiseWay way_;
    const CalibrationCases& cases_;
    double target_;
    WantedOutputs wanted_;
    MixedModel now_;
    std::vector<double> host_work_;     ///< work on the host, by node
    double run_work_ = 0;               ///< for one run of the model
    double work_ = 0;                   ///< for the runs so far
    double decibels_ = 0;               ///< for the worst watched input
    std::vector<std::size_t> watched_;  ///< input indices; the first was the worst of the last run
};

}  // namespace

MixedModel quantise_with(const QuantiseWay& way, const CalibrationCases& cases) {
    MixedModel mixed{way.places(), {}};
    mixed.model = way.quantise(mixed.places);
    if (cases.correct_biases) {
        correct_biases(mixed.model, way.model().means, cases.few);
    }
    return mixed;
}

MixedModel reach_decibels(const QuantiseWay& way, const CalibrationCases& cases,
                          const std::vector<RangeMethod>& methods, double target) {
    Search search(way, cases, target);
    if (methods.size() > 1) {
        search.choose_ranges(methods);
    }
    search.leave_layers();
    return search.result();
}

}  // namespace npuscope
