// SPDX-License-Identifier: Apache-2.0
// What the layer planners share: the machine to plan for, the addresses assigned so far, the
// growing plan, and which layers have yet to read each result.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/compile/nvdla/row_pieces.h"
#include "sim/model/network.h"

namespace npuscope {

/// Addresses for what a network keeps in memory: constants one after the other, results in an arena
/// after them, whose bytes are reused when the last reader of a result has been planned. Nothing
/// moves; the lowest place that is large enough is used.
class PlanMemory {
 public:
    /// A multiple of every alignment that the format page requires, on every preset.
    static constexpr std::uint64_t alignment = 256;

    /// Constants use `constants` bytes from `base` on; the arena begins after them.
    PlanMemory(Address base, Bytes constants) : base_(base), next_constant_(base) {
        arena_ = arena_end_ = base + Bytes(round_up(constants.value, alignment));
    }

    Address place_constant(Bytes bytes) {
        const Address address = next_constant_;
        next_constant_ = Address(round_up((address + bytes).value, alignment));
        return address;
    }
    ArenaPlace place_result(Bytes bytes);
    /// The same where no more than `limit` bytes are then used; otherwise nothing changes.
    std::optional<ArenaPlace> place_within(Bytes bytes, Bytes limit);
    /// The result's bytes may be overwritten after its readers.
    void give_back(const ArenaPlace& place, const std::vector<std::size_t>& readers);

    Bytes constants() const { return next_constant_ - base_; }
    Bytes used() const { return arena_end_ - base_; }

 private:
    struct Free {
        std::uint64_t bytes = 0;
        std::vector<std::size_t> readers;
    };

    Address base_;
    Address next_constant_;
    Address arena_;
    Address arena_end_;
    std::map<std::uint64_t, Free> free_;  ///< by address
};

/// Memory behind the second port, and the layers whose results belong there.
struct SramPlan {
    PlanMemory memory;
    Bytes limit;
    std::set<std::string> results;
};

struct PlanContext {
    TilingCosts costs;
    PlanMemory memory;
    std::optional<SramPlan> sram;
    CompressionChoice compression = CompressionChoice::ByCycles;
    bool winograd = false;
    bool alternatives = true;
    bool describable = false;  ///< stages are what a loadable's descriptors can express
    bool images = true;        ///< generate values; otherwise images are empty
    Precision precision = Precision::Int8;
    Plan plan;
    std::optional<std::size_t> last_convolution{};  ///< operation
    std::optional<Diagnostic> problem{};            ///< names the layer that cannot be planned

    const NpuConfig& npu() const { return costs.npu; }
    Bytes atom() const { return costs.npu.datapath.memory_atom; }
    Bytes element() const { return Bytes(bytes_of(precision)); }
    std::uint32_t channels_per_atom() const { return costs.npu.datapath.atom_channels(precision); }

    /// The layer cannot be planned: planning ends with this problem.
    void refuse(const std::string& layer, Diagnostic why);
    /// Room for the result of the layer of this name, without gaps.
    StoredCube place_cube(const std::string& name, const Shape& shape, std::uint32_t lanes);
    /// Its bytes may be overwritten after these operations.
    void give_back(const StoredCube& cube, const std::vector<std::size_t>& readers) {
        (cube.in_sram ? sram->memory : memory).give_back(cube.place, readers);
    }
    /// Room for the network's input as pixels, plane after plane, lines of whole beats and atoms.
    StoredCube place_pixels(const Shape& shape, const PixelFormat& format);
    /// A separate image at a new address; returns the bytes to fill, none where images are left
    /// out. The span is valid until the next image.
    std::pair<Address, std::span<std::uint8_t>> place_image(const std::string& name, Bytes bytes);
    /// The SDP copies each value of a stored map to another one, as yet unchanged.
    SdpJob elementwise_job(const StoredCube& from, const StoredCube& to) const;
    /// Adds an operation that writes a part of a result; one of the SDP or the CDP that has more
    /// rows than its registers hold becomes several.
    void add(Operation operation, const CubePart& part, StoredCube& written);

