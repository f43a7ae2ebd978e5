// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_external.h"

#include <onnx/onnx_pb.h>

#include <fstream>
#include <set>
#include <string>

namespace npuscope {
namespace {

class Locations {
 public:
    void add(const onnx::GraphProto& graph) {
        for (const onnx::TensorProto& tensor : graph.initializer()) {
            add(tensor);
        }
        for (const onnx::NodeProto& node : graph.node()) {
            add(node);
        }
    }
    void add(const onnx::NodeProto& node) {
        for (const onnx::AttributeProto& attribute : node.attribute()) {
            add(attribute.t());
            add(attribute.g());
            for (const onnx::TensorProto& tensor : attribute.tensors()) {
                add(tensor);
            }
            for (const onnx::GraphProto& graph : attribute.graphs()) {
                add(graph);
            }
        }
    }
    const std::set<std::string>& names() const { return names_; }

 private:
    void add(const onnx::TensorProto& tensor) {
        for (const auto& entry : tensor.external_data()) {
            if (entry.key() == "location") {
                names_.insert(entry.value());
            }
        }
    }

    std::set<std::string> names_;
};

}  // namespace

std::vector<std::filesystem::path> external_files(const std::filesystem::path& model) {
    std::ifstream file(model, std::ios::binary);
    onnx::ModelProto parsed;
    std::vector<std::filesystem::path> files;
    if (!parsed.ParseFromIstream(&file)) {
        return files;
    }
    Locations locations;
    locations.add(parsed.graph());
    for (const onnx::FunctionProto& function : parsed.functions()) {
        for (const onnx::NodeProto& node : function.node()) {
            locations.add(node);
        }
    }
    for (const std::string& name : locations.names()) {
        files.push_back(model.parent_path() / name);
    }
    return files;
}

}  // namespace npuscope
