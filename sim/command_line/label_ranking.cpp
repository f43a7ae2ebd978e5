// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/label_ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/config/text_table.h"

namespace npuscope {
namespace {

constexpr std::size_t most_ranked = 5;

/// The values themselves if they are probabilities, else their Softmax.
std::vector<double> probabilities_of(const std::vector<double>& scores) {
    constexpr double slack = 0.02;  // for 8-bit values
    const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
    const auto [least, most] = std::ranges::minmax(scores);
    if (least >= 0 && most <= 1 && std::abs(sum - 1) <= slack) {
        return scores;
    }
    std::vector<double> likely;
    likely.reserve(scores.size());
    for (const double score : scores) {
        likely.push_back(std::exp(score - most));
    }
    const double all = std::accumulate(likely.begin(), likely.end(), 0.0);
    for (double& one : likely) {
        one /= all;
    }
    return likely;
}

}  // namespace

Labels read_labels(const std::filesystem::path& path) {
    std::istringstream text(read_whole_file(path, {}, largest_config));
    std::vector<std::string> names;
    for (std::string line; std::getline(text, line);) {
        if (!line.empty() && line.back() == '\r') {
            line.pop_back();
        }
        names.push_back(line);
    }
    while (!names.empty() && names.back().empty()) {
        names.pop_back();
    }
    if (names.empty()) {
        throw ConfigError(Place{path.string(), 0, 0}, "the file has no class names",
                          "write one class name per line");
    }
    return {path.string(), std::move(names)};
}

std::vector<Ranking> rank_outputs(const GraphInputs& outputs, const Labels& labels,
                                  std::size_t input) {
    std::vector<Ranking> rankings;
    std::string sizes;
    for (const auto& [name, value] : outputs) {
        sizes +=
            fmt::format("{}'{}' {}", sizes.empty() ? "" : ", ", name, sizes_text(value.type.sizes));
        if (value.numbers.size() != labels.names.size()) {
            continue;
        }
        const std::vector<double> likely = probabilities_of(value.numbers);
        std::vector<std::size_t> order(labels.names.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, std::greater{},
                                 [&numbers = value.numbers](std::size_t i) { return numbers[i]; });
        Ranking ranking{.output = name, .input = input};
        for (std::size_t i = 0; i < std::min(most_ranked, order.size()); ++i) {
            const std::size_t index = order[i];
            ranking.best.push_back(
                {labels.names[index], index, value.numbers[index], likely[index]});
        }
        rankings.push_back(std::move(ranking));
    }
    if (rankings.empty()) {
        throw ConfigError(Place{labels.file, 0, 0},
                          fmt::format("the file has {}, but the model gives {}",
                                      counted(labels.names.size(), "label"), sizes),
                          "give as many labels as the output has elements");
    }
    return rankings;
}

}  // namespace npuscope
