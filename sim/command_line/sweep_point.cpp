// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/sweep_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <sstream>

#include "models/base/error.h"
#include "sim/command_line/design_keys.h"
#include "sim/command_line/experiment.h"
#include "sim/command_line/experiment_run.h"
#include "sim/command_line/given_options.h"
#include "sim/command_line/model_source.h"
#include "sim/command_line/network_files.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/segmented_program.h"
#include "sim/config/preset.h"
#include "sim/config/printable.h"
#include "sim/config/yaml_writer.h"
#include "sim/model/onnx_reader.h"
#include "sim/report/energy_report.h"
#include "sim/report/verdict.h"

namespace npuscope {
namespace {

/// Fields of the configuration that are not part of the experiment itself.
bool is_system_field(const std::string& field) {
    static constexpr std::array starts{"npu.", "memory.", "host."};
    return std::ranges::any_of(starts, [&](const char* start) { return field.starts_with(start); });
}

ConfigNode text_node(std::string text, const Place& place) {
    return {ConfigNode::Kind::Scalar, place, std::move(text), {}, {}};
}

/// The value of a key of a map; created if it does not exist.
ConfigNode& child(ConfigNode& map, const std::string& name, ConfigNode::Kind kind,
                  const Place& place) {
    if (map.kind != ConfigNode::Kind::Map) {
        throw ConfigError(
            place,
            fmt::format("'{}' cannot be set: what contains it in the base is not a mapping", name),
            "give the base a mapping there, or leave it out");
    }
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
        if (map.keys[i].name == name) {
            return map.items[i];
        }
    }
    map.keys.push_back({name, place});
    map.items.push_back({kind, place, {}, {}, {}});
    return map.items.back();
}

void set_field(ConfigNode& map, std::string_view path, const ConfigNode& value) {
    const std::size_t dot = path.find('.');
    ConfigNode& inner =
        child(map, std::string(path.substr(0, dot)), ConfigNode::Kind::Map, value.place);
    dot == std::string_view::npos ? void(inner = value)
                                  : set_field(inner, path.substr(dot + 1), value);
}

/// One `key: value` per line: the file that `npuscope run` accepts.
std::string experiment_text(const ConfigNode& experiment) {
    std::string text;
    for (std::size_t i = 0; i < experiment.keys.size(); ++i) {
        text += experiment.keys[i].name + ": " + flow_yaml(experiment.items[i]) + '\n';
    }
    return text;
}

/// A design that is ready to run.
struct ReadyDesign {
    Experiment experiment;
    SystemConfig system;
    std::optional<EnergyTable> energy;
};

/// ConfigError if the experiment writes files or texts, which a sweep has no place for.
void refuse_outputs(const ConfigNode& experiment, const WriteChoices& write) {
    GivenOptions given;
    for (const WrittenOption& option : written_options) {
        given.add(!(write.*option.path).empty(), "write." + std::string(option.name));
    }
    given.add(!write.loadable.empty(), "write.loadable");
    given.add(!write.dump.empty(), "write.dump");
    given.add(write.operations, "write.operations");
    given.add(write.explain, "write.explain");
    if (!given.none()) {
        throw ConfigError(
            experiment.find("write")->place,
            given.names() + ": a design of a sweep writes nothing but its point in the database",
            "leave it out, or write it for one design: `npuscope run`, `npuscope plan`");
    }
}

/// A range's numbers are in the unit of the field: the field itself reads them as written.
void expect_units(const Space& space, const Design& design, SystemConfig system) {
    Experiment experiment;
    const std::vector<FieldValue> changes = space.changes(design);
    for (const Axis& axis : space.axes()) {
        const std::string& field = axis.fields.front();
        const bool applies = std::ranges::find(changes, field, &FieldValue::field) != changes.end();
        for (const ConfigNode& number : applies ? axis.written : std::vector<ConfigNode>()) {
            FieldOverride given = parse_override(field + "=0");
            given.value = number;
            is_system_field(field) ? override_field(system, given)
                                   : override_field(experiment, given);
        }
    }
}

ReadyDesign read_design(const Space& space, NpuFamilies families, const Design& design) {
    ReadyDesign ready;
    const ConfigNode experiment = design_experiment(space, design);
    ready.experiment = read_experiment(experiment, space.folder());
    const WriteChoices& write = ready.experiment.write;
    refuse_outputs(experiment, write);
    if (!write.energy.empty()) {
        ready.energy =
            read_preset<EnergyTable>(find_preset(configs_folder(), "energy", write.energy));
    }
    SystemArguments arguments;
    arguments.families = families;
    take_system(ready.experiment, arguments);
    ready.system = read_system(arguments);
    expect_units(space, design, ready.system);
    return ready;
}

Json rows_of_layers(const std::string& key, const std::vector<LayerRecord>& layers,
                    const Result& result) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const LayerRecord& layer = layers[i];
        const ClientTraffic moved = moved_by(layer);
        const auto used = mac_utilisation(layer);
        rows.push_back({{"key", key},
                        {"number", i},
                        {"name", printable_line(layer.name)},
                        {"kind", layer.kind},
                        {"cycles", layer.cycles().value},
                        {"share", share_of(layer, result)},
                        {"useful_macs", layer.macs},
                        {"mac_utilisation", used ? Json(*used) : Json()},
                        {"read_bytes", moved.read_bytes.value},
                        {"write_bytes", moved.write_bytes.value},
                        {"bound_by", layer.causes.largest()}});
    }
    return rows;
}

