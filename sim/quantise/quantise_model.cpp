// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/quantise_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "models/base/error.h"
#include "sim/quantise/float_graph.h"
#include "sim/quantise/insert_quantisers.h"
#include "sim/quantise/quantise_way.h"

namespace npuscope {
namespace {

/// Cases whose tensors are in memory at the same time, and which are used to compare ways.
constexpr std::size_t most_compared = 8;

/// Additional loss of an NPU relative to the integer model, because it rounds scales.
constexpr double npu_decibels = 0.1;

std::size_t products_of(const Places& places) {
    return static_cast<std::size_t>(std::ranges::count(places.roles, Role::Product));
}

/// The ways to quantise a model, and the best of them.
class Attempts {
 public:
    Attempts(const std::vector<Case>& cases, const QuantiseOptions& options)
        : all_(cases),
          few_(cases.begin(),
               cases.begin() + static_cast<std::ptrdiff_t>(std::min(most_compared, cases.size()))),
          options_(options) {}

    void add(const Graph& graph, bool equalised) {
        models_.push_back({graph, equalised, {}, {}});
        CalibratedGraph& model = models_.back();
        const Places places = find_places(GraphView(graph));
        model.found = calibrate(graph, places, all_);
        model.means = few_.size() == all_.size() || options_.type != MapType::Int8
                          ? model.found.means
                          : calibrate(graph, places, few_).means;
        for (const RangeMethod method : methods()) {
            add(QuantiseWay(model, method, element()));
        }
    }
    /// The result of the best way; if its worst input is below the target, that of the way with the
    /// best worst input, with layers left in float.
    QuantisedModel best() {
        if (best_.worst >= options_.target_decibels) {
            return std::move(best_);
        }
        const double before = best_.worst;
        take(*evenest_, reach_decibels(*evenest_, cases(), methods(),
                                       options_.target_decibels + npu_decibels));
        best_.before = before;
        return std::move(best_);
    }

 private:
    ElementType element() const {
        return options_.type == MapType::Int16 ? ElementType::Int16 : ElementType::Int8;
    }
    std::vector<RangeMethod> methods() const {
        return options_.method == RangeMethod::Best
                   ? std::vector{RangeMethod::Minmax, RangeMethod::Percentile, RangeMethod::Mse}
                   : std::vector{options_.method};
    }
    CalibrationCases cases() const {
        return {all_, few_, options_.correct_biases && options_.type == MapType::Int8};
    }

    void add(const QuantiseWay& way) {
        MixedModel mixed = quantise_with(way, cases());
        Noise noise = signal_to_noise(way.model().graph, mixed.model, few_);
        const double worst = worst_decibels(noise);
        if (!evenest_ || worst > most_even_) {
            most_even_ = worst;
            evenest_ = way;
        }
        if (best_.rows.empty() || output_decibels(noise.rows) > least_) {
            least_ = output_decibels(noise.rows);
            take(way, std::move(mixed), std::move(noise));
        }
    }
    /// `noise`: for the few cases.
    void take(const QuantiseWay& way, MixedModel mixed, Noise noise = {}) {
        if (few_.size() != all_.size() || noise.rows.empty()) {
            noise = signal_to_noise(way.model().graph, mixed.model, all_);
        }
        best_.worst = worst_decibels(noise);
        best_.before = best_.worst;
        best_.rows = std::move(noise.rows);
        best_.products = products_of(mixed.places);
        best_.method = way.method();
        best_.equalised = way.model().equalised;
        best_.left = std::move(mixed.left);
        best_.chosen = mixed.chosen;
        best_.graph = std::move(mixed.model.graph);
    }

    const std::vector<Case>& all_;
    std::vector<Case> few_;
    const QuantiseOptions& options_;
    std::deque<CalibratedGraph> models_;
    QuantisedModel best_;
    double least_ = 0;                    ///< decibels of the best so far, for the few cases
    std::optional<QuantiseWay> evenest_;  ///< the way with the best worst input, for the few cases
    double most_even_ = 0;
};

/// Ranges of fp16 are given by its exponent: nothing to choose.
QuantisedModel as_half_floats(const Graph& graph, const std::vector<Case>& cases) {
    const Places places = find_places(GraphView(graph));
    QuantisedGraph half = half_floats(graph, places);
    QuantisedModel model;
    Noise noise = signal_to_noise(graph, half, cases);
    model.worst = worst_decibels(noise);
    model.before = model.worst;
    model.rows = std::move(noise.rows);
    model.products = products_of(places);
    model.graph = std::move(half.graph);
    return model;
}

QuantisedModel as_integers(Graph graph, const std::vector<Case>& cases,
                           const QuantiseOptions& options) {
    Attempts attempts(cases, options);
    attempts.add(graph, false);
    if (options.type == MapType::Int8 && options.equalise && equalise_channels(graph)) {
        attempts.add(graph, true);
    }
    return attempts.best();
}

}  // namespace

QuantisedModel quantise_model(Graph graph, const std::vector<Case>& cases,
                              const QuantiseOptions& options) {
    if (!is_float_model(graph)) {
        throw ConfigError(Place{graph.file, 0, 0}, "the model has no float layers to quantise",
                          "run it as it is");
    }
    if (cases.empty()) {
        throw ConfigError(
            "there is no input to calibrate with",
            "put a .npy file or picture for each case into DIR, or a folder for each case");
    }
    if (options.target_decibels > most_target_decibels) {
        throw ConfigError(fmt::format("a target of {} dB exceeds the maximum of {}",
                                      options.target_decibels, most_target_decibels),
                          "25 dB is an error of 5.6 %; 0: no target");
    }
    const std::uint32_t opset = graph.opset;
    ready_for_quantisation(graph);
    if (options.type != MapType::Int8) {  // for int8, this is done for the selected NPU
        rows_as_maps(graph);
    }
    QuantisedModel best = options.type == MapType::Fp16
                              ? as_half_floats(graph, cases)
                              : as_integers(std::move(graph), cases, options);
    best.type = options.type;
    best.opset = opset;
    return best;
}

}  // namespace npuscope
