// SPDX-License-Identifier: Apache-2.0
// Quantised layers other than simple convolutions, rewritten as convolutions, with data-movement
// nodes before and after them.
//
// A product with several rows [R C] x [C K] is a 1 x 1 convolution over a map of R rows and one
// column. A transposed convolution of stride s is one convolution with s * s kernels per original
// kernel, one per position of a result in an s x s block; its output is then spread over the blocks
// and cropped:
//
//     kernel k, place (a, b), tap (i, j)  =  w[k][a + s (T - 1 - i)][b + s (T - 1 - j)]
//
// with T x T taps, where T is the kernel size divided by s, rounded up, and T - 1 rows and columns
// of padding on each side; taps beyond the kernel are zero.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/model/graph.h"
#include "sim/model/quantised_form.h"

namespace npuscope {

/// Builds a chain of nodes with their constants, outside the graph.
class NodeChain {
 public:
    /// Names of nodes and tensors begin with `name`.
    explicit NodeChain(std::string name) : name_(std::move(name)) {}

    /// A node that reads `input`; its output has this type.
    GraphNode& add(const std::string& op, const std::string& input, const std::string& part,
                   const TensorType& type);
    /// Another operand of the last node: integers.
    NodeChain& with(const std::string& part, const std::vector<std::int64_t>& numbers);
    /// The same for any value.
    NodeChain& with(const std::string& part, GraphValue value);
    /// Renames the last node's output.
    void end_as(const std::string& tensor);
    const std::string& last() const { return nodes_.back().outputs.front(); }
    bool empty() const { return nodes_.empty(); }

    /// A Transpose; `perm` as in ONNX.
    GraphNode& transpose(const std::string& input, const std::string& part, const TensorType& type,
                         const std::vector<std::int64_t>& perm);
    GraphNode& reshape(const std::string& input, const std::string& part, const TensorType& type);

    /// Moves its constants and types into a graph; returns the nodes.
    std::vector<GraphNode> finish(Graph& graph);

 private:
    std::string name_;
    std::vector<GraphNode> nodes_;
    std::map<std::string, GraphValue> constants_;
    std::map<std::string, TensorType> types_;
};

/// Rows and columns of taps that windows at the border of a map lack at most.
struct CutTaps {
    std::int64_t top = 0;
    std::int64_t left = 0;
    std::int64_t bottom = 0;
    std::int64_t right = 0;
};

/// The same layer as a convolution. Its input and output are then tensors of the surrounding nodes.
struct ConvolvedLayer {
    QuantisedLayer layer;
    std::string source;  ///< the layer's original input in the graph
    TensorType input;    ///< type of the layer's input
    TensorType output;   ///< type of the layer's output
    CutTaps cut{};       ///< of its windows, once it has the sizes that a pattern requires
    NodeChain before;
    NodeChain order;  ///< of result rows that the layer computes in another order
    NodeChain fit;    ///< crops the layer's result to what the graph reads
    NodeChain after;
};
/// Layers that need no conversion are returned unchanged.
ConvolvedLayer as_convolution(const GraphView& view, QuantisedLayer layer);
/// Each number `times` in a row, for kernels that become several.
std::vector<double> repeated(const std::vector<double>& numbers, std::int64_t times);
/// The same, but a single scale serves all kernels.
std::vector<double> repeated_scales(const std::vector<double>& scales, std::int64_t times);
/// One axis of a plane whose results kernels compute in blocks of some places.
struct BlockAxis {
    std::int64_t places = 1;  ///< of a block, each computed by a kernel of its own
    std::int64_t whole = 1;   ///< results before they are cropped
    std::int64_t begin = 0;   ///< the first kept one
    std::int64_t out = 1;     ///< kept ones
};
/// The result's plane from its blocks, and what is cropped: kernel (k * y.places + a) * x.places + b
/// computes place (a, b) of every block of kernel k.
void spread_blocks(NodeChain& chain, const std::string& blocks, const TensorType& result,
                   const BlockAxis& y, const BlockAxis& x);
/// A 1D convolution as a 2D one, over maps of one row.
void convolve_row(ConvolvedLayer& form);

/// The nodes of a transposed layer on 16-bit integers, as the convolution described by `form`.
std::vector<GraphNode> convolve_wide_integers(Graph& graph, ConvolvedLayer& form);
/// The same for 16-bit floats, with an activation after the sums, if there is one.
std::vector<GraphNode> convolve_wide_floats(Graph& graph, ConvolvedLayer& form,
                                            const GraphNode* activation);

}  // namespace npuscope
