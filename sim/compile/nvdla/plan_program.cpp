// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/plan_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "models/base/check.h"
#include "models/cdp/cdp_registers.h"
#include "models/conv/conv_registers.h"
#include "models/glb/interrupt.h"
#include "models/npu/register_blocks.h"
#include "models/pdp/pdp_registers.h"
#include "models/sdp/sdp_registers.h"
#include "sim/compile/surface_files.h"
#include "sim/config/file_name.h"
#include "sim/model/network.h"

namespace npuscope {
namespace {

/// Registers of an operation's group, in both groups of one block.
struct BlockState {
    unsigned next_group = 0;
    std::array<std::vector<std::uint32_t>, 2> values;  ///< empty: unknown
    std::array<std::optional<std::size_t>, 2> user;    ///< operation that last used the group
};

class ProgramWriter {
 public:
    explicit ProgramWriter(Plan plan) : plan_(std::move(plan)) {}

    Program write() {
        program_.name = plan_.name;
        program_.surfaces = plan_surfaces(plan_);
        finished_.resize(plan_.operations.size());
        constexpr std::size_t of_each = 64;  // approximate maximum; moving statements is slow
        program_.statements.reserve(of_each * plan_.operations.size());
        std::set<std::size_t> again;
        for (const Operation& operation : plan_.operations) {
            again.insert(operation.loads.begin(), operation.loads.end());
        }
        for (std::size_t i = 0; i < plan_.images.size(); ++i) {
            load(i, again.contains(i) ? plan_.images[i].image : std::move(plan_.images[i].image));
        }
        unmask_interrupts();
        const RegisterBlock& cdma = cdma_block;
        const RegisterRow& flush = *find_register(cdma, "S_CBUF_FLUSH_STATUS");
        add(PollRegister{spelled(cdma.name, flush.name), cdma.base + flush.offset, 0xffffffff, 1});
        for (const PlannedLayer& layer : plan_.layers) {
            add(BeginLayer{layer.result_name(), std::string(enum_name(layer.kind)), layer.macs,
                           layer.operations});
            for (std::size_t i = 0; i < layer.operations; ++i) {
                write_operation(layer.first_operation + i);
            }
        }
        meet(plan_.meetings, plan_.operations.size());
        if (plan_.registers != AddressMap::NvSmall) {
            move_registers();
        }
        return std::move(program_);
    }

 private:
    template <class ActionType>
    void add(ActionType action) {
        program_.statements.push_back({Place{plan_.name, 0, 0}, std::move(action)});
    }
    void write_register(const RegisterBlock& block, const RegisterRow& row, std::uint32_t value) {
        add(WriteRegister{spelled(block.name, row.name), block.base + row.offset, value});
    }
    void write_register(const RegisterBlock& block, std::string_view name, std::uint32_t value) {
        write_register(block, *find_register(block, name), value);
    }

    void load(std::size_t index, MemoryImage image) {
        const PlannedImage& planned = plan_.images[index];
        add(LoadMemory{MemoryPort::Primary, planned.address, std::move(image),
                       file_name(planned.name, ".dat")});
    }

    /// Registers have the same names in both address maps; statements get the target's addresses.
    void move_registers() {
        const auto address = [this](const std::string& name) {
            const auto place = find_place(nvdla_register_blocks(plan_.registers), name);
            NPU_CHECK(place.has_value(), "the target has no register " + name);
            return place->address();
        };
        for (Statement& statement : program_.statements) {
            if (auto* write = std::get_if<WriteRegister>(&statement.action)) {
                write->address = address(write->name);
            } else if (auto* poll = std::get_if<PollRegister>(&statement.action)) {
                poll->address = address(poll->name);
            }
        }
    }

    /// Only for the units that write results to memory.
    void unmask_interrupts() {
        std::uint32_t mask = all_interrupt_bits();
        for (const InterruptSource source :
             {InterruptSource::Sdp, InterruptSource::Pdp, InterruptSource::Cdp}) {
            for (const unsigned group : {0U, 1U}) {
                mask &= ~(1U << interrupt_bit({source, group}));
            }
        }
        write_register(glb_block, "S_INTR_MASK", mask);
    }

