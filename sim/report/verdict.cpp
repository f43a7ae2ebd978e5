// SPDX-License-Identifier: Apache-2.0
#include "sim/report/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>

#include "models/npu/npu_config.h"
#include "sim/check/rules.h"
#include "sim/report/energy_report.h"
#include "sim/report/measured_error.h"
#include "sim/report/memory_peak.h"
#include "sim/run/attribution.h"

namespace npuscope {
namespace {

constexpr std::uint64_t least_percent = 5;  // smaller causes are not named
constexpr std::size_t most_costly = 3;      // layers that the verdict names

/// How to reduce the cycles of a cause.
constexpr std::array<std::string_view, cause_names.size()> remedies{
    "a larger MAC array",
    "a faster SDP",
    "faster reads of feature maps",
    "fewer reads of weights (compression, larger batches), or faster ones",
    "a larger convolution buffer",
    "fewer and larger operations: each pays the pipeline latency once",
    "fewer and larger operations, or a lower latency of reads",
    "a higher throughput of the unit",
    "a faster memory",
    "register groups that are programmed ahead, so that operations overlap",
    "a host that programs registers ahead, or faster"};

/// The fields of the NPU at hand, in parentheses.
std::string fields_of(const Result& result, Cause cause, std::string_view what) {
    const NpuFamily* family = result.config.family;
    const std::string fields =
        MemoryPeak(result).effective(family == nullptr ? "" : family->fields_of(cause));
    return fields.empty() ? std::string() : fmt::format(" ({}{})", what, fields);
}

/// `count` in a time, per second.
double rate_of(double count, Cycles time, const Result& result) {
    return time == Cycles(0) ? 0
                             : count * static_cast<double>(result.config.clock().value) /
                                   static_cast<double>(time.value);
}

std::string outcome(const Result& result) {
    std::size_t failed = 0;
    std::size_t made = 0;
    for (const CheckResult& check : result.checks) {
        failed += check.pass ? 0 : 1;
        made += check.skipped ? 0 : 1;
    }
    const auto errors = static_cast<std::size_t>(
        std::ranges::count(result.findings, Severity::Error, &Diagnostic::severity));
    if (result.status() == RunStatus::Fail) {
        const std::string checks = counted(result.checks.size(), "check");
        if (failed > 0) {
            return fmt::format("FAIL: {} of {} failed, {}", failed, checks,
                               counted(errors, "error"));
        }
        return fmt::format("FAIL: {}; {}", counted(errors, "error"),
                           result.checks.empty() ? "nothing was checked"
                           : made == result.checks.size()
                               ? "all " + checks + " held"
                               : fmt::format("{} of {} made", made, checks));
    }
    if (result.status() == RunStatus::HostOnly) {
        return "HOST ONLY: no layer with MACs ran on the NPU";
    }
    if (made == 0) {
        return result.values || result.checks.empty()
                   ? "unchecked: nothing was compared with an expectation"
                   : "unchecked: only timing was simulated";
    }
    return fmt::format("pass: {} made, all held", counted(made, "check"));
}

std::string time_line(const Result& result) {
    const double seconds = microseconds(result) / 1e6;
    std::string text =
        fmt::format("{} cycles, {:.4g} ms at {:g} MHz", with_separators(result.cycles.value),
                    seconds * 1e3, static_cast<double>(result.config.clock().value) / 1e6);
    const std::size_t inputs = result.batch ? result.batch->at_once : 1;
    if (inputs > 1) {
        text += fmt::format(" for {} inputs", inputs);
    }
    if (!result.layers.empty() && seconds > 0) {
        const double frames = static_cast<double>(inputs) / seconds;
        text += frames < 1000 ? fmt::format(", {:.4g} frames/s", frames)
                              : fmt::format(", {} frames/s",
                                            with_separators(static_cast<std::uint64_t>(frames)));
    }
    return text;
}

std::string a_second(double rate) {
    return rate < 1000 ? fmt::format("{:.4g}", rate)
                       : with_separators(static_cast<std::uint64_t>(rate));
}

/// Inputs that ran one after the other, or several at once.
std::string batch_line(const Result& result) {
    const BatchRecord& batch = *result.batch;
    const double cycles = static_cast<double>(batch.all.value);
    const double inputs = static_cast<double>(batch.inputs);
    const double rate = rate_of(inputs, batch.all, result);
    if (batch.at_once > 1) {
        return fmt::format(
            "{} inputs, {} at once, sharing operations of {}: {} cycles each on average, {} "
            "inputs/s; all other numbers are for the first {}",
            with_separators(batch.inputs), batch.at_once, counted(batch.shared_layers, "layer"),
            with_separators(static_cast<std::uint64_t>(cycles / inputs)), a_second(rate),
            batch.at_once);
    }
    return fmt::format(
        "{} inputs one after the other: {} cycles each on average, {} to {}, {} inputs/s; all "
        "other numbers are for the first",
        with_separators(batch.inputs), with_separators(static_cast<std::uint64_t>(cycles / inputs)),
        with_separators(batch.least.value), with_separators(batch.most.value), a_second(rate));
}

/// Frames that overlap each other.
std::string stream_line(const Result& result) {
    const StreamRecord& stream = *result.stream;
    const std::string host = stream.host > Cycles(0)
                                 ? fmt::format(", while the host takes {} cycles per frame",
                                               with_separators(stream.host.value))
                                 : "";
    return fmt::format(
        "{} frames as a stream{}: one every {} cycles, {} frames/s{}; latency {} cycles, {} at "
        "most",
        with_separators(stream.frames),
        stream.simulated ? "" : ", derived from the cycles of one frame",
        with_separators(stream.interval.value),
        a_second(rate_of(1, std::max(stream.interval, Cycles(1)), result)), host,
        with_separators(stream.latency.value), with_separators(stream.most_latency.value));
}

/// NPUs that share a network.
std::string split_line(const Result& result) {
    const SplitRecord& split = *result.split;
    const std::size_t count = result.instances.size();
    const auto interval = static_cast<double>(std::max(split.interval, Cycles(1)).value);
    const double gain = static_cast<double>(split.alone.value) / interval;
    if (split.by == NetworkSplit::Rows) {
        return fmt::format(
            "{} instances share the rows of every layer: {:.3g} times as fast as one, which takes "
            "{} cycles; all other numbers are for the slowest",
            count, gain, with_separators(split.alone.value));
    }
    return fmt::format(
        "{} instances, each with some of the layers: one input every {} cycles, {:.3g} times the "
        "rate of one, latency {} cycles; all other numbers are for the slowest",
        count, with_separators(split.interval.value), gain, with_separators(split.latency.value));
}

/// What each instance did.
std::string instance_line(const Result& result, std::size_t index) {
    const InstanceRecord& instance = result.instances[index];
    return fmt::format(
        "instance {}: {}{}{} cycles, {} bytes moved", index + 1, instance.program,
        instance.program.empty() ? "" : ", ", with_separators(instance.cycles.value),
        with_separators((instance.traffic.read_bytes + instance.traffic.write_bytes).value));
}

/// NPUs that ran at once, each on its own data.
std::string instances_line(const Result& result) {
    Cycles least = result.instances.front().cycles;
    Cycles most;
    ClientTraffic all;
    for (const InstanceRecord& instance : result.instances) {
        least = std::min(least, instance.cycles);
        most = std::max(most, instance.cycles);
        all += instance.traffic;
    }
    const double seconds = static_cast<double>(most.value) /
                           std::max(static_cast<double>(result.config.clock().value), 1.0);
    const auto bytes = static_cast<double>((all.read_bytes + all.write_bytes).value);
    const double gigabytes = seconds > 0 ? bytes / seconds / 1e9 : 0;
    if (!result.instances.front().program.empty()) {
        return fmt::format(
            "{} programs at the same time: the earliest ends after {} cycles, the latest after {}, "
            "together {:.4g} GB/s; all other numbers are for the program named first",
            result.instances.size(), with_separators(least.value), with_separators(most.value),
            gigabytes);
    }
    return fmt::format(
        "{} instances at once, each on its own data: the earliest ends after {} cycles, the latest "
        "after {}, together {:.4g} GB/s, {:.4g} programs/s; all other numbers are for the first "
        "instance",
        result.instances.size(), with_separators(least.value), with_separators(most.value),
        gigabytes, rate_of(static_cast<double>(result.instances.size()), most, result));
}

std::string array_line(const Result& result, const std::vector<LayerRecord>& rows) {
    double cells = 0;
    std::uint64_t macs = 0;
    for (const LayerRecord& row : rows) {
        cells = std::max(cells, row.mac_cells);
        macs += row.on_host ? 0 : row.macs;
    }
    const double possible = cells * static_cast<double>(result.cycles.value);
    if (possible <= 0) {
        return "the MAC array was not used";
    }
    const Cycles end = result.first_op_enable + result.cycles;
    if (!result.model && std::ranges::any_of(result.operations, [&](const OperationRecord& one) {
            return one.macs > 0 && one.end > end;
        })) {
        return "MAC array utilisation is not shown: operations continue after the last one that "
               "the program waits for";
    }
    return fmt::format("MAC array utilisation {}: {} useful MACs, at most {:.0f} a cycle",
                       percent(static_cast<double>(macs) / possible), with_separators(macs), cells);
}

std::string port_line(const Result& result) {
    const double clock = static_cast<double>(result.config.clock().value);
    const double seconds = static_cast<double>(result.cycles.value) / std::max(clock, 1.0);
    const MemoryPeak memory(result);
    std::string text;
    for (const NamedPort& port : result.ports) {
        if (port.traffic.read_beats + port.traffic.write_beats == 0 || seconds <= 0) {
            continue;
        }
        const double peak = clock * static_cast<double>(port.beat.value) / 1e9 /
                            static_cast<double>(memory.beat_interval(port.port).value);
        const auto rate = [&](std::uint64_t beats) {
            const double bytes = static_cast<double>(beats * port.beat.value);
            return bytes / seconds / 1e9;
        };
        const double read = rate(port.traffic.read_beats);
        const double written = rate(port.traffic.write_beats);
        text +=
            fmt::format("{}{} port: {:.3g} GB/s read, {:.3g} written, peak {:.3g} each ({}, {})",
                        text.empty() ? "" : "; ", port.port, read, written, peak,
                        percent(read / peak), percent(written / peak));
    }
    if (const std::optional<double> peak = memory.shared(); peak && !text.empty()) {
        text +=
            fmt::format("; reads and writes together: {:.3g} GB/s, peak of the memory {:.3g} ({})",
                        memory.moved() / 1e9, *peak / 1e9, percent(memory.moved() / *peak));
    }
    return text.empty() ? "no memory port was used" : text;
}

std::string bound_line(const Result& result, const std::vector<LayerRecord>& rows) {
    return "bound by " + causes_text(all_causes(rows), result.cycles);
}

/// Empty if there is only one row.
std::string costly_line(const Result& result, const std::vector<LayerRecord>& rows) {
    std::string text;
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater{},
                             [&](std::size_t i) { return rows[i].cycles(); });
    for (std::size_t i = 0; rows.size() > 1 && i < std::min(most_costly, order.size()); ++i) {
        const LayerRecord& row = rows[order[i]];
        text += fmt::format("{}{} ({})", i == 0 ? "most time in " : ", ", row.name,
                            percent(share_of(row, result)));
    }
    return text;
}

/// Share of the time in which the host converts real numbers to integers and back.
double quantising_share(const Result& result, const std::vector<LayerRecord>& rows) {
    double share = 0;
    for (const LayerRecord& row : rows) {
        const bool quantises = row.on_host && (row.kind.ends_with("QuantizeLinear") ||
                                               row.kind.ends_with("DequantizeLinear"));
        share += quantises ? share_of(row, result) : 0;
    }
    return share;
}

/// Where the buffer provides an NVDLA's array with less data in a cycle than it multiplies.
std::optional<std::string> narrow_entries(const Result& result) {
    const auto* npu = result.config.npu.find<NpuConfig>();
    if (npu == nullptr || npu->datapath.atomic_c <= npu->cbuf.bank_width.value) {
        return std::nullopt;
    }
    return fmt::format(
        "what would help: wider entries of the convolution buffer, which provide {} of the {} "
        "bytes that each MAC cell can multiply in a cycle (npu.cbuf.bank_width)",
        npu->cbuf.bank_width.value, npu->datapath.atomic_c);
}

std::string help_line(const Result& result, const std::vector<LayerRecord>& rows) {
    const double quantising = quantising_share(result, rows);
    if (host_share(result) > 0.5 && quantising > host_share(result) / 2) {
        return fmt::format(
            "what would help: integer inputs and outputs; the host spends {} of the time "
            "quantising them (host.cycles_per_element)",
            percent(quantising));
    }
    if (host_share(result) > 0.5) {
        return fmt::format(
            "what would help: layers that the NPU supports; the host takes {} of the time "
            "(`npuscope plan --explain` says why)",
            percent(host_share(result)));
    }
    if (const MemoryPeak memory(result); memory.is_saturated()) {
        return fmt::format("what would help: a faster memory, of whose peak {} are used ({})",
                           percent(memory.moved() / *memory.shared()), memory.fields());
    }
    const CauseCycles causes = all_causes(rows);
    double useful = 0;
    double possible = 0;
    for (const LayerRecord& row : rows) {
        useful += row.on_host ? 0 : static_cast<double>(row.macs);
        possible += row.mac_cells * static_cast<double>(row.causes[Cause::Mac].value);
    }
    const bool by_array = causes.largest() == cause_names[static_cast<std::size_t>(Cause::Mac)];
    if (const auto narrow = narrow_entries(result); narrow && by_array) {
        return *narrow;
    }
    if (by_array && useful < 0.5 * possible) {
        return fmt::format(
            "what would help: layers that fill the MAC array; while active, {} of the multipliers "
            "do useful work{}",
            percent(useful / possible),
            fields_of(result, Cause::Mac, "channels and kernels below "));
    }
    const auto largest =
        static_cast<std::size_t>(std::ranges::max_element(causes.cycles) - causes.cycles.begin());
    return fmt::format("what would help: {}{}", remedies.at(largest),
                       fields_of(result, static_cast<Cause>(largest), ""));
}

/// Empty if all layers compute with the model's own values.
std::string deviation_line(const Result& result) {
    double steps = 0;
    double expected = 0;
    std::size_t layers = 0;
    bool folded = false;
    for (const LayerRecord& layer : result.layers) {
        if (layer.deviation) {
            ++layers;
            steps = std::max(steps, layer.deviation->steps());
            expected = std::max(expected, layer.deviation->expected);
            folded = folded || layer.deviation->folded;
        }
    }
    return layers == 0 ? std::string()
                       : fmt::format(
                             "not bit-exact to the model: {} of {} are rounded; results of a layer "
                             "differ by at most {:.0f} {}, an expected {:.0f} per million "
                             "(--operations lists the layers)",
                             folded ? "weights" : "scales", counted(layers, "layer"), steps,
                             steps == 1 ? "step" : "steps", expected * 1e6);
}

}  // namespace

