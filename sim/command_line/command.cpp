// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/command.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <ostream>
#include <sstream>
#include <utility>

#include "models/base/check.h"
#include "models/base/error.h"
#include "models/memory/memory.h"
#include "sim/config/file_io.h"
#include "sim/config/limits.h"
#include "sim/config/nearest_name.h"
#include "sim/config/preset.h"
#include "sim/config/printable.h"
#include "sim/config/yaml_reader.h"
#include "sim/run/kernel_scope.h"

namespace npuscope {
namespace {

using CommandAction = std::function<ExitCode(const Console&)>;

constexpr const char* general_help =
    "Exit codes:\n"
    "  0   success\n"
    "  1   an expectation failed, or the program is wrong\n"
    "  2   the input is wrong (of `run` also register values with which no operation can start)\n"
    "  3   the machine stopped: deadlock or cycle limit\n"
    "  70  a defect of npuscope itself\n\n"
    "Documentation:\n"
    "  `npuscope COMMAND --help`; README.md and docs/, installed in /usr/share/doc/npuscope";

/// The sub-command that the arguments named, or the program itself.
const CLI::App& chosen(const CLI::App& app) {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? app : *parsed.front();
}

std::string ask_for_help(const CLI::App& app) {
    const CLI::App* parent = app.get_parent();
    return fmt::format("see `{}{} --help`", parent == nullptr ? "" : parent->get_name() + " ",
                       app.get_name());
}

/// `--winograd, --no-winograd`, without the parser's notation for a flag that negates; the usage line
/// says which positionals are required.
class HelpFormatter : public CLI::Formatter {
    std::string make_option_name(const CLI::Option* option, bool positional) const override {
        std::string name = CLI::Formatter::make_option_name(option, positional);
        for (const auto& [from, to] : {std::pair{"{false}", ""}, std::pair{",", ", "}}) {
            name = CLI::detail::find_and_replace(name, from, to);
        }
        return name;
    }
    std::string make_option_opts(const CLI::Option* option) const override {
        return option->get_positional() ? "" : CLI::Formatter::make_option_opts(option);
    }
};

[[noreturn]] void refuse_argument(const CLI::App& app, const std::string& argument) {
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            known.push_back("--" + name);
        }
    }
    if (!argument.starts_with('-')) {
        throw ConfigError(fmt::format("unexpected argument '{}'", argument), ask_for_help(app));
    }
    throw ConfigError(fmt::format("unknown option '{}'", argument.substr(0, argument.find('='))),
                      name_remedy(argument.substr(0, argument.find('=')), known));
}

/// The parser's sentences in the words of all other messages.
[[noreturn]] void refuse_value(const CLI::App& app, const CLI::ParseError& error) {
    constexpr std::string_view unconvertible = "Could not convert: ";  // only flags get here
    constexpr std::string_view count = "received ";
    const std::string said = error.what();
    const std::string option = said.substr(0, said.find(':'));
    if (said.starts_with(unconvertible)) {
        const std::string_view rest = std::string_view(said).substr(unconvertible.size());
        throw ConfigError(fmt::format("{} takes no value", rest.substr(0, rest.find(' '))),
                          ask_for_help(app));
    }
    if (said.find(": At Most ") != std::string::npos) {
        const std::string times = said.substr(said.rfind(count) + count.size());
        throw ConfigError(
            fmt::format("{} is given {}", option, times == "2" ? "twice" : times + " times"),
            "give it once");
    }
    const bool lacks = said.starts_with("--") && said.ends_with(" missing");
    throw ConfigError(lacks ? option + " needs a value" : said, ask_for_help(app));
}

/// No value may be empty: an unset variable of a shell is not "no value given".
void require_contents(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
        if (std::ranges::count(option->results(), std::string()) > 0) {
            throw ConfigError(option->get_name() + " needs a value", ask_for_help(app));
        }
    }
}

/// As CLI11 expects them: in reverse order, and `--out=` with its empty value as one of its own,
/// since that of the next argument would be taken otherwise. Names after `--` that look like options
/// get their folder instead: CLI11 takes what follows only if no name is in front of it.
std::vector<std::string> for_parser(const std::vector<std::string>& arguments) {
    std::vector<std::string> reversed;
    const auto names = std::ranges::find(arguments, "--");  // only names of files follow
    for (auto argument = arguments.end(); argument != arguments.begin();) {
        --argument;
        if (argument >= names) {
            const bool dash = argument->starts_with('-');
            if (argument > names) {
                reversed.push_back(dash ? "./" + *argument : *argument);
            }
            continue;
        }
        const bool empty =
            argument->starts_with("--") && argument->find('=') + 1 == argument->size();
        if (empty) {
            reversed.emplace_back();
        }
        reversed.push_back(empty ? argument->substr(0, argument->size() - 1) : *argument);
    }
    return reversed;
}

