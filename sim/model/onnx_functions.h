// SPDX-License-Identifier: Apache-2.0
// Parts of a model that are read into the graph in place of the node that names them: functions
// that the model defines, and branches of an If. Here: which functions there are, and what names
// and attributes mean within such a part. ConfigErrors have no location: the caller adds it.
// source: onnx.proto, FunctionProto and GraphProto; ONNX, IR: "Functions", "Graphs"
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "sim/model/graph.h"

namespace npuscope {

using OnnxNodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
using OnnxAttributes = std::map<std::string, onnx::AttributeProto>;  ///< by name

/// What names mean in a list of nodes: the model's own, or a function's or branch's, whose tensors
/// get names of their own in the graph.
struct OnnxScope {
    const OnnxScope* outer = nullptr;            ///< whose tensors a branch may read
    std::string prefix{};                        ///< of names that the list defines
    std::map<std::string, std::string> names{};  ///< in the list, to those in the graph
    OnnxAttributes attributes{};                 ///< of the function's call
    std::set<std::string> domains{};             ///< that the function imports

    /// The graph's name for a tensor; empty for an omitted one.
    std::string name_of(const std::string& tensor) const;
};

/// Names that a graph's tensors already have.
class TensorNames {
 public:
    void add(const std::string& name) { taken_.insert(name); }
    /// `name`, with underscores until no other tensor has it.
    std::string make(std::string name);

 private:
    std::set<std::string> taken_;
};

/// Tensors that the nodes produce.
std::set<std::string> results_of(const OnnxNodes& nodes);
/// Gives names to all results of the nodes that have none in the scope.
void name_results(const OnnxNodes& nodes, OnnxScope& scope, TensorNames& names);

class OnnxFunctions {
 public:
    OnnxFunctions() = default;
    /// ConfigError for two of one name, or for one written for another opset than the model.
    /// `model` must outlive it.
    OnnxFunctions(const onnx::ModelProto& model, std::uint32_t opset);

    /// The function that a node calls; null: it is an operator.
    const onnx::FunctionProto* called(const onnx::NodeProto& node) const;

 private:
    std::map<std::string, const onnx::FunctionProto*> functions_;  ///< by domain, name, overload
};

/// A node's attributes, with the call's where a function refers to them. ConfigError for two of one
/// name.
OnnxAttributes attributes_of(const onnx::NodeProto& node, const OnnxScope& scope);
/// A call's attributes, and the function's defaults for the others. `given`: those of the call,
/// resolved. ConfigError for one that the function does not have.
OnnxAttributes call_attributes(const onnx::FunctionProto& function, OnnxAttributes given);

}  // namespace npuscope
