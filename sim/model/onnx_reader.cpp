// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_reader.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

// Tensors and types of ONNX as ours. ConfigErrors have no place: the caller knows it.

const ElementRow& row_of(int number) {
    if (const ElementRow* row = find_onnx_element(number)) {
        return *row;
    }
    const std::string name = onnx::TensorProto_DataType_IsValid(number)
                                 ? onnx::TensorProto_DataType_Name(number)
                                 : std::to_string(number);
    throw ConfigError(fmt::format("element type {} is not supported", name),
                      "use float32, float64, bool or an integer type");
}

template <class Field>
void read_field(const Field& field, std::vector<double>& numbers) {
    if (static_cast<std::size_t>(field.size()) != numbers.size()) {
        throw ConfigError(fmt::format("it holds {} numbers where its sizes ask for {}",
                                      field.size(), numbers.size()),
                          "write the model again");
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<double>(field[static_cast<int>(i)]);
    }
}

void read_numbers(const onnx::TensorProto& tensor, ElementType type, std::vector<double>& numbers) {
    switch (type) {
        case ElementType::Float32:
            return read_field(tensor.float_data(), numbers);
        case ElementType::Float64:
            return read_field(tensor.double_data(), numbers);
        case ElementType::Int64:
            return read_field(tensor.int64_data(), numbers);
        case ElementType::Uint32:
        case ElementType::Uint64:
            return read_field(tensor.uint64_data(), numbers);
        default:
            return read_field(tensor.int32_data(), numbers);
    }
}

/// A tensor in the file itself, whichever of ONNX's fields holds it.
GraphValue value_of(const onnx::TensorProto& tensor) {
    if (tensor.data_location() == onnx::TensorProto_DataLocation_EXTERNAL ||
        tensor.external_data_size() > 0) {
        throw ConfigError("its data lie in another file",
                          "save the model with all its data in one file");
    }
    if (tensor.has_segment()) {
        throw ConfigError("it is a segment of a tensor", "save the model with whole tensors");
    }
    const bool has_numbers = tensor.float_data_size() + tensor.int32_data_size() +
                                 tensor.int64_data_size() + tensor.double_data_size() +
                                 tensor.uint64_data_size() + tensor.string_data_size() >
                             0;
    if (tensor.has_raw_data() && has_numbers) {
        throw ConfigError("it holds its data twice, as bytes and as numbers",
                          "write the model again");
    }
    const ElementRow& row = row_of(tensor.data_type());
    TensorType type{row.type, {tensor.dims().begin(), tensor.dims().end()}};
    const std::size_t elements = count_elements(type.sizes);
    // The data must be there before memory is taken for them.
    if (tensor.has_raw_data() && tensor.raw_data().size() != elements * row.bytes) {
        throw ConfigError(
            fmt::format("it holds {} bytes where its sizes ({}) ask for {}",
                        tensor.raw_data().size(), sizes_text(type.sizes), elements * row.bytes),
            "write the model again");
    }
    if (!tensor.has_raw_data() && elements > tensor.ByteSizeLong()) {
        throw ConfigError(fmt::format("its data are missing ({} elements)", elements),
                          "write the model again");
    }
    GraphValue value{type, {}};
    if (tensor.has_raw_data()) {
        const std::string& raw = tensor.raw_data();
        value.numbers = read_elements(
            row.type, {reinterpret_cast<const std::uint8_t*>(raw.data()), raw.size()});
    } else {
        value.numbers.resize(elements);
        read_numbers(tensor, row.type, value.numbers);
        settle(value);
    }
    if (std::ranges::any_of(value.numbers, [](double number) { return std::isnan(number); })) {
        throw ConfigError("it holds a NaN", "correct the model's values");
    }
    return value;
}

