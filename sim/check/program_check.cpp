// SPDX-License-Identifier: Apache-2.0
#include "sim/check/program_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "models/npu/pipelines.h"
#include "sim/check/compressed_rules.h"
#include "sim/check/memory_rules.h"
#include "sim/check/order_rules.h"
#include "sim/check/program_operations.h"
#include "sim/check/sync_rules.h"

namespace npuscope {
namespace {

bool starts_mover(const std::string& register_name) {
    return std::ranges::any_of(
        movers, [&](const Mover& mover) { return register_name.starts_with(mover.start); });
}

std::string mover_names() {
    std::vector<std::string_view> names;
    std::ranges::transform(movers, std::back_inserter(names), &Mover::name);
    return fmt::format("{}", fmt::join(names, " and "));
}

class ProgramCheck {
 public:
    ProgramCheck(const Program& program, const CheckTarget& target)
        : program_(program),
          target_(target),
          operations_(target.npu),
          memory_({target.npu, target.memory, program.zeroed_memory}),
          sync_(operations_, log_) {}

    CheckReport run() {
        for (const Statement& statement : program_.statements) {
            place_ = statement.place;
            std::visit([this](const auto& action) { follow(action); }, statement.action);
        }
        operations_.report_stuck(log_);
        sync_.report_pending();
        memory_.report_unread(log_);
        CheckReport report;
        report.subject = program_.name;
        report.npu = target_.npu.name;
        report.operations = operations_.all().size();
        for (const CheckedOperation& operation : operations_.all()) {
            report.surfaces += operation.uses.size();
        }
        report.findings = log_.findings();
        return report;
    }

 private:
    void follow(const InitMemory& init) { memory_.fill(init, place_, log_); }
    void follow(const LoadMemory& load) { memory_.load(load, place_, log_); }
    void follow(const WriteRegister& write) {
        if (starts_mover(write.name)) {
            lose_track(write);
        }
        const std::size_t before = operations_.all().size();
        operations_.write(write, place_, log_);
        for (const CheckedOperation& move : operations_.take_moves()) {
            memory_.check_bounds(move, log_);
        }
        for (std::size_t i = before; i < operations_.all().size(); ++i) {
            if (operations_.all()[i].undecoded) {
                memory_.lose_track();  // what it would have written is missing from here on
            }
            check_overlaps(operations_, i, log_);
            check_delivery(operations_, i, log_);
            check_compressed(operations_.all()[i], memory_, log_);
            memory_.launch(operations_.all()[i], log_);
        }
        if (operations_.all().size() > before) {
            sync_.launched();
        }
    }
    void lose_track(const WriteRegister& write) {
        memory_.lose_track();
        Diagnostic one;
        one.severity = Severity::Note;
        one.id = "not_followed";
        one.sentence = "what " + mover_names() +
                       " move is not followed: from here on uninitialised bytes are not reported";
        one.place = place_;
        one.register_name = write.name;
        one.remedy = "run the program: it finds such reads";
        log_.add(std::move(one));
    }
    // no rules of registers
    void follow(const LaunchJob& /*launch*/) {}
    void follow(const WaitForJobs& /*wait*/) {}
    void follow(const RunNode& /*node*/) {}
    void follow(const BeginSegment& /*segment*/) {}
    void follow(const BeginLayer& /*layer*/) {}
    void follow(const ReadRegister& read) {
        if (read.comparison == Comparison::Equal) {
            sync_.know(read.name, read.mask, read.expected);
        }
    }
    void follow(const PollRegister& poll) { sync_.know(poll.name, poll.mask, poll.expected); }
    void follow(const NotifyOnInterrupt& notify) { sync_.note(notify, place_); }
    void follow(const WaitForInterrupt& wait) { sync_.note(wait, place_); }
    void follow(const ReadMemory& read) {
        memory_.compare({read.address, Bytes(sizeof read.expected)}, place_, log_);
    }
    void follow(const SyncNotify& notify) { sync_.note(notify); }
    void follow(const SyncWait& wait) { sync_.note(wait, place_); }
    void follow(const CheckCrc& check) {
        memory_.compare({check.address, check.bytes}, place_, log_);
    }
    void follow(const CheckImage& check) {
        memory_.compare({check.address, check.bytes}, place_, log_);
    }
    void follow(const CheckNothing& /*check*/) {}

    const Program& program_;
    const CheckTarget& target_;
    DiagnosticLog log_;
    ProgramOperations operations_;
    MemoryRules memory_;
    SyncRules sync_;
    Place place_;
};

}  // namespace

CheckReport check_program(const Program& program, const CheckTarget& target) {
    return ProgramCheck(program, target).run();
}

}  // namespace npuscope
