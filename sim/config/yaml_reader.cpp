// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>
#include <unordered_map>

#include "sim/config/file_io.h"
#include "sim/config/nearest_name.h"
#include "sim/config/printable.h"

namespace npuscope {
namespace {

/// Builds the tree from the parser's events. The stack holds the open maps and sequences.
class TreeBuilder : public YAML::EventHandler {
 public:
    explicit TreeBuilder(std::string file) : file_(std::move(file)) {}

    ConfigNode take_root() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        refuse_anchor(mark, anchor);
        add(leaf(ConfigNode::Kind::Null, mark, {}));
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
        throw ConfigError(at(mark), "aliases are not supported", "write the value out");
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        refuse_anchor(mark, anchor);
        if (tag != "?" && tag != "!" && !tag.empty()) {
            throw ConfigError(at(mark), "tags are not supported", "write the value alone");
        }
        add(leaf(ConfigNode::Kind::Scalar, mark, value));
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /*style*/) override {
        refuse_anchor(mark, anchor);
        open_.push_back({leaf(ConfigNode::Kind::Sequence, mark, {}), false, {}});
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /*style*/) override {
        refuse_anchor(mark, anchor);
        open_.push_back({leaf(ConfigNode::Kind::Map, mark, {}), true, {}});
    }
    void OnMapEnd() override { close(); }

 private:
    struct Open {
        ConfigNode node;
        bool expects_key;
        std::unordered_map<std::string, unsigned> lines;  ///< of the keys so far
    };

    Place at(const YAML::Mark& mark) const {
        if (mark.is_null()) {
            return {file_, 0, 0};
        }
        return {file_, static_cast<unsigned>(mark.line + 1),
                static_cast<unsigned>(mark.column + 1)};
    }
    ConfigNode leaf(ConfigNode::Kind kind, const YAML::Mark& mark, const std::string& text) const {
        ConfigNode node;
        node.kind = kind;
        node.place = at(mark);
        node.text = text;
        return node;
    }
    void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
        if (anchor != 0) {
            throw ConfigError(at(mark), "anchors are not supported", "write the value out");
        }
    }
    void add(ConfigNode node) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        Open& parent = open_.back();
        if (parent.expects_key) {
            add_key(parent, node);
            parent.expects_key = false;
            return;
        }
        if (node.kind == ConfigNode::Kind::Null && !parent.node.keys.empty()) {
            node.place = parent.node.keys.back().place;  // yaml-cpp sees an absent value too late
        }
        parent.node.items.push_back(std::move(node));
        parent.expects_key = parent.node.kind == ConfigNode::Kind::Map;
    }
    static void add_key(Open& map, const ConfigNode& key) {
        if (key.kind != ConfigNode::Kind::Scalar) {
            throw ConfigError(key.place, "a key must be a name", "write NAME: VALUE");
        }
        if (key.text == "<<") {
            throw ConfigError(key.place, "merge keys are not supported", "write the fields out");
        }
        const auto [first, is_new] = map.lines.emplace(key.text, key.place.line);
        if (!is_new) {
            throw ConfigError(key.place, fmt::format("field '{}' is given twice", key.text),
                              fmt::format("first given at line {}", first->second));
        }
        map.node.keys.push_back({key.text, key.place});
    }
    void close() {
        ConfigNode node = std::move(open_.back().node);
        open_.pop_back();
        add(std::move(node));
    }

    std::string file_;
    ConfigNode root_;
    std::vector<Open> open_;
};

/// ConfigError at the first byte that is not of a text in UTF-8.
void expect_text(std::string_view text, const std::string& file) {
    Place place{file, 1, 1};
    for (std::size_t at = 0; at < text.size();) {
        std::uint32_t point = 0;
        const std::size_t size = utf8_bytes(text.substr(at), point);
        if (size == 0 || point == 0) {
            throw ConfigError(place,
                              size == 0 ? fmt::format("byte 0x{:02x} is not UTF-8 text",
                                                      static_cast<unsigned char>(text[at]))
                                        : std::string("a NUL byte is not text"),
                              size == 0 ? "save the text as UTF-8" : "remove the byte");
        }
        at += size;
        place.column = point == '\n' ? 1 : place.column + 1;
        place.line += point == '\n' ? 1 : 0;
    }
}

