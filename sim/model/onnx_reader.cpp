// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_reader.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/model/node_order.h"
#include "sim/model/onnx_parts.h"
#include "sim/model/onnx_sizes.h"
#include "sim/model/onnx_tensor.h"

namespace npuscope {
namespace {

constexpr std::int64_t oldest_opset = 7;
constexpr std::int64_t newest_opset = 24;
constexpr std::int64_t oldest_ir = 3;  // of opset 7; source: ONNX, Versioning
constexpr std::int64_t newest_ir = 13;
constexpr std::size_t most_nodes = std::size_t{1} << 20U;     // of all calls of functions together
constexpr std::size_t largest_model = std::size_t{1} << 30U;  // protobuf's own limit is 2 GiB

/// Keeps the library's own messages off the user's terminal: errors are reported by us.
void keep_silent(google::protobuf::LogLevel /*level*/, const char* /*file*/, int /*line*/,
                 const std::string& /*message*/) {}

class SilentProtobuf {
 public:
    SilentProtobuf() : before_(google::protobuf::SetLogHandler(keep_silent)) {}
    ~SilentProtobuf() { google::protobuf::SetLogHandler(before_); }
    SilentProtobuf(const SilentProtobuf&) = delete;
    SilentProtobuf& operator=(const SilentProtobuf&) = delete;

 private:
    google::protobuf::LogHandler* before_;
};

/// The graph's name, unless an exporter filled in its generic one: then the file's, or its
/// folder's.
std::string name_of_model(const std::string& graph, const std::filesystem::path& file) {
    // source: PyTorch, tf2onnx, skl2onnx and onnx.helper
    constexpr std::array<std::string_view, 8> unspecific{
        "",     "main_graph", "torch_jit", "torch-jit-export",
        "main", "graph",      "tf2onnx",   "test-model"};
    if (std::ranges::find(unspecific, graph) == unspecific.end()) {
        return graph;
    }
    const std::string stem = file.stem().string();
    const std::string folder = file.parent_path().filename().string();
    return stem == "model" && !folder.empty() ? folder : stem;
}

class OnnxReader {
 public:
    OnnxReader(const std::string& file, const ModelReading& reading)
        : tensors_(std::filesystem::path(file).parent_path(), reading.by_shape),
          sizes_(reading.shapes),
          arrays_(reading.arrays) {
        graph_.file = file;
        graph_.by_shape = reading.by_shape;
    }

    Graph read(const std::string& bytes) {
        onnx::ModelProto model;
        parse(bytes, model);
        read_opsets(model);
        const onnx::GraphProto& graph = model.graph();
        graph_.name = name_of_model(graph.name(), graph_.file);
        const OnnxScope own;
        read_constants(graph, own);
        read_inputs(graph);
        read_outputs(graph);
        parts_.emplace(
            graph_, model,
            OnnxPartReading{[this](const OnnxNodes& nodes, const OnnxScope& scope,
                                   std::size_t depth) { read_nodes(nodes, scope, depth); },
                            [this](const onnx::GraphProto& branch, const OnnxScope& scope) {
                                read_constants(branch, scope);
                            }});
        read_nodes(graph.node(), own, 0);
        parts_->read_branches();
        drop_unread_outputs();
        tell_names_apart();
        if (graph_.by_shape) {
            take_weights_for_constants();
        }
        order_nodes(graph_);
        return std::move(graph_);
    }

 private:
    void require(bool good, const std::string& sentence, const std::string& remedy) const {
        require_model(graph_, good, sentence, remedy);
    }

    void hold(const GraphValue& value) {
        held_ += value.numbers.size();
        require(held_ <= most_held_elements,
                fmt::format("its constants have more than {} elements", most_held_elements),
                "use a smaller model");
    }

    template <class Work>
    auto within(const std::string& part, Work work) const {
        return within_model(graph_, part, work);
    }

    TensorType stated_type(const onnx::ValueInfoProto& info, const std::string& part) const {
        return within(part, [&] { return sizes_.type_of(info); });
    }

