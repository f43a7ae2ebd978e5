// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_reader.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/model/node_order.h"
#include "sim/model/onnx_nodes.h"
#include "sim/model/onnx_sizes.h"
#include "sim/model/onnx_tensor.h"

namespace npuscope {
namespace {

constexpr std::int64_t oldest_opset = 7;
constexpr std::int64_t newest_opset = 21;
constexpr std::int64_t oldest_ir = 3;  // of opset 7; source: ONNX, Versioning
constexpr std::int64_t newest_ir = 13;
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
          sizes_(reading.shapes) {
        graph_.file = file;
        graph_.by_shape = reading.by_shape;
    }

    Graph read(const std::string& bytes) {
        onnx::ModelProto model;
        parse(bytes, model);
        read_opsets(model);
        const onnx::GraphProto& graph = model.graph();
        graph_.name = name_of_model(graph.name(), graph_.file);
        OnnxNodeReader nodes(graph_, tensors_, domains_);
        nodes.read_constants(graph, {});
        read_inputs(graph);
        read_outputs(graph);
        nodes.read_nodes(model);
        drop_unread_outputs();
        if (graph_.by_shape) {
            take_weights_for_constants(nodes);
        }
        order_nodes(graph_);
        return std::move(graph_);
    }

 private:
    void require(bool good, const std::string& sentence, const std::string& remedy) const {
        require_model(graph_, good, sentence, remedy);
    }

    template <class Work>
    auto within(const std::string& part, Work work) const {
        return within_model(graph_, part, work);
    }

    TensorType stated_type(const onnx::ValueInfoProto& info, const std::string& part,
                           std::int64_t least = 1) const {
        return within(part, [&] { return sizes_.type_of(info, least); });
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

    /// Before IR version 4, every initialiser is also listed among the inputs.
    void read_inputs(const onnx::GraphProto& graph) {
        within("--shape", [&] { sizes_.bind(graph, graph_); });
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
                // an intermediate tensor may be empty: the regions of interest of a Resize
                const std::string part = fmt::format("tensor '{}'", info.name());
                graph_.types[info.name()] = stated_type(info, part, 0);
            }
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

    /// Weights that are inputs of the model, which a by-shape run is not given.
    void take_weights_for_constants(OnnxNodeReader& nodes) {
        for (const GraphNode& node : graph_.nodes) {
            const bool weighs = node.op == "Conv" || node.op == "ConvTranspose" ||
                                node.op == "Gemm" || node.op == "BatchNormalization";
            for (std::size_t i = 1; weighs && i < node.inputs.size(); ++i) {
                const auto input = std::ranges::find(graph_.inputs, node.inputs[i]);
                if (input != graph_.inputs.end()) {
                    GraphValue value = tensors_.synthetic(graph_.types.at(*input));
                    nodes.hold(value);
                    graph_.constants.emplace(*input, std::move(value));
                    graph_.inputs.erase(input);
                }
            }
        }
    }

    OnnxTensors tensors_;
    OnnxSizes sizes_;
    Graph graph_;
    std::set<std::string> domains_;
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