/// True if the arguments asked for help, which has then been printed.
bool parse(CLI::App& app, const std::vector<std::string>& arguments, const Console& console) {
    try {
        app.parse(for_parser(arguments));
    } catch (const CLI::CallForHelp&) {
        console.out << fitted(app.help(), console.out_width);
        return true;
    } catch (const CLI::CallForVersion& version) {
        console.out << version.what() << '\n';
        return true;
    } catch (const CLI::ParseError& error) {
        const std::vector<std::string> extras = app.remaining(true);
        if (!extras.empty()) {
            refuse_argument(chosen(app), extras.front());
        }
        refuse_value(chosen(app), error);
    }
    require_contents(chosen(app));
    return false;
}

/// As typed; an argument with spaces is quoted.
std::string command_line(const std::vector<std::string>& arguments) {
    std::string line = "npuscope";
    for (const std::string& argument : arguments) {
        const bool spaces = argument.find_first_of(" \t\"'") != std::string::npos;
        line += spaces ? " '" + argument + "'" : " " + argument;
    }
    return line;
}

CommandAction add_commands(CLI::App& app, std::span<const Command> commands, NpuFamilies families) {
    std::vector<std::pair<CLI::App*, CommandAction>> actions;
    for (const Command& command : commands) {
        CLI::App* sub = app.add_subcommand(command.name, command.sentence);
        sub->group("Commands");
        sub->footer("Example:\n  " + command.example);
        actions.emplace_back(sub, command.add(*sub, families));
    }
    return [actions](const Console& console) {
        for (const auto& [sub, action] : actions) {
            if (sub->parsed()) {
                return action(console);
            }
        }
        throw ConfigError("no command is given", "see `npuscope --help`");
    };
}

}  // namespace

std::size_t output_width(int descriptor) {
    constexpr std::size_t narrowest = 60;
    constexpr std::size_t widest = 160;
    winsize size{};
    if (isatty(descriptor) == 0 || ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return report_width;
    }
    return std::clamp<std::size_t>(size.ws_col, narrowest, widest);
}

void write_output(const std::string& file, std::string_view text, const Console& console) {
    if (file == "-") {
        console.out << text;
    } else if (!file.empty()) {
        write_atomically(file, text);
    }
}

namespace {

/// One readable line, whatever the input held.
std::string sentence_of(const ConfigError& error) {
    constexpr std::size_t longest = 4000;
    const std::string text = printable_line(std::string_view(error.what()).substr(0, longest));
    return std::string_view(error.what()).size() > longest ? text + " .." : text;
}

std::string refused_path(const std::filesystem::filesystem_error& error) {
    return fmt::format("cannot use '{}': {}", error.path1().string(), error.code().message());
}

}  // namespace

ExitCode guard(const std::function<ExitCode()>& work, std::ostream& errors) {
    try {
        return work();
    } catch (const ConfigError& error) {
        errors << "npuscope: " << sentence_of(error) << '\n';
        return ExitCode::WrongInput;
    } catch (const std::filesystem::filesystem_error& error) {
        errors << "npuscope: " << printable_line(refused_path(error)) << '\n';
        return ExitCode::WrongInput;
    } catch (const std::bad_alloc&) {
        errors << "npuscope: the input needs more memory than is available (use smaller tensors, "
                  "images or files)\n";
        return ExitCode::WrongInput;
    } catch (const MachineStopped& error) {
        errors << "npuscope: the machine stopped: " << printable(error.what()) << '\n';
        return ExitCode::MachineStopped;
    } catch (const InternalError& error) {
        errors << "npuscope: a bug in npuscope, please report it: " << printable(error.what())
               << '\n';
    } catch (const std::exception& error) {
        errors << "npuscope: unexpected error, please report it: " << printable(error.what())
               << '\n';
    }
    return ExitCode::Bug;
}

ExitCode run_command_line(const std::vector<std::string>& arguments,
                          std::span<const Command> commands, NpuFamilies families,
                          const Console& console) {
    const auto work = [&] {
        CLI::App app("npuscope: cycle-approximate simulator of an NPU's data path", "npuscope");
        app.formatter(std::make_shared<HelpFormatter>());
        app.get_formatter()->column_width(32);
        app.get_formatter()->label("SUBCOMMAND", "COMMAND");
        app.set_version_flag("--version", "npuscope " NPUSCOPE_VERSION);
        app.require_subcommand(0, 1);  // any later word is an argument, even `plan`
        const CommandAction action = add_commands(app, commands, families);
        app.footer(general_help);
        if (!arguments.empty() && !arguments.front().starts_with('-')) {
            find_named(commands, arguments.front(), "command");
        }
        Console named = console;
        named.command = command_line(arguments);
        const ExitCode code = parse(app, arguments, console) ? ExitCode::Good : action(named);
        if (!console.out.flush()) {
            throw ConfigError("standard output can no longer be written; the result is incomplete",
                              "write to a file or device with free space");
        }
        return code;
    };
    return guard(work, console.err);
}

void add_system_options(CLI::App& app, SystemArguments& arguments, NpuFamilies families) {
    arguments.families = families;
    app.add_option("--npu", arguments.npu, "preset of the NPU, by name or file")
        ->capture_default_str()
        ->type_name("PRESET");
    app.add_option("--memory", arguments.memory, "preset of the memory, by name or file")
        ->default_str("that of the NPU's preset")
        ->type_name("PRESET");
    app.add_option("--set", arguments.changes,
                   "KEY=VALUE changes a field of the configuration; may be repeated")
        ->allow_extra_args(false)
        ->option_text("KEY=VALUE");
}

