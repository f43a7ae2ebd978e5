// SPDX-License-Identifier: Apache-2.0
#include "sim/report/layer_report.h"

#include <fmt/format.h>

#include "sim/compile/explain.h"
#include "sim/compile/tinpu/tinpu_target.h"
#include "sim/config/diagnostic_report.h"
#include "sim/config/text_table.h"
#include "sim/report/finding_report.h"
#include "sim/report/json_report.h"

namespace npuscope {
namespace {

double share_of_host(const LayerRun& run) {
    const std::uint64_t all = run.cycles().value;
    return all == 0 ? 0 : static_cast<double>(run.host.value) / static_cast<double>(all);
}

double microseconds(Cycles cycles, Hertz clock) {
    return static_cast<double>(cycles.value) * 1e6 / static_cast<double>(clock.value);
}

/// Products a cycle that the array could do.
double products_per_cycle(const TinpuConfig& config) {
    return 100.0 * config.input_lanes * config.output_lanes / config.cycles_per_100_steps;
}

Json json_of(const LayerOperation& operation, std::size_t index, const TinpuConfig& config) {
    Json object;
    object["index"] = index;
    object["unit"] = operation.unit;
    object["name"] = operation.name;
    object["pattern"] = operation.pattern;
    object["start"] = operation.start.value;
    object["end"] = (operation.start + operation.cycles).value;
    object["cycles"] = operation.cycles.value;
    object["macs"] = operation.macs;
    const bool on_npu = operation.unit == "tinpu";
    object["mac_utilisation"] =
        on_npu && operation.macs > 0
            ? Json(static_cast<double>(operation.macs) /
                   (static_cast<double>(operation.cycles.value) * products_per_cycle(config)))
            : Json(nullptr);
    object["bound_by"] = std::string(operation.bound_by());
    if (on_npu) {
        object["causes"] = {{"mac", operation.causes[Cause::Mac].value},
                            {"memory", operation.causes[Cause::Memory].value},
                            {"weight_fetch", operation.causes[Cause::WeightFetch].value},
                            {"set_up", operation.causes[Cause::StartUp].value}};
        object["read_bytes"] = operation.traffic.read.value;
        object["write_bytes"] = operation.traffic.written.value;
    }
    return object;
}

/// Feature maps that do not fit are an error of the model, not of the run.
std::vector<Diagnostic> findings_of(const LayerResult& result) {
    std::vector<Diagnostic> findings = result.run.findings;
    const Bytes memory = result.system.npu.engine.memory;
    if (result.plan.peak_maps > memory) {
        findings.push_back(
            {.severity = Severity::Warning,
             .id = "memory_size",
             .sentence = fmt::format("feature maps take {} bytes at a time, the NPU has {}",
                                     result.plan.peak_maps.value, memory.value)});
    }
    return findings;
}

Json findings_json(const LayerResult& result) {
    Json findings = Json::array();
    for (const Diagnostic& finding : findings_of(result)) {
        findings.push_back(diagnostic_json(finding));
    }
    return findings;
}

}  // namespace

std::string layer_json(const LayerResult& result) {
    const LayerNpuConfig& npu = result.system.npu;
    Json report;
    report["npu"] = npu.name;
    report["program"] = result.program;
    report["status"] = to_json(result.run.status());
    report["values"] = result.values ? "on" : "off";
    report["cycles"] = result.run.cycles().value;
    report["simulated_cycles"] = result.run.simulated.value;
    report["microseconds"] = microseconds(result.run.cycles(), npu.clock);
    report["wall_seconds"] = result.wall_seconds;
    report["checks"] = Json::array();
    report["host"] = {{"cycles", result.run.host.value}, {"share", share_of_host(result.run)}};
    report["memory"] = {{"weight_bytes", result.plan.weights.value},
                        {"peak_map_bytes", result.plan.peak_maps.value}};
    report["traffic"] = traffic_json(result.run.traffic);
    report["operations"] = Json::array();
    for (std::size_t i = 0; i < result.run.operations.size(); ++i) {
        report["operations"].push_back(json_of(result.run.operations[i], i, npu.engine));
    }
    report["refused"] = refused_json(refused_layers(result.plan.partition));
    report["units"] = units_json(result.run.units);
    for (const NamedDram& dram : result.run.drams) {
        report["drams"][dram.region] = to_json(dram.statistics);
    }
    report["findings"] = findings_json(result);
    report["config"] = to_json(result.system);
    return report.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string layer_summary(const LayerResult& result) {
    const LayerNpuConfig& npu = result.system.npu;
    std::uint64_t macs = 0;
    TextTable table({{"layer", Align::Left},
                     {"runs on", Align::Left},
                     {"pattern", Align::Left},
                     {"MACs", Align::Right},
                     {"cycles", Align::Right},
                     {"bound by", Align::Left}});
    for (const LayerOperation& operation : result.run.operations) {
        macs += operation.macs;
        table.add_row({operation.name, operation.unit == "tinpu" ? "npu" : "host",
                       operation.pattern, with_separators(operation.macs),
                       with_separators(operation.cycles.value), std::string(operation.bound_by())});
    }
    std::string text = fmt::format(
        "{} on {}: {}, {} cycles, {:.1f} us at {:.0f} MHz, {} MACs\n"
        "host {:.1f} % of the time ({} cycles); weights {} bytes, feature maps {} bytes at most\n",
        result.program, npu.name, enum_name(result.run.status()),
        with_separators(result.run.cycles().value), microseconds(result.run.cycles(), npu.clock),
        static_cast<double>(npu.clock.value) / 1e6, with_separators(macs),
        share_of_host(result.run) * 100, with_separators(result.run.host.value),
        with_separators(result.plan.weights.value), with_separators(result.plan.peak_maps.value));
    if (!table.empty()) {
        text += '\n' + table.text();
    }
    const TinpuTarget target(npu.restrictions);
    for (const Refusal& refusal : result.plan.partition.refusals) {
        text += '\n' + refusal_text(result.graph, target, refusal);
    }
    return text + findings_text(findings_of(result));
}

}  // namespace npuscope
