// SPDX-License-Identifier: Apache-2.0
#include "models/bdma/bdma.h"

#include <algorithm>
#include <utility>

#include "models/base/error.h"
#include "models/bdma/bdma_registers.h"
#include "models/link/clock.h"

namespace npuscope {
namespace {

bool same_memories(const BdmaJob& one, const BdmaJob& other) {
    return one.source.in_sram == other.source.in_sram &&
           one.destination.in_sram == other.destination.in_sram;
}

}  // namespace

Bdma::Bdma(const sc_core::sc_module_name& name, const BdmaConfig& config,
           const DatapathConfig& datapath, Bytes bus_width)
    : Unit(name), config_(config), atom_(datapath.memory_atom), bus_width_(bus_width) {
    repeat_from(launches, "copy", [this](Activity& activity) { run_group(activity); });
}

void Bdma::run_group(Activity& activity) {
    const std::shared_ptr<BdmaWork> work = launches.take(activity, WaitKind::Idle);
    work->record.start = now();
    const std::span<const BdmaJob> jobs(work->jobs);
    for (std::size_t begin = 0; begin < jobs.size();) {
        std::size_t end = begin + 1;
        while (end < jobs.size() && same_memories(jobs[begin], jobs[end])) {
            ++end;
        }
        run_commands(activity, *work, jobs.subspan(begin, end - begin));
        begin = end;
    }
    activity.spend(config_.tail);
    done_(*work);
}

MovedBlock Bdma::fetch(const BdmaWork& work, const BdmaJob& job, std::uint64_t number) {
    const auto surface = static_cast<std::uint32_t>(number / job.lines);
    const auto line = static_cast<std::uint32_t>(number % job.lines);
    const ByteRun from{job.source.line(line, surface), job.line};
    std::vector<std::uint8_t> bytes(job.line.value);
    if (work.values) {
        read_port.fetch(from.address, bytes,
                        {"source", work.name, job.source.in_sram, work.values});
    }
    return {{from}, {{job.destination.line(line, surface), std::move(bytes)}}};
}

// The next command's requests immediately follow those of the previous one, unless its source is in
// the other memory. source: NV_NVDLA_BDMA_load.v, cmd_ready and load_cmd_en
void Bdma::run_commands(Activity& activity, BdmaWork& work, std::span<const BdmaJob> jobs) {
    const BdmaJob& first = jobs.front();
    const Cycles begin = now();
    const BlockMoverSetup setup{
        {.first = begin + config_.start_up,
         // its queue holds commands, so lines have room wherever their beats do
         .limits = {config_.read_ahead, 1, config_.read_ahead, config_.read_again},
         .atom = atom_,
         .beat = bus_width_},
        config_.forward};
    std::vector<std::uint64_t> ends;  // of the jobs' lines
    for (const BdmaJob& job : jobs) {
        ends.push_back((ends.empty() ? 0 : ends.back()) + std::uint64_t{job.lines} * job.surfaces);
    }
    const auto fetch_line = [&](std::uint64_t number) {
        const auto job =
            static_cast<std::size_t>(std::ranges::upper_bound(ends, number) - ends.begin());
        return fetch(work, jobs[job], job == 0 ? number : number - ends[job - 1]);
    };
    ++begun_;
    const auto begin_next = [&](std::uint64_t number) {
        const bool last_line = std::ranges::binary_search(ends, number + 1);
        begun_ += last_line && number + 1 < ends.back() ? 1U : 0U;
    };
    const MovedBlocks lines{ends.back(), fetch_line, begin_next};
    const WriteResponse response =
        mover_.move(activity, setup, lines,
                    {{"source", work.name, first.source.in_sram, work.values},
                     {"destination", work.name, first.destination.in_sram, work.values}});
    work.record.causes += mover_.causes_since(begin);
    activity.wait_until(DmaPort::response_time(activity, response), WaitKind::Blocked,
                        "write response");
}

namespace {

// source: NVDLA_BDMA.rdl, STATUS
constexpr unsigned kIdleBit = 8;
constexpr std::array<unsigned, 2> kBusyBits{9, 10};

}  // namespace

void BdmaQueue::report(std::string id, std::string register_name, const std::string& problem,
                       std::string remedy) {
    Diagnostic finding;
    finding.id = std::move(id);
    finding.sentence = register_name + " was written " + problem;
    finding.remedy = std::move(remedy);
    finding.unit = "bdma";
    finding.register_name = std::move(register_name);
    log_.add(std::move(finding));
}

std::shared_ptr<BdmaWork> BdmaQueue::written(std::string_view register_name,
                                             const RegisterValues& values) {
    if (register_name == "CFG_OP" && values.field("CFG_OP", "EN") != 0) {
        add_command(values);
    } else if (register_name == "CFG_LAUNCH0" && values.field("CFG_LAUNCH0", "GRP0_LAUNCH") != 0) {
        return launch(0);
    } else if (register_name == "CFG_LAUNCH1" && values.field("CFG_LAUNCH1", "GRP1_LAUNCH") != 0) {
        return launch(1);
    }
    return nullptr;
}

void BdmaQueue::add_command(const RegisterValues& values) {
    Diagnostics findings;
    const auto job = decode_bdma(values, config_, memory_atom_, findings);
    if (!job) {
        throw ConfigError(findings.front());
    }
    if (waiting() >= config_.commands) {
        report("bdma_full", "NVDLA_BDMA.CFG_OP_0",
               "while all " + std::to_string(config_.commands) +
                   " queue slots are taken; the command is lost",
               "launch earlier, and poll STATUS.FREE_SLOT before adding commands");
        return;
    }
    gathered_.push_back(*job);
    ++added_;
}

std::shared_ptr<BdmaWork> BdmaQueue::launch(unsigned group) {
    const std::string name = "NVDLA_BDMA.CFG_LAUNCH" + std::to_string(group) + "_0";
    if (gathered_.empty()) {
        log_.add(empty_launch(group));
        return nullptr;
    }
    if (busy_.at(group)) {
        report("bdma_busy", name,
               "while the group is busy; the interrupts of the two launches cannot be told apart",
               "wait for the group's interrupt, or launch the other group");
    }
    busy_.at(group) = true;
    auto work = std::make_shared<BdmaWork>();
    work->jobs = std::exchange(gathered_, {});
    work->group = group;
    return work;
}

std::uint32_t BdmaQueue::status() const {
    const std::uint64_t taken = std::min<std::uint64_t>(waiting(), config_.commands);
    auto status = static_cast<std::uint32_t>(config_.commands - taken);
    status |= taken == 0 && !busy_[0] && !busy_[1] ? 1U << kIdleBit : 0U;
    for (std::size_t group = 0; group < busy_.size(); ++group) {
        status |= busy_[group] ? 1U << kBusyBits[group] : 0U;
    }
    return status;
}

}  // namespace npuscope