/// A tensor's type with fixed sizes of `least` or more.
TensorType type_of(const onnx::ValueInfoProto& info, std::int64_t least) {
    const std::string remedy = "export the model with fixed sizes";
    if (!info.has_type() || !info.type().has_tensor_type()) {
        throw ConfigError("it is not a tensor", "use tensors for inputs and outputs");
    }
    const auto& tensor = info.type().tensor_type();
    TensorType type{row_of(tensor.elem_type()).type, {}};
    if (!tensor.has_shape()) {
        throw ConfigError("its sizes are not stated", remedy);
    }
    for (const auto& size : tensor.shape().dim()) {
        if (!size.has_dim_value()) {
            throw ConfigError(fmt::format("its size '{}' is not fixed (a dynamic shape)",
                                          size.has_dim_param() ? size.dim_param() : "?"),
                              remedy);
        }
        if (size.dim_value() < least) {
            throw ConfigError(fmt::format("{} is not a size", size.dim_value()), remedy);
        }
        type.sizes.push_back(size.dim_value());
    }
    count_elements(type.sizes);
    return type;
}

/// Whether both element type and fixed sizes are stated.
bool is_stated(const onnx::ValueInfoProto& info) {
    return info.has_type() && info.type().has_tensor_type() &&
           info.type().tensor_type().has_shape() &&
           std::ranges::all_of(info.type().tensor_type().shape().dim(),
                               [](const auto& size) { return size.has_dim_value(); });
}

/// `made`: tensors that exist before any node has run.
void check_names(const Graph& graph, std::set<std::string> made) {
    for (const GraphNode& node : graph.nodes) {
        for (const std::string& output : node.outputs) {
            if (!output.empty() && !made.insert(output).second) {
                refuse_node(graph, node, fmt::format("the tensor '{}' is made twice", output),
                            "give every tensor one producer");
            }
        }
    }
    for (const GraphNode& node : graph.nodes) {
        for (const std::string& input : node.inputs) {
            if (!input.empty() && !made.contains(input)) {
                refuse_node(graph, node,
                            fmt::format("its input '{}' is neither an input of the model, nor an "
                                        "initialiser, nor made by a node",
                                        input),
                            "the model lost a part, or a name is misspelled");
            }
        }
    }
    for (const std::string& output : graph.outputs) {
        if (!made.contains(output)) {
            throw ConfigError(Place{graph.file, 0, 0},
                              fmt::format("nothing makes the model's output '{}'", output),
                              "the model lost a part, or a name is misspelled");
        }
    }
}

/// Nodes that wait for a node: the readers of what it makes.
std::vector<std::vector<std::size_t>> readers_of_nodes(const Graph& graph) {
    std::unordered_map<std::string_view, std::size_t> producers;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const std::string& output : graph.nodes[i].outputs) {
            producers.emplace(output, i);
        }
    }
    producers.erase("");
    std::vector<std::vector<std::size_t>> readers(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const std::string& input : graph.nodes[i].inputs) {
            if (const auto producer = producers.find(input); producer != producers.end()) {
                readers[producer->second].push_back(i);
            }
        }
    }
    return readers;
}

/// Sorts `graph.nodes` such that producers stand before consumers and keeps the file's order where
/// that is such an order: as if the file were gone through time after time, and each time every node
/// taken whose inputs are there. ConfigError, with the node, where a tensor is made twice, is not made
/// at all, or where nodes wait for each other in a circle.
void order_nodes(Graph& graph) {
    std::set<std::string> known(graph.inputs.begin(), graph.inputs.end());  // before any node runs
    for (const auto& [name, value] : graph.constants) {
        known.insert(name);
    }
    check_names(graph, known);
    const std::vector<std::vector<std::size_t>> readers = readers_of_nodes(graph);
    std::vector<std::size_t> missing(readers.size(), 0);  // inputs that are yet to be made
    for (const std::vector<std::size_t>& each : readers) {
        for (const std::size_t reader : each) {
            ++missing[reader];
        }
    }
    std::vector<std::size_t> taken;  // a node's producers before it
    for (std::size_t i = 0; i < missing.size(); ++i) {
        if (missing[i] == 0) {
            taken.push_back(i);
        }
    }
    std::vector<std::size_t> time(readers.size(), 0);  // that the file is gone through
    for (std::size_t i = 0; i < taken.size(); ++i) {
        const std::size_t node = taken[i];
        for (const std::size_t reader : readers[node]) {
            time[reader] = std::max(time[reader], time[node] + (node > reader ? 1 : 0));
            if (--missing[reader] == 0) {
                taken.push_back(reader);
            }
        }
    }
    for (std::size_t i = 0; i < missing.size(); ++i) {
        if (missing[i] > 0) {
            refuse_node(graph, graph.nodes[i],
                        "it waits for its own output: the graph has a cycle through it or above it",
                        "a network's graph has no cycles");
        }
    }
    std::ranges::sort(taken, {}, [&](std::size_t node) { return std::pair(time[node], node); });
    std::vector<GraphNode> sorted;
    for (const std::size_t node : taken) {
        sorted.push_back(std::move(graph.nodes[node]));
    }
    graph.nodes = std::move(sorted);
}

