// SPDX-License-Identifier: Apache-2.0
// A result as JSON, keys in a stable order:
//
//   npu, program, status, values, cycles, simulated_cycles, microseconds, wall_seconds, checks[],
//   traffic{..., by_client{}}, operations[], units{}, findings[], config{}
//
// of a model also host{cycles, share, macs, operators}, memory{} where the plan counts it,
// segments[] and refused[], the layers that the NPU does not take: operations of the host have the
// unit `host`, and `cycles` are those of the NPU and of the host.
//
// Addresses and checked values are hexadecimal text; all else are numbers in cycles and bytes.
#pragma once

#include <string>
#include <vector>

#include "sim/config/json_writer.h"
#include "sim/run/result.h"

namespace npuscope {

/// The traffic of all clients together, and `by_client`.
Json traffic_json(const std::vector<NamedTraffic>& traffic);
/// Layers that the NPU does not take, with the rules that they break.
Json refused_json(const std::vector<RefusedLayer>& layers);
/// Statistics by unit.
Json units_json(const std::vector<NamedUnit>& units);

/// Indented by two spaces, with a line end after it.
std::string json_report(const Result& result);

}  // namespace npuscope
