// SPDX-License-Identifier: Apache-2.0
// A result that flies from one unit to the next without memory: from the accumulators to the SDP,
// from the SDP to the PDP. Both units are programmed by themselves, and nothing in hardware tells
// them when they disagree.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/layout/precision.h"
#include "models/layout/shape.h"

namespace npuscope {

struct FlyingCube {
    Shape shape;
    std::uint32_t batches = 1;
    bool winograd = false;  ///< in the order of Winograd's tiles
    Precision precision = Precision::Int8;

    bool operator==(const FlyingCube&) const = default;
};

/// One end of a flight, as messages name it.
struct FlightEnd {
    std::string operation;  ///< `conv 1`
    std::string unit;       ///< `NVDLA_SDP`: whose registers are to blame at the end that takes
    FlyingCube cube;
};

/// What the ends of a flight disagree in. Errors: `shape_mismatch`, and `precision_mismatch`; it is
/// a warning where the SDP takes integers of the accumulators in another width.
std::vector<Diagnostic> flight_contradictions(const FlightEnd& from, const FlightEnd& to);
/// The register of the end that takes, `NVDLA_SDP.D_DATA_FORMAT_0`.
std::string flight_register(const Diagnostic& contradiction);

/// Givers and takers between two units, paired in their order.
class FlightPairs {
 public:
    /// What is wrong with the pair that this end completes; nothing where the other end is still
    /// to come.
    std::vector<Diagnostic> give(FlightEnd end);
    std::vector<Diagnostic> take(FlightEnd end);

 private:
    std::vector<Diagnostic> pair();

    std::deque<FlightEnd> givers_;
    std::deque<FlightEnd> takers_;
};

}  // namespace npuscope
