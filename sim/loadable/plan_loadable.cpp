// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/plan_loadable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "models/base/check.h"
#include "models/base/error.h"
#include "models/npu/pipelines.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/loadable/described_registers.h"
#include "sim/loadable/descriptor_bytes.h"
#include "sim/loadable/register_verifier.h"

namespace npuscope {
namespace {

// source: NVDLA sw, nvdla_ioctl.h, NVDLA_MAX_BUFFERS_PER_TASK
constexpr std::size_t most_addresses = 6144;
constexpr std::uint32_t memory_page = 4096;

/// A memory of the loadable and the bytes of the plan that it represents.
struct Piece {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::int16_t address = -1;     ///< of the task
    std::size_t from = 0;          ///< operations that see it there: the first,
    std::size_t until = SIZE_MAX;  ///< and the one after the last
};

std::size_t unit_index(DlaUnit unit) { return static_cast<std::size_t>(unit); }

class Writer {
 public:
    Writer(const Plan& plan, const LoadableBinding& binding, const NpuConfig& npu)
        : plan_(plan), binding_(binding), npu_(npu) {}

    Loadable write() {
        if (plan_.sram > Bytes(0)) {
            throw ConfigError(
                "the plan uses SRAM, which NVIDIA's driver does not provide to loadables",
                "leave `surfaces` out of the memory's second region");
        }
        for (const char* list : {"addr0", "dep_graph", "op_list", "surf_list"}) {
            reserve_list(list);
        }
        const bool looks_up = std::ranges::any_of(
            plan_.operations, [](const Operation& one) { return !one.table.empty(); });
        if (looks_up) {
            reserve_list("lut_list");
        }
        place_images();
        place_bound();
        place_results();
        for (std::size_t i = 0; i < plan_.operations.size(); ++i) {
            describe(i);
        }
        write_lists();
        if (loadable_.addresses.size() > most_addresses) {
            throw ConfigError(
                fmt::format("the loadable would have {} memories, but a task may have at most {}",
                            loadable_.addresses.size(), most_addresses),
                "plan it as a register program: --out DIR");
        }
        LoadableTask task;
        for (std::size_t i = 0; i < loadable_.addresses.size(); ++i) {
            task.addresses.push_back(static_cast<std::uint16_t>(i));
        }
        add_events(task);
        loadable_.tasks.push_back(std::move(task));
        loadable_.submits.push_back({0});
        return std::move(loadable_);
    }

 private:
    // --- memories ---

    std::int16_t add_memory(LoadableMemory memory) {
        memory.alignment = memory_page;
        loadable_.addresses.push_back(
            {static_cast<std::uint16_t>(loadable_.memories.size()), 0, memory.size});
        loadable_.memories.push_back(std::move(memory));
        return static_cast<std::int16_t>(loadable_.addresses.size() - 1);
    }
    void reserve_list(const std::string& name) {
        LoadableMemory memory;
        memory.flags |= LoadableMemory::set;
        memory.contents = {{"task-0-" + name, 0}};
        add_memory(std::move(memory));
    }
    void set_list(std::size_t index, std::vector<std::uint8_t> data) {
        LoadableMemory& memory = loadable_.memories[index];
        memory.size = loadable_.addresses[index].size = data.size();
        loadable_.blobs.push_back({memory.contents.front().blob, LoadableInterface::Dla, 0,
                                   dla_current_version, std::move(data)});
    }

    static std::vector<std::uint8_t> bytes_of(const PlannedImage& image) {
        std::vector<std::uint8_t> bytes(image.bytes.value);
        for (const MemoryImage::Run& run : image.image.runs) {
            const auto from = image.image.bytes.begin() + static_cast<std::ptrdiff_t>(run.position);
            std::copy(from, from + static_cast<std::ptrdiff_t>(run.size),
                      bytes.begin() + static_cast<std::ptrdiff_t>(run.offset));
        }
        return bytes;
    }
    bool is_input(const PlannedImage& image) const {
        return image.address == plan_.input.cube.base ||
               std::ranges::any_of(plan_.more_inputs, [&](const PlannedInput& input) {
                   return image.address == input.stored.cube.base;
               });
    }

