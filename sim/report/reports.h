// SPDX-License-Identifier: Apache-2.0
// The reports of a result, one function each: they depend on neither files nor the machine. What
// each of them looks like is described at the top of its source.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/base/statistics.h"
#include "sim/config/json_writer.h"
#include "sim/config/text_table.h"
#include "sim/run/result.h"

namespace npuscope {

enum class Details { Layers, Operations };

/// For people. With Details::Operations also the operations, their causes, traffic by client,
/// units, DRAM and the notes among the findings.
std::string summary_report(const Result& result, Details details = Details::Layers,
                           std::size_t width = report_width);

/// Where each operation's cycles went: a column for every cause that took any, and their sum, which
/// is the operation's cycles. Empty if there is no operation.
std::string cause_table(const std::vector<OperationRecord>& operations,
                        std::size_t width = report_width);

/// Comma-separated values: a row for each layer, or for each operation of a program without layers.
std::string csv_report(const Result& result);

/// The traffic of all clients together, and `by_client`.
Json traffic_json(const std::vector<NamedTraffic>& traffic);
/// Layers that the NPU does not support, with the rules that they break.
Json refused_json(const std::vector<RefusedLayer>& layers);
/// Statistics by unit.
Json units_json(const std::vector<NamedUnit>& units);

/// All of it as JSON, indented by two spaces, with a line end after it.
std::string json_report(const Result& result);

/// Bytes that a client moved per cycle, from `begin` on.
struct Bandwidth {
    Cycles begin;
    double bytes_per_cycle = 0;
};

/// In each window between two samples of what had been moved, and none after the last.
std::vector<Bandwidth> bandwidth_of(const std::vector<TimelineStep>& moved);

/// In the Trace Event Format. A result without a timeline shows only its operations.
std::string timeline_report(const Result& result);

/// As a value change dump. A result without a timeline shows only its operations.
std::string wave_report(const Result& result);

/// One HTML file including its data, styles and charts: for a result as `run --json` writes it;
/// `timeline` is what `run --timeline` writes, or null.
std::string run_page(const Json& result, const Json& timeline);
/// Two results side by side.
std::string pair_page(const Json& one, const Json& other);
/// What a sweep found: `{name, shows, version, axes[], objectives[], points[], front[], layers{}}`.
std::string sweep_page(const Json& sweep);

}  // namespace npuscope