constexpr std::int64_t oldest_opset = 7;
constexpr std::int64_t newest_opset = 21;
constexpr std::int64_t oldest_ir = 3;  // of opset 7; source: ONNX, Versioning
constexpr std::int64_t newest_ir = 13;
constexpr std::size_t largest_model = std::size_t{1} << 30U;  // protobuf itself ends at 2 GiB

/// The library's own words stay off the user's terminal: what is wrong becomes our error.
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

class OnnxReader {
 public:
    explicit OnnxReader(const std::string& file) { graph_.file = file; }

    Graph read(const std::string& bytes) {
        onnx::ModelProto model;
        parse(bytes, model);
        read_opsets(model);
        const onnx::GraphProto& graph = model.graph();
        graph_.name = graph.name();
        read_constants(graph);
        read_inputs(graph);
        read_outputs(graph);
        read_nodes(graph);
        order_nodes(graph_);
        return std::move(graph_);
    }

 private:
    void require(bool good, const std::string& sentence, const std::string& remedy) const {
        if (!good) {
            throw ConfigError(Place{graph_.file, 0, 0}, sentence, remedy);
        }
    }

    void hold(const GraphValue& value) {
        held_ += value.numbers.size();
        require(held_ <= most_held_elements,
                fmt::format("its constants have more than {} elements", most_held_elements),
                "models for small devices are far smaller");
    }

    /// Errors of a part get the file and the part's name.
    template <class Work>
    auto within(const std::string& part, Work work) const {
        try {
            return work();
        } catch (const ConfigError& error) {
            throw ConfigError(Place{graph_.file, 0, 0},
                              fmt::format("{}: {}", part, error.sentence()), error.remedy());
        }
    }

    TensorType stated_type(const onnx::ValueInfoProto& info, const std::string& part,
                           std::int64_t least = 1) const {
        return within(part, [&] { return type_of(info, least); });
    }