    void place_images() {
        for (const PlannedImage& image : plan_.images) {
            if (is_input(image) || image.bytes == Bytes(0)) {
                continue;
            }
            LoadableMemory memory;
            memory.flags |= LoadableMemory::set;
            memory.size = image.bytes.value;
            memory.contents = {{"tb-" + image.name, 0}};
            loadable_.blobs.push_back({memory.contents.front().blob, LoadableInterface::None, 0,
                                       LoadableVersion{}, bytes_of(image)});
            add_piece(image.address, image.bytes, add_memory(std::move(memory)));
        }
    }

    Piece& add_piece(Address address, Bytes bytes, std::int16_t index) {
        pieces_.push_back(
            {.begin = address.value, .end = address.value + bytes.value, .address = index});
        return pieces_.back();
    }

    void place_bound() {
        for (std::size_t i = 0; i < binding_.inputs.size(); ++i) {
            const PlannedTensor& input = binding_.inputs[i];
            const StoredCube& stored = input_cube(input.layer);
            const auto image =
                std::ranges::find(plan_.images, stored.cube.base, &PlannedImage::address);
            NPU_CHECK(image != plan_.images.end(), "an input has an image");
            bind(input.name, stored, image->address, image->bytes, true, i).until =
                first_writer(image->address, image->bytes);
        }
        for (std::size_t i = 0; i < binding_.outputs.size(); ++i) {
            const PlannedTensor& output = binding_.outputs[i];
            const auto layer = std::ranges::find(plan_.layers, output.layer, &PlannedLayer::name);
            NPU_CHECK(layer != plan_.layers.end() && layer->output, "every output is planned");
            const StoredCube& stored = layer->stored;
            std::size_t first = layer->first_operation;
            for (const StoredCube::Writer& writer : stored.writers) {
                first = std::min(first, writer.operation);
            }
            bind(output.name, stored, stored.cube.base, stored.cube.extent(), false, i).from =
                first;
        }
    }
    const StoredCube& input_cube(const std::string& layer) const {
        if (layer.empty()) {
            return plan_.input;
        }
        const auto found = std::ranges::find(plan_.more_inputs, layer, &PlannedInput::name);
        NPU_CHECK(found != plan_.more_inputs.end(), "every input is planned");
        return found->stored;
    }

    Piece& bind(const std::string& name, const StoredCube& stored, Address address, Bytes bytes,
                bool input, std::size_t id) {
        if (stored.has_holes() && !stored.pixels) {
            throw ConfigError(
                fmt::format(
                    "'{}' has unused lanes in its atoms, which a loadable's tensor cannot describe",
                    name),
                "choose an NPU whose datapath.atomic_k fills an atom");
        }
        LoadableMemory memory;
        memory.flags |= input ? LoadableMemory::input : LoadableMemory::output;
        memory.size = bytes.value;
        memory.bind_id = static_cast<std::uint16_t>(id);
        memory.tensor = static_cast<std::uint16_t>(loadable_.tensors.size());
        LoadableTensor tensor = tensor_of(stored);
        tensor.name = name;
        tensor.memory = static_cast<std::uint16_t>(loadable_.memories.size());
        tensor.size = bytes.value;
        loadable_.tensors.push_back(std::move(tensor));
        return add_piece(address, bytes, add_memory(std::move(memory)));
    }

    LoadableTensor tensor_of(const StoredCube& stored) const {
        constexpr std::uint8_t own_format = 3, feature = 2, image = 0;
        LoadableTensor tensor;
        const FeatureCube& cube = stored.cube;
        tensor.type = plan_.precision == Precision::Int8    ? LoadableType::Int8
                      : plan_.precision == Precision::Int16 ? LoadableType::Int16
                                                            : LoadableType::Half;
        tensor.c = static_cast<std::int32_t>(cube.shape.channels);
        tensor.h = static_cast<std::int32_t>(cube.shape.height);
        tensor.w = static_cast<std::int32_t>(cube.shape.width);
        tensor.data_format = own_format;
        tensor.category = feature;
        tensor.pixel_format = cube.atom == Bytes(8) ? loadable_feature_x8 : loadable_feature;
        tensor.strides = {static_cast<std::uint32_t>(cube.element.value),
                          static_cast<std::uint32_t>(cube.line_stride.value),
                          static_cast<std::uint32_t>(cube.surface_stride.value)};
        if (stored.pixels) {
            tensor.data_format = 1;
            tensor.category = image;
            tensor.pixel_format = stored.pixels->format->code;
            tensor.strides = {
                static_cast<std::uint32_t>(stored.pixels->format->pixel_bytes(0).value),
                static_cast<std::uint32_t>(stored.pixels->line_stride[0].value)};
        }
        return tensor;
    }

