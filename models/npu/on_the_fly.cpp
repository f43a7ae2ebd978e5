// SPDX-License-Identifier: Apache-2.0
#include "models/npu/on_the_fly.h"

#include <fmt/format.h>

#include <utility>

#include "models/layout/alignment.h"
#include "models/layout/precision.h"

namespace npuscope {
namespace {

std::string text_of(const FlyingCube& cube) {
    const std::string shape =
        fmt::format("{}x{}x{}", cube.shape.channels, cube.shape.height, cube.shape.width);
    const std::string batches = cube.batches > 1 ? fmt::format(" {} times", cube.batches) : "";
    return shape + batches + (cube.winograd ? " in Winograd's order" : "");
}

}  // namespace

Diagnostics OnTheFlyPair::contradictions(std::string_view unit) const {
    Diagnostics findings;
    const auto add = [&](Severity severity, std::string id, std::string_view register_name,
                         const std::string& given, const std::string& taken) {
        Diagnostic finding;
        finding.severity = severity;
        finding.id = std::move(id);
        finding.unit = unit;
        finding.register_name = spelled(unit, register_name);
        finding.operation = consumer.operation;
        finding.sentence = fmt::format("{}: {} gives {}, but {} takes {}", finding.register_name,
                                       producer.operation, given, consumer.operation, taken);
        finding.remedy = "program one shape and one precision in both units";
        findings.push_back(std::move(finding));
    };
    const bool sdp = unit == "NVDLA_SDP";
    FlyingCube given = producer.cube;
    given.precision = consumer.cube.precision;
    if (given != consumer.cube) {
        add(Severity::Error, "shape_mismatch", sdp ? "D_DATA_CUBE_WIDTH" : "D_DATA_CUBE_IN_WIDTH",
            text_of(producer.cube) + " (channels x height x width)", text_of(consumer.cube));
    }
    if (producer.cube.precision != consumer.cube.precision) {
        const bool tolerable = sdp && producer.cube.precision != Precision::Fp16 &&
                               consumer.cube.precision != Precision::Fp16;
        add(tolerable ? Severity::Warning : Severity::Error, "precision_mismatch", "D_DATA_FORMAT",
            std::string(precision_name(producer.cube.precision)),
            std::string(precision_name(consumer.cube.precision)));
    }
    return findings;
}

std::optional<OnTheFlyPair> OnTheFlyPairs::produce(OnTheFlyEnd end) {
    producers_.push_back(std::move(end));
    return pair();
}

std::optional<OnTheFlyPair> OnTheFlyPairs::consume(OnTheFlyEnd end) {
    consumers_.push_back(std::move(end));
    return pair();
}

std::optional<OnTheFlyPair> OnTheFlyPairs::pair() {
    if (producers_.empty() || consumers_.empty()) {
        return std::nullopt;
    }
    OnTheFlyPair pair{std::move(producers_.front()), std::move(consumers_.front())};
    producers_.pop_front();
    consumers_.pop_front();
    return pair;
}

}  // namespace npuscope