/// The result as columns and rows of the point.
void add_result(Json& point, const Result& result) {
    Json& row = point["points"].front();
    const std::string key = row.at("key");
    const std::vector<LayerRecord> layers = rows_of(result);
    const CauseCycles causes = all_causes(layers);
    double cells = 0;
    std::uint64_t macs = 0;
    for (const LayerRecord& layer : layers) {
        cells = std::max(cells, layer.mac_cells);
        macs += layer.on_host ? 0 : layer.macs;
    }
    const double possible = cells * static_cast<double>(result.cycles.value);
    row["status"] = to_json(result.status());
    row["cycles"] = result.cycles.value;
    row["microseconds"] = microseconds(result);
    const double rate = inputs_per_second(result);
    row["inputs_per_second"] = result.layers.empty() || rate == 0 ? Json() : Json(rate);
    row["useful_macs"] = macs;
    row["mac_utilisation"] = possible > 0 ? Json(static_cast<double>(macs) / possible) : Json();
    row["read_bytes"] = result.total_traffic().read_bytes.value;
    row["write_bytes"] = result.total_traffic().write_bytes.value;
    row["bound_by"] = causes.largest();
    if (result.energy) {
        const std::optional<double>& area = result.energy->mac_square_micrometres;
        row["picojoules"] = result.energy->picojoules();
        row["mac_square_micrometres"] = area ? Json(*area) : Json();
    }
    point["layers"] = rows_of_layers(key, layers, result);
    for (const NamedUnit& unit : result.units) {
        const Json counts = to_json(unit.statistics);
        point["units"].push_back({{"key", key},
                                  {"unit", unit.unit},
                                  {"busy", counts.at("busy")},
                                  {"starved", counts.at("starved")},
                                  {"blocked", counts.at("blocked")}});
    }
    for (std::size_t i = 0; i < cause_names.size(); ++i) {
        point["causes"].push_back(
            {{"key", key}, {"cause", cause_names[i]}, {"cycles", causes.cycles[i].value}});
    }
    for (std::size_t i = 0; i < result.findings.size(); ++i) {
        const Diagnostic& finding = result.findings[i];
        point["findings"].push_back({{"key", key},
                                     {"number", i},
                                     {"severity", to_json(finding.severity)},
                                     {"id", finding.id},
                                     {"message", printable_line(finding.sentence)},
                                     {"place", to_string(finding.place)}});
    }
}

/// Several lines as one sentence.
std::string one_line(const std::string& text) {
    std::string line;
    std::istringstream rest(text);
    for (std::string part; std::getline(rest, part);) {
        const std::size_t begin = std::min(part.find_first_not_of(' '), part.size());
        line += (line.empty() || begin == part.size() ? "" : "; ") + part.substr(begin);
    }
    return line;
}

class DesignRunner {
 public:
    DesignRunner(const Space& space, NpuFamilies families) : space_(space), families_(families) {}

    Json prepare(const Design& design) {
        Json point = known_of(design);
        try {
            finish(point, read(design));
        } catch (const ConfigError& error) {
            refuse(point, "illegal", reason_of(error));
        }
        return point;
    }

    Json run(const Design& design) {
        Json point = known_of(design);
        try {
            ReadyDesign ready = read(design);
            finish(point, ready);
            ready.experiment.run.threads = 1;  // designs run in parallel
            Result result = run_experiment(ready.experiment, ready.system);
            if (ready.energy) {
                result.energy = estimate_energy(*ready.energy, result);
            }
            add_result(point, result);
        } catch (const ConfigError& error) {
            refuse(point, "illegal", reason_of(error));
        } catch (const MachineStopped& stop) {
            refuse(point, "stopped", stop.what());
        } catch (const std::exception& bug) {
            refuse(point, "bug", bug.what());
        }
        return point;
    }

