// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/loadable_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "models/base/error.h"
#include "sim/command_line/input_files.h"
#include "sim/command_line/label_ranking.h"
#include "sim/command_line/loadable_host.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/config/element_type.h"
#include "sim/config/file_io.h"
#include "sim/config/file_name.h"
#include "sim/config/output_folder.h"
#include "sim/config/text_table.h"
#include "sim/convert/picture.h"
#include "sim/loadable/tensor_bytes.h"
#include "sim/run/static_check.h"

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

struct ReadLoadable {
    LoadableProgram made;
    std::shared_ptr<LoadableHost> host;  ///< null where the loadable has no host's part
};

ReadLoadable read_with_host(const std::string& path, const NetworkFiles& files,
                            const SystemConfig& system) {
    require_registers(path, system);
    const Loadable loadable = read_loadable(path);
    const auto tensors = bound_tensors(loadable, true, nvdla_npu(system).datapath.memory_atom);
    if (std::optional<HostEdges> edges = read_host_edges(loadable, path)) {
        const auto host =
            std::make_shared<LoadableHost>(*std::move(edges), loadable.submits.size());
        return {loadable_program(loadable, path, system, host->read(tensors, files),
                                 [host](std::size_t submit, const LoadableProgram& made) {
                                     return host->before(submit, made);
                                 }),
                host};
    }
    LoadableInputs inputs;
    if (!files.inputs.empty()) {
        if (tensors.empty()) {
            throw ConfigError(fmt::format("'{}' has no input: its data are part of it", path),
                              "leave out --inputs");
        }
        inputs = BufferReader(tensors, files).read();
    }
    return {loadable_program(loadable, path, system, inputs), nullptr};
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
          read_(read_with_host(path, files, system)) {}

    Result run() {
        for (const BoundTensor& output : loadable_.outputs) {
            options_.keep.push_back({{output.address, Bytes(output.tensor.size)}});
        }
        find_dumped();
        queries_.ask(loadable_.program.surfaces, options_);
        Result result = run_program(loadable_.program, system_, options_);
        queries_.answer(result);
        add_unwritten(result.findings);
        name_surfaces(result.findings, loadable_.program.surfaces);
        for (const DumpWish& wish : dumps_) {
            result.checks.push_back(compare_dump(wish, result.kept[wish.kept]));
        }
        if (options_.values && read_.host) {
            use_model_outputs(result);
        } else if (options_.values) {
            use_outputs(result);
        }
        return result;
    }

 private:
    /// Outputs that no operation writes: a run itself does not know what its user takes.
    void add_unwritten(Diagnostics& findings) const {
        const std::vector<ProgramOutput> outputs = program_outputs(loadable_);
        const CheckReport report = check_on(system_, loadable_.program, false, outputs);
        std::ranges::copy_if(
            report.findings, std::back_inserter(findings), [&](const Diagnostic& one) {
                return one.operation.empty() &&
                       std::ranges::find(outputs, one.surface, &ProgramOutput::name) !=
                           outputs.end();
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
        const GraphInputs outputs = read_.host->finish(made);
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
                     .id = "no_array_output",
                     .sentence = fmt::format("output '{}' is written as {} only, not as an array: "
                                             "the places of its elements are not known for data "
                                             "type {} and pixel format {}",
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
    ReadLoadable read_;
    const LoadableProgram& loadable_ = read_.made;
};

}  // namespace

LoadableProgram read_loadable_program(const std::string& path, const NetworkFiles& files,
                                      const SystemConfig& system) {
    return read_with_host(path, files, system).made;
}

std::vector<ProgramOutput> program_outputs(const LoadableProgram& made) {
    std::vector<ProgramOutput> outputs;
    for (const BoundTensor& output : made.outputs) {
        if (has_elements(output.tensor)) {
            outputs.push_back({output.name, bytes_of_elements(output)});
        }
    }
    return outputs;
}

Result run_loadable_file(const std::string& path, const NetworkFiles& files,
                         const SystemConfig& system, SurfaceWishes wishes, RunOptions options) {
    if (files.any() && !options.values) {
        throw ConfigError("--inputs and --outputs need values", "leave out --values off");
    }
    return LoadableRun(path, files, system, std::move(wishes), std::move(options)).run();
}

}  // namespace npuscope
