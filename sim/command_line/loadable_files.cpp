// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/loadable_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "models/base/error.h"
#include "sim/command_line/input_files.h"
#include "sim/command_line/label_ranking.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/config/element_type.h"
#include "sim/config/file_io.h"
#include "sim/config/file_name.h"
#include "sim/config/output_folder.h"
#include "sim/config/text_table.h"
#include "sim/convert/picture.h"
#include "sim/loadable/host_edges.h"
#include "sim/loadable/tensor_bytes.h"
#include "sim/model/host_values.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

std::vector<std::uint8_t> file_bytes(const fs::path& path) {
    const std::string text = read_whole_file(path);
    return {text.begin(), text.end()};
}

/// Files as the buffers of a loadable's inputs.
class BufferReader {
 public:
    BufferReader(const std::vector<BoundTensor>& tensors, const NetworkFiles& files)
        : tensors_(tensors), files_(files), pixels_(files.model.pixels) {
        is_plain_ = pixels_.mean == PixelChoices{}.mean && pixels_.scale == PixelChoices{}.scale;
        pixels_.order = pixels_.order.value_or(ChannelOrder::Bgr);
    }

    LoadableInputs read() const {
        LoadableInputs inputs;
        const fs::path path = files_.inputs;
        if (!file_exists(path)) {
            throw ConfigError(fmt::format("there is no file or folder '{}'", path.string()),
                              "name a picture, an array (.npy) or a buffer (.bin), or a folder of "
                              "them");
        }
        if (!fs::is_directory(path)) {
            if (tensors_.size() != 1) {
                throw ConfigError(
                    fmt::format("the loadable has {} inputs, but '{}' is a single file",
                                tensors_.size(), path.string()),
                    "name a folder with a file for each input");
            }
            inputs[tensors_.front().bind_id] = read_one(tensors_.front(), path);
            return inputs;
        }
        for (const BoundTensor& tensor : tensors_) {
            inputs[tensor.bind_id] = read_one(tensor, file_of(tensor, path));
        }
        return inputs;
    }

 private:
    static fs::path file_of(const BoundTensor& tensor, const fs::path& folder) {
        // a missing file is reported by the reader
        return InputReader::find(tensor.name, folder, true)
            .value_or(folder / file_name(tensor.name, ".npy"));
    }

    std::vector<std::uint8_t> read_one(const BoundTensor& bound, const fs::path& file) const {
        if (file.extension() == ".bin") {
            std::vector<std::uint8_t> bytes = file_bytes(file);
            if (bytes.size() != bound.tensor.size) {
                throw ConfigError(
                    Place{file.string()},
                    fmt::format("the file has {}, but the buffer of tensor '{}' has {}",
                                counted(bytes.size(), "byte"), bound.name,
                                with_separators(bound.tensor.size)),
                    "give the complete buffer");
            }
            return bytes;
        }
        try {
            return tensor_bytes(bound, read_numbers(bound, file));
        } catch (const ConfigError& error) {
            if (error.place().file.empty()) {
                throw ConfigError(Place{file.string()}, error.sentence(), error.remedy());
            }
            throw;
        }
    }

    GraphValue read_numbers(const BoundTensor& bound, const fs::path& file) const {
        const TensorType type = tensor_type(bound.tensor);
        const bool picture = is_picture_file(file);
        // pixels of four components accept pictures of three
        const bool spare = picture && type.sizes[1] == 4;
        Graph graph;
        graph.inputs = {bound.name};
        Sizes sizes = type.sizes;
        sizes[1] = spare ? 3 : sizes[1];
        graph.types[bound.name] = {ElementType::Float32, sizes};
        GraphValue value = InputReader(graph, pixels_).read(bound.name, file);
        const bool from_pixels = picture || value.type.element == ElementType::Uint8 ||
                                 (!is_plain_ && value.type.element == ElementType::Float32);
        if (!is_float(type.element) && from_pixels) {
            settle_pixels(value, type.element);
        }
        value.numbers.resize(count_elements(type.sizes));
        value.type.sizes = type.sizes;
        return value;
    }

    /// Pixels as integers: 0 to 255 become 0 to 127 unless requested otherwise.
    void settle_pixels(GraphValue& value, ElementType type) const {
        constexpr double half_scale = 127.0 / 255.0;  // source: NVDLA sw, TestUtils.cpp
        const NumberRange range = range_of(type);
        const bool compressed = is_plain_ && type == ElementType::Int8;
        for (double& number : value.numbers) {
            number = std::clamp(std::floor(number * (compressed ? half_scale : 1.0) + 0.5),
                                range.low, range.high);
        }
    }

    const std::vector<BoundTensor>& tensors_;
    const NetworkFiles& files_;
    PixelChoices pixels_;
    bool is_plain_ = true;  ///< pixels are used as they are
};

