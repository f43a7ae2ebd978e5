// SPDX-License-Identifier: Apache-2.0
// A network as a graph of named operators, as in ONNX: nodes in order of execution, named tensors
// between them, and constants. Sizes are fixed; the first of them is the batch. Values are doubles
// whatever the element type: they hold every integer up to 2^53 and every float32 exactly. Not
// here: how an operator is computed (operators.h), where it runs (sim/compile).
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

/// Maximum number of elements of a tensor: enough for the largest matrix of VGG-16.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 27U;
/// The same for tensors whose values are not read from a file; checked before allocation.
inline constexpr std::int64_t most_made_elements = std::int64_t{1} << 25U;
/// Elements of all tensors of a graph that are in memory at one time, 8 bytes each.
inline constexpr std::size_t most_held_elements = std::size_t{1} << 28U;

/// ConfigError where a size is negative or there are more than `most` elements.
std::size_t count_elements(const Sizes& sizes, std::int64_t most = most_elements);
/// N C H W from up to 4 sizes; a vector is one of channels.
Sizes as_cube(Sizes sizes);
/// `1x8x7x5`; `scalar` where there are no sizes.
std::string sizes_text(const Sizes& sizes);

struct TensorType {
    ElementType element = ElementType::Float32;
    Sizes sizes;

    bool operator==(const TensorType&) const = default;
};

/// A tensor's values, last dimension fastest.
struct GraphValue {
    TensorType type;
    std::vector<double> numbers;

    bool operator==(const GraphValue&) const = default;
};

/// All zeros. ConfigError above most_made_elements.
GraphValue zeros(const TensorType& type);
/// Converts every value to what the element type would store: floats rounded, integers wrapped.
void settle(GraphValue& value);

/// Tensors as .npy files; `file` is the name used in messages. ConfigError for bytes that are not a
/// numeric array.
GraphValue parse_npy(const std::string& bytes, const std::string& file);
GraphValue read_npy(const std::filesystem::path& path);
/// Stored as `value.type`; values must fit.
std::string npy_bytes(const GraphValue& value);

using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                               std::vector<double>, std::vector<std::string>, GraphValue>;

struct GraphNode {
    std::string op;  ///< `Conv`; with its domain if it is not an ONNX operator: `com.x.Conv`
    std::string name;
    std::vector<std::string> inputs;  ///< empty: an omitted optional input
    std::vector<std::string> outputs;
    std::map<std::string, Attribute> attributes;

    bool has(const std::string& attribute) const { return attributes.contains(attribute); }
    /// The attribute, or `fallback` if omitted. ConfigError if it has another type.
    std::int64_t integer(const std::string& attribute, std::int64_t fallback) const;
    double number(const std::string& attribute, double fallback) const;
    std::string text(const std::string& attribute, const std::string& fallback) const;
    std::vector<std::int64_t> integers(const std::string& attribute) const;
    std::vector<std::string> texts(const std::string& attribute) const;
    /// Empty if it is omitted or has another type.
    std::vector<double> numbers(const std::string& attribute) const;
    /// Input `index`, empty if omitted.
    const std::string& input(std::size_t index) const;
};

/// Attribute of a by-shape graph's node: names an attribute that graphs do not hold.
inline constexpr const char* unread_attribute = "npuscope.unread";

/// How far results of a layer may deviate from the model's, in steps of its quantiser, because it
/// computes with other values than the model has.
struct Deviation {
    bool folded = false;  ///< its weights were rounded again, not only its scales
    double largest = 0;   ///< before rounding; if folded, of all but 1 in a million results
    double expected = 0;  ///< share of results that differ, for inputs that use all codes

    /// Maximum distance between a result and the model's, in steps.
    double steps() const;
};

struct RoundedLayer {
    std::string name;  ///< node name
    Deviation deviation;
};

struct Graph {
    std::string name;
    std::string file;  ///< name used in messages
    std::uint32_t opset = 0;
    std::vector<std::string> inputs;  ///< without those that are constants
    std::vector<std::string> outputs;
    std::vector<GraphNode> nodes;  ///< producers before consumers
    std::map<std::string, GraphValue> constants;
    /// All tensors once types are inferred; before that, inputs and what the file states.
    std::map<std::string, TensorType> types;
    /// Layers whose scales or weights were rounded.
    std::vector<RoundedLayer> rounded{};
    bool by_shape = false;  ///< values may be synthetic: for timing only
    /// Nodes whose result sizes are unknown, and why; in by-shape graphs.
    std::vector<std::pair<GraphNode, std::string>> left_out{};
    Diagnostics notes{};  ///< about changes made to the model before planning

    bool is_constant(const std::string& tensor) const { return constants.contains(tensor); }
    const GraphValue* constant(const std::string& tensor) const;
};

/// Appends the values of `more` to `all`, along the first dimension.
void add_along_first(GraphValue& all, const GraphValue& more);
/// One of `parts` equal parts along the first dimension.
GraphValue part_along_first(const GraphValue& all, std::size_t part, std::size_t parts);
/// A matrix with its rows as columns.
GraphValue transposed(const GraphValue& matrix);
/// Subtracts zero points from weights: one, or one per kernel. Kernels are the first or last size.
void subtract_zeros(GraphValue& weights, const std::vector<double>& zeros, bool kernels_first);

/// `'conv' (Conv)`: how messages name a node; by its first output if it has no name.
std::string node_text(const GraphNode& node);
/// Only the name, or the first output.
const std::string& node_name(const GraphNode& node);

/// What is known of a tensor's values before anything runs: whether they are integers, and their
/// limits.
struct ValueRange {
    bool whole = false;
    NumberRange range{};
    bool assumed = false;  ///< for a float input: its signedness is unknown
};
/// Fits a signed or an unsigned integer of `bits` bits.
bool fits_bits(const NumberRange& range, unsigned bits);

using ValueRanges = std::map<std::string, ValueRange>;  ///< by tensor

/// A graph with what is known of it before anything runs: producer and readers of each tensor, and
/// the value ranges. The graph must outlive it.
class GraphView {
 public:
    explicit GraphView(const Graph& graph, ValueRanges ranges = {});

    const Graph& graph() const { return graph_; }
    const ValueRanges& ranges() const { return ranges_; }
    /// Null if nothing is known.
    const ValueRange* range(const std::string& tensor) const;
    const GraphNode& node(std::size_t index) const { return graph_.nodes[index]; }
    const Sizes& sizes(const std::string& tensor) const { return graph_.types.at(tensor).sizes; }
    std::optional<std::size_t> producer(const std::string& tensor) const;
    /// The only reader of a tensor that is not an output of the graph.
    std::optional<std::size_t> only_reader(const std::string& tensor) const;
    std::size_t readers(const std::string& tensor) const;

 private:
    const Graph& graph_;
    ValueRanges ranges_;
    std::map<std::string, std::size_t> producers_;
    std::map<std::string, std::vector<std::size_t>> readers_;
};

}  // namespace npuscope
