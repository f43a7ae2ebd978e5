// SPDX-License-Identifier: Apache-2.0
#include "models/bdma/bdma_registers.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "models/base/register_rows.h"
#include "models/layout/register_coder.h"

namespace npuscope {
namespace {

// Registers of NVDLA_BDMA: the bridge DMA between the two memory ports.
// source: NVDLA register specification, nv_small, NVDLA_BDMA.rdl
constexpr RegisterText bdma_text[] = {
    {"CFG_SRC_ADDR_LOW", 0x00, {rw("V32", 5, 27)}},
    {"CFG_SRC_ADDR_HIGH", 0x04, {rw("V8", 0, 32)}},
    {"CFG_DST_ADDR_LOW", 0x08, {rw("V32", 5, 27)}},
    {"CFG_DST_ADDR_HIGH", 0x0c, {rw("V8", 0, 32)}},
    {"CFG_LINE", 0x10, {rw("SIZE", 0, 13)}},
    {"CFG_CMD", 0x14, {rw("SRC_RAM_TYPE", 0, 1), rw("DST_RAM_TYPE", 1, 1)}},
    {"CFG_LINE_REPEAT", 0x18, {rw("NUMBER", 0, 24)}},
    {"CFG_SRC_LINE", 0x1c, {rw("STRIDE", 5, 27)}},
    {"CFG_DST_LINE", 0x20, {rw("STRIDE", 5, 27)}},
    {"CFG_SURF_REPEAT", 0x24, {rw("NUMBER", 0, 24)}},
    {"CFG_SRC_SURF", 0x28, {rw("STRIDE", 5, 27)}},
    {"CFG_DST_SURF", 0x2c, {rw("STRIDE", 5, 27)}},
    {"CFG_OP", 0x30, {rw("EN", 0, 1)}},
    {"CFG_LAUNCH0", 0x34, {rw("GRP0_LAUNCH", 0, 1)}},
    {"CFG_LAUNCH1", 0x38, {rw("GRP1_LAUNCH", 0, 1)}},
    {"CFG_STATUS", 0x3c, {rw("STALL_COUNT_EN", 0, 1)}},
    {"STATUS",
     0x40,
     {ro("FREE_SLOT", 0, 8, 0x14), ro("IDLE", 8, 1, 1), ro("GRP0_BUSY", 9, 1),
      ro("GRP1_BUSY", 10, 1)}},
    {"STATUS_GRP0_READ_STALL", 0x44, {ro("COUNT", 0, 32)}},
    {"STATUS_GRP0_WRITE_STALL", 0x48, {ro("COUNT", 0, 32)}},
    {"STATUS_GRP1_READ_STALL", 0x4c, {ro("COUNT", 0, 32)}},
    {"STATUS_GRP1_WRITE_STALL", 0x50, {ro("COUNT", 0, 32)}},
};
constexpr auto bdma_rows = to_rows(bdma_text);

/// `side`: SRC or DST. Addresses and strides are in their registers at their own bit positions.
template <class Visitor, class Side>
void describe_side(Visitor& visit, const std::string& side, Side& place) {
    visit.address("CFG_" + side + "_ADDR_HIGH", "CFG_" + side + "_ADDR_LOW", place.base);
    visit.bytes("CFG_" + side + "_LINE", place.line_stride);
    visit.bytes("CFG_" + side + "_SURF", place.surface_stride);
    visit.inverse_flag("CFG_CMD", side + "_RAM_TYPE", place.in_sram);
}

template <class Visitor, class Job>
void describe(Visitor& visit, Job& job, Bytes memory_atom) {
    describe_side(visit, "SRC", job.source);
    describe_side(visit, "DST", job.destination);
    auto atoms = static_cast<std::uint32_t>(job.line / memory_atom);
    visit.size("CFG_LINE", "SIZE", atoms);
    visit.size("CFG_LINE_REPEAT", "NUMBER", job.lines);
    visit.size("CFG_SURF_REPEAT", "NUMBER", job.surfaces);
    if constexpr (Visitor::decodes) {
        job.line = memory_atom * atoms;
    }
}

}  // namespace

constinit const RegisterBlock bdma_block{"NVDLA_BDMA", 0x10000, bdma_rows};

std::optional<BdmaJob> decode_bdma(const RegisterValues& values, const BdmaConfig& config,
                                   Bytes memory_atom, Diagnostics& findings) {
    RegisterDecoder bdma(values, findings);
    bdma.refuse_unless(config.present, {"CFG_OP", "EN"}, "this NPU has no BDMA",
                       "choose a preset with bdma.present = true");
    BdmaJob job;
    describe(bdma, job, memory_atom);
    bdma.require_surface("CFG_LINE_REPEAT", {std::uint64_t{job.lines} * job.surfaces, job.line});
    return unless_refused(job, findings);
}

RegisterValues encode_bdma(const BdmaJob& job, Bytes memory_atom) {
    RegisterEncoder bdma(bdma_block);
    describe(bdma, job, memory_atom);
    return bdma.values();
}

Diagnostic empty_launch(unsigned group) {
    const std::string name = spelled(bdma_block.name, fmt::format("CFG_LAUNCH{}", group));
    return {.id = "bdma_empty",
            .sentence = name +
                        " was written without a command since the last launch; no interrupt "
                        "follows",
            .remedy = "add a command with CFG_OP first",
            .unit = "bdma",
            .register_name = name};
}

std::vector<SurfaceUse> surfaces_of(const BdmaJob& job) {
    const auto moved = [&job](const MovedSide& names, const BdmaSide& side, bool writes) {
        constexpr std::uint64_t most = 1U << 16U;  // a larger one is represented by its ends
        SurfaceUse use = ends_use(names, {side.base, job.line},
                                  {side.line(job.lines - 1, job.surfaces - 1), job.line});
        use.writes = writes;
        const std::string name = writes ? "CFG_DST" : "CFG_SRC";
        const bool lines_fit = job.lines == 1 || side.line_stride >= job.line;
        use.stride_register = name + (lines_fit ? "_SURF" : "_LINE");
        use.repeats = (lines_fit ? side.surface_stride : side.line_stride) == Bytes(0);
        use.placing = {name + "_LINE", name + "_SURF", "CFG_LINE", "CFG_LINE_REPEAT",
                       "CFG_SURF_REPEAT"};
        if (std::uint64_t{job.lines} * job.surfaces > most) {
            return use;
        }
        std::vector<ByteRun> runs;
        for (std::uint32_t surface = 0; surface < job.surfaces; ++surface) {
            for (std::uint32_t line = 0; line < job.lines; ++line) {
                runs.push_back({side.line(line, surface), job.line});
            }
        }
        return with_runs(std::move(use), std::move(runs));
    };
    return {moved({"NVDLA_BDMA", "source", "CFG_SRC_ADDR_LOW"}, job.source, false),
            moved({"NVDLA_BDMA", "destination", "CFG_DST_ADDR_LOW"}, job.destination, true)};
}

PlainSurface plain_result(const ElementReader& read, const BdmaJob& job) {
    const auto byte_of = [](const BdmaSide& side, const SurfacePlace& at) {
        return side.line(at.row, at.channel) + Bytes(at.column);
    };
    PlainSurface surface;
    surface.shape = {job.surfaces, job.lines, static_cast<std::uint32_t>(job.line.value)};
    surface.address = [job, byte_of](const SurfacePlace& at) {
        return byte_of(job.destination, at);
    };
    surface.fill([&](const SurfacePlace& at) { return read(byte_of(job.source, at), Bytes(1)); });
    return surface;
}

std::string meaning_of(const BdmaJob& job) {
    return fmt::format("{} x {} lines of {} bytes at {} -> copied to {}", job.surfaces, job.lines,
                       job.line.value, to_hex(job.source.base), to_hex(job.destination.base));
}

}  // namespace npuscope
