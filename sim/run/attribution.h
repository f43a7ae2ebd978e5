// SPDX-License-Identifier: Apache-2.0
// Operations overlap: while one computes, the next fetches its operands and waits. Here every cycle
// of a run goes to exactly one operation and one cause, so that operations, and the layers that they
// belong to, sum to the run:
//
//   1. a cycle in which an operation has the MAC array is that operation's;
//   2. else it is that of the operation under way that ends first;
//   3. else, when none is under way, the host programs: it is that of the next one to start.
//
// What else an operation does in that cycle is hidden behind its owner.
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

/// What is left of a time without others, which are in their order and do not overlap.
std::vector<CountedTime> without(CountedTime whole, std::span<const CountedTime> others);

/// For each operation the cycles that are its own, by cause. The sum over all of them is that of
/// `counted`, whose times do not overlap, where there is an operation at all.
std::vector<CauseCycles> own_cycles(std::span<const OperationRecord> operations,
                                    std::vector<CountedTime> counted);

/// Cycles of an operation that belong to others.
Cycles hidden_cycles(const OperationRecord& operation);

/// Adds to the entry of the same client and port.
void add_traffic(std::vector<NamedTraffic>& all, const NamedTraffic& moved);

/// Gives each layer its operations: those of the NPU, and those of the host, in the order of their
/// start, as many as the layer has places for. What is left over belongs to the last layer.
void fill_layers(std::vector<LayerRecord>& layers, std::span<const OperationRecord> operations);

}  // namespace npuscope
