// SPDX-License-Identifier: Apache-2.0
// Quantised layers that are no plain convolutions as such ones, with nodes before and after them that
// only move numbers.
//
// A product of several rows [R C] x [C K] is a convolution of kernels of 1 x 1 over a map of R rows and
// one column. A transposed convolution of stride s is one convolution of s * s kernels for each of its
// own, one for each place of a result in a block of s x s; what comes out is spread over the blocks
// and cropped:
//
//     kernel k, place (a, b), tap (i, j)  =  w[k][a + s (T - 1 - i)][b + s (T - 1 - j)]
//
// with T x T taps, T the kernel's size divided by s, rounded up, and T - 1 rows and columns of padding
// on each side; taps beyond the kernel are zero.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/model/graph.h"
#include "sim/model/quantised_form.h"

namespace npuscope {

/// Builds nodes that follow each other, with their constants, beside a graph.
class NodeChain {
 public:
    /// Names of nodes and tensors begin with `name`.
    explicit NodeChain(std::string name) : name_(std::move(name)) {}

    /// A node that reads `input` and these constants; its output has this type.
    GraphNode& add(const std::string& op, const std::string& input, const std::string& part,
                   const TensorType& type);
    /// Another operand of the last node: whole numbers.
    NodeChain& with(const std::string& part, const std::vector<std::int64_t>& numbers);
    /// The same of any value.
    NodeChain& with(const std::string& part, GraphValue value);
    /// The last node's output gets this name.
    void end_as(const std::string& tensor);
    const std::string& last() const { return nodes_.back().outputs.front(); }
    bool empty() const { return nodes_.empty(); }

    /// Sizes of two orders of axes: `perm` as Transpose has it.
    GraphNode& transpose(const std::string& input, const std::string& part, const TensorType& type,
                         const std::vector<std::int64_t>& perm);
    GraphNode& reshape(const std::string& input, const std::string& part, const TensorType& type);

    /// Gives its constants and types to a graph; what is left are the nodes.
    std::vector<GraphNode> finish(Graph& graph);

 private:
    std::string name_;
    std::vector<GraphNode> nodes_;
    std::map<std::string, GraphValue> constants_;
    std::map<std::string, TensorType> types_;
};

/// The same layer as a convolution. Its input and output are then tensors of the nodes around it.
struct ConvolvedLayer {
    QuantisedLayer layer;
    std::string source;  ///< the graph's own input of it
    TensorType input;    ///< of the layer
    TensorType output;   ///< likewise
    NodeChain before;
    NodeChain fit;  ///< cuts the layer's result to what the graph reads
    NodeChain after;
};
/// Layers that need no such form come back as they are.
ConvolvedLayer as_convolution(const GraphView& view, QuantisedLayer layer);
/// A convolution of one direction as one of two, over maps of one row.
void convolve_row(ConvolvedLayer& form);

/// The nodes of a transposed layer on integers of 16 bits, as the convolution that `form` is.
std::vector<GraphNode> convolve_wide_integers(Graph& graph, ConvolvedLayer& form);
/// The same on floats of 16 bits, with an activation after the sums, if there is one.
std::vector<GraphNode> convolve_wide_floats(Graph& graph, ConvolvedLayer& form,
                                            const GraphNode* activation);

}  // namespace npuscope