/// The host before and after a loadable that was planned from a model.
class EdgeRun {
 public:
    explicit EdgeRun(HostEdges edges)
        : edges_(std::make_unique<HostEdges>(std::move(edges))),
          values_(edges_->graph, edges_->ranges) {}

    /// The inputs of the first submit, from files of the model's inputs.
    LoadableInputs read(const std::vector<BoundTensor>& tensors, const NetworkFiles& files) {
        GraphInputs inputs;
        const Graph& graph = edges_->graph;
        const InputReader reader(graph, files.model.pixels);
        const auto cases = named_cases(reader, files.inputs);
        for (const std::string& name : graph.inputs) {
            values_.take_input(name, cases);
        }
        evaluate();
        check(tensors.size(), edges_->inputs.size());
        LoadableInputs bytes;
        for (std::size_t i = 0; i < edges_->ends.front().first; ++i) {
            bytes[i] = input_bytes(tensors.at(i));
        }
        return bytes;
    }

    /// The inputs of a later submit, from the outputs of earlier ones.
    void between(std::size_t submit, const LoadableProgram& made, HostMemory& memory) {
        check(made.inputs.size(), edges_->inputs.size());
        check(made.outputs.size(), edges_->outputs.size());
        const auto& [inputs_before, outputs_before] = edges_->ends.at(submit - 1);
        for (std::size_t i = submit > 1 ? edges_->ends[submit - 2].second : 0; i < outputs_before;
             ++i) {
            const BoundTensor& bound = made.outputs[i];
            std::vector<std::uint8_t> bytes(bound.tensor.size);
            memory.read(bound.address, bytes);
            put_output(i, tensor_value(bound, bytes));
        }
        evaluate();
        for (std::size_t i = inputs_before; i < edges_->ends.at(submit).first; ++i) {
            memory.load(made.inputs[i].address, input_bytes(made.inputs[i]));
        }
    }

    /// The model's outputs, from the loadable's.
    GraphInputs finish(const std::vector<GraphValue>& outputs) {
        const Graph& graph = edges_->graph;
        check(outputs.size(), edges_->outputs.size());
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            put_output(i, outputs[i]);
        }
        evaluate();
        GraphInputs results;
        for (const std::string& output : graph.outputs) {
            results[output] = values_.stored(output, std::nullopt);
        }
        return results;
    }

 private:
    std::vector<std::uint8_t> input_bytes(const BoundTensor& bound) {
        const EdgeTensor& edge = edges_->inputs.at(bound.bind_id);
        GraphValue value{tensor_type(bound.tensor), values_.at(edge.tensor).numbers};
        for (double& number : value.numbers) {
            number -= edge.zero;
        }
        check(value.numbers.size(), count_elements(value.type.sizes));
        return tensor_bytes(bound, value);
    }
    void put_output(std::size_t index, const GraphValue& output) {
        const EdgeTensor& edge = edges_->outputs[index];
        if (!known_.insert(edge.tensor).second) {
            return;
        }
        GraphValue value{edges_->graph.types.at(edge.tensor), output.numbers};
        for (double& number : value.numbers) {
            number += edge.zero;
        }
        check(value.numbers.size(), count_elements(value.type.sizes));
        values_.put(edge.tensor, std::move(value));
    }

    static void check(std::size_t one, std::size_t other) {
        if (one != other) {
            throw ConfigError("the loadable's tensors do not match its embedded host model",
                              "plan the loadable again");
        }
    }

    Case named_cases(const InputReader& reader, const std::string& path) const {
        const bool folder = fs::is_directory(path);
        const auto named = [&](const std::string& name) {
            return InputReader::find(name, path).has_value();
        };
        if (folder && std::ranges::any_of(edges_->graph.inputs, named)) {
            Case one;
            for (const std::string& name : edges_->graph.inputs) {
                const auto file = InputReader::find(name, path);
                one[name] =
                    reader.read(name, file ? *file : fs::path(path) / file_name(name, ".npy"));
            }
            return one;
        }
        std::vector<Case> cases = reader.cases(path);
        if (cases.size() != 1) {
            throw ConfigError(fmt::format("'{}' holds {} inputs", path, cases.size()),
                              "a loadable takes one at a time");
        }
        return std::move(cases.front());
    }

    /// Evaluates all nodes whose inputs are known.
    void evaluate() {
        const Graph& graph = edges_->graph;
        known_.insert(graph.inputs.begin(), graph.inputs.end());
        for (const GraphNode& node : graph.nodes) {
            const bool ready = std::ranges::all_of(node.inputs, [&](const std::string& input) {
                return input.empty() || graph.is_constant(input) || known_.contains(input);
            });
            if (ready && !known_.contains(node.outputs.front())) {
                values_.evaluate(node);
                known_.insert(node.outputs.begin(), node.outputs.end());
            }
        }
    }

    std::unique_ptr<HostEdges> edges_;  ///< values refer to it
    HostValues values_;
    std::set<std::string> known_;
};

