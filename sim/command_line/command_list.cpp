// SPDX-License-Identifier: Apache-2.0
// `npuscope list`: what there is to name in a configuration or a program.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <ostream>

#include "models/csb/register_blocks.h"
#include "models/data/pixel_format.h"
#include "sim/command_line/commands.h"
#include "sim/config/field_list.h"
#include "sim/config/nearest_name.h"
#include "sim/config/preset.h"
#include "sim/report/text_table.h"
#include "sim/run/system_config.h"

namespace npuscope {
namespace {

struct ListOptions {
    std::string topic;
    std::string prefix;
    std::string map = "nv_small";
};

bool is_wanted(std::string_view name, const ListOptions& options) {
    return name.starts_with(options.prefix);
}

void list_presets_of(const ListOptions& options, std::ostream& out) {
    const auto folder = configs_folder();
    for (const char* kind : {"npu", "memory"}) {
        for (const std::string& name : list_presets(folder, kind)) {
            if (is_wanted(name, options)) {
                out << fmt::format("{:<8}{}\n", kind, name);
            }
        }
    }
}

void list_all_fields(const ListOptions& options, std::ostream& out) {
    for (const FieldRow& row : list_fields<SystemConfig>()) {
        if (is_wanted(row.name, options)) {
            out << fmt::format("{}\n    {}; default {}\n    {}\n", row.name, row.type,
                               row.default_text, row.sentence);
        }
    }
}

/// `OP_EN 0, BANK 4:0 = 1 (read only)`: bits, reset value where it is not 0, access.
std::string fields_of(const RegisterRow& row) {
    std::string text;
    for (const RegisterField& field : row.fields) {
        const int last = field.lsb + field.width - 1;
        text += text.empty() ? "" : ", ";
        text += field.width == 1 ? fmt::format("{} {}", field.name, last)
                                 : fmt::format("{} {}:{}", field.name, last, field.lsb);
        text += field.reset == 0 ? "" : fmt::format(" = {}", to_hex(field.reset));
        text += field.access == RegisterAccess::ReadOnly ? " (read only)" : "";
    }
    return text;
}

void list_registers(const ListOptions& options, std::ostream& out) {
    const auto map = enum_from_name<AddressMap>(options.map);
    if (!map) {
        throw ConfigError(fmt::format("unknown address map '{}'", options.map),
                          name_remedy(options.map, enum_names<AddressMap>()));
    }
    for (const RegisterBlock& block : nvdla_register_blocks(*map)) {
        for (const RegisterRow& row : block.rows) {
            const std::string name = register_name(block, row);
            if (is_wanted(name, options)) {
                out << fmt::format("0x{:04x}  {}\n        {}\n", block.base + row.offset, name,
                                   fields_of(row));
            }
        }
    }
}

struct LayoutRow {
    std::string_view name;
    std::string_view order;  ///< digits from slowest to fastest
    std::string_view sentence;
};

// source: NVDLA format page; A, D and G are datapath.memory_atom, .atomic_c and .atomic_k
constexpr std::array layout_rows{
    LayoutRow{"feature", "C/A H W C%A", "feature cube of one-byte elements; A-byte atoms"},
    LayoutRow{"weight_dc", "K/G C/D R S K%G C%D", "weights of direct convolution, one byte each"}};

void list_layouts(const ListOptions& options, std::ostream& out) {
    for (const LayoutRow& row : layout_rows) {
        if (is_wanted(row.name, options)) {
            out << fmt::format("{:<24}{:<24}{}\n", row.name, row.order, row.sentence);
        }
    }
    for (const PixelFormat& format : pixel_formats()) {
        if (is_wanted(format.name, options)) {
            out << fmt::format("{:<24}{:<24}pixels, {} channels, {} plane{}\n", format.name,
                               fmt::format("pixel format {}", format.code), format.channels,
                               format.planes, format.planes == 1 ? "" : "s");
        }
    }
}

struct TopicRow {
    std::string_view name;
    void (*list)(const ListOptions&, std::ostream&);
};

constexpr std::array topics{TopicRow{"presets", list_presets_of}, TopicRow{"layouts", list_layouts},
                            TopicRow{"registers", list_registers},
                            TopicRow{"fields", list_all_fields}};

ExitCode list(const ListOptions& options, const Console& console) {
    std::vector<std::string> known;
    for (const TopicRow& topic : topics) {
        if (topic.name == options.topic) {
            topic.list(options, console.out);
            return ExitCode::Good;
        }
        known.emplace_back(topic.name);
    }
    throw ConfigError(fmt::format("nothing to list under '{}'", options.topic),
                      name_remedy(options.topic, known));
}

}  // namespace

Command list_command() {
    return {"list", "prints the presets, layouts, registers or fields that exist",
            "npuscope list fields memory.", [](CLI::App& app) {
                const auto options = std::make_shared<ListOptions>();
                app.add_option("TOPIC", options->topic, "presets, layouts, registers or fields")
                    ->required();
                app.add_option("PREFIX", options->prefix, "only names that begin so");
                app.add_option("--map", options->map,
                               "address map of the registers, nv_small or nv_full")
                    ->capture_default_str();
                return [options](const Console& console) { return list(*options, console); };
            }};
}

}  // namespace npuscope
