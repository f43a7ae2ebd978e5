// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/places.h"

#include <algorithm>
#include <array>
#include <set>

#include "sim/model/operators.h"
#include "sim/model/quantiser_places.h"
#include "sim/quantise/float_graph.h"

namespace npuscope {
namespace {

class PlaceFinder {
 public:
    PlaceFinder(const GraphView& view, const std::map<std::string, NumberRange>& ranges,
                const std::set<std::size_t>& left)
        : view_(view), ranges_(ranges), left_(left) {
        places_.roles.resize(nodes().size(), Role::Float);
        for (const GraphNode& node : nodes()) {
            places_.results.push_back(node.outputs.front());
        }
    }

    Places run() {
        for (std::size_t i = 0; i < nodes().size(); ++i) {
            if (is_product(view_.graph(), nodes()[i]) && !left_.contains(i)) {
                places_.roles[i] = Role::Product;
                places_.results[i] = result_of(i);
                mark(nodes()[i].inputs.front());
                mark(places_.results[i]);
            }
        }
        // backwards, so that consumers of integers are known before their producers
        for (std::size_t i = nodes().size(); i-- > 0;) {
            take_map(i);
        }
        for (std::size_t i = 0; i < nodes().size(); ++i) {
            take_pool(i);
        }
        number_grids();
        return std::move(places_);
    }

 private:
    const std::vector<GraphNode>& nodes() const { return view_.graph().nodes; }
    bool is_float_map(const std::string& tensor) const {
        return !tensor.empty() && !view_.graph().is_constant(tensor) &&
               view_.graph().types.at(tensor).element == ElementType::Float32;
    }

    /// After the bias of a product and the activation, if nothing else reads the values in between.
    std::string result_of(std::size_t index) const {
        std::string result = nodes()[index].outputs.front();
        auto reader = view_.only_reader(result);
        if (reader && nodes()[index].op == "MatMul" && is_bias(nodes()[*reader], result)) {
            result = nodes()[*reader].outputs.front();
            reader = view_.only_reader(result);
        }
        return reader && is_activation(view_.graph(), nodes()[*reader])
                   ? nodes()[*reader].outputs.front()
                   : result;
    }
    bool is_bias(const GraphNode& node, const std::string& product) const {
        if (node.op != "Add") {
            return false;
        }
        const GraphValue* other = view_.graph().constant(node.inputs[node.inputs[0] == product]);
        return other != nullptr && !other->type.sizes.empty() &&
               static_cast<std::int64_t>(other->numbers.size()) == other->type.sizes.back() &&
               view_.sizes(node.outputs.front()) == view_.sizes(product);
    }
    bool is_sum(const GraphNode& node) const {
        return node.op == "Add" && is_float_map(node.inputs[0]) && is_float_map(node.inputs[1]) &&
               view_.sizes(node.inputs[0]) == view_.sizes(node.inputs[1]);
    }
    /// Product of a map with another one, or with one value per channel, that is not a function of
    /// the same map: a function of one map needs no integers in between.
    bool is_gate(const GraphNode& node) const {
        if (node.op != "Mul" || !is_float_map(node.inputs[0]) || !is_float_map(node.inputs[1])) {
            return false;
        }
        const Sizes& sizes = view_.sizes(node.outputs.front());
        const Sizes channels = sizes.size() == 4 ? Sizes{sizes[0], sizes[1], 1, 1} : sizes;
        const auto fits = [&](std::size_t input) {
            const Sizes& own = view_.sizes(node.inputs[input]);
            return own == sizes || own == channels;
        };
        return fits(0) && fits(1) && root_of(node.inputs[0]) != root_of(node.inputs[1]);
    }
    /// The map that a tensor is an elementwise function of.
    std::string root_of(const std::string& tensor) const {
        const auto producer = view_.producer(tensor);
        const OperatorRow* row = producer ? find_operator(nodes()[*producer].op) : nullptr;
        if (row == nullptr || !row->elementwise) {
            return tensor;
        }
        std::string root;
        for (const std::string& input : nodes()[*producer].inputs) {
            const GraphValue* constant = view_.graph().constant(input);
            if (input.empty() || (constant != nullptr && constant->numbers.size() == 1)) {
                continue;
            }
            const std::string other = constant != nullptr ? std::string() : root_of(input);
            if (other.empty() || (!root.empty() && other != root)) {
                return tensor;
            }
            root = other;
        }
        return root.empty() ? tensor : root;
    }