/// A dump to compare an output with.
struct DumpWish {
    std::string surface;
    std::string file;
    DumpedBytes dump;
    std::size_t kept = 0;  ///< index into the result's `kept`
    const BoundTensor* tensor = nullptr;
};

/// Removes from the wishes those whose file is a dump, and returns them.
std::vector<DumpWish> take_dumps(SurfaceWishes& wishes) {
    std::vector<DumpWish> dumps;
    std::erase_if(wishes.golden, [&](const std::string& text) {
        const SurfaceFile wish = parse_surface_file(text, "--golden");
        if (!wish.file.ends_with(".dimg")) {
            return false;
        }
        dumps.push_back(
            {wish.surface, wish.file, parse_tensor_dump(file_bytes(wish.file), wish.file)});
        return true;
    });
    return dumps;
}

CheckResult compare_dump(const DumpWish& wish, std::span<const std::uint8_t> buffer) {
    const ElementType type = wish.dump.element == 1 ? ElementType::Int8 : ElementType::Int16;
    std::vector<double> actual;
    for (const std::uint64_t place : wish.dump.places) {
        actual.push_back(read_elements(type, buffer.subspan(place, wish.dump.element)).front());
    }
    const std::vector<double> expected = read_elements(type, wish.dump.elements);
    LogicalShape shape;
    constexpr std::string_view axes = "CHW";
    for (std::size_t i = 0; i < axes.size(); ++i) {
        shape.axes.push_back({axes[i], static_cast<std::uint64_t>(wish.dump.sizes[i])});
    }
    const Layout layout = plain_layout(shape, wish.dump.element);
    const TensorDifference difference =
        compare_tensors({wish.tensor->address, layout}, expected, actual);
    CheckResult row;
    row.kind = CheckKind::Golden;
    row.subject = wish.surface;
    row.address = wish.tensor->address;
    row.bytes = Bytes(buffer.size());
    row.pass = difference.mismatches == 0;
    row.expected = row.actual = counted(difference.elements, "element");
    if (!row.pass) {
        row.expected = fmt::format("{}", difference.first.expected);
        row.actual = fmt::format("{}", difference.first.actual);
        row.difference = difference;
    }
    return row;
}

void require_registers(const std::string& path, const SystemConfig& system) {
    if (system.npu.find<NpuConfig>() == nullptr) {
        throw ConfigError(fmt::format("'{}' is a loadable for NVDLA, and {} has no such registers",
                                      path, system.npu_name()),
                          "choose the NPU that it was compiled for: nv_full, nv_large or nv_small");
    }
}

class LoadableRun {
 public:
    LoadableRun(const std::string& path, const NetworkFiles& files, const SystemConfig& system,
                SurfaceWishes wishes, RunOptions options)
        : files_(files),
          system_(system),
          options_(std::move(options)),
          dumps_(take_dumps(wishes)),
          queries_(std::move(wishes)),
          loadable_(make(path)) {}

    Result run() {
        for (const BoundTensor& output : loadable_.outputs) {
            options_.keep.push_back({{output.address, Bytes(output.tensor.size)}});
        }
        find_dumped();
        queries_.ask(loadable_.program.surfaces, options_);
        Result result = run_program(loadable_.program, system_, options_);
        queries_.answer(result);
        name_surfaces(result.findings, loadable_.program.surfaces);
        for (const DumpWish& wish : dumps_) {
            result.checks.push_back(compare_dump(wish, result.kept[wish.kept]));
        }
        if (options_.values && edges_) {
            use_model_outputs(result);
        } else if (options_.values) {
            use_outputs(result);
        }
        return result;
    }

 private:
    /// Including the host's part, if the loadable has one and inputs are given.
    LoadableProgram make(const std::string& path) {
        auto edges = std::optional<HostEdges>();
        if (!files_.inputs.empty()) {
            edges = read_host_edges(read_loadable(path), path);
        }
        if (!edges) {
            return read_loadable_program(path, files_, system_);
        }
        require_registers(path, system_);
        const Loadable loadable = read_loadable(path);
        const Bytes atom = nvdla_npu(system_).datapath.memory_atom;
        edges_.emplace(*std::move(edges));
        return loadable_program(loadable, path, system_,
                                edges_->read(bound_tensors(loadable, true, atom), files_),
                                [this](std::size_t submit, HostMemory& memory) {
                                    edges_->between(submit, loadable_, memory);
                                });
    }

