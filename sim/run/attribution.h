// SPDX-License-Identifier: Apache-2.0
// Operations overlap: while one computes, the next fetches its operands and waits. Here every cycle
// of a run is assigned to exactly one operation and one cause, so that operations, and the layers
// that they belong to, sum to the run:
//
//   1. a cycle in which an operation has the MAC array is assigned to it;
//   2. else it belongs to the running operation that ends first;
//   3. else, when none is running, the host programs: it belongs to the next one to start.
//
// Anything else that an operation does in that cycle is hidden behind its owner.
#pragma once

#include <span>
#include <vector>

#include "models/base/statistics.h"
#include "sim/run/result.h"

namespace npuscope {

/// A time that counts as cycles of the run.
struct CountedTime {
    Cycles begin;
    Cycles end;
};

/// What remains of a time without others, which are sorted and do not overlap.
std::vector<CountedTime> without(CountedTime whole, std::span<const CountedTime> others);

/// For each operation its own cycles, by cause. Over all operations they sum to `counted`, whose
/// times do not overlap, if there is any operation.
std::vector<CauseCycles> own_cycles(std::span<const OperationRecord> operations,
                                    std::vector<CountedTime> counted);

/// Cycles of an operation that belong to others.
Cycles hidden_cycles(const OperationRecord& operation);

/// Adds to the entry of the same client and port.
void add_traffic(std::vector<NamedTraffic>& all, const NamedTraffic& moved);

/// Assigns to each layer its operations: those of the NPU, and those of the host, in the order of
/// their start, as many as the layer has slots. What is left over belongs to the last layer.
void fill_layers(std::vector<LayerRecord>& layers, std::span<const OperationRecord> operations);

}  // namespace npuscope
