// SPDX-License-Identifier: Apache-2.0
// A result as comma-separated values: a row for each layer of a network, or for each operation of a
// program without layers; the columns sum to the run. Lines that begin with `#` contain version,
// command line, totals and the effective configuration, so that
// `pandas.read_csv(file, comment="#")` reads the rows.
#include <fmt/format.h>

#include <sstream>

#include "sim/config/json_writer.h"
#include "sim/config/printable.h"
#include "sim/config/yaml_writer.h"
#include "sim/report/reports.h"
#include "sim/report/verdict.h"

namespace npuscope {
namespace {

/// In quotes if it would be read as more than one value, or as a comment.
std::string quoted(const std::string& name) {
    std::string text = printable_line(name);
    if (text.find_first_of(",\"\n\r#") == std::string::npos) {
        return text;
    }
    std::string result = "\"";
    for (const char letter : text) {
        result += letter == '"' ? "\"\"" : std::string(1, letter);
    }
    return result + '"';
}

std::string comment(const std::string& text) {
    std::string result;
    std::istringstream lines(printable(text));
    for (std::string line; std::getline(lines, line);) {
        result += "# " + line + '\n';
    }
    return result;
}

std::string header() {
    std::string text =
        "index,name,kind,host,cycles,share,hidden_cycles,useful_macs,mac_utilisation,read_bytes,"
        "write_bytes,bound_by";
    for (const std::string_view cause : cause_names) {
        text += fmt::format(",{}", cause);
    }
    return text + '\n';
}

std::string row_text(std::size_t index, const LayerRecord& row, const Result& result) {
    const ClientTraffic moved = moved_by(row);
    const auto used = mac_utilisation(row);
    std::string text = fmt::format(
        "{},{},{},{},{},{:.6f},{},{},{},{},{},{}", index, quoted(row.name), quoted(row.kind),
        row.on_host ? 1 : 0, row.cycles().value, share_of(row, result), row.hidden.value, row.macs,
        used ? fmt::format("{:.6f}", *used) : "", moved.read_bytes.value, moved.write_bytes.value,
        row.causes.largest());
    for (const Cycles cycles : row.causes.cycles) {
        text += fmt::format(",{}", cycles.value);
    }
    return text + '\n';
}

}  // namespace

std::string csv_report(const Result& result) {
    std::string text = comment(fmt::format(
        "npuscope {}\ncommand: {}\nprogram: {}\nnpu: {}\nstatus: {}\ncycles: {}\nconfig:",
        result.version, result.command, result.program, result.npu(), enum_name(result.status()),
        result.cycles.value));
    text += comment(write_yaml(result.config)) + header();
    const std::vector<LayerRecord> rows = rows_of(result);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        text += row_text(i, rows[i], result);
    }
    return text;
}

}  // namespace npuscope