    /// Everything outside the pieces: results between the layers, as one memory.
    void place_results() {
        std::uint64_t begin = UINT64_MAX;
        std::uint64_t end = 0;
        for (const Operation& operation : plan_.operations) {
            const FeatureCube& cube = operation.destination();
            begin = std::min(begin, cube.base.value);
            end = std::max(end, cube.base.value + cube.extent().value);
        }
        LoadableMemory memory;
        memory.size = end - begin;
        results_ = {.begin = begin, .end = end, .address = add_memory(std::move(memory))};
    }
    std::size_t first_writer(Address address, Bytes bytes) const {
        for (std::size_t i = 0; i < plan_.operations.size(); ++i) {
            const FeatureCube& cube = plan_.operations[i].destination();
            if (cube.base.value < address.value + bytes.value &&
                address.value < cube.base.value + cube.extent().value) {
                return i;
            }
        }
        return SIZE_MAX;
    }

    const Piece& piece_at(std::size_t operation, std::uint64_t address) const {
        for (const Piece& piece : pieces_) {
            if (address >= piece.begin && address < piece.end && operation >= piece.from &&
                operation < piece.until) {
                return piece;
            }
        }
        NPU_CHECK(address >= results_.begin && address < results_.end,
                  "every surface of a plan lies in its memory");
        return results_;
    }

    // --- operations ---

    void describe(std::size_t index) {
        const Operation& planned = plan_.operations[index];
        const OperationRegisters registers(operation_registers(planned));
        std::map<std::int16_t, std::uint64_t> bases;
        std::vector<std::string> changed;  // stage registers that express the same differently
        const PlaceCube place = [&](DlaCube& cube, Address address, bool) {
            const Piece& piece = piece_at(index, address.value);
            cube.address = piece.address;
            cube.offset = static_cast<std::uint32_t>(address.value - piece.begin);
            bases[piece.address] = piece.begin;
        };
        std::vector<DlaOperation> parts;
        if (registers.has("NVDLA_CACC")) {
            parts.emplace_back(describe_conv(registers, place));
        }
        if (registers.has("NVDLA_SDP")) {
            SdpDlaOperation sdp = describe_sdp(registers, place);
            for (std::size_t stage = 0; stage < sdp.operation.stages.size(); ++stage) {
                join_operands(registers, sdp, stage, changed);
            }
            if (!planned.table.empty()) {
                add_table(planned, sdp);
            }
            parts.emplace_back(sdp);
        }
        if (registers.has("NVDLA_PDP")) {
            parts.emplace_back(describe_pdp(registers, place));
        }
        const auto address_of = [&](std::int16_t piece, std::uint64_t offset) {
            const auto base = bases.find(piece);
            return Address(base == bases.end() ? offset : base->second + offset);
        };
        verify_registers(planned, parts, {npu_, address_of, changed});
        add_operations(index, parts);
    }

    /// A table per operation: a shared one would be written while the first still looks values up.
    void add_table(const Operation& planned, SdpDlaOperation& sdp) {
        sdp.table = describe_table(planned);
        sdp.operation.table = static_cast<std::int16_t>(tables_.size());
        tables_.push_back(descriptor_bytes(sdp.table, dla_lut_bytes));
    }

