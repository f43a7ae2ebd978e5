// SPDX-License-Identifier: Apache-2.0
// What the planners of the layers share: the machine to plan for, the addresses given so far, and
// the plan that grows.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "sim/compile/nvdla/conv_tiling.h"
#include "sim/compile/nvdla/memory_map.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/model/network.h"

namespace npuscope {

/// Rows and atoms of channels of a stored cube, ends excluded.
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

/// A layer's result: where it lies, and which operation writes what of it.
struct WrittenCube {
    struct Writer {
        CubePart part;
        std::size_t operation = 0;
    };

    StoredCube stored;
    ArenaPlace place;
    std::vector<Writer> writers;

    CubePart whole() const { return {0, stored.cube.shape.height, 0, stored.cube.surfaces()}; }
    /// The operation after which a part is there: those of one unit end in order.
    void add_writer_of(const CubePart& part, std::vector<std::size_t>& after) const {
        std::optional<std::size_t> last;
        for (const Writer& writer : writers) {
            if (writer.part.meets(part)) {
                last = writer.operation;
            }
        }
        if (last) {
            after.push_back(*last);
        }
    }
};

/// Memory behind the second port, and the layers whose results belong there.
struct SramPlan {
    MemoryMap memory;
    Bytes limit;
    std::set<std::string> results;
};

struct PlanContext {
    TilingCosts costs;
    MemoryMap memory;
    std::optional<SramPlan> sram;
    CompressionChoice compression = CompressionChoice::ByCycles;
    bool winograd = false;
    bool images = true;  ///< make values up; otherwise images are empty
    Plan plan;
    std::optional<std::size_t> last_convolution{};  ///< operation
    std::optional<Diagnostic> problem{};            ///< names the layer that cannot be planned

    const NpuConfig& npu() const { return costs.npu; }
    Bytes atom() const { return costs.npu.datapath.memory_atom; }
    std::uint32_t channels_per_atom() const { return static_cast<std::uint32_t>(atom().value); }

    /// The layer cannot be planned: planning ends with this problem.
    void refuse(const std::string& layer, Diagnostic why) {
        why.sentence = fmt::format("layer '{}': {}", layer, why.sentence);
        why.operation = layer;
        problem = std::move(why);
    }
    /// Room for the result of the layer of this name, without gaps.
    WrittenCube place_cube(const std::string& name, const Shape& shape, std::uint32_t lanes) {
        const auto per_atom = channels_per_atom();
        const std::uint32_t full = (shape.channels - 1) / lanes;
        const Shape stored{full * per_atom + (shape.channels - 1) % lanes + 1, shape.height,
                           shape.width};
        WrittenCube result{
            .stored = {packed_cube(Address(0), stored, atom()), lanes}, .place = {}, .writers = {}};
        const Bytes bytes = result.stored.cube.extent();
        const auto inside = sram && sram->results.contains(name)
                                ? sram->memory.place_within(bytes, sram->limit)
                                : std::nullopt;
        result.stored.in_sram = inside.has_value();
        result.place = inside ? *inside : memory.place_result(bytes);
        result.stored.cube.base = result.place.address;
        return result;
    }
    /// Its bytes may be written again after these operations.
    void give_back(const WrittenCube& cube, const std::vector<std::size_t>& readers) {
        (cube.stored.in_sram ? sram->memory : memory).give_back(cube.place, readers);
    }
    /// Room for the network's input as pixels, plane after plane, lines of whole beats and atoms.
    WrittenCube place_pixels(const Shape& shape, const PixelFormat& format) {
        const std::uint64_t multiple = std::max(npu().mcif.bus_width, atom()).value;
        PixelSurface pixels{
            .format = &format, .atom = atom(), .height = shape.height, .width = shape.width};
        Bytes bytes;
        for (std::uint32_t plane = 0; plane < format.planes; ++plane) {
            const Bytes line = format.pixel_bytes(plane) * shape.width;
            pixels.line_stride[plane] = Bytes(round_up(line.value, multiple));
            pixels.base[plane] = Address(bytes.value);
            bytes = Bytes(round_up((bytes + pixels.line_stride[plane] * shape.height).value, 256));
        }
        WrittenCube result{
            .stored = {packed_cube(Address(0), shape, atom()), channels_per_atom(), pixels},
            .place = memory.place_result(bytes),
            .writers = {}};
        result.stored.cube.base = result.place.address;
        for (std::uint32_t plane = 0; plane < format.planes; ++plane) {
            Address& base = result.stored.pixels->base[plane];
            base = result.place.address + Bytes(base.value);
        }
        return result;
    }
    /// An image of its own at a new address; the bytes to fill, none where images are left out.
    /// The span is good until the next image.
    std::pair<Address, std::span<std::uint8_t>> place_image(const std::string& name, Bytes bytes) {
        PlannedImage placed{name, memory.place_constant(bytes), bytes, {}};
        if (images) {
            placed.image.bytes.resize(bytes.value);
            placed.image.runs.push_back({0, 0, bytes.value});
        }
        plan.images.push_back(std::move(placed));
        PlannedImage& image = plan.images.back();
        return {image.address, image.image.bytes};
    }

