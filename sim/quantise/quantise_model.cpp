// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/quantise_model.h"

#include <algorithm>
#include <map>

#include "models/base/error.h"
#include "sim/quantise/bias_correction.h"
#include "sim/quantise/equalise.h"
#include "sim/quantise/float_graph.h"
#include "sim/quantise/half_floats.h"
#include "sim/quantise/rows_as_maps.h"

namespace npuscope {
namespace {

/// Cases whose tensors are in memory together, and by which ways are compared.
constexpr std::size_t most_compared = 8;

/// The ways to quantise one graph that is ready for it, and the best of them.
class Attempts {
 public:
    Attempts(const std::vector<Case>& cases, const QuantiseOptions& options)
        : cases_(cases),
          few_(cases.begin(),
               cases.begin() + static_cast<std::ptrdiff_t>(std::min(most_compared, cases.size()))),
          options_(options) {}

    void add(const Graph& graph, bool equalised) {
        const Places places = find_places(GraphView(graph));
        const Calibration found = calibrate(graph, places, cases_);
        means_ = few_.size() == cases_.size() || options_.type != MapType::Int8
                     ? found.means
                     : calibrate(graph, places, few_).means;
        for (const RangeMethod method : methods()) {
            add(graph, found, method, equalised);
        }
    }
    QuantisedModel best() { return std::move(best_); }

 private:
    ElementType element() const {
        return options_.type == MapType::Int16 ? ElementType::Int16 : ElementType::Int8;
    }
    std::vector<RangeMethod> methods() const {
        return options_.method == RangeMethod::Best
                   ? std::vector{RangeMethod::Minmax, RangeMethod::Percentile, RangeMethod::Mse}
                   : std::vector{options_.method};
    }

    void add(const Graph& graph, const Calibration& found, RangeMethod method, bool equalised) {
        std::map<std::string, NumberRange> ranges;
        for (const auto& [tensor, histogram] : found.tensors) {
            ranges[tensor] = histogram.range(method);
        }
        const Places places = find_places(GraphView(graph), ranges);
        std::vector<NumberRange> joined(places.grid_count, NumberRange{0, 0});
        for (const auto& [tensor, grid] : places.grids) {
            joined[grid] = {std::min(joined[grid].low, ranges.at(tensor).low),
                            std::max(joined[grid].high, ranges.at(tensor).high)};
        }
        std::vector<Grid> grids;
        for (const NumberRange& range : joined) {
            grids.push_back(grid_of(range, element()));
        }
        QuantisedGraph model = insert_quantisers(graph, places, grids, element());
        if (options_.correct_biases && options_.type == MapType::Int8) {
            correct_biases(model, means_, few_);
        }
        std::vector<NoiseRow> rows = signal_to_noise(graph, model, few_);
        if (!best_.rows.empty() && output_decibels(rows) <= least_) {
            return;
        }
        least_ = output_decibels(rows);
        best_.rows =
            few_.size() == cases_.size() ? std::move(rows) : signal_to_noise(graph, model, cases_);
        best_.products = static_cast<std::size_t>(std::ranges::count(places.roles, Role::Product));
        best_.method = method;
        best_.equalised = equalised;
        best_.graph = std::move(model.graph);
    }

    const std::vector<Case>& cases_;
    std::vector<Case> few_;
    const QuantiseOptions& options_;
    std::map<std::string, std::vector<double>> means_;
    QuantisedModel best_;
    double least_ = 0;  ///< decibels of the best so far, of the few
};

}  // namespace

namespace {

/// Ranges of fp16 are those of its exponent: nothing is to be chosen.
QuantisedModel as_half_floats(const Graph& graph, const std::vector<Case>& cases) {
    const Places places = find_places(GraphView(graph));
    QuantisedGraph half = half_floats(graph, places);
    QuantisedModel model;
    model.rows = signal_to_noise(graph, half, cases);
    model.products = static_cast<std::size_t>(std::ranges::count(places.roles, Role::Product));
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
        throw ConfigError(Place{graph.file, 0, 0}, "the model has no layers of floats to quantise",
                          "run it as it is");
    }
    if (cases.empty()) {
        throw ConfigError("there is no input to calibrate with",
                          "put a folder of .npy files for each case, or one for all, into DIR");
    }
    const std::uint32_t opset = graph.opset;
    ready_for_quantisation(graph);
    if (options.type != MapType::Int8) {  // of int8 that is done for the NPU at hand
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