    /// A stage with operands from memory and from a register at once has no descriptor: the
    /// register's value is written to memory next to the other, for every channel.
    void join_operands(const OperationRegisters& registers, SdpDlaOperation& sdp, std::size_t index,
                       std::vector<std::string>& changed) {
        static const std::array<std::pair<std::string, std::string>, 3> names{
            {{"BS", "BRDMA"}, {"BN", "NRDMA"}, {"EW", "ERDMA"}}};
        const auto& [stage_name, dma] = names[index];
        DlaSdpStage& stage = sdp.operation.stages[index];
        if (stage.enable == 0 || stage.type != DlaSdpStage::both ||
            stage.mode == DlaSdpStage::per_layer) {
            return;
        }
        std::uint32_t use = 0;
        registers.field("NVDLA_SDP_RDMA", "D_" + dma + "_CFG", dma + "_DATA_USE", use);
        constexpr std::uint32_t of_mul = 0, of_both = 2;
        if (use == of_both || stage.mode != DlaSdpStage::per_kernel || stage_name == "EW") {
            return;  // verification finds what cannot be expressed
        }
        DlaCube& cube = sdp.surfaces.operands[index];
        const std::uint64_t channels = sdp.surfaces.source.channel;
        const std::uint64_t bytes = element_bytes(stage.precision);
        const std::vector<std::uint8_t> held = image_bytes(cube, channels * bytes);
        std::vector<std::uint8_t> pairs;
        const auto append = [&](std::int32_t number) {
            pairs.push_back(static_cast<std::uint8_t>(number & 0xff));
            pairs.push_back(static_cast<std::uint8_t>(number >> 8U & 0xff));
        };
        for (std::uint64_t i = 0; i < channels; ++i) {
            const std::int32_t from_memory =
                bytes == 1 ? static_cast<std::int8_t>(held[i])
                           : static_cast<std::int16_t>(held[2 * i] | held[2 * i + 1] << 8U);
            append(use == of_mul ? stage.alu_operand : from_memory);
            append(use == of_mul ? from_memory : stage.mul_operand);
        }
        stage.precision = DlaPrecision::Int16;
        cube.offset = 0;
        cube.address = pairs_address(std::move(pairs));
        changed = {"D_" + dma + "_CFG",
                   "D_" + stage_name + "_BASE_ADDR_LOW",
                   "D_" + stage_name + "_BASE_ADDR_HIGH",
                   "D_DP_" + stage_name + "_MUL_CFG",
                   "D_DP_" + stage_name + "_MUL_SRC_VALUE",
                   "D_DP_" + stage_name + "_ALU_CFG",
                   "D_DP_" + stage_name + "_ALU_SRC_VALUE"};
    }
    std::vector<std::uint8_t> image_bytes(const DlaCube& cube, std::uint64_t bytes) const {
        const LoadableMemory& memory = loadable_.memories[static_cast<std::size_t>(cube.address)];
        const LoadableBlob* blob = loadable_.blob(memory.contents.front().blob);
        std::vector<std::uint8_t> held(bytes);
        for (std::uint64_t i = 0; i < bytes && cube.offset + i < blob->data.size(); ++i) {
            held[i] = blob->data[cube.offset + i];
        }
        return held;
    }
    std::int16_t pairs_address(std::vector<std::uint8_t> pairs) {
        const auto [known, is_new] =
            pairs_.try_emplace(std::string(pairs.begin(), pairs.end()), std::int16_t{0});
        if (is_new) {
            LoadableMemory memory;
            memory.flags |= LoadableMemory::set;
            memory.size = pairs.size();
            memory.contents = {{fmt::format("tb-pairs-{}", pairs_.size()), 0}};
            loadable_.blobs.push_back({memory.contents.front().blob, LoadableInterface::None, 0,
                                       LoadableVersion{}, std::move(pairs)});
            known->second = add_memory(std::move(memory));
        }
        return known->second;
    }

    /// The parts pass their results on the fly: the last one is enabled first.
    void add_operations(std::size_t index, const std::vector<DlaOperation>& parts) {
        const std::size_t first = operations_.size();
        for (const DlaOperation& part : parts) {
            const auto unit = static_cast<DlaUnit>(part.index());
            DlaCommonOperation common;
            common.unit = unit;
            graph_.push_back(common);
            operations_.push_back(part);
            follow_unit(operations_.size() - 1, index);
        }
        for (std::size_t i = first; i + 1 < operations_.size(); ++i) {
            const DlaUnit next = graph_[i + 1].unit;
            depend(i, graph_[i].consumers[unit_index(next)], i + 1, DlaEvent::Programmed);
            depend(i + 1, graph_[i + 1].fused_parent, i, DlaEvent::Enabled);
        }
        last_of_.push_back(operations_.size() - 1);
        for (const std::size_t before : plan_.operations[index].after) {
            follow(last_of_.at(before));
        }
    }

    void depend(std::size_t /*producer*/, DlaConsumer& slot, std::size_t consumer, DlaEvent event) {
        NPU_CHECK(slot.index == -1, "a consumer's place is free");
        slot = {static_cast<std::int16_t>(consumer), event, 0};
        ++graph_[consumer].dependencies;
    }

