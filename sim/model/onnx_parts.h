// SPDX-License-Identifier: Apache-2.0
// Functions that an ONNX model defines, and branches of an If, become nodes of the graph itself.
// source: ONNX, IR: "Functions"; operator If
#pragma once

#include <onnx/onnx_pb.h>

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "models/base/error.h"
#include "sim/model/graph.h"
#include "sim/model/onnx_functions.h"

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

/// How a part's nodes, and a branch's initialisers, are read into the graph.
struct OnnxPartReading {
    std::function<void(const OnnxNodes& nodes, const OnnxScope& scope, std::size_t depth)> nodes;
    std::function<void(const onnx::GraphProto& branch, const OnnxScope& scope)> constants;
};

class OnnxParts {
 public:
    /// Inputs, outputs and initialisers have been read. Graph and model must outlive it.
    OnnxParts(Graph& graph, const onnx::ModelProto& model, OnnxPartReading reading);

    /// Reads the nodes of a function if the node is a call, `depth` deep; keeps an If for
    /// read_branches. Otherwise returns false: an operator.
    bool take(const onnx::NodeProto& proto, const GraphNode& node, const OnnxScope& scope,
              std::size_t depth);
    /// An If whose condition is known before anything runs becomes the branch taken; of any other
    /// both branches are computed, and the condition selects their results.
    void read_branches();

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
    void read_call(const onnx::NodeProto& proto, const GraphNode& node,
                   const onnx::FunctionProto& function, const OnnxScope& scope, std::size_t depth);
    /// Reads nodes in a new scope, whose `results` are the graph's tensors `outputs`.
    void read_body(const OnnxNodes& nodes, const std::vector<std::string>& results,
                   const std::vector<std::string>& outputs, OnnxScope& scope, std::size_t depth);
    void keep_branches(const onnx::NodeProto& proto, GraphNode node, const OnnxScope& scope);
    void read_branch(const OpenBranches& branches, bool taken,
                     const std::vector<std::string>& outputs);
    void read_both(const OpenBranches& branches, const TensorType& condition);
    /// Results of two branches can be selected only if they have the same type.
    void check_selections() const;

    Graph& graph_;
    OnnxPartReading reading_;
    OnnxFunctions functions_{};
    TensorNames names_{};
    std::deque<OnnxScope> scopes_{};  ///< of all functions and branches read
    std::vector<OpenBranches> open_{};
    std::vector<GraphNode> selections_{};  ///< between results of two branches
};

}  // namespace npuscope
