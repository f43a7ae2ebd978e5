// SPDX-License-Identifier: Apache-2.0
// `npuscope list`: everything that can be named in a configuration or a program.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <ostream>

#include "models/layout/layout.h"
#include "models/layout/layout_catalog.h"
#include "models/npu/register_blocks.h"
#include "sim/check/rules.h"
#include "sim/command_line/command.h"
#include "sim/command_line/given_options.h"
#include "sim/command_line/lists.h"
#include "sim/config/nearest_name.h"
#include "sim/config/printable.h"
#include "sim/model/candidate.h"
#include "sim/model/fused_nodes.h"
#include "sim/model/operators.h"

namespace npuscope {
namespace {

struct ListOptions {
    std::string topic;
    std::string prefix;
    std::string map{};  ///< empty: that of the NPU
    SystemArguments system{};
    bool markdown = false;
    bool c_header = false;
    bool sv_package = false;
    const CLI::Option* npu = nullptr;

    bool npu_given() const { return npu != nullptr && npu->count() > 0; }
};

bool is_wanted(std::string_view name, const ListOptions& options) {
    return name.starts_with(options.prefix);
}

void list_presets_of(const ListOptions& options, std::ostream& out) {
    out << list_presets_text(read_system(options.system), options.system.families, options.prefix);
}

void list_memories(const ListOptions& options, std::ostream& out) {
    out << list_memories_text(read_system(options.system), options.prefix);
}

void list_networks(const ListOptions& options, std::ostream& out) {
    out << list_networks_text(options.prefix);
}

void list_sweeps(const ListOptions& options, std::ostream& out) {
    out << list_sweeps_text(options.prefix);
}

void list_experiments(const ListOptions& options, std::ostream& out) {
    out << list_experiments_text(options.prefix);
}

/// Without --npu the fields of all families.
void list_all_fields(const ListOptions& options, std::ostream& out) {
    const std::vector<ListedField> fields = all_fields(
        read_system(options.system), options.npu_given() ? NpuFamilies{} : options.system.families);
    out << (options.markdown ? fields_markdown(fields, options.prefix)
                             : fields_text(fields, options.prefix));
}

/// `OP_EN 0, BANK 4:0 = 1 (read only)`: bits, reset value if it is not 0, access.
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

void list_block(const RegisterBlock& block, const ListOptions& options, std::ostream& out,
                std::string_view suffix) {
    for (const RegisterRow& row : block.rows) {
        const std::string name = fmt::format("{}.{}{}", block.name, row.name, suffix);
        if (is_wanted(name, options)) {
            out << fmt::format("0x{:04x}  {}\n        {}\n", block.base + row.offset, name,
                               fields_of(row));
        }
    }
}

FamilyRegisters registers_of(const ListOptions& options) {
    if (options.map.empty()) {
        const SystemConfig system = read_system(options.system);
        return system.family->registers(system.npu);
    }
    const auto map = enum_from_name<AddressMap>(options.map);
    if (!map) {
        throw ConfigError(fmt::format("unknown address map '{}'", options.map),
                          name_remedy(options.map, enum_names<AddressMap>()));
    }
    return {.blocks = nvdla_register_blocks(*map), .suffix = "_0"};
}

void list_registers(const ListOptions& options, std::ostream& out) {
    const FamilyRegisters registers = registers_of(options);
    if (options.c_header || options.sv_package) {
        const std::string npu =
            options.map.empty() ? read_system(options.system).npu_name() : options.map;
        out << (options.c_header ? registers_c_header(registers, npu)
                                 : registers_sv_package(registers, npu));
        return;
    }
    if (!registers.note.empty()) {
        out << registers.note << '\n';
    }
    for (const RegisterBlock& block : registers.blocks) {
        list_block(block, options, out, registers.suffix);
    }
}

/// A layout with a shape that suits the row: enough to fill an entry.
std::optional<Layout> sample_layout(const LayoutRow& row) {
    static constexpr std::string_view shapes[] = {"1x32x2x16", "1x4x2x16", "1x3x2x16", "1x1x2x16",
                                                  "2x32x1x1",  "1x32x1x1", "2x8x2x3",  "2x32x4x4"};
    for (const std::string_view shape : shapes) {
        try {
            return make_layout(row, {parse_shape(shape, row.axes == "KCRS" ? "KCRS" : "NCHW"),
                                     std::max(row.element, 1U),
                                     {}});
        } catch (const ConfigError&) {
            continue;
        }
    }
    return std::nullopt;
}

void list_layouts(const ListOptions& options, std::ostream& out) {
    bool any = false;
    for (const LayoutRow* row : layout_catalog()) {
        if (!is_wanted(row->name, options)) {
            continue;
        }
        out << fmt::format("{:<24}{}\n    {} ({})\n", row->name, row->sentence, row->use,
                           row->family);
        if (const std::optional<Layout> sample = sample_layout(*row)) {
            out << fmt::format("    first bytes: {}\n", first_entry(*sample, 16));
        }
        if (!row->limits.empty()) {
            out << fmt::format("    limits: {}\n", row->limits);
        }
        for (const LayoutParameter& parameter : row->parameters) {
            out << fmt::format("    {}={}: {}\n", parameter.name, parameter.standard,
                               parameter.sentence);
        }
        out << fmt::format("    source: {}\n", row->source);
        any = true;
    }
    if (any) {
        out << "first bytes: N element of a batch, P pixel of a channel's plane, CH channel, of "
               "weights K kernel, C channel, R row and S column; L and H low and high part, + "
               "several in one field, - unused\n";
    }
}

void list_patterns(const ListOptions& options, std::ostream& out) {
    for (const PatternRow& row : pattern_rows) {
        if (is_wanted(enum_name(row.pattern), options)) {
            out << fmt::format("{:<16}{}\n", enum_name(row.pattern), row.sequence);
        }
    }
    if (options.prefix.empty()) {
        out << fmt::format("{:<16}{}\n{:<16}{}\n", "BNORM", bnorm_sequence, "BNORMRES",
                           bnormres_sequence);
    }
}

/// `2 inputs`, `1 to 3 inputs`, `1 or more inputs`
std::string inputs_text(const InputCount& count) {
    const std::string least = std::to_string(count.least);
    const std::string number = count.most == 0 ? least + " or more"
                               : count.most == count.least
                                   ? least
                                   : fmt::format("{} to {}", least, count.most);
    return fmt::format("{} input{}", number, number == "1" ? "" : "s");
}

void list_operators(const ListOptions& options, std::ostream& out) {
    for (const OperatorRow* row : host_operators()) {
        if (is_wanted(row->op, options)) {
            const std::string attributes =
                row->attributes.empty() ? "" : fmt::format("; {}", row->attributes);
            out << fmt::format("{:<39} {}{}\n", row->op, inputs_text(row->inputs), attributes);
        }
    }
    for (const std::string& name : fused_operators()) {
        if (is_wanted(name, options)) {
            out << fmt::format("{:<39} read as the operators that it stands for\n", name);
        }
    }
    for (const std::string& name : other_operators()) {
        if (is_wanted(name, options)) {
            out << fmt::format("{:<39} by its shape alone, with --values off\n", name);
        }
    }
}

void list_rules(const ListOptions& options, std::ostream& out) {
    out << (options.markdown ? rules_markdown() : rules_text(options.prefix));
}

/// Forms in which a topic can be printed, besides text.
enum class Forms { Text, Markdown, Code };

struct TopicRow {
    std::string_view name;
    void (*list)(const ListOptions&, std::ostream&);
    Forms forms = Forms::Text;
};

constexpr std::array topics{TopicRow{"presets", list_presets_of},
                            TopicRow{"memories", list_memories},
                            TopicRow{"networks", list_networks},
                            TopicRow{"experiments", list_experiments},
                            TopicRow{"sweeps", list_sweeps},
                            TopicRow{"layouts", list_layouts},
                            TopicRow{"registers", list_registers, Forms::Code},
                            TopicRow{"patterns", list_patterns},
                            TopicRow{"operators", list_operators},
                            TopicRow{"fields", list_all_fields, Forms::Markdown},
                            TopicRow{"rules", list_rules, Forms::Markdown}};

constexpr const char* topic_names =
    "presets, memories, networks, experiments, sweeps, layouts, registers, patterns, operators, "
    "fields or rules";

void require_use_of_options(const TopicRow& topic, const ListOptions& options) {
    const bool registers = topic.forms == Forms::Code;
    const bool whole =
        options.c_header || options.sv_package || (options.markdown && topic.name == "rules");
    GivenOptions unused;
    unused.add(options.markdown && topic.forms != Forms::Markdown, "--markdown");
    unused.add(options.c_header && !registers, "--c-header");
    unused.add(options.sv_package && !registers, "--sv-package");
    unused.add(!options.map.empty() && !registers, "--map");
    unused.add(!options.prefix.empty() && whole, "PREFIX");
    if (!unused.none()) {
        throw ConfigError(
            fmt::format("{}: no effect on this list of {}", unused.names(), topic.name),
            "leave it out");
    }
    if (options.c_header && options.sv_package) {
        throw ConfigError("--c-header and --sv-package exclude each other", "give one of them");
    }
}

ExitCode list(const ListOptions& options, const Console& console) {
    std::vector<std::string> known;
    for (const TopicRow& topic : topics) {
        if (topic.name == options.topic) {
            require_use_of_options(topic, options);
            std::ostringstream text;
            topic.list(options, text);
            const std::string shown = printable(text.str());
            if (shown.empty() && !options.prefix.empty()) {
                throw ConfigError(fmt::format("there are no {} whose names begin with '{}'",
                                              topic.name, options.prefix),
                                  fmt::format("`npuscope list {}` shows all", topic.name));
            }
            const bool code = options.markdown || options.c_header || options.sv_package;
            console.out << (code ? shown : fitted(shown, console.out_width));
            return ExitCode::Good;
        }
        known.emplace_back(topic.name);
    }
    throw ConfigError(fmt::format("unknown topic '{}'", options.topic),
                      name_remedy(options.topic, known));
}

}  // namespace

Command list_command() {
    return {"list", fmt::format("lists {}", topic_names), "npuscope list fields memory.",
            [](CLI::App& app, NpuFamilies families) {
                const auto options = std::make_shared<ListOptions>();
                app.add_option("TOPIC", options->topic, topic_names)->required();
                app.add_option("PREFIX", options->prefix, "list only names with this prefix");
                options->system.families = families;
                options->npu =
                    app.add_option("--npu", options->system.npu,
                                   "preset whose registers or fields to list, by name or file")
                        ->capture_default_str()
                        ->type_name("PRESET");
                app.add_option("--map", options->map,
                               "address map of the registers, nv_small or nv_full; default: that "
                               "of the preset")
                    ->option_text("MAP");
                app.add_flag("--markdown", options->markdown,
                             "print as Markdown: rules as docs/rules.md, fields as a table");
                app.add_flag("--c-header", options->c_header,
                             "print registers as a C header: addresses, and masks, shifts and "
                             "reset values of fields");
                app.add_flag("--sv-package", options->sv_package,
                             "print registers as a SystemVerilog package");
                return [options](const Console& console) { return list(*options, console); };
            }};
}

}  // namespace npuscope
