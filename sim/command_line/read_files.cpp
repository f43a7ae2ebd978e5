// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/read_files.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>

#include "models/base/error.h"
#include "sim/check/image_description.h"
#include "sim/command_line/experiment.h"
#include "sim/command_line/program_kind.h"
#include "sim/command_line/sweep_point.h"
#include "sim/config/file_io.h"
#include "sim/config/file_name.h"
#include "sim/config/npy_file.h"
#include "sim/config/output_folder.h"
#include "sim/config/preset.h"
#include "sim/config/yaml_writer.h"
#include "sim/convert/picture.h"
#include "sim/model/network.h"
#include "sim/model/onnx_external.h"
#include "sim/model/onnx_reader.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

bool is_trace(const fs::path& path) {
    return path.extension() == ".cfg" || path.extension() == ".txn";
}

/// The entries of a folder, as far as they can be read.
std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        entries.push_back(entry->path());
    }
    return entries;
}

/// Names of files in a trace: in quotes after a call of .cfg, the last word of a statement of .txn.
std::set<std::string> images_in(std::string_view text, bool calls) {
    constexpr std::string_view spaces = " \t\r\n";
    std::set<std::string> names;
    for (const std::string_view word :
         calls ? std::array{"mem_load", "check_file"} : std::array{"load_mem", "dump_mem"}) {
        for (std::size_t at = text.find(word); at != std::string_view::npos;
             at = text.find(word, at + word.size())) {
            const std::size_t line_end = std::min(text.find('\n', at), text.size());
            std::string_view line = text.substr(at, line_end - at);
            if (calls) {
                const std::size_t begin = line.find('"');
                const std::size_t end = line.find('"', begin + 1);
                if (begin != std::string_view::npos && end != std::string_view::npos) {
                    names.emplace(line.substr(begin + 1, end - begin - 1));
                }
                continue;
            }
            line = line.substr(0, line.find('#'));
            line = line.substr(0, line.find_last_not_of(spaces) + 1);
            names.emplace(line.substr(line.find_last_of(spaces) + 1));
        }
    }
    return names;
}

void add_images(const fs::path& trace, std::vector<std::string>& files) {
    files.push_back(trace.string());
    const std::string text = read_whole_file(trace, {}, largest_program);
    for (const std::string& name : images_in(text, trace.extension() == ".cfg")) {
        files.push_back((trace.parent_path() / name).string());
    }
}

/// A run writes its own config.yaml to the folder of its results, which may be that of the plan.
void add_plan(const fs::path& folder, std::vector<std::string>& files) {
    for (const fs::path& name : written_files(folder)) {
        if (name != "config.yaml") {
            files.push_back((folder / name).string());
        }
    }
}

bool is_input(const fs::path& path) {
    return names_npy(path) || path.extension() == ".bin" || is_picture_file(path);
}

void add_program(const fs::path& program, std::vector<std::string>& files) {
    std::error_code none;
    if (fs::is_directory(program, none)) {
        for (const fs::path& entry : entries_of(program)) {
            if (is_trace(entry)) {
                add_images(entry, files);
            }
        }
        files.push_back((program / "plusargs.txt").string());
        add_plan(program, files);
        return;
    }
    if (!fs::is_regular_file(program, none)) {
        return;
    }
    if (is_onnx_file(program)) {
        for (const fs::path& weights : external_files(program)) {
            files.push_back(weights.string());
        }
        return;
    }
    const fs::path folder = program.parent_path();
    if (is_trace(program)) {
        add_images(program, files);
        files.push_back((folder / "plusargs.txt").string());
    } else if (is_image_file(program)) {
        const std::string text = read_whole_file(program, {}, largest_config);
        for (const ImageFile& file : parse_image(text, program.string()).memory) {
            files.push_back((folder / file.file).string());
        }
    } else if (!is_segments_file(program)) {
        return;
    }
    add_plan(folder, files);
}

