// SPDX-License-Identifier: Apache-2.0
#include "sim/check/program_check.h"

#include "sim/check/compressed_rules.h"
#include "sim/check/launch_board.h"
#include "sim/check/memory_rules.h"
#include "sim/check/overlap_rules.h"
#include "sim/check/successor_rules.h"
#include "sim/check/sync_rules.h"

namespace npuscope {
namespace {

/// Units whose operations are not followed.
bool starts_mover(const std::string& name) {
    return name.starts_with("NVDLA_BDMA.CFG_LAUNCH") || name.starts_with("NVDLA_RBK.D_OP_ENABLE");
}

class ProgramCheck {
 public:
    ProgramCheck(const Program& program, const CheckTarget& target)
        : program_(program),
          target_(target),
          board_(target.npu),
          memory_({target.npu, target.memory, program.zeroed_memory}),
          sync_(board_, found_) {}

    CheckReport run() {
        for (const Statement& statement : program_.statements) {
            place_ = statement.place;
            std::visit([this](const auto& action) { follow(action); }, statement.action);
        }
        board_.report_stuck(found_);
        sync_.report_pending();
        memory_.report_unread(found_);
        CheckReport report;
        report.subject = program_.name;
        report.npu = target_.npu.name;
        report.operations = board_.operations().size();
        for (const CheckedOperation& operation : board_.operations()) {
            report.surfaces += operation.uses.size();
        }
        report.found = found_.take();
        return report;
    }

 private:
    void follow(const InitMemory& init) { memory_.fill(init, place_, found_); }
    void follow(const LoadMemory& load) { memory_.load(load, place_, found_); }
    void follow(const WriteRegister& write) {
        if (starts_mover(write.name)) {
            lose_track(write);
        }
        const std::size_t before = board_.operations().size();
        board_.write(write, place_, found_);
        for (const CheckedOperation& move : board_.take_moves()) {
            memory_.check_bounds(move, found_);
        }
        for (std::size_t i = before; i < board_.operations().size(); ++i) {
            if (board_.operations()[i].undecoded) {
                memory_.lose_track();  // what it would have written is missing from here on
            }
            check_overlaps(board_, i, found_);
            check_delivery(board_, i, found_);
            check_lines_left(board_, i, found_);
            check_compressed(board_.operations()[i], memory_, found_);
            memory_.launch(board_.operations()[i], found_);
        }
        if (board_.operations().size() > before) {
            sync_.launched();
        }
    }
    void lose_track(const WriteRegister& write) {
        memory_.lose_track();
        Found one;
        one.finding.severity = Severity::Note;
        one.finding.id = "not_followed";
        one.finding.sentence =
            "what BDMA and RUBIK move is not followed: from here on nothing is "
            "said of bytes that nobody wrote";
        one.finding.place = place_;
        one.register_name = write.name;
        one.remedy = "run the program: it finds such reads";
        found_.add(std::move(one));
    }
    void follow(const ReadRegister& read) {
        if (read.comparison == Comparison::Equal) {
            sync_.know(read.name, read.mask, read.expected);
        }
    }
    void follow(const PollRegister& poll) { sync_.know(poll.name, poll.mask, poll.expected); }
    void follow(const NotifyOnInterrupt& notify) { sync_.note(notify, place_); }
    void follow(const WaitForInterrupt& wait) { sync_.note(wait, place_); }
    void follow(const ReadMemory& read) {
        memory_.compare({read.address, Bytes(sizeof read.expected)}, place_, found_);
    }
    void follow(const SyncNotify& notify) { sync_.note(notify); }
    void follow(const SyncWait& wait) { sync_.note(wait, place_); }
    void follow(const CheckCrc& check) {
        memory_.compare({check.address, check.bytes}, place_, found_);
    }
    void follow(const CheckImage& check) {
        memory_.compare({check.address, check.bytes}, place_, found_);
    }
    void follow(const CheckNothing& /*check*/) {}

    const Program& program_;
    const CheckTarget& target_;
    FoundList found_;
    LaunchBoard board_;
    MemoryRules memory_;
    SyncRules sync_;
    Place place_;
};

}  // namespace

CheckReport check_program(const Program& program, const CheckTarget& target) {
    return ProgramCheck(program, target).run();
}

}  // namespace npuscope
