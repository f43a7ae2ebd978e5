// SPDX-License-Identifier: Apache-2.0
// A result as JSON, keys in a stable order:
//
//   npu, program, status, values, cycles, simulated_cycles, microseconds, wall_seconds, checks[],
//   traffic{..., by_client{}}, operations[], units{}, findings[], config{}
//
// for a model also host{cycles, share, macs, operators}, memory{} if the plan counts it, segments[]
// and refused[], the layers that the NPU does not support: operations of the host have the unit
// `host`, and `cycles` are those of the NPU and of the host.
//
// Addresses and checked values are hexadecimal text; all others are numbers in cycles and bytes.
#include "sim/config/diagnostic_report.h"
#include "sim/report/energy_report.h"
#include "sim/report/reports.h"
#include "sim/report/verdict.h"

namespace npuscope {
namespace {

std::string axis_key(char axis) { return {static_cast<char>(axis - 'A' + 'a')}; }

/// `{"n": 0, "c": 3, "h": 5, "w": 7, "address": .., "expected": .., "actual": ..}`.
Json json_of(const ElementDifference& element, const LogicalShape& shape) {
    Json object;
    for (std::size_t i = 0; i < shape.axes.size(); ++i) {
        object[axis_key(shape.axes[i].axis)] = element.index[i];
    }
    object["address"] = to_json(element.address);
    object["expected"] = element.expected;
    object["actual"] = element.actual;
    return object;
}

Json json_of(const TensorDifference& difference) {
    return {{"elements", difference.elements},
            {"mismatches", difference.mismatches},
            {"first", json_of(difference.first, difference.shape)},
            {"worst", json_of(difference.worst, difference.shape)},
            {"channels", difference.channels},
            {"down", axis_key(difference.down)},
            {"across", axis_key(difference.across)},
            {"picture", difference.picture}};
}

Json json_of(const CheckResult& check) {
    Json object;
    object["kind"] = to_json(check.kind);
    add_text(object, "subject", check.subject);
    object["address"] = to_json(check.address);
    object["bytes"] = to_json(check.bytes);
    object["expected"] = check.expected;
    object["actual"] = check.actual;
    object["pass"] = check.skipped ? Json(nullptr) : Json(check.pass);
    object["made"] = check.reached && !check.skipped;
    if (!check.writers.empty()) {
        object["writers"] = check.writers;
    }
    if (check.difference) {
        object["difference"] = json_of(*check.difference);
    }
    add_place(object, check.place);
    return object;
}

Json causes_json(const CauseCycles& causes) {
    Json object = Json::object();
    for (std::size_t i = 0; i < cause_names.size(); ++i) {
        object[std::string(cause_names[i])] = causes.cycles[i].value;
    }
    return object;
}

Json json_of(const LayerRecord& layer, const Result& result) {
    const ClientTraffic moved = moved_by(layer);
    Json clients = Json::array();
    for (const NamedTraffic& client : layer.traffic) {
        Json one = to_json(client.traffic);
        one["client"] = client.client;
        add_text(one, "port", client.port);
        clients.push_back(std::move(one));
    }
    const auto utilisation = mac_utilisation(layer);
    Json object{{"name", layer.name},
                {"kind", layer.kind},
                {"host", layer.on_host},
                {"cycles", layer.cycles().value},
                {"share", share_of(layer, result)},
                {"hidden_cycles", layer.hidden.value},
                {"useful_macs", layer.macs},
                {"mac_utilisation", utilisation ? Json(*utilisation) : Json(nullptr)},
                {"read_bytes", moved.read_bytes.value},
                {"write_bytes", moved.write_bytes.value},
                {"traffic", clients},
                {"bound_by", layer.causes.largest()},
                {"causes", causes_json(layer.causes)},
                {"operations", layer.operations}};
    if (layer.deviation) {
        object["deviation"] = {{"rounded", layer.deviation->folded ? "weights" : "scales"},
                               {"largest_steps", layer.deviation->steps()},
                               {"expected_per_million", layer.deviation->expected * 1e6}};
    }
    return object;
}

Json json_of(const OperationRecord& operation, std::size_t index) {
    Json object;
    object["index"] = index;
    object["unit"] = operation.unit;
    object["name"] = operation.name;
    add_text(object, "pattern", operation.kind);
    object["start"] = operation.start.value;
    object["end"] = operation.end.value;
    object["cycles"] = operation.cycles().value;
    object["macs"] = operation.macs;
    const auto utilisation = mac_utilisation(operation);
    object["mac_utilisation"] = utilisation ? Json(*utilisation) : Json(nullptr);
    object["bound_by"] = operation.causes.largest();
    object["causes"] = causes_json(operation.causes);
    object["own_cycles"] = operation.own.sum().value;
    object["own_causes"] = causes_json(operation.own);
    if (operation.read > Bytes(0) || operation.written > Bytes(0)) {
        object["read_bytes"] = operation.read.value;
        object["write_bytes"] = operation.written.value;
    }
    return object;
}

void add_model(Json& report, const Result& result) {
    const ModelShare& model = *result.model;
    report["host"] = {{"cycles", model.host.cycles.value},
                      {"share", host_share(result)},
                      {"macs", model.host.macs},
                      {"operators", model.host.operators}};
    if (model.memory) {
        report["memory"] = {{"weight_bytes", model.memory->weights.value},
                            {"peak_map_bytes", model.memory->peak_maps.value}};
    }
    report["segments"] = Json::array();
    for (const SegmentRecord& segment : model.segments) {
        report["segments"].push_back({{"name", segment.name},
                                      {"start", segment.start.value},
                                      {"cycles", segment.cycles.value},
                                      {"inputs", segment.inputs},
                                      {"outputs", segment.outputs}});
    }
    report["refused"] = refused_json(model.refused);
}

}  // namespace

Json refused_json(const std::vector<RefusedLayer>& layers) {
    Json refused = Json::array();
    for (const RefusedLayer& layer : layers) {
        Json rules = Json::array();
        for (const Diagnostic& problem : layer.problems) {
            Json rule;
            if (!problem.id.empty()) {
                rule["restriction"] = problem.id;
            }
            rule["node"] = problem.operation;
            rule["sentence"] = problem.sentence;
            rule["remedy"] = problem.remedy;
            if (!problem.id.empty()) {
                rule["value"] = problem.value;
                rule["allowed"] = problem.allowed;
                rule["nearest"] = problem.nearest;
            }
            rules.push_back(std::move(rule));
        }
        refused.push_back({{"layer", layer.layer}, {"pattern", layer.pattern}, {"rules", rules}});
    }
    return refused;
}

Json traffic_json(const std::vector<NamedTraffic>& traffic) {
    ClientTraffic total;
    Json clients = Json::object();
    for (const NamedTraffic& client : traffic) {
        total += client.traffic;
        clients[client.client] = to_json(client.traffic);
    }
    Json object = to_json(total);
    object["by_client"] = clients;
    return object;
}

Json units_json(const std::vector<NamedUnit>& units) {
    Json object = Json::object();
    for (const NamedUnit& unit : units) {
        object[unit.unit] = to_json(unit.statistics);
    }
    return object;
}

namespace {

Json stream_json(const StreamRecord& stream) {
    return {{"frames", stream.frames},
            {"cycles", stream.all.value},
            {"interval_cycles", stream.interval.value},
            {"latency_cycles", stream.latency.value},
            {"most_latency_cycles", stream.most_latency.value},
            {"host_cycles", stream.host.value},
            {"simulated", stream.simulated}};
}

Json rankings_json(const std::vector<Ranking>& rankings) {
    Json all = Json::array();
    for (const Ranking& ranking : rankings) {
        Json best = Json::array();
        for (const RankedLabel& one : ranking.best) {
            best.push_back({{"label", one.label},
                            {"index", one.index},
                            {"score", one.score},
                            {"probability", one.probability}});
        }
        all.push_back({{"output", ranking.output}, {"input", ranking.input}, {"best", best}});
    }
    return all;
}

Json checks_json(const Result& result) {
    Json checks = Json::array();
    for (const CheckResult& check : result.checks) {
        checks.push_back(json_of(check));
    }
    return checks;
}

Json ports_json(const Result& result) {
    Json ports = Json::array();
    for (const NamedPort& port : result.ports) {
        Json one = to_json(port.traffic);
        one["port"] = port.port;
        one["beat_bytes"] = port.beat.value;
        ports.push_back(std::move(one));
    }
    return ports;
}

Json batch_json(const Result& result) {
    Json batch = {{"inputs", result.batch->inputs},
                  {"cycles", result.batch->all.value},
                  {"least_cycles", result.batch->least.value},
                  {"most_cycles", result.batch->most.value}};
    if (result.batch->at_once > 1) {
        batch["at_once"] = result.batch->at_once;
        batch["shared_layers"] = result.batch->shared_layers;
    }
    return batch;
}

/// Of several NPUs, where there are any.
void add_instances(Json& report, const Result& result) {
    if (result.split) {
        report["split"] = {{"by", enum_name(result.split->by)},
                           {"alone_cycles", result.split->alone.value},
                           {"interval_cycles", result.split->interval.value},
                           {"latency_cycles", result.split->latency.value}};
    }
    for (const InstanceRecord& instance : result.instances) {
        Json one = to_json(instance.traffic);
        add_text(one, "program", instance.program);
        one["cycles"] = instance.cycles.value;
        one["failed_checks"] = instance.failed_checks;
        report["instances"].push_back(std::move(one));
    }
}

}  // namespace

std::string json_report(const Result& result) {
    Json report;
    report["version"] = result.version;
    report["command"] = result.command;
    report["npu"] = result.npu();
    report["program"] = result.program;
    report["status"] = to_json(result.status());
    report["values"] = result.values ? "on" : "off";
    report["cycles"] = result.cycles.value;
    report["simulated_cycles"] = result.simulated_cycles.value;
    if (result.repeated_cycles > Cycles(0)) {
        report["repeated_cycles"] = result.repeated_cycles.value;
    }
    report["microseconds"] = microseconds(result);
    if (const double rate = inputs_per_second(result); !result.layers.empty() && rate > 0) {
        report["inputs_per_second"] = rate;
    }
    report["wall_seconds"] = result.wall_seconds;
    report["checks"] = checks_json(result);
    report["traffic"] = traffic_json(result.traffic);
    report["ports"] = ports_json(result);
    report["layers"] = Json::array();
    for (const LayerRecord& layer : result.layers) {
        report["layers"].push_back(json_of(layer, result));
    }
    report["operations"] = Json::array();
    for (std::size_t i = 0; i < result.operations.size(); ++i) {
        report["operations"].push_back(json_of(result.operations[i], i));
    }
    if (result.model) {
        add_model(report, result);
    }
    if (result.batch) {
        report["batch"] = batch_json(result);
    }
    if (result.stream) {
        report["stream"] = stream_json(*result.stream);
    }
    add_instances(report, result);
    if (!result.rankings.empty()) {
        report["rankings"] = rankings_json(result.rankings);
    }
    if (!result.memory_map.empty()) {
        report["memory_map"] = memory_map_json(result.memory_map);
    }
    report["units"] = units_json(result.units);
    for (const ActionCount& action : result.actions) {
        report["actions"][action.part][action.action] = action.count;
    }
    if (result.energy) {
        report["energy"] = energy_json(*result.energy);
    }
    for (const NamedDram& dram : result.drams) {
        report["drams"][dram.region] = to_json(dram.statistics);
    }
    report["findings"] = Json::array();
    for (const Diagnostic& finding : result.findings) {
        report["findings"].push_back(diagnostic_json(finding));
    }
    report["config"] = to_json(result.config);
    return report.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace npuscope
