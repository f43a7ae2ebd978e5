// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/config/nearest_name.h"

namespace npuscope {
namespace {

std::string of_field(const std::string& path) {
    return path.empty() ? std::string("the file") : fmt::format("field '{}'", path);
}

}  // namespace

void expect_kind(const ConfigNode& node, ConfigNode::Kind kind, const std::string& path) {
    if (node.kind != kind) {
        throw ConfigError(node.place, fmt::format("{} must be {}, found {}", of_field(path),
                                                  kind_name(kind), kind_name(node.kind)));
    }
}

std::string read_text(const ConfigNode& node, const std::string& path) {
    expect_kind(node, ConfigNode::Kind::Scalar, path);
    return node.text;
}

bool read_bool(const ConfigNode& node, const std::string& path) {
    const std::string text = read_text(node, path);
    if (text != "true" && text != "false") {
        throw ConfigError(node.place,
                          fmt::format("{}: '{}' is not a boolean", of_field(path), text),
                          "write true or false");
    }
    return text == "true";
}

std::uint64_t read_unsigned(const ConfigNode& node, const std::string& path, UnitKind kind,
                            std::uint64_t most) {
    const auto result = parse_quantity(read_text(node, path), kind);
    if (const auto* fault = std::get_if<QuantityFault>(&result)) {
        throw ConfigError(node.place, fmt::format("{}: {}", of_field(path), fault->sentence),
                          fault->remedy);
    }
    const std::uint64_t value = std::get<std::uint64_t>(result);
    if (value > most) {
        throw ConfigError(node.place, fmt::format("{}: {} is out of range", of_field(path), value),
                          fmt::format("at most {}", most));
    }
    return value;
}

void refuse_name(const ConfigNode& node, const std::string& path,
                 const std::vector<std::string>& known) {
    std::string remedy = fmt::format("one of {}", fmt::join(known, ", "));
    if (const auto nearest = nearest_name(node.text, known)) {
        remedy = fmt::format("did you mean '{}'? {}", *nearest, remedy);
    }
    throw ConfigError(node.place, fmt::format("{}: unknown name '{}'", of_field(path), node.text),
                      remedy);
}

StructReader::StructReader(const ConfigNode& node, std::string path)
    : node_(node), path_(std::move(path)) {
    expect_kind(node_, ConfigNode::Kind::Map, path_);
}

const ConfigNode* StructReader::take(std::string_view name) {
    known_.emplace_back(name);
    return node_.find(name);
}

void StructReader::refuse_missing(std::string_view name, std::string_view sentence) const {
    throw ConfigError(node_.place, fmt::format("field '{}' is missing", join_path(path_, name)),
                      fmt::format("{}: {}", name, sentence));
}

void StructReader::finish() const {
    for (const ConfigNode::Key& key : node_.keys) {
        if (std::find(known_.begin(), known_.end(), key.name) == known_.end()) {
            throw ConfigError(key.place,
                              fmt::format("unknown field '{}'", join_path(path_, key.name)),
                              name_remedy(key.name, known_));
        }
    }
}

}  // namespace npuscope
