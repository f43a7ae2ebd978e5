// SPDX-License-Identifier: Apache-2.0
// One launch of one unit as a static check sees it: what it reads and writes, and how it hangs
// together with others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/base/error.h"
#include "models/conv/compression_findings.h"
#include "models/glb/interrupt.h"
#include "models/layout/flying_cube.h"
#include "models/pdp/left_lines.h"
#include "sim/check/surface_use.h"

namespace npuscope {

enum class OperationUnit { Conv, Sdp, Pdp, Cdp };

/// The compressed weights of a convolution.
struct CompressedUse {
    WeightLayout layout;
    CompressedPlaces places;
};

struct CheckedOperation {
    std::string name;  ///< `sdp 3`
    OperationUnit unit = OperationUnit::Conv;
    unsigned group = 0;
    std::vector<SurfaceUse> uses;
    std::optional<CompressedUse> compressed;
    std::optional<FlyingCube> takes;      ///< what flies in; none: from memory
    std::optional<FlyingCube> gives;      ///< what flies on; none: to memory
    std::optional<std::size_t> producer;  ///< operation whose result flies in
    std::optional<std::size_t> consumer;  ///< operation that the result flies to
    std::optional<Diagnostic>
        short_delivery;                   ///< told where the convolution before may not be over
    std::optional<LinesLeft> lines_left;  ///< told where another pooling comes behind
    bool uses_rdma = false;
    bool undecoded = false;  ///< its registers make no job: what it touches is not known
    bool notified = false;   ///< the program asked to be told of its end
    bool finished = false;   ///< the program knows of its end
    Place place;             ///< of the write that launched it
};

/// The interrupt that ends an operation of the unit.
inline InterruptSource interrupt_of(OperationUnit unit) {
    switch (unit) {
        case OperationUnit::Conv:
            return InterruptSource::Cacc;
        case OperationUnit::Sdp:
            return InterruptSource::Sdp;
        case OperationUnit::Pdp:
            return InterruptSource::Pdp;
        case OperationUnit::Cdp:
            break;
    }
    return InterruptSource::Cdp;
}

}  // namespace npuscope
