// SPDX-License-Identifier: Apache-2.0
#include "models/rubik/rubik.h"

#include <algorithm>

#include "models/base/check.h"
#include "models/link/clock.h"

namespace npuscope {
namespace {

/// Channels of a surface that exist.
std::uint32_t planes_of(const RubikJob& job, std::uint32_t surface) {
    const std::uint32_t lanes = job.feature.channels_per_atom();
    return std::min(lanes, job.input.channels - surface * lanes);
}

/// Line `number` of the input, surface by surface.
CubeLine line_of(const RubikJob& job, std::uint64_t number) {
    return {static_cast<std::uint32_t>(number / job.input.height),
            static_cast<std::uint32_t>(number % job.input.height)};
}

// source: NV_NVDLA_RUBIK_seq_gen.v, contract_rd_size and split_rd_size
constexpr std::uint32_t contract_columns = 8;
constexpr std::uint32_t piece_columns = 64;
/// From the last beat of a bank of the register file to its reading.
constexpr Cycles fill_latency{11};  // source: nv_full RTL, simulated

/// The part of a line that one bank of the register file holds.
struct Piece {
    std::uint32_t surface = 0;
    std::uint32_t y = 0;
    std::uint32_t x = 0;
    std::uint32_t columns = 0;
};

std::uint32_t pieces_of_line(const RubikJob& job) {
    return static_cast<std::uint32_t>(divide_up(job.input.width, piece_columns));
}

Piece piece_of(const RubikJob& job, std::uint64_t number) {
    const std::uint32_t pieces = pieces_of_line(job);
    const CubeLine line = line_of(job, number / pieces);
    const auto x = static_cast<std::uint32_t>(number % pieces) * piece_columns;
    return {line.surface, line.y, x, std::min(piece_columns, job.input.width - x)};
}

/// Bytes of a plane's line in a piece: whole atoms.
Bytes plane_bytes(const RubikJob& job, const Piece& piece) {
    return Bytes(round_up((job.feature.element * piece.columns).value, job.feature.atom.value));
}

LineElements elements_of(const RubikJob& job) { return {job.feature.atom, job.feature.element}; }

}  // namespace

Rubik::Rubik(const sc_core::sc_module_name& name, const RubikConfig& config,
             const DatapathConfig& /*datapath*/, Bytes bus_width)
    : Unit(name), config_(config), bus_width_(bus_width) {
    repeat_from(launches, "reshape", [this](Activity& activity) { run_operation(activity); });
}

ByteLine Rubik::fetch(const RubikWork& work, const ByteRun& run, MovedBlock& block) {
    ByteLine bytes(run.bytes.value);
    if (work.values) {
        read_port.fetch(run.address, bytes,
                        {"input", work.name, work.job.source_in_sram, work.values});
    }
    block.reads.push_back(run);
    return bytes;
}

MovedBlock Rubik::contract(const RubikWork& work, std::uint64_t number) {
    const RubikJob& job = work.job;
    const std::uint32_t surfaces = job.contracted.surfaces();
    const auto j = static_cast<std::uint32_t>(number % job.stride_y);
    const CubeLine at = line_of(job, number / job.stride_y);
    MovedBlock block;
    std::vector<ByteLine> lines(job.stride_x);
    for (std::uint32_t x = 0; x < job.input.width; x += contract_columns) {
        const std::uint32_t columns = std::min(contract_columns, job.input.width - x);
        for (std::uint32_t i = 0; i < job.stride_x; ++i) {
            const std::uint32_t from = (j * job.stride_x + i) * surfaces + at.surface;
            const Address begin = job.feature.line_address(from, at.y) + job.feature.atom * x;
            const ByteLine piece = fetch(work, {begin, job.feature.atom * columns}, block);
            lines[i].insert(lines[i].end(), piece.begin(), piece.end());
        }
        block.fills.push_back({job.stride_x, job.feature.atom * job.stride_x, columns});
    }
    const Address to = job.contracted.line_address(at.surface, j) + job.super_line * at.y;
    block.writes.push_back({to, interleave_atoms(lines, job.feature.atom)});
    return block;
}

MovedBlock Rubik::split(const RubikWork& work, std::uint64_t number) {
    const RubikJob& job = work.job;
    const Piece piece = piece_of(job, number);
    const Bytes atom = job.feature.atom;
    MovedBlock block;
    const ByteLine line = fetch(
        work,
        {job.feature.line_address(piece.surface, piece.y) + atom * piece.x, atom * piece.columns},
        block);
    std::uint32_t channel = piece.surface * job.feature.channels_per_atom();
    const Bytes offset = job.feature.element * piece.x;
    const Bytes bytes = plane_bytes(job, piece);
    for (ByteLine& plane :
         split_line(line, elements_of(job), planes_of(job, piece.surface), bytes)) {
        block.writes.push_back(
            {job.planar.line_address(channel++, piece.y) + offset, std::move(plane)});
    }
    block.fills.push_back({1, bytes, planes_of(job, piece.surface)});
    return block;
}

MovedBlock Rubik::merge(const RubikWork& work, std::uint64_t number) {
    const RubikJob& job = work.job;
    const Piece piece = piece_of(job, number);
    const std::uint32_t first = piece.surface * job.feature.channels_per_atom();
    const Bytes offset = job.feature.element * piece.x;
    MovedBlock block;
    std::vector<ByteLine> planes;
    for (std::uint32_t lane = 0; lane < planes_of(job, piece.surface); ++lane) {
        planes.push_back(fetch(
            work,
            {job.planar.line_address(first + lane, piece.y) + offset, plane_bytes(job, piece)},
            block));
    }
    block.fills.push_back({block.reads.size(), job.feature.atom * piece.columns, 1});
    block.writes.push_back(
        {job.feature.line_address(piece.surface, piece.y) + job.feature.atom * piece.x,
         merge_lines(planes, elements_of(job), piece.columns)});
    return block;
}

MovedBlocks Rubik::blocks_of(const RubikWork& work) {
    const RubikJob& job = work.job;
    const std::uint64_t height = job.input.height;
    switch (job.mode) {
        case RubikMode::Contract:
            return {job.contracted.surfaces() * height * job.stride_y,
                    [&](std::uint64_t number) { return contract(work, number); }};
        case RubikMode::Split:
            return {job.feature.surfaces() * height * pieces_of_line(job),
                    [&](std::uint64_t number) { return split(work, number); }};
        case RubikMode::Merge:
            return {job.feature.surfaces() * height * pieces_of_line(job),
                    [&](std::uint64_t number) { return merge(work, number); }};
    }
    NPU_CHECK(false, "unknown mode of RUBIK");
    return {};
}

void Rubik::run_operation(Activity& activity) {
    const std::shared_ptr<RubikWork> work = launches.take(activity, WaitKind::Idle);
    const RubikJob& job = work->job;
    work->record.start = now();
    const BlockMoverSetup setup{
        {.first = now() + config_.start_up,
         .limits = {config_.read_ahead, 1, config_.read_runs, config_.read_again},
         .atom = job.feature.atom,
         .beat = bus_width_},
        config_.forward,
        fill_latency};
    const WriteResponse response =
        mover_.move(activity, setup, blocks_of(*work),
                    {{"input", work->name, job.source_in_sram, work->values},
                     {"output", work->name, job.destination_in_sram, work->values}});
    work->record.causes = mover_.causes_since(work->record.start);
    activity.wait_until(DmaPort::response_time(activity, response) + config_.tail,
                        WaitKind::Blocked, "write response");
    done_(*work);
}

}  // namespace npuscope
