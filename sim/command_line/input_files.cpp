// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/input_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/config/file_name.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_cases = 100'000;

/// Entries of a folder in the order of their names.
std::vector<fs::path> sorted_entries(const fs::path& folder) {
    std::vector<fs::path> entries;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().filename().string().starts_with('.')) {
            continue;
        }
        entries.push_back(entry.path());
        if (entries.size() > most_cases) {
            throw ConfigError(
                fmt::format("'{}' holds more than {} entries", folder.string(), most_cases),
                "a few hundred inputs are enough");
        }
    }
    std::ranges::sort(entries);
    return entries;
}

/// One array as the cases that it holds: as it is, or its first size cut into the model's batches.
std::vector<GraphValue> split_batch(GraphValue value, const TensorType& type,
                                    const std::string& file) {
    Sizes one = value.type.sizes;
    const bool more = one.size() == type.sizes.size() && !one.empty() && type.sizes[0] > 0 &&
                      one[0] > type.sizes[0] && one[0] % type.sizes[0] == 0;
    if (more) {
        one[0] = type.sizes[0];
    }
    if (one != type.sizes) {
        throw ConfigError(Place{file, 0, 0},
                          fmt::format("the array is {}, but the model takes {}",
                                      sizes_text(value.type.sizes), sizes_text(type.sizes)),
                          "give an array of the model's sizes, or several along the first one");
    }
    if (!more) {
        return {std::move(value)};
    }
    const std::size_t elements = count_elements(one);
    std::vector<GraphValue> parts;
    for (std::size_t begin = 0; begin < value.numbers.size(); begin += elements) {
        const auto from = value.numbers.begin() + static_cast<std::ptrdiff_t>(begin);
        parts.push_back(
            {{value.type.element, one}, {from, from + static_cast<std::ptrdiff_t>(elements)}});
    }
    return parts;
}

std::vector<Case> cases_of_file(const Graph& graph, const fs::path& file) {
    const std::string& input = graph.inputs.front();
    std::vector<Case> cases;
    for (GraphValue& part : split_batch(read_npy(file), graph.types.at(input), file.string())) {
        cases.push_back({{input, std::move(part)}});
    }
    return cases;
}

Case case_of_folder(const Graph& graph, const fs::path& folder) {
    Case one;
    for (const std::string& input : graph.inputs) {
        const fs::path file = folder / file_name(input, ".npy");
        one[input] = read_npy(file);
        if (one[input].type.sizes != graph.types.at(input).sizes) {
            throw ConfigError(Place{file.string(), 0, 0},
                              fmt::format("the array is {}, but the model takes {}",
                                          sizes_text(one[input].type.sizes),
                                          sizes_text(graph.types.at(input).sizes)),
                              "give an array of the model's sizes");
        }
    }
    return one;
}

}  // namespace

std::vector<Case> read_cases(const Graph& graph, const fs::path& path) {
    if (!file_exists(path)) {
        throw ConfigError(fmt::format("there is no '{}'", path.string()),
                          "name a folder of .npy files, or one such file");
    }
    const bool single = graph.inputs.size() == 1;
    if (!fs::is_directory(path)) {
        if (!single) {
            throw ConfigError(fmt::format("the model has {} inputs, '{}' is one file",
                                          graph.inputs.size(), path.string()),
                              "name a folder with a file for each input");
        }
        return cases_of_file(graph, path);
    }
    std::vector<Case> cases;
    bool folders = false;
    for (const fs::path& entry : sorted_entries(path)) {
        if (fs::is_directory(entry)) {
            cases.push_back(case_of_folder(graph, entry));
            folders = true;
        } else if (single && !folders && entry.extension() == ".npy") {
            std::ranges::move(cases_of_file(graph, entry), std::back_inserter(cases));
        }
    }
    if (cases.empty() && !single) {
        cases.push_back(case_of_folder(graph, path));
    }
    if (cases.empty()) {
        throw ConfigError(
            fmt::format("'{}' holds no inputs", path.string()),
            "put a .npy file for each case there, or a folder with one for each input");
    }
    return cases;
}

}  // namespace npuscope
