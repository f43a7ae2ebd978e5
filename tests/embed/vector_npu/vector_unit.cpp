// SPDX-License-Identifier: Apache-2.0
#include "vector_unit.h"

#include <algorithm>
#include <span>
#include <utility>

#include "models/link/clock.h"
#include "vector_math.h"

namespace vector_npu {

using npuscope::Activity;
using npuscope::Cause;
using npuscope::Cycles;
using npuscope::DmaPort;
using npuscope::now;
using npuscope::WaitKind;
using npuscope::WriteResponse;

namespace {

npuscope::Purpose purpose_of(const char* surface, const VectorLaunch& launch) {
    return {.surface = surface, .operation = launch.job->name, .values = launch.values};
}

}  // namespace

VectorUnit::VectorUnit(const sc_core::sc_module_name& name, const VectorConfig& config,
                       npuscope::Bytes bus_width)
    : Unit(name), config_(config), bus_width_(bus_width) {
    repeat_from(launches_, "compute", [this](Activity& activity) { compute(activity); });
    repeat_from(pieces_, "write", [this](Activity& activity) { write(activity); });
}

void VectorUnit::launch(VectorLaunch launch) {
    launches_.push(std::make_shared<VectorLaunch>(std::move(launch)));
}

void VectorUnit::fetch_values(VectorLaunch& launch) {
    const VectorJob& job = *launch.job;
    launch.result.assign(job.map_bytes().value, 0);
    if (!launch.values) {
        return;
    }
    std::vector<std::uint8_t> first(job.map_bytes().value);
    std::vector<std::uint8_t> second(job.b ? job.map_bytes().value : 0);
    a.port.fetch(job.a, first, purpose_of("a", launch));
    if (job.b) {
        b.port.fetch(*job.b, second, purpose_of("b", launch));
    }
    launch.result = vector_result(job, first, second);
}

void VectorUnit::open_readers(const VectorLaunch& launch) {
    const VectorJob& job = *launch.job;
    const npuscope::ByteStreamSetup setup{
        .first = {}, .beat = bus_width_, .buffer = config_.buffer / bus_width_};
    a.open(setup, {job.a, job.map_bytes()}, purpose_of("a", launch));
    if (job.b) {
        b.open(setup, {*job.b, job.map_bytes()}, purpose_of("b", launch));
    }
}

Cycles VectorUnit::work_through(Activity& activity,
                                const std::shared_ptr<const VectorLaunch>& launch) {
    Cycles worked;
    for (const VectorPiece& piece : vector_pieces(*launch->job, config_)) {
        Cycles arrived = a.take(activity, piece.end);
        if (launch->job->b) {
            arrived = std::max(arrived, b.take(activity, piece.end));
        }
        activity.wait_until(arrived, WaitKind::Starved, "operands");
        activity.spend(piece.work);
        worked += piece.work;
        pieces_.give(activity, {launch, piece});
    }
    return worked;
}

void VectorUnit::compute(Activity& activity) {
    const std::shared_ptr<VectorLaunch> launch = launches_.take(activity, WaitKind::Idle);
    const VectorJob& job = *launch->job;
    npuscope::OperationRecord record;
    record.unit = "vector";
    record.name = job.name;
    record.kind = job.kind;
    record.read = job.map_bytes() * (job.b ? 2 : 1);
    record.written = job.map_bytes();
    record.start = now();
    activity.spend(config_.start_up);
    fetch_values(*launch);
    open_readers(*launch);
    const Cycles worked = work_through(activity, launch);
    const Cycles response =
        DmaPort::response_time(activity, responses_.take(activity, WaitKind::Blocked));
    activity.wait_until(response, WaitKind::Blocked, "write response");
    record.end = now();
    record.causes[Cause::StartUp] = config_.start_up;
    record.causes[Cause::Work] = worked;
    record.causes[Cause::Memory] = record.cycles() - config_.start_up - worked;
    launch->ended(record);
}

void VectorUnit::write(Activity& activity) {
    const Written written = pieces_.take(activity, WaitKind::Idle);
    const VectorLaunch& launch = *written.launch;
    const VectorPiece& piece = written.piece;
    const std::span bytes =
        std::span(launch.result).subspan(piece.begin.value, (piece.end - piece.begin).value);
    const WriteResponse response =
        output.write(activity, {launch.job->output + piece.begin, bytes, now(), Cycles(1)},
                     purpose_of("output", launch));
    if (piece.end == launch.job->map_bytes()) {
        responses_.give(activity, response);
    }
}

}  // namespace vector_npu
