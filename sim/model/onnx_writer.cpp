// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_writer.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <set>

#include "models/base/error.h"

namespace npuscope {
namespace {

/// The first IR version for an opset. source: ONNX, Versioning
std::int64_t ir_version_of(std::uint32_t opset) {
    constexpr std::int64_t oldest = 4;
    constexpr std::array<std::uint32_t, 8> last_opsets{9, 10, 11, 14, 18, 20, 22, 23};
    return oldest + (std::ranges::lower_bound(last_opsets, opset) - last_opsets.begin());
}

void write_value(const GraphValue& value, const std::string& name, onnx::TensorProto& tensor) {
    tensor.set_name(name);
    tensor.set_data_type(element_row(value.type.element).onnx);
    for (const std::int64_t size : value.type.sizes) {
        tensor.add_dims(size);
    }
    append_elements(value.type.element, value.numbers, *tensor.mutable_raw_data());
}

struct AttributeWriter {
    onnx::AttributeProto& proto;

    void operator()(std::int64_t value) const {
        proto.set_type(onnx::AttributeProto_AttributeType_INT);
        proto.set_i(value);
    }
    void operator()(double value) const {
        proto.set_type(onnx::AttributeProto_AttributeType_FLOAT);
        proto.set_f(static_cast<float>(value));
    }
    void operator()(const std::string& value) const {
        proto.set_type(onnx::AttributeProto_AttributeType_STRING);
        proto.set_s(value);
    }
    void operator()(const std::vector<std::string>& values) const {
        proto.set_type(onnx::AttributeProto_AttributeType_STRINGS);
        for (const std::string& value : values) {
            proto.add_strings(value);
        }
    }
    void operator()(const std::vector<std::int64_t>& values) const {
        proto.set_type(onnx::AttributeProto_AttributeType_INTS);
        for (const std::int64_t value : values) {
            proto.add_ints(value);
        }
    }
    void operator()(const std::vector<double>& values) const {
        proto.set_type(onnx::AttributeProto_AttributeType_FLOATS);
        for (const double value : values) {
            proto.add_floats(static_cast<float>(value));
        }
    }
    void operator()(const GraphValue& value) const {
        proto.set_type(onnx::AttributeProto_AttributeType_TENSOR);
        write_value(value, {}, *proto.mutable_t());
    }
};

/// The first opset whose own quantisers produce 16-bit integers. source: ONNX, QuantizeLinear-21
constexpr std::uint32_t wide_opset = 21;

/// A quantiser that an older opset has only in the domain com.microsoft.
bool is_wide_quantiser(const Graph& graph, const GraphNode& node) {
    const bool quantises = node.op == "QuantizeLinear" || node.op == "DequantizeLinear";
    const GraphValue* zero = quantises ? graph.constant(node.input(2)) : nullptr;
    return graph.opset < wide_opset && zero != nullptr &&
           (zero->type.element == ElementType::Int16 || zero->type.element == ElementType::Uint16);
}

/// The domain is written separately from the operator.
void write_node(const Graph& graph, const GraphNode& node, onnx::NodeProto& proto,
                std::set<std::string>& domains) {
    const std::size_t dot = node.op.rfind('.');
    if (dot != std::string::npos || is_wide_quantiser(graph, node)) {
        proto.set_domain(dot == std::string::npos ? "com.microsoft" : node.op.substr(0, dot));
        domains.insert(proto.domain());
    }
    proto.set_op_type(dot == std::string::npos ? node.op : node.op.substr(dot + 1));
    proto.set_name(node.name);
    for (const std::string& input : node.inputs) {
        proto.add_input(input);
    }
    for (const std::string& output : node.outputs) {
        proto.add_output(output);
    }
    for (const auto& [name, value] : node.attributes) {
        if (name.find('.') != std::string::npos) {
            continue;  // an internal annotation
        }
        onnx::AttributeProto& attribute = *proto.add_attribute();
        attribute.set_name(name);
        std::visit(AttributeWriter{attribute}, value);
    }
}

void write_end(const Graph& graph, const std::string& name, onnx::ValueInfoProto& info) {
    info.set_name(name);
    const TensorType& type = graph.types.at(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(element_row(type.element).onnx);
    tensor.mutable_shape();
    for (const std::int64_t size : type.sizes) {
        tensor.mutable_shape()->add_dim()->set_dim_value(size);
    }
}

}  // namespace

std::string onnx_bytes(const Graph& graph, const std::string& producer_version) {
    onnx::ModelProto model;
    model.set_ir_version(ir_version_of(graph.opset));
    model.set_producer_name("npuscope");
    model.set_producer_version(producer_version);
    onnx::GraphProto& written = *model.mutable_graph();
    written.set_name(graph.name.empty() ? "graph" : graph.name);
    std::set<std::string> domains;
    for (const GraphNode& node : graph.nodes) {
        write_node(graph, node, *written.add_node(), domains);
    }
    for (const auto& [name, value] : graph.constants) {
        write_value(value, name, *written.add_initializer());
    }
    for (const std::string& input : graph.inputs) {
        write_end(graph, input, *written.add_input());
    }
    for (const std::string& output : graph.outputs) {
        write_end(graph, output, *written.add_output());
    }
    model.add_opset_import()->set_version(graph.opset);
    for (const std::string& domain : domains) {
        auto& import = *model.add_opset_import();
        import.set_domain(domain);
        import.set_version(1);
    }
    constexpr std::size_t largest = std::size_t{1} << 30U;
    if (model.ByteSizeLong() > largest) {
        throw ConfigError(Place{graph.file, 0, 0}, "the model would be larger than 1 GiB",
                          "models for small devices are far smaller");
    }
    return model.SerializeAsString();
}

}  // namespace npuscope