    /// The planner's estimate for a network's convolutions.
    Json estimate(const Design& design) {
        try {
            const ReadyDesign ready = read(design);
            const Experiment& experiment = ready.experiment;
            const bool registers = ready.system.npu.find<NpuConfig>() != nullptr;
            if (!registers || !names_network(experiment.program)) {
                return Json::object();
            }
            PlanTarget target = experiment.plan.target(ready.system, false);
            target.alternatives = false;
            std::uint64_t cycles = 0;
            if (is_onnx_file(experiment.program)) {
                const Graph graph =
                    read_any_network(experiment.program, ready.system, experiment.model,
                                     ModelUse::Shape, experiment.inputs);
                const auto plan =
                    plan_segments(graph, target, held_inputs(graph, experiment.plan.input_type));
                for (const PlannedSegment& segment : plan.segments) {
                    cycles += predicted(segment.plan);
                }
            } else {
                cycles = predicted(plan_network(read_network(experiment.program), target));
            }
            const auto instances = static_cast<double>(experiment.run.instances);
            const bool together = experiment.run.split == NetworkSplit::Batch;
            const double each = static_cast<double>(cycles) / (together ? 1 : instances);
            const double time = each * 1e6 / static_cast<double>(ready.system.clock().value);
            const double inputs = together ? instances : 1;
            return {{"cycles", each},
                    {"microseconds", time},
                    {"inputs_per_second", time > 0 ? inputs * 1e6 / time : 0},
                    {"config", to_json(ready.system)}};
        } catch (const std::exception&) {
            return Json::object();  // its run reports the reason
        }
    }

 private:
    static std::uint64_t predicted(const Plan& plan) {
        std::uint64_t cycles = 0;
        for (const PlannedLayer& layer : plan.layers) {
            cycles += layer.cut ? layer.cut->predicted.value : 0;
        }
        return cycles;
    }

    ReadyDesign read(const Design& design) const { return read_design(space_, families_, design); }

    /// The same whatever file the space was read from; its copy has the same lines.
    std::string reason_of(const ConfigError& error) const {
        Diagnostic reason = error.diagnostic();
        if (reason.place.file == space_.base().place.file) {
            reason.place.file = space_file;
        }
        return ConfigError(std::move(reason)).what();
    }

    /// Data of a design that are known even if it is refused.
    Json known_of(const Design& design) {
        const std::string text = experiment_text(design_experiment(space_, design));
        Json point{{"points",
                    {{{"key", DesignKeys::of_text(text)},
                      {"number", design.number},
                      {"version", NPUSCOPE_VERSION},
                      {"experiment", text}}}}};
        Json& axes = point["axes"] = Json::array();
        for (const FieldValue& change : space_.changes(design)) {
            const auto& value = change.value;
            axes.push_back({{"axis", space_.column_of(change.field)},
                            {"value", value.kind == ConfigNode::Kind::Scalar ? value.text
                                                                             : flow_yaml(value)}});
        }
        return point;
    }

    void finish(Json& point, const ReadyDesign& ready) {
        Json& row = point["points"].front();
        const Experiment& experiment = ready.experiment;
        row["key"] = keys_.of(experiment, ready.system);
        row["npu"] = ready.system.npu_name();
        row["program"] = experiment.bundled.empty() ? experiment.program : experiment.bundled;
        row["config"] = to_json(ready.system).dump(-1, ' ', false, Json::error_handler_t::replace);
    }

    static void refuse(Json& point, const std::string& status, const std::string& error) {
        Json& row = point["points"].front();
        row["status"] = status;
        row["error"] = printable_line(one_line(error));
        for (const char* table : {"layers", "units", "causes", "findings"}) {
            point.erase(table);
        }
    }

    const Space& space_;
    NpuFamilies families_;
    DesignKeys keys_;
};

/// `memory.regions[].size` for `memory.regions[1].size`: as fields are listed.
std::string without_indices(const std::string& name) {
    std::string listed;
    bool inside = false;
    for (const char letter : name) {
        inside = inside && letter != ']';
        listed += inside ? "" : std::string(1, letter);
        inside = inside || letter == '[';
    }
    return listed;
}