/// What a design of a sweep reads.
void add_design(const ConfigNode& design, const fs::path& folder, std::vector<std::string>& files) {
    try {
        const Experiment experiment = read_experiment(design, folder);
        std::ranges::move(files_of_experiment(experiment), std::back_inserter(files));
        for (const ConfigNode* preset : {&experiment.npu, &experiment.memory}) {
            if (preset->kind == ConfigNode::Kind::Scalar && names_preset_file(preset->text)) {
                files.push_back(preset->text);
            }
        }
    } catch (const ConfigError&) {
        return;  // its run reports the mistake
    }
}

/// Of a shape table; the network's own is `input`.
std::vector<std::string> input_names(const fs::path& table) {
    std::vector<std::string> names{"input"};
    try {
        for (const Layer& layer : read_network(table).layers) {
            if (layer.kind == LayerKind::Input) {
                names.push_back(layer.name);
            }
        }
    } catch (const ConfigError&) {
        return names;  // its reader reports the mistake
    }
    return names;
}

}  // namespace

std::vector<std::string> files_of_program(const fs::path& program) {
    std::vector<std::string> files;
    try {
        add_program(program, files);
    } catch (const ConfigError&) {
        return files;  // its reader reports the mistake
    }
    return files;
}

std::vector<std::string> files_of_experiment(const Experiment& experiment) {
    std::vector<std::string> read{experiment.program, experiment.inputs,
                                  experiment.model.calibration, experiment.model.labels,
                                  experiment.run.surfaces};
    const std::string& energy = experiment.write.energy;
    if (!energy.empty()) {
        read.push_back(find_preset(configs_folder(), "energy", energy).path.string());
    }
    for (const std::string& golden : experiment.run.golden) {
        read.push_back(golden.substr(golden.rfind('=') + 1));
    }
    const auto add = [&](const std::vector<std::string>& files) {
        read.insert(read.end(), files.begin(), files.end());
    };
    for (const std::string& beside : experiment.run.beside) {
        read.push_back(find_program(beside, {}, network_rows).path.string());
        add(files_of_program(read.back()));
    }
    if (!experiment.run.network.empty()) {
        read.push_back(find_program(experiment.run.network, {}, network_rows).path.string());
    }
    add(files_of_program(experiment.program));
    add(files_of_inputs(experiment.inputs, experiment.program));
    add(files_of_inputs(experiment.model.calibration));
    return read;
}

std::vector<std::string> files_of_space(const Space& space) {
    std::vector<std::string> files;
    std::set<std::string> seen;
    std::uint64_t left_out = 0;
    for (const Design& design : space.designs(left_out)) {
        bool is_new = seen.insert("the base").second;
        for (const FieldValue& change : space.changes(design)) {
            const std::string text = flow_yaml(change.value);
            const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
            is_new = (!is_number && seen.insert(change.field + '=' + text).second) || is_new;
        }
        if (is_new) {
            add_design(design_experiment(space, design), space.folder(), files);
        }
    }
    return files;
}

std::vector<std::string> files_of_inputs(const fs::path& folder, const fs::path& network) {
    std::vector<std::string> files;
    std::error_code none;
    if (!fs::is_directory(folder, none)) {
        return files;
    }
    if (is_network_file(network) && fs::is_regular_file(network, none)) {
        for (const std::string& name : input_names(network)) {
            files.push_back((folder / file_name(name, ".bin")).string());
            files.push_back((folder / file_name(name, ".npy")).string());
        }
        return files;
    }
    std::vector<fs::path> entries = entries_of(folder);
    for (std::size_t i = 0, own = entries.size(); i < own; ++i) {
        if (fs::is_directory(entries[i], none)) {
            const std::vector<fs::path> inner = entries_of(entries[i]);
            entries.insert(entries.end(), inner.begin(), inner.end());
        }
    }
    for (const fs::path& entry : entries) {
        if (is_input(entry)) {
            files.push_back(entry.string());
        }
    }
    return files;
}

}  // namespace npuscope
