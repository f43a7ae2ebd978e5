// SPDX-License-Identifier: Apache-2.0
#include "sim/report/layer_timeline.h"

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
    record.causes = operation.causes;
    return record;
}

}  // namespace

std::string layer_timeline(const LayerResult& result) {
    Result shown;
    shown.program = result.program;
    shown.cycles = result.run.cycles();
    shown.config.npu.name = result.system.npu.name;
    shown.timeline = result.run.timeline;
    for (const LayerOperation& operation : result.run.operations) {
        shown.operations.push_back(record_of(operation));
    }
    return timeline_report(shown);
}

}  // namespace npuscope
