// SPDX-License-Identifier: Apache-2.0
// A network as a graph of named operators, as ONNX describes one: nodes in order of execution,
// named tensors between them, constants beside them. Sizes are fixed; the first of them is the
// batch. Numbers are doubles whatever the element type: they hold every integer up to 2^53 and
// every float32 exactly. Not here: how an operator is computed (operators.h), where it runs
// (sim/compile).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/base/diagnostic.h"
#include "sim/config/element_type.h"

namespace npuscope {

using Sizes = std::vector<std::int64_t>;

/// No tensor of a graph has more elements: enough for the largest matrix of VGG-16.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 27U;
/// Nor is there one of more elements whose numbers stand in no file; refused before memory is
/// taken.
inline constexpr std::int64_t most_made_elements = std::int64_t{1} << 25U;
/// Elements of all tensors of a graph that are in memory at a time, 8 bytes each.
inline constexpr std::size_t most_held_elements = std::size_t{1} << 28U;

/// ConfigError where a size is negative or there are more than `most` elements.
std::size_t count_elements(const Sizes& sizes, std::int64_t most = most_elements);
/// N C H W from 2 to 4 sizes.
Sizes as_cube(Sizes sizes);
/// `1x8x7x5`; `scalar` where there are no sizes.
std::string sizes_text(const Sizes& sizes);

struct TensorType {
    ElementType element = ElementType::Float32;
    Sizes sizes;

    bool operator==(const TensorType&) const = default;
};

/// A tensor's numbers, last size fastest.
struct GraphValue {
    TensorType type;
    std::vector<double> numbers;

    bool operator==(const GraphValue&) const = default;
};

/// All zeros. ConfigError where that are more than most_made_elements.
GraphValue zeros(const TensorType& type);
/// Every number as the element type would store it: floats rounded, integers wrapped.
void settle(GraphValue& value);

/// Tensors as .npy files; `file` is how messages name it. ConfigError for text that is not an array
/// of numbers.
GraphValue parse_npy(const std::string& bytes, const std::string& file);
GraphValue read_npy(const std::filesystem::path& path);
/// Stored as `value.type` says; numbers must fit.
std::string npy_bytes(const GraphValue& value);

using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                               std::vector<double>, GraphValue>;

struct GraphNode {
    std::string op;  ///< `Conv`; with its domain where that is not ONNX's own: `com.x.Conv`
    std::string name;
    std::vector<std::string> inputs;  ///< empty: an optional input left out
    std::vector<std::string> outputs;
    std::map<std::string, Attribute> attributes;

    bool has(const std::string& attribute) const { return attributes.contains(attribute); }
    /// The attribute, or `fallback` where it is left out. ConfigError where its kind is another.
    std::int64_t integer(const std::string& attribute, std::int64_t fallback) const;
    double number(const std::string& attribute, double fallback) const;
    std::string text(const std::string& attribute, const std::string& fallback) const;
    std::vector<std::int64_t> integers(const std::string& attribute) const;
    /// Empty where it is left out or of another kind.
    std::vector<double> numbers(const std::string& attribute) const;
    /// Input `index`, empty where it is left out.
    const std::string& input(std::size_t index) const;
};

/// Attribute that names, on a node of a graph by shape, one that graphs do not hold.
inline constexpr const char* unread_attribute = "npuscope.unread";

/// How far results of a layer may lie from the model's, in steps of its quantiser: it computes with
/// other numbers than the model has.
struct Deviation {
    bool folded = false;  ///< its weights were rounded again, not its scales alone
    double largest = 0;   ///< before rounding; of folded weights, of all but 1 in a million results
    double expected = 0;  ///< share of results that differ, of inputs that fill their codes

    /// Steps between a result and the model's, at most.
    double steps() const;
};

struct RoundedLayer {
    std::string name;  ///< of its node
    Deviation deviation;
};

struct Graph {
    std::string name;
    std::string file;  ///< as messages name it
    std::uint32_t opset = 0;
    std::vector<std::string> inputs;  ///< without those that are constants
    std::vector<std::string> outputs;
    std::vector<GraphNode> nodes;  ///< producers before consumers
    std::map<std::string, GraphValue> constants;
    /// Of every tensor once types are inferred; before that, of inputs and what the file states.
    std::map<std::string, TensorType> types;
    /// Layers whose scales or weights were rounded.
    std::vector<RoundedLayer> rounded{};
    bool by_shape = false;  ///< numbers may be synthetic: for time alone
    /// Nodes whose results have no known sizes, and why; of graphs by shape.
    std::vector<std::pair<GraphNode, std::string>> left_out{};
    Diagnostics notes{};  ///< of what was done to the model before it was planned

    bool is_constant(const std::string& tensor) const { return constants.contains(tensor); }
    const GraphValue* constant(const std::string& tensor) const;
};

/// `more` after the numbers of `all`, along the first size.
void add_along_first(GraphValue& all, const GraphValue& more);
/// One of so many equal parts along the first size.
GraphValue part_along_first(const GraphValue& all, std::size_t part, std::size_t parts);
/// A matrix with its rows as columns.
GraphValue transposed(const GraphValue& matrix);
/// Takes zero points off weights: one, or one per kernel. Kernels are the first size or the last.
void subtract_zeros(GraphValue& weights, const std::vector<double>& zeros, bool kernels_first);

/// `'conv' (Conv)`: how messages name a node; by its first output where it has no name.
std::string node_text(const GraphNode& node);
/// The name alone, likewise.
const std::string& node_name(const GraphNode& node);

/// What is known of a tensor's values before anything runs: whether they are whole, and between which
/// limits they lie.
struct ValueRange {
    bool whole = false;
    NumberRange range{};
    bool assumed = false;  ///< of an input of floats: whether they are signed is not known
};
/// Fits a signed or an unsigned integer of so many bits.
bool fits_bits(const NumberRange& range, unsigned bits);

using ValueRanges = std::map<std::string, ValueRange>;  ///< by tensor

/// A graph with what is known of it before anything runs: who makes and who reads each tensor, and
/// the ranges of their values. The graph must outlive it.
class GraphView {
 public:
    explicit GraphView(const Graph& graph, ValueRanges ranges = {});

    const Graph& graph() const { return graph_; }
    const ValueRanges& ranges() const { return ranges_; }
    /// Null where nothing is known.
    const ValueRange* range(const std::string& tensor) const;
    const GraphNode& node(std::size_t index) const { return graph_.nodes[index]; }
    const Sizes& sizes(const std::string& tensor) const { return graph_.types.at(tensor).sizes; }
    std::optional<std::size_t> producer(const std::string& tensor) const;
    /// The node that alone reads a tensor which is not an output of the graph.
    std::optional<std::size_t> only_reader(const std::string& tensor) const;
    std::size_t readers(const std::string& tensor) const;

 private:
    const Graph& graph_;
    ValueRanges ranges_;
    std::map<std::string, std::size_t> producers_;
    std::map<std::string, std::vector<std::size_t>> readers_;
};

}  // namespace npuscope