    void find_dumped() {
        for (DumpWish& wish : dumps_) {
            for (std::size_t i = 0; i < loadable_.outputs.size(); ++i) {
                if (loadable_.outputs[i].name == wish.surface) {
                    wish.kept = i;
                    wish.tensor = &loadable_.outputs[i];
                }
            }
            if (wish.tensor == nullptr) {
                throw ConfigError(
                    fmt::format("no output of the loadable is called '{}'", wish.surface),
                    "dumps are compared with outputs");
            }
            const std::uint64_t end = *std::ranges::max_element(wish.dump.places);
            if (end + wish.dump.element > wish.tensor->tensor.size) {
                throw ConfigError(Place{wish.file},
                                  fmt::format("the dump needs {}, but the output's buffer has {}",
                                              counted(end + wish.dump.element, "byte"),
                                              with_separators(wish.tensor->tensor.size)),
                                  "give the dump of this output");
            }
        }
    }

    void use_model_outputs(Result& result) {
        std::vector<GraphValue> made;
        for (std::size_t i = 0; i < loadable_.outputs.size(); ++i) {
            made.push_back(tensor_value(loadable_.outputs[i], result.kept[i]));
        }
        const GraphInputs outputs = edges_->finish(made);
        if (!files_.model.labels.empty()) {
            result.rankings = rank_outputs(outputs, read_labels(files_.model.labels), 0);
        }
        if (files_.outputs.empty() || result.status() == RunStatus::Fail) {
            return;
        }
        OutputFolder out(files_.outputs);
        for (const auto& [name, value] : outputs) {
            out.write(file_name(name, ".npy"), npy_bytes(value));
            out.remove(file_name(name, ".bin"));  // of an earlier run
        }
        out.commit();
    }

    /// Where elements are not known there is no array: the result has a note.
    void use_outputs(Result& result) const {
        GraphInputs numbers;
        for (std::size_t i = 0; i < loadable_.outputs.size(); ++i) {
            const BoundTensor& output = loadable_.outputs[i];
            if (has_elements(output.tensor)) {
                numbers[output.name] = tensor_value(output, result.kept[i]);
            }
        }
        if (!files_.model.labels.empty()) {
            result.rankings = rank_outputs(numbers, read_labels(files_.model.labels), 0);
        }
        if (files_.outputs.empty() || result.status() == RunStatus::Fail) {
            return;
        }
        OutputFolder out(files_.outputs);
        for (std::size_t i = 0; i < loadable_.outputs.size(); ++i) {
            const BoundTensor& output = loadable_.outputs[i];
            const std::vector<std::uint8_t>& bytes = result.kept[i];
            out.write(file_name(output.name, ".bin"), std::string(bytes.begin(), bytes.end()));
            const auto value = numbers.find(output.name);
            if (value != numbers.end()) {
                out.write(file_name(output.name, ".npy"), npy_bytes(value->second));
            } else {
                out.remove(file_name(output.name, ".npy"));
                result.findings.push_back(
                    {.severity = Severity::Note,
                     .id = "no_raw_output",
                     .sentence = fmt::format("output '{}' is written as {} only: data type {} and "
                                             "pixel format {} do not say where its elements are",
                                             output.name, file_name(output.name, ".bin"),
                                             static_cast<unsigned>(output.tensor.type),
                                             output.tensor.pixel_format)});
            }
        }
        out.commit();
    }

    const NetworkFiles& files_;
    const SystemConfig& system_;
    RunOptions options_;
    std::vector<DumpWish> dumps_;
    SurfaceQueries queries_;
    std::optional<EdgeRun> edges_;
    LoadableProgram loadable_;
};

}  // namespace

LoadableProgram read_loadable_program(const std::string& path, const NetworkFiles& files,
                                      const SystemConfig& system) {
    require_registers(path, system);
    const NpuConfig& npu = nvdla_npu(system);
    const Loadable loadable = read_loadable(path);
    LoadableInputs inputs;
    if (!files.inputs.empty()) {
        const auto tensors = bound_tensors(loadable, true, npu.datapath.memory_atom);
        if (tensors.empty()) {
            throw ConfigError(fmt::format("'{}' has no input: its data are part of it", path),
                              "leave out --inputs");
        }
        inputs = BufferReader(tensors, files).read();
    }
    return loadable_program(loadable, path, system, inputs);
}

Result run_loadable_file(const std::string& path, const NetworkFiles& files,
                         const SystemConfig& system, SurfaceWishes wishes, RunOptions options) {
    if (files.any() && !options.values) {
        throw ConfigError("--inputs and --outputs need values", "leave out --values off");
    }
    return LoadableRun(path, files, system, std::move(wishes), std::move(options)).run();
}

}  // namespace npuscope
