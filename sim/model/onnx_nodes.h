// SPDX-License-Identifier: Apache-2.0
// Reads an ONNX model's nodes and constants into a graph. Functions that the model defines, and
// branches of an If, become nodes of the graph itself. source: onnx.proto, NodeProto
#pragma once

#include <onnx/onnx_pb.h>

#include <deque>
#include <set>
#include <string>
#include <vector>

#include "models/base/error.h"
#include "sim/model/graph.h"
#include "sim/model/onnx_functions.h"
#include "sim/model/onnx_tensor.h"

namespace npuscope {

/// ConfigError at the model's file unless `good`.
void require_model(const Graph& graph, bool good, const std::string& sentence,
                   const std::string& remedy);

/// Adds the file and the part's name to errors of a part.
template <class Work>
auto within_model(const Graph& graph, const std::string& part, Work work) {
    try {
        return work();
    } catch (const ConfigError& error) {
        throw ConfigError(Place{graph.file, 0, 0}, part + ": " + error.sentence(), error.remedy());
    }
}

class OnnxNodeReader {
 public:
    /// `domains`: those that the model imports. Both others must outlive it.
    OnnxNodeReader(Graph& graph, OnnxTensors& tensors, const std::set<std::string>& domains)
        : graph_(graph), tensors_(tensors), domains_(domains) {}

    /// Initialisers of a graph, or of a branch. ConfigError if a name is given twice.
    void read_constants(const onnx::GraphProto& graph, const OnnxScope& scope);
    /// All nodes, once constants, inputs and outputs have been read. ConfigError naming the node.
    void read_nodes(const onnx::ModelProto& model);
    /// Counts a constant. ConfigError if they are too large together.
    void hold(const GraphValue& value);

 private:
    /// An If, until it is known which of its branches is computed.
    struct OpenBranches {
        GraphNode node{};
        const onnx::GraphProto* yes = nullptr;
        const onnx::GraphProto* no = nullptr;
        const OnnxScope* scope = nullptr;
    };

    void require(bool good, const std::string& sentence, const std::string& remedy) const {
        require_model(graph_, good, sentence, remedy);
    }

    /// All names that the model's own graph uses, so that parts of it get others.
    void take_names(const onnx::GraphProto& graph);
    void read_nodes(const OnnxNodes& nodes, const OnnxScope& scope, std::size_t depth);
    void read_operator(const onnx::NodeProto& proto, GraphNode node, const OnnxScope& scope);
    /// The nodes of a function, in place of the node that calls it.
    void read_call(const onnx::NodeProto& proto, const GraphNode& node,
                   const onnx::FunctionProto& function, const OnnxScope& scope, std::size_t depth);
    /// Reads nodes in a new scope, whose `results` are the graph's tensors `outputs`.
    void read_body(const OnnxNodes& nodes, const std::vector<std::string>& results,
                   const std::vector<std::string>& outputs, OnnxScope& scope, std::size_t depth);
    void keep_branches(const onnx::NodeProto& proto, GraphNode node, const OnnxScope& scope);
    /// An If whose condition is known before anything runs becomes the branch taken; of any other
    /// both branches are computed, and the condition selects their results.
    void read_branches();
    void read_branch(const OpenBranches& branches, bool taken,
                     const std::vector<std::string>& outputs);
    void read_both(const OpenBranches& branches, const TensorType& condition);
    /// Results of two branches can be selected only if they have the same type.
    void check_selections() const;
    void read_attributes(const onnx::NodeProto& proto, GraphNode& node, const OnnxScope& scope);
    /// Of a type that graphs hold.
    static bool is_plain(const onnx::AttributeProto& attribute);
    Attribute attribute_of(const onnx::AttributeProto& attribute);

    Graph& graph_;
    OnnxTensors& tensors_;
    const std::set<std::string>& domains_;
    OnnxFunctions functions_{};
    TensorNames names_{};
    std::deque<OnnxScope> scopes_{};  ///< of all functions and branches read
    std::vector<OpenBranches> open_{};
    std::vector<GraphNode> selections_{};  ///< between results of two branches
    std::size_t read_ = 0;                 ///< nodes so far
    std::size_t held_ = 0;                 ///< elements of the constants so far
};

}  // namespace npuscope