/// The first name with an index that is not quoted, `memory.regions[0].size`; empty if none is.
std::string indexed_name(std::string_view text) {
    const auto is_of_name = [](char letter) {
        return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' ||
               letter == '.' || letter == '[' || letter == ']';
    };
    for (std::size_t at = text.find('['); at != std::string_view::npos;
         at = text.find('[', at + 1)) {
        std::size_t begin = at;
        while (begin > 0 && is_of_name(text[begin - 1]) && text[begin - 1] != '[') {
            --begin;
        }
        std::size_t end = at;
        while (end < text.size() && is_of_name(text[end])) {
            ++end;
        }
        const bool quoted = begin > 0 && (text[begin - 1] == '"' || text[begin - 1] == '\'');
        if (begin < at && !quoted && at + 1 < text.size() &&
            std::isdigit(static_cast<unsigned char>(text[at + 1])) != 0) {
            return std::string(text.substr(begin, end - begin));
        }
    }
    return {};
}

/// The parser's reason, with what to do about it.
[[noreturn]] void refuse_syntax(const Place& place, const std::string& reason,
                                std::string_view text) {
    using namespace YAML::ErrorMsg;  // NOLINT: names of reasons
    if (reason == END_OF_SEQ_FLOW || reason == END_OF_MAP_FLOW) {
        const bool list = reason == END_OF_SEQ_FLOW;
        const std::string name = indexed_name(text);
        throw ConfigError(
            place,
            fmt::format("not YAML: a {} that begins with '{}' is not closed{}",
                        list ? "list" : "mapping", list ? '[' : '{',
                        name.empty() ? "" : ", or has a '[' in a name that is not quoted"),
            fmt::format("add the '{}'{}", list ? ']' : '}',
                        name.empty() ? "" : fmt::format(", or write \"{}\"", name)));
    }
    throw ConfigError(place, "not YAML: " + reason,
                      "indent with spaces, not tabs, and quote values that contain ': ' or ' #'");
}

}  // namespace

const ConfigNode* ConfigNode::find(std::string_view key) const {
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i].name == key) {
            return &items[i];
        }
    }
    return nullptr;
}

ConfigNode parse_yaml(const std::string& text, const std::string& file) {
    expect_text(text, file);
    std::istringstream stream(text);
    TreeBuilder builder(file);
    try {
        YAML::Parser parser(stream);
        if (!parser.HandleNextDocument(builder)) {
            return {ConfigNode::Kind::Null, {file, 1, 1}, {}, {}, {}};
        }
        TreeBuilder rest(file);
        if (parser.HandleNextDocument(rest)) {
            throw ConfigError(Place{file, 0, 0}, "more than one YAML document in a file",
                              "remove the second one and the '---'");
        }
    } catch (const YAML::Exception& error) {
        Place place{file, 0, 0};
        if (!error.mark.is_null()) {
            place.line = static_cast<unsigned>(error.mark.line + 1);
            place.column = static_cast<unsigned>(error.mark.column + 1);
        }
        if (const auto* deep = dynamic_cast<const YAML::DeepRecursion*>(&error)) {
            throw ConfigError(place, fmt::format("nested more than {} deep", deep->depth() - 1),
                              "is it the right file?");
        }
        refuse_syntax(place, error.msg, text);
    }
    return builder.take_root();
}

bool file_has_key(const std::filesystem::path& path, std::string_view key) {
    if (path.extension() != ".yaml" && path.extension() != ".yml") {
        return false;
    }
    const std::string text = read_whole_file(path, {}, largest_config);
    if (text.find(key) == std::string::npos) {
        return false;  // whatever else it holds
    }
    const ConfigNode root = parse_yaml(text, path.string());
    return root.kind == ConfigNode::Kind::Map && root.find(key) != nullptr;
}

void move_to(ConfigNode& node, const Place& place) {
    node.place = place;
    for (ConfigNode::Key& key : node.keys) {
        key.place = place;
    }
    for (ConfigNode& item : node.items) {
        move_to(item, place);
    }
}

std::string_view kind_name(ConfigNode::Kind kind) {
    switch (kind) {
        case ConfigNode::Kind::Null:
            return "nothing";
        case ConfigNode::Kind::Scalar:
            return "a single value";
        case ConfigNode::Kind::Sequence:
            return "a list";
        case ConfigNode::Kind::Map:
            break;
    }
    return "a mapping";
}

