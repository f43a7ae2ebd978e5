// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/axis_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "models/base/error.h"
#include "sim/config/yaml_writer.h"

namespace npuscope {
namespace {

constexpr std::uint64_t most_choices = 100'000;  ///< of an axis

std::uint64_t whole_number(const std::string& text, const Place& place) {
    for (const UnitKind kind : {UnitKind::Plain, UnitKind::ByteCount, UnitKind::Frequency,
                                UnitKind::Bandwidth, UnitKind::CycleCount}) {
        const auto parsed = parse_quantity(text, kind);
        if (const auto* number = std::get_if<std::uint64_t>(&parsed)) {
            return *number;
        }
    }
    throw ConfigError(
        place,
        fmt::format("'{}' {}", text,
                    text.starts_with('-') ? "is negative" : "is not an integer of 64 bits"),
        "write it as the field takes it: 64, 32 KiB, 1 GHz, 50 cycles");
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

ConfigNode number_node(std::uint64_t value, const Place& place) {
    ConfigNode node;
    node.kind = ConfigNode::Kind::Scalar;
    node.place = place;
    node.text = std::to_string(value);
    return node;
}

/// Reads one axis from a node of the file.
class AxisReader {
 public:
    AxisReader(const AxisSpec& spec, const ConfigNode& node) : spec_(spec), node_(node) {}

    Axis read() const {
        Axis axis;
        axis.fields = spec_.fields;
        if (axis.fields.empty() == spec_.field.empty()) {
            refuse("needs either a field or fields", "field: npu.cbuf.banks");
        }
        if (axis.fields.empty()) {
            axis.fields = {spec_.field};
        }
        axis.name = spec_.name.empty() ? axis.fields.front() : spec_.name;
        axis.choices = choices();
        axis.written = written();
        if (axis.choices.empty()) {
            refuse("has no values", "give it at least one");
        }
        return axis;
    }

 private:
    [[noreturn]] void refuse(const std::string& sentence, const std::string& remedy) const {
        throw ConfigError(node_.place, "this axis " + sentence, remedy);
    }

    std::vector<std::vector<ConfigNode>> choices() const {
        const bool listed = !spec_.values.empty();
        if (int{listed} + int{spec_.range.has_value()} + int{spec_.log_range.has_value()} != 1) {
            refuse("needs exactly one of values, range and log_range", "values: [8, 16, 32]");
        }
        if (!listed) {
            if (!spec_.fields.empty()) {
                refuse("has several fields, which a range cannot set",
                       "list their values explicitly: values: [[8, 8], [16, 16]]");
            }
            return numbers();
        }
        std::vector<std::vector<ConfigNode>> found;
        std::set<std::string> texts;
        for (const ConfigNode& item : spec_.values) {
            if (const std::string text = flow_yaml(item); !texts.insert(text).second) {
                throw ConfigError(item.place, fmt::format("this axis has the value {} twice", text),
                                  "remove one of them");
            }
            if (spec_.fields.empty()) {
                found.push_back({item});
                continue;
            }
            if (item.kind != ConfigNode::Kind::Sequence ||
                item.items.size() != spec_.fields.size()) {
                throw ConfigError(
                    item.place,
                    fmt::format(
                        "each value of this axis must be a list of {}, one for each of its fields",
                        spec_.fields.size()),
                    "values: [[8, 8], [16, 16]]");
            }
            found.push_back(item.items);
        }
        return found;
    }

    std::vector<std::vector<ConfigNode>> numbers() const {
        const bool steps = spec_.range.has_value();
        const Place& place = node_.place;
        const std::uint64_t first =
            whole_number(steps ? spec_.range->from : spec_.log_range->from, place);
        const std::uint64_t last =
            whole_number(steps ? spec_.range->to : spec_.log_range->to, place);
        const std::uint64_t change =
            steps ? whole_number(spec_.range->step, place) : spec_.log_range->factor;
        const bool endless = steps ? change == 0 : first == 0 || change < 2;
        if (last < first || endless) {
            refuse("has a range without an end or without values",
                   steps ? "from must not exceed to, a step is at least 1"
                         : "from is 1 or more and must not exceed to, a factor is at least 2");
        }
        std::vector<std::vector<ConfigNode>> found;
        for (std::uint64_t value = first;; value = steps ? value + change : value * change) {
            found.push_back({number_node(value, place)});
            if (found.size() > most_choices) {
                refuse(fmt::format("has more than {} values", most_choices),
                       steps ? "use a larger step" : "use a larger factor");
            }
            if (steps ? last - value < change : last / change < value) {
                return found;  // the next one is larger than the last
            }
        }
    }

    /// The numbers of a range that are given with a unit.
    std::vector<ConfigNode> written() const {
        std::vector<ConfigNode> found;
        for (const char* range : {"range", "log_range"}) {
            for (const char* name : {"from", "to", "step"}) {
                const ConfigNode* numbers = node_.find(range);
                const ConfigNode* number = numbers == nullptr ? nullptr : numbers->find(name);
                if (number != nullptr && !std::ranges::all_of(number->text, is_digit)) {
                    found.push_back(*number);
                }
            }
        }
        return found;
    }

    const AxisSpec& spec_;
    const ConfigNode& node_;
};

}  // namespace

Axis read_axis(const AxisSpec& spec, const ConfigNode& node) {
    return AxisReader(spec, node).read();
}

}  // namespace npuscope
