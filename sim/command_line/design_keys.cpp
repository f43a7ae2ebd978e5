// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/design_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/string_generator.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <filesystem>
#include <vector>

#include "sim/command_line/read_files.h"
#include "sim/config/file_io.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

/// The same for the same text on every machine, different for different texts.
std::string content_key(const std::string& text) {
    static const boost::uuids::uuid space =
        boost::uuids::string_generator()("5d2c1c3e-6b55-4f0e-9a3b-6d1d4a4f1c55");
    return boost::uuids::to_string(boost::uuids::name_generator_sha1(space)(text));
}

/// Files and folders that an experiment names.
std::string names_of_files(const Experiment& experiment) {
    const RunChoices& run = experiment.run;
    const std::vector<std::string> names{experiment.program,
                                         experiment.inputs,
                                         experiment.model.calibration,
                                         experiment.model.labels,
                                         experiment.write.energy,
                                         run.surfaces,
                                         run.network,
                                         fmt::format("{}", fmt::join(run.golden, "\n")),
                                         fmt::format("{}", fmt::join(run.beside, "\n"))};
    return fmt::format("{}", fmt::join(names, "\n\n"));
}

/// Names and contents of all files that an experiment reads; of a program's folder, of all in it.
std::string content_of(const Experiment& experiment) {
    std::vector<std::string> files = files_of_experiment(experiment);
    if (fs::is_directory(experiment.program)) {
        for (const auto& entry : fs::recursive_directory_iterator(experiment.program)) {
            files.push_back(entry.path().string());
        }
    }
    std::ranges::sort(files);
    std::string text;
    for (const std::string& name : files) {
        const fs::path file(name);
        if (fs::is_regular_file(file)) {
            text += file.filename().string() + '\n' + content_key(read_whole_file(file)) + '\n';
        }
    }
    return text;
}

}  // namespace

std::string DesignKeys::of_text(const std::string& experiment) {
    return content_key(std::string(NPUSCOPE_VERSION) + '\n' + experiment);
}

std::string DesignKeys::of(const Experiment& experiment, const SystemConfig& system) {
    const std::string names = names_of_files(experiment);
    auto content = contents_.find(names);
    if (content == contents_.end()) {
        content = contents_.emplace(names, content_key(content_of(experiment))).first;
    }
    Experiment keyed = experiment;
    keyed.bundled = content->second;  // instead of the program's path
    keyed.run.threads = 0;
    return of_text(effective_yaml(keyed, system));
}

}  // namespace npuscope