namespace {

std::string of_field(const std::string& path) {
    return path.empty() ? std::string("the file") : fmt::format("field '{}'", path);
}

/// How a value of this kind is written.
std::string written_as(ConfigNode::Kind kind, bool whole_file) {
    switch (kind) {
        case ConfigNode::Kind::Scalar:
            return "write one value, without [ ] or { }";
        case ConfigNode::Kind::Sequence:
            return "write a list: [VALUE, VALUE]";
        case ConfigNode::Kind::Map:
        case ConfigNode::Kind::Null:
            break;
    }
    return whole_file ? "write each of its fields on a line: NAME: VALUE"
                      : "write its fields: {NAME: VALUE}";
}

}  // namespace

void expect_kind(const ConfigNode& node, ConfigNode::Kind kind, const std::string& path) {
    if (node.kind != kind) {
        const bool absent = node.kind == ConfigNode::Kind::Null && !path.empty();
        throw ConfigError(node.place,
                          fmt::format("{} must be {}, found {}", of_field(path), kind_name(kind),
                                      kind_name(node.kind)),
                          written_as(kind, path.empty()) + (absent ? ", or leave it out" : ""));
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

void add_name(std::vector<std::string>& known, std::string_view name) {
    if (std::ranges::find(known, name) == known.end()) {
        known.emplace_back(name);
    }
}

StructReader::StructReader(const ConfigNode& node, std::string path)
    : node_(node), path_(std::move(path)) {
    expect_kind(node_, ConfigNode::Kind::Map, path_);
}

const ConfigNode* StructReader::take(std::string_view name) {
    add_name(known_, name);
    return node_.find(name);
}

void StructReader::finish() const {
    for (const ConfigNode::Key& key : node_.keys) {
        if (std::find(known_.begin(), known_.end(), key.name) == known_.end()) {
            throw ConfigError(key.place,
                              fmt::format("unknown field '{}'", join_path(path_, key.name)),
                              name_remedy(key.name, known_));
        }
    }
    if (!missing_.empty()) {
        throw ConfigError(node_.place,
                          fmt::format("field '{}' is missing", join_path(path_, missing_)),
                          fmt::format("{}: {}", missing_, missing_sentence_));
    }
}

namespace {

constexpr std::string_view example = "write KEY=VALUE, e.g. memory.read_latency=50";

PathStep parse_step(std::string_view part, const Place& place) {
    PathStep step{std::string(part.substr(0, part.find('['))), {}};
    std::string_view rest = part.substr(step.name.size());
    if (!rest.empty()) {
        std::size_t index = 0;
        const char* last = rest.data() + rest.size() - 1;
        const auto [end, error] = std::from_chars(rest.data() + 1, last, index);
        if (error != std::errc{} || end != last || *last != ']') {
            throw ConfigError(place, fmt::format("'{}' is not an element of a list", part),
                              "write name[0]");
        }
        step.index = index;
    }
    if (step.name.empty()) {
        throw ConfigError(place, "a name is empty", std::string(example));
    }
    return step;
}

}  // namespace

FieldOverride parse_override(const std::string& text) {
    const Place place{"--set " + text, 0, 0};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
        throw ConfigError(place, "has no '='", std::string(example));
    }
    FieldOverride change;
    std::string_view key = std::string_view(text).substr(0, equals);
    while (true) {
        const std::size_t dot = key.find('.');
        change.steps.push_back(parse_step(key.substr(0, dot), place));
        if (dot == std::string_view::npos) {
            break;
        }
        key.remove_prefix(dot + 1);
    }
    try {
        change.value = parse_yaml(text.substr(equals + 1), "--set");
    } catch (const ConfigError& error) {
        throw ConfigError(place, error.sentence(), error.remedy());
    }
    move_to(change.value, place);
    return change;
}

namespace detail {

void refuse_step(const Place& place, const std::string& path, std::string_view what,
                 const std::string& remedy) {
    throw ConfigError(place, fmt::format("field '{}' {}", path, what), remedy);
}

void refuse_unknown_step(const Place& place, const std::string& path, std::string_view name,
                         const std::vector<std::string>& known) {
    throw ConfigError(place, fmt::format("unknown field '{}'", join_path(path, name)),
                      name_remedy(name, known));
}

}  // namespace detail
}  // namespace npuscope
