// SPDX-License-Identifier: Apache-2.0
// What the planner makes of a network: jobs in the order of their start, with addresses, and the
// images that memory must hold beforehand. Nothing here depends on how jobs are launched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/cdp/cdp_job.h"
#include "models/conv/conv_job.h"
#include "models/glb/interrupt.h"
#include "models/layout/feature_cube.h"
#include "models/layout/precision.h"
#include "models/npu/register_blocks.h"
#include "models/pdp/pdp_job.h"
#include "models/sdp/sdp_job.h"
#include "sim/compile/nvdla/conv_tiling.h"
#include "sim/model/network.h"
#include "sim/program/memory_image.h"

namespace npuscope {

/// A convolution and the SDP after it, and the PDP where it pools on the fly.
struct ConvOperation {
    ConvParts conv;
    SdpJob sdp;
    std::optional<PdpJob> pdp{};

    /// Where the result goes.
    const FeatureCube& destination() const { return pdp ? pdp->destination : *sdp.destination; }
};

struct Operation {
    std::string name;  ///< `conv1 rows 16..31`
    std::variant<ConvOperation, SdpJob, PdpJob, CdpJob> job;
    std::vector<std::size_t> after;    ///< operations that must have finished before it may start
    std::vector<std::size_t> loads{};  ///< images to load again after these, before it starts
    /// With several NPUs that share the plan: how often all wait for each other before it starts.
    unsigned meetings = 0;

    /// The linear lookup table of its unit, SDP or CDP; empty: it looks nothing up.
    std::vector<std::int16_t> table{};

    /// The unit that writes its result and raises its interrupt.
    InterruptSource last_unit() const {
        const auto* conv = std::get_if<ConvOperation>(&job);
        const bool pools =
            std::holds_alternative<PdpJob>(job) || (conv != nullptr && conv->pdp.has_value());
        return pools                                 ? InterruptSource::Pdp
               : std::holds_alternative<CdpJob>(job) ? InterruptSource::Cdp
                                                     : InterruptSource::Sdp;
    }
    const FeatureCube& destination() const {
        if (const auto* conv = std::get_if<ConvOperation>(&job)) {
            return conv->destination();
        }
        if (const auto* pdp = std::get_if<PdpJob>(&job)) {
            return pdp->destination;
        }
        const auto* cdp = std::get_if<CdpJob>(&job);
        return cdp != nullptr ? cdp->destination : *std::get<SdpJob>(job).destination;
    }
};

/// Rows and channel atoms of a stored cube, ends excluded.
struct CubePart {
    std::uint32_t row_begin = 0;
    std::uint32_t row_end = 0;
    std::uint32_t atom_begin = 0;
    std::uint32_t atom_end = 0;

    bool meets(const CubePart& other) const {
        return row_begin < other.row_end && other.row_begin < row_end &&
               atom_begin < other.atom_end && other.atom_begin < atom_end;
    }
};

/// A place among the results, and the operations that read its previous contents: a writer there
/// comes after them.
struct ArenaPlace {
    Address address;
    Bytes bytes;
    std::vector<std::size_t> readers;
};

/// A layer's result in memory, and which operation writes which part of it. Where few kernels of a
/// group fit into the buffer at once, an atom holds fewer channels than it has room for: the
/// remaining lanes are zero.
struct StoredCube {
    struct Writer {
        CubePart part;
        std::size_t operation = 0;
    };

    FeatureCube cube;         ///< its channels count the unused lanes between used ones
    std::uint32_t lanes = 8;  ///< channels of an atom that are in use
    /// A network's input may be in memory as pixels; the cube then has only its shape.
    std::optional<PixelSurface> pixels{};
    bool in_sram = false;  ///< behind the second memory port
    ArenaPlace place{};
    std::vector<Writer> writers{};

    CubePart whole() const { return {0, cube.shape.height, 0, cube.surfaces()}; }
    /// The operation after which a part is complete: those of one unit end in order.
    void add_writer_of(const CubePart& part, std::vector<std::size_t>& after) const {
        const auto last = std::find_if(writers.rbegin(), writers.rend(), [&](const Writer& writer) {
            return writer.part.meets(part);
        });
        if (last != writers.rend()) {
            after.push_back(last->operation);
        }
    }
    bool has_holes() const { return lanes < cube.channels_per_atom(); }
    /// Whether a stored channel is one of the layer's.
    bool uses(std::uint32_t stored_channel) const {
        return stored_channel % cube.channels_per_atom() < lanes;
    }
};

struct PlannedImage {
    std::string name;  ///< `conv1_weights`
    Address address;
    Bytes bytes;
    MemoryImage image;  ///< empty where images are left out
    /// For an input: the last operation that reads it; then its bytes are free.
    std::optional<std::size_t> last_reader{};

    /// One run of zeros to be filled.
    void make_room() {
        image.bytes.resize(bytes.value);
        image.runs.push_back({0, 0, bytes.value});
    }
};

/// Another way to cut a layer, not chosen.
struct PlanAlternative {
    std::string choice;
    Cycles predicted;
    std::string refused{};  ///< why it was not allowed
};

/// How a convolution is cut, and the alternatives.
struct ConvChoice {
    std::string choice;  ///< in words
    Cycles predicted;
    std::vector<PlanAlternative> alternatives;  ///< the next best ones, and the best of each form
    TilingKey key;
    ConvProblem problem;  ///< of one operation, with all forms that were possible
};

/// One layer, or a convolution and the add after it: its operations and the place of its result.
struct PlannedLayer {
    std::string name;  ///< of the layer whose result it is
    Shape shape;       ///< of the result, as the network has it
    LayerKind kind = LayerKind::Conv;
    StoredCube stored;
    std::uint64_t macs = 0;  ///< that the network asks for
    std::size_t first_operation = 0;
    std::size_t operations = 0;
    std::size_t last_reader = 0;      ///< last operation that reads the result; 0: it is an output
    std::uint32_t readers = 0;        ///< layers that read it
    bool output = false;              ///< one of the network's results: stays to the end
    std::string first_layer{};        ///< that it begins with: a joined convolution, or itself
    std::optional<ConvChoice> cut{};  ///< of a convolution

    /// As results name it: `conv1+pool1` where two are joined.
    std::string result_name() const {
        const bool joined = first_layer != name && !first_layer.empty();
        return joined ? first_layer + "+" + name : name;
    }
    /// After which the complete result is available.
    std::size_t last_operation() const { return first_operation + operations - 1; }
};

/// An input of the network other than the first: a layer that computes nothing.
struct PlannedInput {
    std::string name;
    Shape shape;
    StoredCube stored;

    std::string image() const { return name + "_input"; }  ///< of the plan
};

struct Plan {
    std::string name;
    AddressMap registers = AddressMap::NvSmall;  ///< where the target has them
    Precision precision = Precision::Int8;       ///< of feature maps
    std::vector<Operation> operations;
    std::vector<PlannedImage> images;
    StoredCube input;  ///< the network's input
    std::vector<PlannedInput> more_inputs{};
    std::vector<PlannedLayer> layers;  ///< in the order of their operations
    Bytes memory;                      ///< from the first address to the end of the last surface
    Bytes sram;                        ///< the same, behind the second port
    unsigned meetings = 0;             ///< after the last operation, as before each
};

/// For a timing-only run.
inline Plan without_images(Plan plan) {
    for (PlannedImage& image : plan.images) {
        image.image = {};
    }
    return plan;
}

}  // namespace npuscope