    void write_operation(std::size_t index) {
        const Operation& operation = plan_.operations[index];
        const std::vector<RegisterValues> images = operation_registers(operation);
        std::vector<BlockState*> states;
        for (const RegisterValues& image : images) {
            states.push_back(&states_[image.block().name]);
            wait_for(states.back()->user[states.back()->next_group]);
        }
        for (std::size_t i = 0; i < images.size(); ++i) {
            write_block(images[i], *states[i]);
        }
        if (!operation.table.empty()) {
            write_table(images, index);
        }
        for (const std::size_t before : operation.after) {
            NPU_CHECK(before < index, "an operation depends on a later one");
            wait_for(before);
        }
        for (const std::size_t image : operation.loads) {
            load(image, plan_.images[image].image);
        }
        meet(operation.meetings, index);
        const InterruptSource unit = operation.last_unit();
        const Interrupt interrupt{unit, states_.at(block_of(unit).name).next_group};
        for (std::size_t i = 0; i < images.size(); ++i) {
            write_register(images[i].block(), "D_OP_ENABLE", 1);
            states[i]->user[states[i]->next_group] = index;
            states[i]->next_group ^= 1U;
        }
        if (passes_to_pdp(operation)) {  // nothing is in memory yet, but the SDP's group is free
            const Interrupt passed{InterruptSource::Sdp, states_.at("NVDLA_SDP").next_group ^ 1U};
            add(NotifyOnInterrupt{to_string(passed), sdp_sync_name(index)});
            add(CheckNothing{sdp_sync_name(index)});
        }
        add(NotifyOnInterrupt{to_string(interrupt), sync_name(index)});
    }

    /// Waits for the other NPUs, once all operations before `end` have ended.
    void meet(unsigned times, std::size_t end) {
        if (times == 0) {
            return;
        }
        for (std::size_t i = 0; i < end; ++i) {
            wait_for(i);
        }
        for (unsigned i = 0; i < times; ++i) {
            add(MeetInstances{});
        }
    }

    static const RegisterBlock& block_of(InterruptSource unit) {
        return unit == InterruptSource::Pdp   ? pdp_block
               : unit == InterruptSource::Cdp ? cdp_block
                                              : sdp_block;
    }

    /// Both groups use the unit's tables and their setup: an operation with others must have ended.
    void write_table(const std::vector<RegisterValues>& images, std::size_t index) {
        const Operation& operation = plan_.operations[index];
        const RegisterBlock& block = block_of(operation.last_unit());
        const auto image = std::ranges::find(
            images, std::string_view(block.name),
            [](const RegisterValues& values) { return std::string_view(values.block().name); });
        TableState& state = tables_[block.name];
        std::vector<std::size_t> changed;
        for (std::size_t i = 0; i < block.rows.size(); ++i) {
            const std::string_view name = block.rows[i].name;
            const bool ours = name.starts_with("S_LUT_") && !name.starts_with("S_LUT_ACCESS");
            if (ours && (state.words.empty() || state.words[i] != image->words()[i])) {
                changed.push_back(i);
            }
        }
        if (!changed.empty() || state.entries != operation.table) {
            wait_for(state.user);
        }
        if (state.entries.empty()) {
            load_entries(block, 0, std::vector<std::int16_t>(kLeEntries));
        }
        for (const std::size_t i : changed) {
            write_register(block, block.rows[i], image->words()[i]);
        }
        if (state.entries != operation.table) {
            load_entries(block, 1, operation.table);
        }
        state = {operation.table, image->words(), index};
    }
    /// `table`: 0 is LE, 1 is LO. source: NVDLA_SDP.rdl, S_LUT_ACCESS_CFG
    void load_entries(const RegisterBlock& block, std::uint32_t table,
                      const std::vector<std::int16_t>& entries) {
        constexpr std::uint32_t write_from_first = 0x2'0000;
        write_register(block, "S_LUT_ACCESS_CFG", write_from_first | table << 16U);
        const RegisterRow& data = *find_register(block, "S_LUT_ACCESS_DATA");
        for (const std::int16_t entry : entries) {
            write_register(block, data, static_cast<std::uint16_t>(entry));
        }
    }

    static bool passes_to_pdp(const Operation& operation) {
        const auto* conv = std::get_if<ConvOperation>(&operation.job);
        return conv != nullptr && conv->pdp;
    }
    static std::string sdp_sync_name(std::size_t operation) {
        return sync_name(operation) + "_sdp";
    }

    void write_block(const RegisterValues& image, BlockState& state) {
        const RegisterBlock& block = image.block();
        write_register(block, "S_POINTER", state.next_group);
        std::vector<std::uint32_t>& held = state.values[state.next_group];
        for (std::size_t i = 0; i < block.rows.size(); ++i) {
            const RegisterRow& row = block.rows[i];
            const bool ours =
                row.name.starts_with("D_") && row.name != "D_OP_ENABLE" && write_mask(row) != 0;
            if (ours && (held.empty() || held[i] != image.words()[i])) {
                write_register(block, row, image.words()[i]);
            }
        }
        held = image.words();
    }

    void wait_for(std::optional<std::size_t> operation) {
        if (!operation || finished_[*operation]) {
            return;
        }
        finished_[*operation] = true;
        const InterruptSource unit = plan_.operations[*operation].last_unit();
        add(SyncWait{std::string(enum_name(unit)), sync_name(*operation)});
        if (passes_to_pdp(plan_.operations[*operation])) {
            add(SyncWait{"SDP", sdp_sync_name(*operation)});
        }
    }