    void parse(const std::string& bytes, onnx::ModelProto& model) const {
        require(!bytes.empty(), "the file is empty", "give a complete .onnx file");
        require(bytes.size() <= largest_model, "the file is larger than 1 GiB",
                "use a smaller model");
        const SilentProtobuf silent;
        google::protobuf::io::CodedInputStream stream(
            reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
        const bool whole = model.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
        require(whole, "not an ONNX model, or a truncated one: its protobuf encoding is damaged",
                "name a whole .onnx file");
        require(model.has_graph(), "the model has no graph", "name a whole .onnx file");
        require(model.graph().node_size() > 0, "the graph has no nodes",
                "a network must have at least one layer");
        require(model.graph().output_size() > 0, "the graph has no outputs",
                "a network must have at least one output");
        require(model.graph().sparse_initializer_size() == 0, "it has sparse initialisers",
                "save the model with dense ones");
    }

    void read_opsets(const onnx::ModelProto& model) {
        require(model.ir_version() >= oldest_ir && model.ir_version() <= newest_ir,
                fmt::format("IR version {} is not supported", model.ir_version()),
                fmt::format("convert the model to IR version {} to {}", oldest_ir, newest_ir));
        std::int64_t version = 0;
        for (const auto& import : model.opset_import()) {
            const bool own = import.domain().empty() || import.domain() == "ai.onnx";
            const std::string domain = own ? "ai.onnx" : import.domain();
            require(domains_.insert(domain).second,
                    fmt::format("the domain '{}' is imported twice", domain),
                    "declare one opset for every domain");
            version = own ? import.version() : version;
        }
        require(domains_.contains("ai.onnx"), "it declares no opset for ONNX's own operators",
                fmt::format("write the model with opset {} to {}", oldest_opset, newest_opset));
        require(version >= oldest_opset && version <= newest_opset,
                fmt::format("opset {} is not supported", version),
                fmt::format("convert the model to opset {} to {}", oldest_opset, newest_opset));
        graph_.opset = static_cast<std::uint32_t>(version);
    }

    void read_constants(const onnx::GraphProto& graph, const OnnxScope& scope) {
        for (const auto& tensor : graph.initializer()) {
            const std::string part = fmt::format("initialiser '{}'", tensor.name());
            GraphValue value = within(part, [&] { return tensors_.value_of(tensor); });
            hold(value);
            require(!tensor.name().empty(), "an initialiser has no name", "export the model again");
            const std::string name = scope.name_of(tensor.name());
            if (is_four_bits(tensor.data_type())) {
                four_bits_.insert(name);
            }
            require(graph_.constants.emplace(name, std::move(value)).second,
                    part + " is defined twice", "give every tensor a name of its own");
        }
    }

    /// Before IR version 4, every initialiser is also listed among the inputs.
    void read_inputs(const onnx::GraphProto& graph) {
        within("--shape", [&] { sizes_.bind(graph, graph_); });
        take_array_sizes(graph);
        for (const std::string& taken : sizes_.take_batches_of_one(graph, graph_)) {
            graph_.notes.push_back({.severity = Severity::Note,
                                    .id = "open_batch",
                                    .sentence = fmt::format("{} is dynamic and taken as 1", taken),
                                    .remedy = "set another size with --shape"});
        }
        std::set<std::string> names;
        for (const auto& info : graph.input()) {
            const std::string part = fmt::format("input '{}'", info.name());
            require(!info.name().empty() && names.insert(info.name()).second,
                    part + " has no name of its own", "give every input its own name");
            if (const GraphValue* value = graph_.constant(info.name())) {
                check_stated(info, value->type, part);
                continue;
            }
            graph_.types[info.name()] = stated_type(info, part);
            graph_.inputs.push_back(info.name());
        }
        for (const auto& info : graph.value_info()) {
            if (sizes_.is_stated(info) && !names.contains(info.name())) {
                const std::string part = fmt::format("tensor '{}'", info.name());
                graph_.types[info.name()] = stated_type(info, part);
            }
        }
    }

    void take_array_sizes(const onnx::GraphProto& graph) {
        const auto taken =
            within("inputs", [&] { return sizes_.take_arrays(graph, graph_, arrays_); });
        for (const std::string& sentence : taken) {
            graph_.notes.push_back({.severity = Severity::Note,
                                    .id = "open_size",
                                    .sentence = sentence + ", as in the arrays given",
                                    .remedy = "for another size, give other arrays"});
        }
    }

    void check_stated(const onnx::ValueInfoProto& info, const TensorType& type,
                      const std::string& part) const {
        if (sizes_.is_stated(info)) {
            const TensorType stated = stated_type(info, part);
            require(stated == type,
                    fmt::format("{} is declared as {} {} but defined as {} {}", part,
                                enum_name(stated.element), sizes_text(stated.sizes),
                                enum_name(type.element), sizes_text(type.sizes)),
                    "export the model again");
        }
    }

    void read_outputs(const onnx::GraphProto& graph) {
        for (const auto& info : graph.output()) {
            require(!info.name().empty(), "an output has no name", "export the model again");
            require(std::find(graph_.outputs.begin(), graph_.outputs.end(), info.name()) ==
                        graph_.outputs.end(),
                    fmt::format("output '{}' is listed twice", info.name()),
                    "give every output its own name");
            if (sizes_.is_stated(info)) {
                const std::string part = fmt::format("output '{}'", info.name());
                graph_.types[info.name()] = stated_type(info, part);
            }
            graph_.outputs.push_back(info.name());
        }
    }

    void read_nodes(const OnnxNodes& nodes, const OnnxScope& scope, std::size_t depth) {
        for (const auto& proto : nodes) {
            GraphNode node;
            node.name = proto.name().empty() ? std::string() : scope.prefix + proto.name();
            node.op = proto.op_type();
            for (const std::string& input : proto.input()) {
                node.inputs.push_back(scope.name_of(input));
            }
            for (const std::string& output : proto.output()) {
                node.outputs.push_back(scope.name_of(output));
            }
            const std::string part = fmt::format("node {}", node_text(node));
            require(++read_ <= most_nodes, fmt::format("it has more than {} nodes", most_nodes),
                    "use a smaller model");
            const bool named = std::ranges::any_of(
                node.outputs, [](const std::string& output) { return !output.empty(); });
            require(!node.op.empty() && named, part + " has no operator or no output",
                    "export the model again");
            if (!parts_->take(proto, node, scope, depth)) {
                read_operator(proto, std::move(node), scope);
            }
        }
    }

    void read_operator(const onnx::NodeProto& proto, GraphNode node, const OnnxScope& scope) {
        const std::string part = fmt::format("node {}", node_text(node));
        if (!proto.domain().empty() && proto.domain() != "ai.onnx") {
            require(domains_.contains(proto.domain()) || scope.domains.contains(proto.domain()),
                    fmt::format("{}: the model does not import the operator domain '{}'", part,
                                proto.domain()),
                    "export the model again");
            // whose quantisers differ from ONNX's own only in types
            const bool same = proto.domain() == "com.microsoft" &&
                              (node.op == "QuantizeLinear" || node.op == "DequantizeLinear");
            node.op = same ? node.op : proto.domain() + '.' + node.op;
        }
        require(node.op != "QuantizeLinear" || !four_bits_.contains(node.input(2)),
                part + ": it quantises to 4 bits, which is supported for constants only",
                "quantise it to int8");
        while (node.outputs.back().empty()) {
            node.outputs.pop_back();
        }
        if (node.outputs.front().empty()) {  // omitted: types are looked up by the first output
            const auto named = std::ranges::find_if_not(node.outputs, &std::string::empty);
            node.outputs.front() = *named + std::string(omitted_output);
        }
        within(part, [&] { read_attributes(proto, node, scope); });
        for (const auto& [name, attribute] : node.attributes) {
            if (const auto* value = std::get_if<GraphValue>(&attribute)) {
                hold(*value);
            }
        }
        graph_.nodes.push_back(std::move(node));
    }

    /// ONNX lets nodes share a name; here everything that is made of a node is called after it.
    void tell_names_apart() {
        std::set<std::string> taken;
        std::map<std::string, std::size_t> numbers;
        for (GraphNode& node : graph_.nodes) {
            const std::string name = node_name(node);
            std::string own = name;
            while (!taken.insert(own).second) {
                own = fmt::format("{}_{}", name, ++numbers[name]);
            }
            node.name = own == name ? node.name : own;
        }
    }

    /// Exporters name optional outputs, masks and indices among them, that nothing reads.
    void drop_unread_outputs() {
        std::set<std::string> read(graph_.outputs.begin(), graph_.outputs.end());
        for (const GraphNode& node : graph_.nodes) {
            read.insert(node.inputs.begin(), node.inputs.end());
        }
        for (GraphNode& node : graph_.nodes) {
            const bool optional = node.op == "Dropout" || node.op == "MaxPool";
            while (optional && node.outputs.size() > 1 && !read.contains(node.outputs.back())) {
                node.outputs.pop_back();
            }
        }
    }

    void read_attributes(const onnx::NodeProto& proto, GraphNode& node, const OnnxScope& scope) {
        for (const auto& [name, attribute] : attributes_of(proto, scope)) {
            if (graph_.by_shape && !is_plain(attribute)) {
                node.attributes[unread_attribute] = name;
            } else {
                node.attributes.emplace(name, attribute_of(attribute));
            }
        }
    }

    /// Of a type that graphs hold.
    static bool is_plain(const onnx::AttributeProto& attribute) {
        constexpr std::array kinds{
            onnx::AttributeProto_AttributeType_INT,    onnx::AttributeProto_AttributeType_FLOAT,
            onnx::AttributeProto_AttributeType_STRING, onnx::AttributeProto_AttributeType_INTS,
            onnx::AttributeProto_AttributeType_FLOATS, onnx::AttributeProto_AttributeType_TENSOR,
            onnx::AttributeProto_AttributeType_STRINGS};
        return std::ranges::find(kinds, attribute.type()) != kinds.end();
    }

    Attribute attribute_of(const onnx::AttributeProto& attribute) {
        switch (attribute.type()) {
            case onnx::AttributeProto_AttributeType_INT:
                return attribute.i();
            case onnx::AttributeProto_AttributeType_FLOAT:
                return static_cast<double>(attribute.f());
            case onnx::AttributeProto_AttributeType_STRING:
                return attribute.s();
            case onnx::AttributeProto_AttributeType_INTS:
                return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
            case onnx::AttributeProto_AttributeType_FLOATS:
                return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
            case onnx::AttributeProto_AttributeType_STRINGS:
                return std::vector<std::string>(attribute.strings().begin(),
                                                attribute.strings().end());
            case onnx::AttributeProto_AttributeType_TENSOR:
                return tensors_.value_of(attribute.t());
            case onnx::AttributeProto_AttributeType_GRAPH:
                throw ConfigError(
                    fmt::format("its attribute '{}' is a graph, which is supported only for If",
                                attribute.name()),
                    "export the model without loops");
            default:
                throw ConfigError(
                    fmt::format("attribute '{}' has an unsupported type", attribute.name()),
                    "export the model without sparse constants, sequences and optional values");
        }
    }

    /// Weights that are inputs of the model, which a by-shape run is not given.
    void take_weights_for_constants() {
        for (const GraphNode& node : graph_.nodes) {
            const bool weighs = node.op == "Conv" || node.op == "ConvTranspose" ||
                                node.op == "Gemm" || node.op == "BatchNormalization";
            for (std::size_t i = 1; weighs && i < node.inputs.size(); ++i) {
                const auto input = std::ranges::find(graph_.inputs, node.inputs[i]);
                if (input != graph_.inputs.end()) {
                    GraphValue value = tensors_.synthetic(graph_.types.at(*input));
                    hold(value);
                    graph_.constants.emplace(*input, std::move(value));
                    graph_.inputs.erase(input);
                }
            }
        }
    }

    OnnxTensors tensors_;
    OnnxSizes sizes_;
    FindArrays arrays_;
    Graph graph_;
    std::optional<OnnxParts> parts_;
    std::size_t read_ = 0;  ///< nodes so far
    std::size_t held_ = 0;  ///< elements of the constants so far
    std::set<std::string> domains_;
    std::set<std::string> four_bits_;  ///< constants of INT4 and UINT4
};

}  // namespace

bool is_onnx_file(const std::filesystem::path& path) { return path.extension() == ".onnx"; }

Graph parse_onnx(const std::string& bytes, const std::string& file, const ModelReading& reading) {
    return OnnxReader(file, reading).read(bytes);
}

Graph read_onnx(const std::filesystem::path& path, const ModelReading& reading) {
    return parse_onnx(read_whole_file(path, {}, Bytes(largest_model)), path.string(), reading);
}

}  // namespace npuscope
