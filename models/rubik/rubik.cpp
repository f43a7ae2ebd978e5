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

LineElements elements_of(const RubikJob& job) { return {job.feature.atom, job.feature.element}; }

}  // namespace

Rubik::Rubik(const sc_core::sc_module_name& name, const RubikConfig& config, Bytes bus_width)
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

std::vector<MovedBlock> Rubik::contract(const RubikWork& work) {
    const RubikJob& job = work.job;
    const std::uint32_t surfaces = job.contracted.surfaces();
    std::vector<MovedBlock> blocks;
    for (std::uint32_t surface = 0; surface < surfaces; ++surface) {
        for (std::uint32_t y = 0; y < job.input.height; ++y) {
            for (std::uint32_t j = 0; j < job.stride_y; ++j) {
                MovedBlock& block = blocks.emplace_back();
                std::vector<ByteLine> lines;
                for (std::uint32_t i = 0; i < job.stride_x; ++i) {
                    const std::uint32_t from = (j * job.stride_x + i) * surfaces + surface;
                    lines.push_back(
                        fetch(work, {job.feature.line_address(from, y), job.feature.line_bytes()},
                              block));
                }
                const Address to = job.contracted.line_address(surface, j) + job.super_line * y;
                block.writes.push_back({to, interleave_atoms(lines, job.feature.atom)});
            }
        }
    }
    return blocks;
}

std::vector<MovedBlock> Rubik::split(const RubikWork& work) {
    const RubikJob& job = work.job;
    std::vector<MovedBlock> blocks;
    for (std::uint32_t surface = 0; surface < job.feature.surfaces(); ++surface) {
        const std::uint32_t first = surface * job.feature.channels_per_atom();
        for (std::uint32_t y = 0; y < job.input.height; ++y) {
            MovedBlock& block = blocks.emplace_back();
            const ByteLine line = fetch(
                work, {job.feature.line_address(surface, y), job.feature.line_bytes()}, block);
            std::uint32_t channel = first;
            for (ByteLine& plane :
                 split_line(line, elements_of(job), planes_of(job, surface), job.planar.line)) {
                block.writes.push_back({job.planar.line_address(channel++, y), std::move(plane)});
            }
        }
    }
    return blocks;
}

std::vector<MovedBlock> Rubik::merge(const RubikWork& work) {
    const RubikJob& job = work.job;
    std::vector<MovedBlock> blocks;
    for (std::uint32_t surface = 0; surface < job.feature.surfaces(); ++surface) {
        const std::uint32_t first = surface * job.feature.channels_per_atom();
        for (std::uint32_t y = 0; y < job.input.height; ++y) {
            MovedBlock& block = blocks.emplace_back();
            std::vector<ByteLine> planes;
            for (std::uint32_t lane = 0; lane < planes_of(job, surface); ++lane) {
                planes.push_back(fetch(
                    work, {job.planar.line_address(first + lane, y), job.planar.line}, block));
            }
            block.writes.push_back({job.feature.line_address(surface, y),
                                    merge_lines(planes, elements_of(job), job.input.width)});
        }
    }
    return blocks;
}

std::vector<MovedBlock> Rubik::blocks_of(const RubikWork& work) {
    switch (work.job.mode) {
        case RubikMode::Contract:
            return contract(work);
        case RubikMode::Split:
            return split(work);
        case RubikMode::Merge:
            return merge(work);
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
    const Cycles response =
        mover_.move(activity, setup, blocks_of(*work),
                    {{"input", work->name, job.source_in_sram, work->values},
                     {"output", work->name, job.destination_in_sram, work->values}});
    activity.wait_until(response + config_.tail, WaitKind::Blocked, "write response");
    done_(*work);
}

}  // namespace npuscope
