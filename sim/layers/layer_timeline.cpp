// SPDX-License-Identifier: Apache-2.0
#include "sim/layers/layer_timeline.h"

#include "sim/report/timeline_report.h"

namespace npuscope {
namespace {

OperationRecord record_of(const LayerOperation& operation) {
    OperationRecord record;
    record.unit = operation.unit;
    record.name = operation.name;
    record.start = operation.start;
    record.end = operation.start + operation.cycles;
    record.macs = operation.macs;
    if (operation.unit == "host") {
        record.causes[Cause::Work] = operation.cycles;
        return record;
    }
    record.causes[Cause::Mac] = operation.parts.compute;
    record.causes[Cause::Memory] = operation.parts.uncovered_memory();
    record.causes[Cause::WeightFetch] = operation.parts.weights;
    record.causes[Cause::StartUp] = operation.parts.set_up;
    return record;
}

void add_span(Timeline& timeline, const std::string& lane, Cycles begin, Cycles cycles) {
    if (cycles > Cycles(0)) {
        timeline.lanes[lane].push_back({"work", "work", begin, begin + cycles});
    }
}

void add_parts(Timeline& timeline, const LayerOperation& operation) {
    if (operation.unit == "host") {
        add_span(timeline, "host.operator", operation.start, operation.cycles);
        return;
    }
    const TinpuCycles& parts = operation.parts;
    const Cycles fetched = operation.start + parts.set_up;
    add_span(timeline, "tinpu.set_up", operation.start, parts.set_up);
    add_span(timeline, "tinpu.weights", fetched, parts.weights);
    add_span(timeline, "tinpu.compute", fetched + parts.weights, parts.compute);
    add_span(timeline, "tinpu.memory", fetched + parts.weights, parts.memory);
}

}  // namespace

std::string layer_timeline(const LayerResult& result) {
    Result shown;
    shown.program = result.program;
    shown.cycles = result.run.cycles();
    shown.config.npu.name = result.system.npu.name;
    shown.timeline.emplace();
    for (const LayerOperation& operation : result.run.operations) {
        shown.operations.push_back(record_of(operation));
        add_parts(*shown.timeline, operation);
    }
    return timeline_report(shown);
}

}  // namespace npuscope
