// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"

namespace npuscope {
namespace {

// Fields that the installed onnx.proto does not have yet. source: onnx.proto of ONNX 1.16
constexpr int function_attribute_default = 11;
constexpr int function_overload = 13;
constexpr int node_overload = 8;

/// The text of a field that the protocol's reader does not know; empty if it is absent.
std::string newer_text(const google::protobuf::UnknownFieldSet& fields, int number) {
    for (int i = 0; i < fields.field_count(); ++i) {
        const google::protobuf::UnknownField& field = fields.field(i);
        if (field.number() == number &&
            field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
            return field.length_delimited();
        }
    }
    return {};
}

std::string key_of(const std::string& domain, const std::string& name,
                   const std::string& overload) {
    return fmt::format("{}\n{}\n{}", domain, name, overload);
}

}  // namespace

std::string OnnxScope::name_of(const std::string& tensor) const {
    if (tensor.empty()) {
        return {};
    }
    if (const auto found = names.find(tensor); found != names.end()) {
        return found->second;
    }
    return outer != nullptr ? outer->name_of(tensor) : prefix + tensor;
}

std::string TensorNames::make(std::string name) {
    while (!taken_.insert(name).second) {
        name += '_';
    }
    return name;
}

std::set<std::string> results_of(const OnnxNodes& nodes) {
    std::set<std::string> results;
    for (const onnx::NodeProto& node : nodes) {
        results.insert(node.output().begin(), node.output().end());
    }
    results.erase("");
    return results;
}

void name_results(const OnnxNodes& nodes, OnnxScope& scope, TensorNames& names) {
    for (const std::string& result : results_of(nodes)) {
        if (!scope.names.contains(result)) {
            scope.names[result] = names.make(scope.prefix + result);
        }
    }
}

OnnxFunctions::OnnxFunctions(const onnx::ModelProto& model, std::uint32_t opset) {
    for (const onnx::FunctionProto& function : model.functions()) {
        const std::string overload = newer_text(function.unknown_fields(), function_overload);
        const std::string key = key_of(function.domain(), function.name(), overload);
        if (!functions_.emplace(key, &function).second) {
            throw ConfigError(fmt::format("the function '{}' is defined twice", function.name()),
                              "export the model again");
        }
        for (const onnx::OperatorSetIdProto& import : function.opset_import()) {
            const bool own = import.domain().empty() || import.domain() == "ai.onnx";
            if (own && import.version() != opset) {
                throw ConfigError(
                    fmt::format("the function '{}' is written for opset {}, the model for {}",
                                function.name(), import.version(), opset),
                    "export the model with one opset");
            }
        }
    }
}

const onnx::FunctionProto* OnnxFunctions::called(const onnx::NodeProto& node) const {
    if (functions_.empty()) {
        return nullptr;
    }
    const std::string overload = newer_text(node.unknown_fields(), node_overload);
    const auto found = functions_.find(key_of(node.domain(), node.op_type(), overload));
    return found == functions_.end() ? nullptr : found->second;
}

OnnxAttributes attributes_of(const onnx::NodeProto& node, const OnnxScope& scope) {
    OnnxAttributes attributes;
    for (const auto& attribute : node.attribute()) {
        const onnx::AttributeProto* value = &attribute;
        if (!attribute.ref_attr_name().empty()) {
            const auto given = scope.attributes.find(attribute.ref_attr_name());
            if (given == scope.attributes.end()) {
                continue;  // the call omits it, so that the node does too
            }
            value = &given->second;
        }
        if (!attributes.emplace(attribute.name(), *value).second) {
            throw ConfigError(fmt::format("attribute '{}' is given twice", attribute.name()),
                              "export the model again");
        }
    }
    return attributes;
}

OnnxAttributes call_attributes(const onnx::FunctionProto& function, OnnxAttributes given) {
    OnnxAttributes defaults;
    const google::protobuf::UnknownFieldSet& fields = function.unknown_fields();
    for (int i = 0; i < fields.field_count(); ++i) {
        onnx::AttributeProto attribute;
        if (fields.field(i).number() == function_attribute_default &&
            fields.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
            attribute.ParseFromString(fields.field(i).length_delimited())) {
            defaults.emplace(attribute.name(), attribute);
        }
    }
    for (const auto& [name, value] : given) {
        if (!defaults.contains(name) &&
            std::ranges::find(function.attribute(), name) == function.attribute().end()) {
            throw ConfigError(
                fmt::format("the function '{}' has no attribute '{}'", function.name(), name),
                "export the model again");
        }
    }
    given.merge(defaults);
    return given;
}

}  // namespace npuscope