 private:
    void append(Operation operation, const CubePart& part, StoredCube& written);
};

/// Whether the convolution's end could overlap that of the preceding one in the accumulator.
bool ends_may_meet(const ConvOperation& conv, Precision precision, const NpuConfig& npu);

/// A cube as SDP and PDP address it: whole atoms of channels.
inline FeatureCube whole_atoms(FeatureCube cube) {
    cube.shape.channels = cube.surfaces() * cube.channels_per_atom();
    return cube;
}

/// A surface as an operand that the SDP's read DMA fetches.
inline SdpOperandFetch element_operand(const FeatureCube& cube, bool in_sram) {
    const FeatureCube whole = whole_atoms(cube);
    SdpOperandFetch fetch;
    fetch.alu = true;
    fetch.in_sram = in_sram;
    fetch.surface = {.base = whole.base,
                     .line_stride = whole.line_stride,
                     .surface_stride = whole.surface_stride,
                     .shape = whole.shape,
                     .spread = OperandSpread::PerElement,
                     .elements_per_atom = whole.channels_per_atom(),
                     .components = 1,
                     .component = whole.element};
    return fetch;
}

/// 16-bit values for each channel of a result of whole atoms: what a stage adds, and with two
/// components each followed by the factor.
inline SdpOperandFetch kernel_operand(Address base, const Shape& shape, std::uint32_t per_atom,
                                      std::uint32_t components) {
    SdpOperandFetch fetch;
    fetch.alu = true;
    fetch.mul = components == 2;
    fetch.surface = {.base = base,
                     .line_stride = {},
                     .surface_stride = {},
                     .shape = shape,
                     .spread = OperandSpread::PerChannel,
                     .elements_per_atom = per_atom,
                     .components = components,
                     .component = Bytes(2)};
    return fetch;
}

/// A stage that adds an operand from memory, shifted left.
inline SdpXStage add_stage(unsigned shift, bool relu) {
    SdpXStage stage;
    stage.bypass = false;
    stage.alu.bypass = false;
    stage.alu.source = OperandSource::Memory;
    stage.alu.shift_left = shift;
    stage.relu = relu;
    return stage;
}

/// Which layers have yet to read each result of a network: after the last reader its bytes are
/// free. Inputs count as results; outputs have a reader that never comes.
class ResultBoard {
 public:
    ResultBoard(const Network& network, const std::vector<LayerShapes>& shapes)
        : shapes_(shapes), results_(shapes.size()), output_(shapes.size(), false) {
        for (const LayerShapes& layer : shapes) {
            for (const std::optional<std::size_t> source : layer.sources) {
                ++at(source).readers_to_come;
            }
        }
        for (const std::size_t output : network_outputs(network, shapes)) {
            output_[output] = true;
            ++results_[output].readers_to_come;
        }
    }

    /// Nothing: the network's input.
    const StoredCube& cube_of(std::optional<std::size_t> source) { return *at(source).cube; }
    bool is_there(std::size_t layer) const { return results_[layer].cube.has_value(); }
    bool is_output(std::size_t layer) const { return output_[layer]; }

    void place_input(std::optional<std::size_t> source, StoredCube cube) {
        at(source).cube = std::move(cube);
        at(source).in_memory = true;
    }
    /// `planned`: its number in the plan.
    void place_result(std::size_t layer, StoredCube cube, std::size_t planned) {
        results_[layer].cube = std::move(cube);
        results_[layer].in_memory = true;
        results_[layer].planned = planned;
    }
    /// Joined to another layer: the result is never in memory.
    void join(std::size_t layer) { results_[layer].cube = StoredCube{}; }

    /// A layer that reads its sources has been planned.
    void note_reads(std::size_t layer, PlanContext& context) {
        for (const std::optional<std::size_t> source : shapes_[layer].sources) {
            if (at(source).in_memory) {
                note_read(at(source), context);
            }
        }
    }

 private:
    struct Result {
        std::optional<StoredCube> cube;
        std::size_t readers_to_come = 0;
        std::vector<std::size_t> readers;    ///< last operation of each layer that has read it
        bool in_memory = false;              ///< also false where it was joined
        std::optional<std::size_t> planned;  ///< number in plan.layers; inputs have none
    };

    Result& at(std::optional<std::size_t> source) { return source ? results_[*source] : input_; }

    static void note_read(Result& result, PlanContext& context) {
        result.readers.push_back(context.plan.operations.size() - 1);
        if (result.planned) {
            PlannedLayer& layer = context.plan.layers[*result.planned];
            layer.last_reader = result.readers.back();
            ++layer.readers;
        } else {
            for (PlannedImage& image : context.plan.images) {
                if (image.address >= result.cube->place.address &&
                    image.address < result.cube->place.address + result.cube->place.bytes) {
                    image.last_reader = result.readers.back();
                }
            }
        }
        if (--result.readers_to_come == 0) {
            context.give_back(*result.cube, result.readers);
        }
    }

    const std::vector<LayerShapes>& shapes_;
    Result input_;
    std::vector<Result> results_;
    std::vector<bool> output_;
};

/// Where inputs and maps begin, after all constants.
Address first_map(const Plan& plan);

/// Moves everything at `from` or after it, so that it begins at `to`.
void move_results(Plan& plan, Address from, Address to);

/// Which results of a plan go to the memory behind the second port: names of layers, `room` in
/// bytes. Results that most layers read come first, of those the larger, then the earlier ones;
/// each is selected if it fits with all selected before during the operations between which it must
/// stay. A network's input and output and all constants stay where the host puts them.
std::set<std::string> results_for_sram(const Plan& plan, Bytes room);

}  // namespace npuscope