    /// Whether its end could meet that of the convolution before in the accumulator.
    bool ends_may_meet(const ConvOperation& conv) const {
        const Shape& output = conv.conv.csc.output;
        const std::uint32_t cells = npu().datapath.atomic_k;
        const std::uint64_t groups = divide_up(output.channels, cells);
        return npu().cacc.ends_may_meet(std::uint64_t{output.width} * output.height * groups,
                                        cells);
    }

    /// Adds an operation that writes a part of a result.
    void add(Operation operation, const CubePart& part, WrittenCube& written) {
        const std::size_t index = plan.operations.size();
        if (const auto* conv = std::get_if<ConvOperation>(&operation.job)) {
            if (last_convolution && ends_may_meet(*conv)) {
                operation.after.push_back(*last_convolution);
            }
            last_convolution = index;
        }
        for (const std::size_t reader : written.place.readers) {
            // convolutions and the SDP end in order, and write after all that came before
            if (operation.ends_in_pdp() != plan.operations[reader].ends_in_pdp()) {
                operation.after.push_back(reader);
            }
        }
        std::ranges::sort(operation.after);
        operation.after.erase(std::unique(operation.after.begin(), operation.after.end()),
                              operation.after.end());
        plan.operations.push_back(std::move(operation));
        written.writers.push_back({part, index});
    }
};

/// A cube as SDP and PDP address it: whole atoms of channels.
inline FeatureCube whole_atoms(FeatureCube cube) {
    cube.shape.channels = cube.surfaces() * cube.channels_per_atom();
    return cube;
}

/// A surface's operand, one byte an element, as the SDP's read DMA fetches it.
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
                     .component = Bytes(1)};
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

// Who has yet to read each result of a network: after the last reader its bytes are free. Inputs
// count as results; outputs have a reader that never comes.

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
    const WrittenCube& cube_of(std::optional<std::size_t> source) { return *at(source).cube; }
    bool is_there(std::size_t layer) const { return results_[layer].cube.has_value(); }
    bool is_output(std::size_t layer) const { return output_[layer]; }

    void place_input(std::optional<std::size_t> source, WrittenCube cube) {
        at(source).cube = std::move(cube);
        at(source).in_memory = true;
    }
    /// `planned`: its number in the plan.
    void place_result(std::size_t layer, WrittenCube cube, std::size_t planned) {
        results_[layer].cube = std::move(cube);
        results_[layer].in_memory = true;
        results_[layer].planned = planned;
    }
    /// Joined to another layer: the result never is in memory.
    void join(std::size_t layer) { results_[layer].cube = WrittenCube{}; }

    /// A layer has been planned that read its sources.
    void note_reads(std::size_t layer, PlanContext& context) {
        for (const std::optional<std::size_t> source : shapes_[layer].sources) {
            if (at(source).in_memory) {
                note_read(at(source), context);
            }
        }
    }

 private:
    struct Result {
        std::optional<WrittenCube> cube;
        std::size_t readers_to_come = 0;
        std::vector<std::size_t> readers;    ///< last operation of each layer that has read it
        bool in_memory = false;              ///< false as well where it was joined
        std::optional<std::size_t> planned;  ///< number in plan.layers; inputs have none
    };

    Result& at(std::optional<std::size_t> source) { return source ? results_[*source] : input_; }

    static void note_read(Result& result, PlanContext& context) {
        result.readers.push_back(context.plan.operations.size() - 1);
        if (result.planned) {
            PlannedLayer& layer = context.plan.layers[*result.planned];
            layer.last_reader = result.readers.back();
            ++layer.readers;
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

}  // namespace npuscope
