// SPDX-License-Identifier: Apache-2.0
#include "sim/model/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/config/npy_file.h"

namespace npuscope {
namespace {

template <class T>
T typed(const GraphNode& node, const std::string& attribute, T fallback) {
    const auto found = node.attributes.find(attribute);
    if (found == node.attributes.end()) {
        return fallback;
    }
    if (const T* value = std::get_if<T>(&found->second)) {
        return *value;
    }
    throw ConfigError(fmt::format("attribute '{}' has the wrong type", attribute),
                      "write the model with an exporter that follows the operator's definition");
}

}  // namespace

std::size_t count_elements(const Sizes& sizes, std::int64_t most) {
    std::int64_t elements = 1;
    for (const std::int64_t size : sizes) {
        if (size < 0 || size > most) {
            throw ConfigError(fmt::format("{} is not a valid tensor size", size),
                              fmt::format("sizes must be 0 to {}", most));
        }
        elements *= size;
        if (elements > most) {
            throw ConfigError(
                fmt::format("a tensor of {} has too many elements", sizes_text(sizes)),
                fmt::format("a tensor may have at most {} elements", most));
        }
    }
    return static_cast<std::size_t>(elements);
}

Sizes as_cube(Sizes sizes) {
    if (sizes.size() < 2) {
        sizes.insert(sizes.begin(), 1);
    }
    sizes.resize(std::max<std::size_t>(sizes.size(), 4), 1);
    return sizes;
}

std::string sizes_text(const Sizes& sizes) {
    return sizes.empty() ? "scalar" : fmt::format("{}", fmt::join(sizes, "x"));
}

GraphValue zeros(const TensorType& type) {
    return {type, std::vector<double>(count_elements(type.sizes, most_made_elements), 0.0)};
}

void settle(GraphValue& value) {
    const ElementType type = value.type.element;
    if (type == ElementType::Float32) {
        for (double& number : value.numbers) {
            number = static_cast<double>(static_cast<float>(number));
        }
    } else if (type != ElementType::Float64) {
        for (double& number : value.numbers) {
            number = stored_number(type, number);
        }
    }
}

GraphValue parse_npy(const std::string& bytes, const std::string& file) {
    const std::span<const std::uint8_t> data(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                             bytes.size());
    const NpyHeader header = read_npy_header(data, file);
    const TensorType type{header.type->type, Sizes(header.shape.begin(), header.shape.end())};
    try {
        count_elements(type.sizes, most_made_elements);
    } catch (const ConfigError& error) {
        throw ConfigError(Place{file, 0, 0}, error.sentence(), error.remedy());
    }
    return {type, npy_numbers(header, data.subspan(header.data_begin))};
}

GraphValue read_npy(const std::filesystem::path& path) {
    return parse_npy(read_whole_file(path), path.string());
}

std::string npy_bytes(const GraphValue& value) {
    const std::vector<std::uint64_t> shape(value.type.sizes.begin(), value.type.sizes.end());
    return npy_bytes(element_row(value.type.element), shape, value.numbers);
}

std::int64_t GraphNode::integer(const std::string& attribute, std::int64_t fallback) const {
    return typed(*this, attribute, fallback);
}
double GraphNode::number(const std::string& attribute, double fallback) const {
    return typed(*this, attribute, fallback);
}
std::string GraphNode::text(const std::string& attribute, const std::string& fallback) const {
    return typed(*this, attribute, fallback);
}
std::vector<std::int64_t> GraphNode::integers(const std::string& attribute) const {
    return typed(*this, attribute, std::vector<std::int64_t>{});
}

std::vector<std::string> GraphNode::texts(const std::string& attribute) const {
    return typed(*this, attribute, std::vector<std::string>{});
}

std::vector<double> GraphNode::numbers(const std::string& attribute) const {
    const auto found = attributes.find(attribute);
    const auto* floats =
        found == attributes.end() ? nullptr : std::get_if<std::vector<double>>(&found->second);
    return floats == nullptr ? std::vector<double>{} : *floats;
}

const std::string& GraphNode::input(std::size_t index) const {
    static const std::string none;
    return index < inputs.size() ? inputs[index] : none;
}

double Deviation::steps() const { return largest == 0 ? 0 : std::floor(largest) + 1; }

const GraphValue* Graph::constant(const std::string& tensor) const {
    const auto found = constants.find(tensor);
    return found == constants.end() ? nullptr : &found->second;
}

void add_along_first(GraphValue& all, const GraphValue& more) {
    if (all.type.sizes.empty()) {
        all.type.sizes = {1};
    }
    all.type.sizes[0] += more.type.sizes.empty() ? 1 : more.type.sizes[0];
    all.numbers.insert(all.numbers.end(), more.numbers.begin(), more.numbers.end());
}

GraphValue part_along_first(const GraphValue& all, std::size_t part, std::size_t parts) {
    const auto numbers = static_cast<std::ptrdiff_t>(all.numbers.size() / parts);
    const auto begin = all.numbers.begin() + static_cast<std::ptrdiff_t>(part) * numbers;
    GraphValue value{all.type, {begin, begin + numbers}};
    if (!value.type.sizes.empty()) {
        value.type.sizes[0] /= static_cast<std::int64_t>(parts);
    }
    return value;
}

GraphValue transposed(const GraphValue& matrix) {
    const auto rows = static_cast<std::size_t>(matrix.type.sizes[0]);
    const auto columns = static_cast<std::size_t>(matrix.type.sizes[1]);
    GraphValue turned{{matrix.type.element, {matrix.type.sizes[1], matrix.type.sizes[0]}},
                      std::vector<double>(matrix.numbers.size())};
    for (std::size_t i = 0; i < turned.numbers.size(); ++i) {
        turned.numbers[i] = matrix.numbers[i % rows * columns + i / rows];
    }
    return turned;
}

void subtract_zeros(GraphValue& weights, const std::vector<double>& zeros, bool kernels_first) {
    const Sizes& sizes = weights.type.sizes;
    const auto kernels = static_cast<std::size_t>(kernels_first ? sizes.front() : sizes.back());
    const std::size_t step =
        kernels_first ? weights.numbers.size() / std::max<std::size_t>(kernels, 1) : 1;
    for (std::size_t i = 0; i < weights.numbers.size(); ++i) {
        weights.numbers[i] -= zeros[zeros.size() == 1 ? 0 : i / step % kernels];
    }
}

const std::string& node_name(const GraphNode& node) {
    static const std::string none = "?";
    if (!node.name.empty()) {
        return node.name;
    }
    return node.outputs.empty() ? none : node.outputs.front();
}

std::string node_text(const GraphNode& node) {
    return fmt::format("'{}' ({})", node_name(node), node.op);
}

bool fits_bits(const NumberRange& range, unsigned bits) {
    const double span = std::ldexp(1.0, static_cast<int>(bits));
    return (range.low >= 0 && range.high <= span - 1) ||
           (range.low >= -span / 2 && range.high <= span / 2 - 1);
}

GraphView::GraphView(const Graph& graph, ValueRanges ranges)
    : graph_(graph), ranges_(std::move(ranges)) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const std::string& output : graph.nodes[i].outputs) {
            producers_[output] = i;
        }
        for (const std::string& input : graph.nodes[i].inputs) {
            readers_[input].push_back(i);
        }
    }
}

const ValueRange* GraphView::range(const std::string& tensor) const {
    const auto found = ranges_.find(tensor);
    return found == ranges_.end() ? nullptr : &found->second;
}

std::optional<std::size_t> GraphView::producer(const std::string& tensor) const {
    const auto found = producers_.find(tensor);
    return found == producers_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> GraphView::only_reader(const std::string& tensor) const {
    const auto found = readers_.find(tensor);
    if (found == readers_.end() || found->second.size() != 1 ||
        std::find(graph_.outputs.begin(), graph_.outputs.end(), tensor) != graph_.outputs.end()) {
        return std::nullopt;
    }
    return found->second.front();
}

std::size_t GraphView::readers(const std::string& tensor) const {
    const auto found = readers_.find(tensor);
    return found == readers_.end() ? 0 : found->second.size();
}

}  // namespace npuscope