    void parse(const std::string& bytes, onnx::ModelProto& model) const {
        require(!bytes.empty(), "the file is empty", "name a whole .onnx file");
        require(bytes.size() <= largest_model, "the file is larger than 1 GiB",
                "models for small devices are far smaller");
        const SilentProtobuf silent;
        google::protobuf::io::CodedInputStream stream(
            reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
        const bool whole = model.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
        require(whole, "this is not an ONNX model, or not all of one: its protobuf text is broken",
                "name a whole .onnx file");
        require(model.has_graph(), "the model has no graph", "name a whole .onnx file");
        require(model.graph().node_size() > 0, "the graph has no nodes",
                "a network has at least one layer");
        require(model.graph().output_size() > 0, "the graph has no outputs",
                "a network has at least one output");
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
                    "state one opset for every domain");
            version = own ? import.version() : version;
        }
        require(domains_.contains("ai.onnx"), "it states no opset of ONNX's own operators",
                fmt::format("write the model with opset {} to {}", oldest_opset, newest_opset));
        require(version >= oldest_opset && version <= newest_opset,
                fmt::format("opset {} is not supported", version),
                fmt::format("convert the model to opset {} to {}", oldest_opset, newest_opset));
        graph_.opset = static_cast<std::uint32_t>(version);
    }

    void read_constants(const onnx::GraphProto& graph) {
        for (const auto& tensor : graph.initializer()) {
            const std::string part = fmt::format("initialiser '{}'", tensor.name());
            GraphValue value = within(part, [&] { return value_of(tensor); });
            hold(value);
            require(!tensor.name().empty(), "an initialiser has no name", "write the model again");
            require(graph_.constants.emplace(tensor.name(), std::move(value)).second,
                    part + " is there twice", "give every tensor a name of its own");
        }
    }

    /// Before IR version 4 every initialiser stands among the inputs as well.
    void read_inputs(const onnx::GraphProto& graph) {
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
            if (is_stated(info) && !names.contains(info.name())) {
                // a tensor in between may be empty: the regions of interest of a Resize
                const std::string part = fmt::format("tensor '{}'", info.name());
                graph_.types[info.name()] = stated_type(info, part, 0);
            }
        }
    }

    void check_stated(const onnx::ValueInfoProto& info, const TensorType& type,
                      const std::string& part) const {
        if (is_stated(info)) {
            const TensorType stated = stated_type(info, part);
            require(stated == type,
                    fmt::format("{} is stated as {} {} and given as {} {}", part,
                                enum_name(stated.element), sizes_text(stated.sizes),
                                enum_name(type.element), sizes_text(type.sizes)),
                    "write the model again");
        }
    }

    void read_outputs(const onnx::GraphProto& graph) {
        for (const auto& info : graph.output()) {
            require(!info.name().empty(), "an output has no name", "write the model again");
            require(std::find(graph_.outputs.begin(), graph_.outputs.end(), info.name()) ==
                        graph_.outputs.end(),
                    fmt::format("output '{}' is there twice", info.name()),
                    "give every output its own name");
            if (is_stated(info)) {
                const std::string part = fmt::format("output '{}'", info.name());
                graph_.types[info.name()] = stated_type(info, part);
            }
            graph_.outputs.push_back(info.name());
        }
    }

    void read_nodes(const onnx::GraphProto& graph) {
        for (const auto& proto : graph.node()) {
            GraphNode node;
            node.name = proto.name();
            node.op = proto.op_type();
            node.inputs.assign(proto.input().begin(), proto.input().end());
            node.outputs.assign(proto.output().begin(), proto.output().end());
            const std::string part = fmt::format("node {}", node_text(node));
            if (!proto.domain().empty() && proto.domain() != "ai.onnx") {
                require(domains_.contains(proto.domain()),
                        fmt::format("{}: the model does not import its domain '{}'", part,
                                    proto.domain()),
                        "write the model again");
                node.op = proto.domain() + '.' + node.op;
            }
            require(!node.op.empty() && !node.outputs.empty(),
                    part + " has no operator or no output", "write the model again");
            within(part, [&] { read_attributes(proto, node); });
            for (const auto& [name, attribute] : node.attributes) {
                if (const auto* value = std::get_if<GraphValue>(&attribute)) {
                    hold(*value);
                }
            }
            graph_.nodes.push_back(std::move(node));
        }
    }

    static void read_attributes(const onnx::NodeProto& proto, GraphNode& node) {
        for (const auto& attribute : proto.attribute()) {
            if (!node.attributes.emplace(attribute.name(), attribute_of(attribute)).second) {
                throw ConfigError(fmt::format("attribute '{}' is there twice", attribute.name()),
                                  "write the model again");
            }
        }
    }

    static Attribute attribute_of(const onnx::AttributeProto& attribute) {
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
            case onnx::AttributeProto_AttributeType_TENSOR:
                return value_of(attribute.t());
            default:
                throw ConfigError(
                    fmt::format("attribute '{}' is of a kind that is not supported",
                                attribute.name()),
                    "models with subgraphs, strings or sparse constants are not supported");
        }
    }

    Graph graph_;
    std::set<std::string> domains_;
    std::size_t held_ = 0;  ///< elements of the constants so far
};

}  // namespace

bool is_onnx_file(const std::filesystem::path& path) { return path.extension() == ".onnx"; }

Graph parse_onnx(const std::string& bytes, const std::string& file) {
    return OnnxReader(file).read(bytes);
}

Graph read_onnx(const std::filesystem::path& path) {
    return parse_onnx(read_whole_file(path, {}, Bytes(largest_model)), path.string());
}

}  // namespace npuscope
