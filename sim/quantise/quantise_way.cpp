// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/quantise_way.h"

#include <algorithm>

namespace npuscope {

QuantiseWay::QuantiseWay(const CalibratedGraph& model, RangeMethod method, ElementType element)
    : model_(&model), method_(method), element_(element) {
    for (const auto& [tensor, histogram] : model.found.tensors) {
        ranges_[tensor] = histogram.range(method);
    }
}

void QuantiseWay::choose(const std::vector<std::string>& tensors, RangeMethod method) {
    for (const std::string& tensor : tensors) {
        ranges_.at(tensor) = model_->found.tensors.at(tensor).range(method);
    }
}

void QuantiseWay::stretch(const std::vector<std::string>& tensors, double factor) {
    for (const std::string& tensor : tensors) {
        NumberRange& range = ranges_.at(tensor);
        range = {range.low * factor, range.high * factor};
    }
}

Places QuantiseWay::places() const { return find_places(GraphView(model_->graph), ranges_, left_); }

QuantisedGraph QuantiseWay::quantise(const Places& places) const {
    std::vector<NumberRange> joined(places.grid_count, NumberRange{0, 0});
    for (const auto& [tensor, grid] : places.grids) {
        joined[grid] = {std::min(joined[grid].low, ranges_.at(tensor).low),
                        std::max(joined[grid].high, ranges_.at(tensor).high)};
    }
    std::vector<Grid> grids;
    grids.reserve(joined.size());
    for (const NumberRange& range : joined) {
        grids.push_back(grid_of(range, element_));
    }
    return insert_quantisers(model_->graph, places, grids, element_);
}

}  // namespace npuscope