    /// Operations of one unit run in order; each is enabled after the preceding one is enabled, or
    /// after it has completed where it needs its result.
    void follow_unit(std::size_t operation, std::size_t planned) {
        const DlaUnit unit = graph_[operation].unit;
        std::optional<std::size_t>& before = newest_[unit_index(unit)];
        if (!before) {
            heads_[unit_index(unit)] = static_cast<std::int16_t>(operation);
        } else {
            const auto& after = plan_.operations[planned].after;
            const bool needs = std::ranges::any_of(after, [&](std::size_t one) {
                return one < last_of_.size() && last_of_[one] == *before;
            });
            depend(*before, graph_[*before].consumers[unit_index(unit)], operation,
                   needs ? DlaEvent::Completed : DlaEvent::Enabled);
        }
        before = operation;
    }

    /// The newest operation, which is the last of its parts, is not enabled before `producer` has
    /// completed. Later ones of its unit need not depend on it: the unit runs them in order.
    void follow(std::size_t producer) {
        const std::size_t consumer = operations_.size() - 1;
        const DlaUnit unit = graph_[consumer].unit;
        if (graph_[producer].unit == unit) {
            return;  // implied by the order of the unit
        }
        DlaConsumer& slot = graph_[producer].consumers[unit_index(unit)];
        if (slot.index == -1) {
            depend(producer, slot, consumer, DlaEvent::Completed);
        }
    }

    void write_lists() {
        if (operations_.size() > INT16_MAX) {
            throw ConfigError(
                fmt::format("{} operations are more than a loadable can hold", operations_.size()),
                "plan it as a register program: --out DIR");
        }
        DlaNetwork network;
        network.dependencies_address = 1;
        network.operations_address = 2;
        network.surfaces_address = 3;
        network.operations = static_cast<std::uint16_t>(operations_.size());
        network.addresses = static_cast<std::uint16_t>(loadable_.addresses.size());
        network.heads = heads_;
        network.tables_address = tables_.empty() ? std::int16_t{-1} : std::int16_t{4};
        network.tables = static_cast<std::uint16_t>(tables_.size());
        std::array<std::vector<std::uint8_t>, 4> lists;
        const auto append = [](std::vector<std::uint8_t>& list,
                               const std::vector<std::uint8_t>& entry) {
            list.insert(list.end(), entry.begin(), entry.end());
        };
        for (std::size_t i = 0; i < operations_.size(); ++i) {
            graph_[i].index = static_cast<std::int16_t>(i);
            append(lists[0], descriptor_bytes(graph_[i], dla_common_bytes));
            std::visit(
                [&](const auto& one) {
                    append(lists[1], descriptor_bytes(one.operation, dla_operation_bytes));
                    append(lists[2], descriptor_bytes(one.surfaces, dla_surfaces_bytes));
                },
                operations_[i]);
        }
        for (const std::vector<std::uint8_t>& table : tables_) {
            append(lists[3], table);
        }
        set_list(0, descriptor_bytes(network, dla_network_bytes));
        for (std::size_t i = 0; i < lists.size(); ++i) {
            if (!lists[i].empty()) {
                set_list(i + 1, std::move(lists[i]));
            }
        }
    }

    /// The end of the task is signalled, as compilers do.
    void add_events(LoadableTask& task) {
        loadable_.events.push_back({0, 0, 1, LoadableEventOp::Signal});
        task.post_actions.push_back(0);
    }

    const Plan& plan_;
    const LoadableBinding& binding_;
    const NpuConfig& npu_;
    Loadable loadable_;
    std::vector<Piece> pieces_;
    Piece results_;
    std::map<std::string, std::int16_t> pairs_;  ///< of operands, and their addresses
    std::vector<std::vector<std::uint8_t>> tables_;
    std::vector<DlaOperation> operations_;
    std::vector<DlaCommonOperation> graph_;
    std::vector<std::size_t> last_of_;  ///< of each planned operation's parts
    std::array<std::optional<std::size_t>, dla_units> newest_{};
    std::array<std::int16_t, dla_units> heads_{-1, -1, -1, -1, -1, -1};
};

}  // namespace

Loadable plan_loadable(const Plan& plan, const LoadableBinding& binding, const NpuConfig& npu) {
    return Writer(plan, binding, npu).write();
}

}  // namespace npuscope