/// All that an objective may name.
std::vector<std::string> names_of_objectives(const Space& space, NpuFamilies families) {
    std::vector<std::string> names = column_names(sweep_tables().front());
    for (const Axis& axis : space.axes()) {
        for (const std::string& field : axis.fields) {
            names.push_back(field);
            names.push_back(space.column_of(field));
        }
    }
    for (const NpuFamily* family : families) {
        for (const FieldRow& row : list_fields(SystemConfig{family, family->defaults()})) {
            names.push_back(row.name);
        }
    }
    for (const Objective& objective : space.objectives()) {
        for (const std::string& name : objective.formula.names()) {
            if (std::ranges::find(names, without_indices(name)) != names.end()) {
                names.push_back(name);
            }
        }
    }
    return names;
}

/// Objectives must be numbers; values that only a run knows stand for those of their kind.
void expect_numbers(const Space& space, const Design& design, const ReadyDesign& ready) {
    SweepRow point;
    for (const std::string_view column : sweep_tables().front().columns) {
        const std::size_t blank = column.find(' ');
        point[std::string(column.substr(0, blank))] =
            column.substr(blank + 1) == "text" ? Json("text") : Json(1.0);
    }
    const Json config = to_json(ready.system);
    const auto value = [&](const std::string& name) {
        const auto own = space.value(design, name);
        return own ? own : point_value(point, config, {}, name);
    };
    for (const Objective& objective : space.objectives()) {
        const auto& names = objective.formula.names();
        for (const std::string& name : names) {
            const bool by_table = name == "picojoules" || name == "mac_square_micrometres";
            if (by_table && !ready.energy) {
                throw ConfigError(objective.formula.place(),
                                  fmt::format("'{}' needs a table of energies", name),
                                  "name one in the base: write: {energy: horowitz_45nm}");
            }
        }
        if (std::ranges::all_of(names, [&](const auto& name) { return value(name).has_value(); })) {
            objective.formula.expect_number(value);
        }
    }
}

/// Those of designs that stand for all: each one, or of many a thousand, evenly spread over all
/// values of all axes. The first one is 0.
std::vector<std::size_t> spread_indices(std::size_t designs) {
    constexpr std::size_t most = 1000;
    std::size_t step = 1;
    if (designs > most) {  // the golden section; without common factors, no value is left out
        step = designs * 618 / 1000;
        while (std::gcd(step, designs) != 1) {
            ++step;
        }
    }
    std::vector<std::size_t> indices(std::min(designs, most));
    for (std::size_t i = 0; i < indices.size(); ++i) {
        indices[i] = i * step % designs;
    }
    return indices;
}

}  // namespace

void check_space(const Space& space, NpuFamilies families) {
    const std::vector<std::string> names = names_of_objectives(space, families);
    for (const Objective& objective : space.objectives()) {
        objective.formula.expect_names(
            names, "is neither an axis, a field nor a number of the result",
            "`npuscope list fields` lists fields, `npuscope list fields sweep.` numbers");
    }
    std::uint64_t left_out = 0;
    const std::vector<Design> designs = space.designs(left_out);
    std::optional<ConfigError> mistake;
    bool is_readable = false;
    for (const std::size_t index : spread_indices(designs.size())) {
        const Design& design = designs[index];
        std::optional<ReadyDesign> ready;
        try {
            ready = read_design(space, families, design);
        } catch (const ConfigError& error) {
            const Diagnostic& refused = error.diagnostic();  // with a legal value: its design's own
            const bool beyond_limit = !refused.allowed.empty() || !refused.nearest.empty();
            is_readable = is_readable || beyond_limit;
            mistake = mistake ? mistake : error;
            continue;
        }
        return expect_numbers(space, design, *ready);
    }
    if (mistake && !is_readable) {
        throw ConfigError(*mistake);
    }
}

ConfigNode design_experiment(const Space& space, const Design& design) {
    ConfigNode experiment = space.base();
    for (const FieldValue& change : space.changes(design)) {
        const Place& place = change.value.place;
        if (is_system_field(change.field)) {
            ConfigNode& set = child(experiment, "set", ConfigNode::Kind::Sequence, place);
            set.items.push_back(text_node(change.field + '=' + flow_yaml(change.value), place));
        } else {
            set_field(experiment, change.field, change.value);
        }
    }
    return experiment;
}

SweepWork sweep_work(const Space& space, NpuFamilies families) {
    const auto runner = std::make_shared<DesignRunner>(space, families);
    return {[runner](const Design& design) { return runner->prepare(design); },
            [runner](const Design& design) { return runner->run(design); },
            [runner](const Design& design) { return runner->estimate(design); }};
}

}  // namespace npuscope
