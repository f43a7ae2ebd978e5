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
    std::vector<ByteLine> lines;
    for (std::uint32_t i = 0; i < job.stride_x; ++i) {
        const std::uint32_t from = (j * job.stride_x + i) * surfaces + at.surface;
        lines.push_back(
            fetch(work, {job.feature.line_address(from, at.y), job.feature.line_bytes()}, block));
    }
    const Address to = job.contracted.line_address(at.surface, j) + job.super_line * at.y;
    block.writes.push_back({to, interleave_atoms(lines, job.feature.atom)});
    return block;
}

MovedBlock Rubik::split(const RubikWork& work, std::uint64_t number) {
    const RubikJob& job = work.job;
    const auto [surface, y] = line_of(job, number);
    MovedBlock block;
    const ByteLine line =
        fetch(work, {job.feature.line_address(surface, y), job.feature.line_bytes()}, block);
    std::uint32_t channel = surface * job.feature.channels_per_atom();
    for (ByteLine& plane :
         split_line(line, elements_of(job), planes_of(job, surface), job.planar.line)) {
        block.writes.push_back({job.planar.line_address(channel++, y), std::move(plane)});
    }
    return block;
}

MovedBlock Rubik::merge(const RubikWork& work, std::uint64_t number) {
    const RubikJob& job = work.job;
    const auto [surface, y] = line_of(job, number);
    const std::uint32_t first = surface * job.feature.channels_per_atom();
    MovedBlock block;
    std::vector<ByteLine> planes;
    for (std::uint32_t lane = 0; lane < planes_of(job, surface); ++lane) {
        planes.push_back(
            fetch(work, {job.planar.line_address(first + lane, y), job.planar.line}, block));
    }
    block.writes.push_back({job.feature.line_address(surface, y),
                            merge_lines(planes, elements_of(job), job.input.width)});
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
            return {job.feature.surfaces() * height,
                    [&](std::uint64_t number) { return split(work, number); }};
        case RubikMode::Merge:
            return {job.feature.surfaces() * height,
                    [&](std::uint64_t number) { return merge(work, number); }};
    }
    NPU_CHECK(false, "unknown mode of RUBIK");
    return {};
}

void Rubik::run_operation(Activity& activity) {
    const std::shared_ptr<RubikWork> work = launches.take(activity, WaitKind::Idle);
    const RubikJob& job = work->job;
    work->record.start = now();
    work->record.causes[Cause::StartUp] = config_.start_up;
    const BlockMoverSetup setup{
        {.first = now() + config_.start_up,
         .limits = {config_.read_ahead, 1, config_.read_runs, config_.read_again},
         .atom = job.feature.atom,
         .beat = bus_width_},
        config_.forward};
    const WriteResponse response =
        mover_.move(activity, setup, blocks_of(*work),
                    {{"input", work->name, job.source_in_sram, work->values},
                     {"output", work->name, job.destination_in_sram, work->values}});
    activity.wait_until(DmaPort::response_time(activity, response) + config_.tail,
                        WaitKind::Blocked, "write response");
    done_(*work);
}

}  // namespace npuscope
