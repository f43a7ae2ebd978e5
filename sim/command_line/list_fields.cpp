// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/list_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "sim/check/image_description.h"
#include "sim/command_line/experiment.h"
#include "sim/config/limits.h"
#include "sim/model/network.h"
#include "sim/report/energy_report.h"
#include "sim/sweep/space.h"

namespace npuscope {
namespace {

/// What every preset of an NPU may say beside the fields of its family.
struct PresetHead {
    std::string family = "nvdla";

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("family", self.family,
                    "kind of NPU: nvdla runs register programs, tinpu layers");
    }
};

void add(std::vector<ListedField>& fields, std::vector<FieldRow> rows, const std::string& kind,
         const std::string& family = {}) {
    for (FieldRow& row : rows) {
        row.name = kind.empty() ? row.name : join_path(kind, row.name);
        const bool known = std::ranges::any_of(fields, [&](const ListedField& other) {
            return other.row.name == row.name && other.family == family;
        });
        if (!known) {
            const std::string limit = limit_text(row.name, row.type);
            fields.push_back({row, limit.empty() ? row.holds : limit, family});
        }
    }
}

std::string in_a_cell(const std::string& text) {
    std::string cell;
    for (const char letter : text) {
        cell += letter == '|' ? "\\|" : std::string(1, letter);
    }
    return cell;
}

}  // namespace

std::vector<ListedField> all_fields(const SystemConfig& system, NpuFamilies families) {
    std::vector<ListedField> fields;
    add(fields, list_fields<PresetHead>(), "npu");
    add(fields, list_fields(SystemConfig{system.family, system.family->defaults()}), "");
    for (const NpuFamily* family : families) {
        if (family != system.family) {
            add(fields, list_fields(family->defaults()), "npu", std::string(family->name()));
        }
    }
    add(fields, list_fields<Network>(), "network");
    add(fields, list_fields<ImageDescription>(), "image");
    const auto experiment = std::make_unique<Experiment>();  // a large one
    add(fields, list_fields(*experiment), "experiment");
    add(fields, list_fields<SpaceSpec>(), "sweep");
    add(fields, list_fields<EnergyTable>(), "energy");
    return fields;
}

std::string fields_text(const std::vector<ListedField>& fields, const std::string& prefix) {
    std::string text;
    for (const ListedField& field : fields) {
        if (!field.row.name.starts_with(prefix)) {
            continue;
        }
        const bool required = field.row.default_text == required_field;
        text += fmt::format("{}{}\n    {}; {}{}{}{}\n    {}\n", field.row.name,
                            field.family.empty() ? "" : " (family " + field.family + ")",
                            field.row.type, required ? "" : "default ", field.row.default_text,
                            field.range.empty() ? "" : "; ", field.range, field.row.sentence);
        std::istringstream relations(relations_text(field.row.name));
        for (std::string relation; std::getline(relations, relation);) {
            text += "    relation: " + relation + '\n';
        }
    }
    return text;
}

std::string fields_markdown(const std::vector<ListedField>& fields, const std::string& prefix) {
    std::string text =
        "| key | type | range | default | meaning |\n| --- | --- | --- | --- | --- |\n";
    for (const ListedField& field : fields) {
        if (field.row.name.starts_with(prefix)) {
            text += fmt::format("| `{}` | {} | {} | {} | {} |\n",
                                field.row.name.substr(prefix.size()), field.row.type, field.range,
                                in_a_cell(field.row.default_text), in_a_cell(field.row.sentence));
        }
    }
    return text;
}

}  // namespace npuscope