namespace {

/// The texts from which the fields of a system were read.
struct SystemText {
    ConfigNode npu;
    ConfigNode memory;
    std::vector<FieldOverride> changes;
};

std::string dotted(const FieldOverride& change) {
    std::string name;
    for (const PathStep& step : change.steps) {
        name = join_path(name, step.name);
        name = step.index ? index_path(name, *step.index) : name;
    }
    return name;
}

/// `name` or `name[2]` in a node; null if it is not there.
const ConfigNode* find_step(const ConfigNode& node, const std::string& step) {
    const std::size_t bracket = step.find('[');
    const ConfigNode* found = node.find(step.substr(0, bracket));
    if (found == nullptr || bracket == std::string::npos) {
        return found;
    }
    const std::size_t index = std::stoul(step.substr(bracket + 1));
    return index < found->items.size() ? &found->items[index] : nullptr;
}

/// The change that gave a field, or one inside it, its value, or the line of a file.
Place place_of(const std::string& field, const SystemText& text, const ConfigNode& host) {
    for (auto change = text.changes.rbegin(); change != text.changes.rend(); ++change) {
        const std::string changed = dotted(*change);
        if (changed == field || changed.starts_with(field + '.') ||
            field.starts_with(changed + '.') || field.starts_with(changed + '[')) {
            return change->value.place;
        }
    }
    std::istringstream keys(field);
    std::string key;
    std::getline(keys, key, '.');
    const ConfigNode* own_host =
        host.kind == ConfigNode::Kind::Null ? text.npu.find("host") : &host;
    const ConfigNode* node = key == "npu" ? &text.npu : key == "memory" ? &text.memory : own_host;
    const Place whole = node == nullptr ? text.npu.place : node->place;
    while (node != nullptr && std::getline(keys, key, '.')) {
        node = find_step(*node, key);
    }
    return node == nullptr ? Place{whole.file, 0, 0} : node->place;
}

/// A preset's text, or the fields given in its place.
ConfigNode preset_fields(const ConfigNode& fields, const char* kind, const std::string& name) {
    if (fields.kind != ConfigNode::Kind::Null) {
        return fields;
    }
    const PresetFile preset = find_preset(configs_folder(), kind, name);
    return parse_yaml(read_preset_text(preset), preset.shown);
}

SystemText system_text(const SystemArguments& arguments) {
    SystemText text{
        preset_fields(arguments.npu_fields, "npu", arguments.npu), {}, arguments.earlier_changes};
    for (const std::string& change : arguments.changes) {
        text.changes.push_back(parse_override(change));
    }
    return text;
}

/// A preset is chosen with an option of its own, not with --set.
void expect_fields(const FieldOverride& change) {
    const std::string name = dotted(change);
    if ((name == "npu" || name == "memory") && change.value.kind == ConfigNode::Kind::Scalar) {
        throw ConfigError(change.value.place,
                          fmt::format("field '{}' must be a mapping, found a single value", name),
                          fmt::format("choose a preset with --{} {}", name, change.value.text));
    }
}

/// What no limit of a single number refuses: no region, or a DRAM whose parts do not fit each other.
void check_memory(const SystemConfig& system,
                  const std::function<Place(const std::string& field)>& place_of) {
    if (system.memory.regions.empty()) {
        throw ConfigError({.sentence = "the memory has no region",
                           .remedy = "add one to memory.regions",
                           .field = "memory.regions",
                           .place = place_of("memory.regions")});
    }
    try {
        MemoryTiming(memory_beside(system.memory, system.clock()));
    } catch (const ConfigError& error) {
        Diagnostic refused = error.diagnostic();
        refused.place = place_of(refused.field);
        throw ConfigError(std::move(refused));
    }
}

}  // namespace

SystemConfig read_system(const SystemArguments& arguments) {
    SystemText text = system_text(arguments);
    SystemConfig system = read_system_fields(text.npu, arguments.families);
    const bool in_place = arguments.memory_fields.kind != ConfigNode::Kind::Null;
    const std::string memory =
        arguments.memory.empty() ? system.family->memory_preset(system.npu) : arguments.memory;
    if (in_place || !memory.empty()) {
        text.memory = preset_fields(arguments.memory_fields, "memory", memory);
        system.memory = MemoryConfig{};
        read_value(text.memory, system.memory, in_place ? "memory" : "");
    }
    if (arguments.host_fields.kind != ConfigNode::Kind::Null) {
        read_value(arguments.host_fields, system.host, "host");
    }
    for (const FieldOverride& change : text.changes) {
        expect_fields(change);
        override_field(system, change);
    }
    const auto place = [&](const std::string& field) {
        return place_of(field, text, arguments.host_fields);
    };
    check_limits(system, place);
    check_memory(system, place);
    return system;
}

}  // namespace npuscope