    static bool is_average(const GraphNode& node) {
        return node.op == "AveragePool" || node.op == "GlobalAveragePool";
    }
    static bool is_pool(const GraphNode& node) { return is_average(node) || is_max(node); }
    static bool is_max(const GraphNode& node) {
        return node.op == "MaxPool" && node.outputs.size() == 1;
    }
    /// Its results are elements of its maps, or 0; ONNX has it for 8-bit integers.
    bool is_mover(const GraphNode& node) const {
        constexpr std::array words{"Flatten",   "Reshape",  "Transpose", "Squeeze",
                                   "Unsqueeze", "Identity", "Slice",     "Concat"};
        if (std::ranges::find(words, node.op) == words.end() && !is_max(node) &&
            !pads_zeros(node) && !repeats_nearest(node)) {
            return false;
        }
        return std::ranges::all_of(maps_of(node),
                                   [&](const std::string& map) { return is_float_map(map); });
    }
    bool pads_zeros(const GraphNode& node) const {
        const GraphValue* value = view_.graph().constant(node.input(2));
        const bool zero =
            node.input(2).empty() || (value != nullptr && value->numbers == std::vector{0.0});
        return node.op == "Pad" && node.text("mode", "constant") == "constant" && zero;
    }
    static std::vector<std::string> maps_of(const GraphNode& node) {
        return node.op == "Concat" ? node.inputs : std::vector<std::string>{node.inputs.front()};
    }

    void take_map(std::size_t index) {
        const GraphNode& node = nodes()[index];
        if (is_sum(node) || is_average(node) || is_gate(node)) {
            const std::string result = result_of(index);
            if (marked_.contains(result) && !left_.contains(index)) {
                take(index, Role::Map, result);
            }
        } else if (is_mover(node) && marked_.contains(node.outputs.front())) {
            take(index, Role::Mover, node.outputs.front());
        }
    }
    /// A pool on integers produces integers, whatever reads them.
    void take_pool(std::size_t index) {
        const GraphNode& node = nodes()[index];
        if (places_.roles[index] == Role::Float && is_pool(node) && !left_.contains(index) &&
            marked_.contains(node.inputs.front())) {
            take(index, is_max(node) ? Role::Mover : Role::Map, node.outputs.front());
        }
    }
    void take(std::size_t index, Role role, const std::string& result) {
        places_.roles[index] = role;
        places_.results[index] = result;
        mark(result);
        const GraphNode& node = nodes()[index];
        for (const std::string& map :
             role == Role::Map && !is_average(node) ? node.inputs : maps_of(node)) {
            mark(map);
            if (role == Role::Mover && shares_grid(node, map, result)) {
                join(map, result);
            }
        }
    }

    /// A map with other readers would lose precision if concatenated with larger values.
    bool shares_grid(const GraphNode& node, const std::string& map,
                     const std::string& result) const {
        constexpr double least_part = 0.7;
        const auto own = ranges_.find(map);
        const auto all = ranges_.find(result);
        if (node.op != "Concat" || own == ranges_.end() || all == ranges_.end()) {
            return true;
        }
        const auto span = [](const NumberRange& range) {
            return std::max(range.high, 0.0) - std::min(range.low, 0.0);
        };
        return span(own->second) >= least_part * span(all->second);
    }

    void mark(const std::string& tensor) {
        if (marked_.insert(tensor).second) {
            joined_[tensor] = tensor;
        }
    }
    std::string first_of(std::string tensor) const {
        while (joined_.at(tensor) != tensor) {
            tensor = joined_.at(tensor);
        }
        return tensor;
    }
    void join(const std::string& a, const std::string& b) { joined_[first_of(a)] = first_of(b); }

    void number_grids() {
        std::map<std::string, std::size_t> numbers;
        for (const std::string& tensor : marked_) {
            const auto [found, is_new] = numbers.emplace(first_of(tensor), numbers.size());
            places_.grids[tensor] = found->second;
        }
        places_.grid_count = numbers.size();
    }

    const GraphView& view_;
    const std::map<std::string, NumberRange>& ranges_;
    const std::set<std::size_t>& left_;
    Places places_;
    std::set<std::string> marked_;
    std::map<std::string, std::string> joined_;
};

}  // namespace

Places find_places(const GraphView& view, const std::map<std::string, NumberRange>& ranges,
                   const std::set<std::size_t>& left) {
    return PlaceFinder(view, ranges, left).run();
}

}  // namespace npuscope