    Plan plan_;
    Program program_;
    /// Contents of a unit's table and its registers, and the operation that used them last.
    struct TableState {
        std::vector<std::int16_t> entries;
        std::vector<std::uint32_t> words;
        std::optional<std::size_t> user;
    };

    std::map<std::string_view, BlockState> states_;
    std::map<std::string_view, TableState> tables_;  ///< by block
    std::vector<bool> finished_;                     ///< the host has waited for the operation
};

}  // namespace

std::string sync_name(std::size_t operation) { return fmt::format("sync_id_{}", operation); }

Program plan_program(Plan plan) { return ProgramWriter(std::move(plan)).write(); }

std::vector<RegisterValues> operation_registers(const Operation& operation) {
    if (const auto* pdp = std::get_if<PdpJob>(&operation.job)) {
        return encode_pdp(*pdp);
    }
    if (const auto* sdp = std::get_if<SdpJob>(&operation.job)) {
        return encode_sdp(*sdp);
    }
    if (const auto* cdp = std::get_if<CdpJob>(&operation.job)) {
        return encode_cdp(*cdp);
    }
    const auto& conv = std::get<ConvOperation>(operation.job);
    std::vector<RegisterValues> images;
    if (conv.pdp) {
        images = encode_pdp(*conv.pdp);
    }
    for (RegisterValues& image : encode_sdp(conv.sdp)) {
        images.push_back(std::move(image));
    }
    for (RegisterValues& image : encode_conv(conv.conv, conv.destination())) {
        images.push_back(std::move(image));
    }
    return images;
}

std::vector<ExpectedResult> expected_results(const Plan& plan) {
    std::vector<ExpectedResult> results;
    for (const PlannedLayer& layer : plan.layers) {
        results.push_back({layer.name, sync_name(layer.last_operation()), layer.stored.cube.base,
                           layer.stored.cube.extent(),
                           layer.stored.in_sram ? MemoryPort::Secondary : MemoryPort::Primary});
    }
    return results;
}

void insert_after(Program& program, const std::string& sync, Statement statement) {
    const auto raises = [&](const Statement& other) {
        const auto* notify = std::get_if<NotifyOnInterrupt>(&other.action);
        return notify != nullptr && notify->sync == sync;
    };
    const auto found = std::ranges::find_if(program.statements, raises);
    NPU_CHECK(found != program.statements.end(), "nothing raises " + sync);
    program.statements.insert(std::next(found), std::move(statement));
}

void add_expectations(Program& program, const std::vector<ExpectedResult>& results,
                      const std::vector<std::uint32_t>& crcs) {
    for (std::size_t i = 0; i < results.size(); ++i) {
        const ExpectedResult& result = results[i];
        const CheckCrc check{result.sync, result.memory, result.address, result.bytes,
                             crcs.empty() ? 0 : crcs.at(i)};
        insert_after(program, result.sync,
                     {Place{result.layer, static_cast<unsigned>(i + 1), 0}, check});
    }
}

namespace {

/// The text that parse_surface_spec() reads.
std::string spec_of(const StoredCube& stored, const Shape& shape, Precision precision) {
    const ElementType element = stored.pixels ? ElementType::Uint8 : map_element(precision);
    return fmt::format("{}:1x{}:{}:{}", to_hex(stored.cube.base), shape_text(shape),
                       enum_name(element), memory_layout_text(stored));
}

/// Bytes as stored: weights may be compressed or transformed.
std::string bytes_spec(const PlannedImage& image) {
    return fmt::format("{}:{}:uint8:W", to_hex(image.address), image.bytes.value);
}

}  // namespace

std::vector<NamedSurface> plan_surfaces(const Plan& plan) {
    std::vector<NamedSurface> surfaces;
    const Shape input = plan.input.cube.shape;
    surfaces.push_back({.name = "input", .spec = spec_of(plan.input, input, plan.precision)});
    for (const PlannedInput& more : plan.more_inputs) {
        surfaces.push_back(
            {.name = more.name, .spec = spec_of(more.stored, more.shape, plan.precision)});
    }
    for (const PlannedLayer& layer : plan.layers) {
        surfaces.push_back({.name = layer.name,
                            .spec = spec_of(layer.stored, layer.shape, plan.precision),
                            .after = sync_name(layer.last_operation()),
                            .is_result = true});
    }
    for (const PlannedImage& image : plan.images) {
        const bool known = std::ranges::any_of(surfaces, [&](const NamedSurface& surface) {
            return surface.name == image.name || surface.name + "_input" == image.name;
        });
        if (!known && image.bytes > Bytes(0)) {
            surfaces.push_back({.name = image.name, .spec = bytes_spec(image)});
        }
    }
    return surfaces;
}

}  // namespace npuscope