CauseCycles all_causes(const std::vector<LayerRecord>& rows) {
    CauseCycles all;
    for (const LayerRecord& row : rows) {
        all += row.causes;
    }
    return all;
}

double inputs_per_second(const Result& result) {
    if (result.stream) {
        return rate_of(1, std::max(result.stream->interval, Cycles(1)), result);
    }
    const double inputs = result.batch ? static_cast<double>(result.batch->inputs) : 1;
    Cycles time = result.batch ? result.batch->all : result.cycles;
    const bool alike = !result.instances.empty() && result.instances.front().program.empty();
    if (result.split || !alike) {
        return rate_of(inputs, time, result);
    }
    if (!result.batch) {
        for (const InstanceRecord& instance : result.instances) {
            time = std::max(time, instance.cycles);
        }
    }
    return rate_of(inputs * static_cast<double>(result.instances.size()), time, result);
}

ClientTraffic moved_by(const LayerRecord& row) {
    ClientTraffic all;
    for (const NamedTraffic& client : row.traffic) {
        all += client.traffic;
    }
    return all;
}

double share_of(const LayerRecord& row, const Result& result) {
    return result.cycles.value == 0
               ? 0
               : static_cast<double>(row.cycles().value) / static_cast<double>(result.cycles.value);
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::vector<LayerRecord> rows_of(const Result& result) {
    if (!result.layers.empty()) {
        return result.layers;
    }
    std::vector<LayerRecord> rows;
    for (std::size_t i = 0; i < result.operations.size(); ++i) {
        const OperationRecord& operation = result.operations[i];
        LayerRecord row;
        row.name = operation.name;
        row.kind = operation.kind;
        row.operations = {i};
        row.macs = operation.macs;
        row.mac_cells = operation.mac_cells;
        row.causes = operation.own;
        row.hidden = hidden_cycles(operation);
        row.traffic = operation.traffic;
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string causes_text(const CauseCycles& causes, Cycles of) {
    std::vector<std::size_t> order(cause_names.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater{},
                             [&](std::size_t i) { return causes.cycles[i]; });
    std::string text;
    for (const std::size_t i : order) {
        const std::uint64_t share = of.value == 0 ? 0 : causes.cycles[i].value * 100 / of.value;
        if (share >= least_percent) {
            text += fmt::format("{}{} {} %", text.empty() ? "" : ", ", cause_names[i], share);
        }
    }
    return text;
}

/// How far the cycles can be trusted.
std::string trust_line(const Result& result) {
    const double host = host_share(result);
    return measured_line(result.config, result.instances.size()) +
           (host > 0 ? fmt::format("; the host's share, {}, is estimated", percent(host)) : "");
}

std::string verdict(const Result& result, std::size_t width) {
    const std::vector<LayerRecord> rows = rows_of(result);
    std::string text = wrapped(
        fmt::format("{} on {}: {}", result.program, result.npu(), outcome(result)), 0, 4, width);
    std::vector<std::string> lines{time_line(result)};
    if (result.cycles > Cycles(0)) {
        lines.insert(lines.end(), {trust_line(result), array_line(result, rows), port_line(result),
                                   bound_line(result, rows), costly_line(result, rows),
                                   help_line(result, rows)});
    }
    if (result.batch) {
        lines.push_back(batch_line(result));
    }
    if (result.stream) {
        lines.push_back(stream_line(result));
    }
    if (result.energy) {
        lines.push_back(energy_line(*result.energy, result));
    }
    if (!result.instances.empty()) {
        lines.push_back(result.split ? split_line(result) : instances_line(result));
        constexpr std::size_t most = 8;
        const bool tell = !result.instances.front().program.empty();
        for (std::size_t i = 0; tell && i < std::min(most, result.instances.size()); ++i) {
            lines.push_back(instance_line(result, i));
        }
    }
    const bool hidden = std::ranges::any_of(result.findings, [](const Diagnostic& finding) {
        return rule_is(&Rule::hides_deviation, finding.id);
    });
    if (const std::string line = deviation_line(result); !line.empty() && !hidden) {
        lines.push_back(line);
    }
    for (const Diagnostic& finding : result.findings) {
        if (rule_is(&Rule::beside_verdict, finding.id)) {
            lines.push_back(finding.sentence +
                            (finding.remedy.empty() ? "" : " (" + finding.remedy + ")"));
        }
    }
    for (const std::string& line : lines) {
        text += wrapped(line, 2, 4, width);
    }
    return text;
}

}  // namespace npuscope
