// SPDX-License-Identifier: Apache-2.0
#include "models/layout/flying_cube.h"

#include <fmt/format.h>

#include <utility>

#include "models/layout/alignment.h"
#include "models/layout/precision_table.h"

namespace npuscope {
namespace {

std::string text_of(const FlyingCube& cube) {
    const std::string shape =
        fmt::format("{}x{}x{}", cube.shape.channels, cube.shape.height, cube.shape.width);
    const std::string batches = cube.batches > 1 ? fmt::format(" {} times", cube.batches) : "";
    return shape + batches + (cube.winograd ? " in Winograd's order" : "");
}

Diagnostic finding_at(const FlightEnd& to, Severity severity, const char* kind,
                      std::string message) {
    Diagnostic finding;
    finding.severity = severity;
    finding.id = kind;
    finding.sentence = std::move(message);
    finding.unit = to.unit;
    finding.operation = to.operation;
    return finding;
}

}  // namespace

std::vector<Diagnostic> flight_contradictions(const FlightEnd& from, const FlightEnd& to) {
    std::vector<Diagnostic> findings;
    FlyingCube given = from.cube;
    given.precision = to.cube.precision;
    if (given != to.cube) {
        findings.push_back(finding_at(
            to, Severity::Error, "shape_mismatch",
            fmt::format("{} gives {} (channels x height x width), but {} takes {}", from.operation,
                        text_of(from.cube), to.operation, text_of(to.cube))));
    }
    if (from.cube.precision != to.cube.precision) {
        const bool tolerable = to.unit == "NVDLA_SDP" && from.cube.precision != Precision::Fp16 &&
                               to.cube.precision != Precision::Fp16;
        findings.push_back(finding_at(to, tolerable ? Severity::Warning : Severity::Error,
                                      "precision_mismatch",
                                      fmt::format("{} gives {}, but {} takes {}", from.operation,
                                                  precision_name(from.cube.precision), to.operation,
                                                  precision_name(to.cube.precision))));
    }
    return findings;
}

std::string flight_register(const Diagnostic& contradiction) {
    if (contradiction.id == "precision_mismatch") {
        return spelled(contradiction.unit, "D_DATA_FORMAT");
    }
    return spelled(contradiction.unit, contradiction.unit == "NVDLA_SDP" ? "D_DATA_CUBE_WIDTH"
                                                                         : "D_DATA_CUBE_IN_WIDTH");
}

std::vector<Diagnostic> FlightPairs::give(FlightEnd end) {
    givers_.push_back(std::move(end));
    return pair();
}

std::vector<Diagnostic> FlightPairs::take(FlightEnd end) {
    takers_.push_back(std::move(end));
    return pair();
}

std::vector<Diagnostic> FlightPairs::pair() {
    if (givers_.empty() || takers_.empty()) {
        return {};
    }
    std::vector<Diagnostic> findings = flight_contradictions(givers_.front(), takers_.front());
    givers_.pop_front();
    takers_.pop_front();
    return findings;
}

}  // namespace npuscope
