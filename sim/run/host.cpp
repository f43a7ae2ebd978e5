// SPDX-License-Identifier: Apache-2.0
#include "sim/run/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "models/base/error.h"
#include "models/link/clock.h"
#include "models/npu/register_blocks.h"
#include "sim/run/driven_machine.h"
#include "sim/run/machine_counts.h"
#include "sim/run/memory_checks.h"
#include "sim/run/register_writes.h"
#include "sim/run/steady_reads.h"

namespace npuscope {
namespace {

constexpr std::string_view interrupt_mask = "NVDLA_GLB.S_INTR_MASK_0";
constexpr std::string_view interrupt_status = "NVDLA_GLB.S_INTR_STATUS_0";

}  // namespace

Host::Host(const sc_core::sc_module_name& name, std::span<const Statement> program,
           Machine& machine, Memory& memory)
    : Unit(name),
      program_(program),
      machine_(machine),
      memory_(memory),
      registers_(machine.registers()) {
    repeat("program", [this](Activity& activity) { execute_program(activity); });
    if (registers_) {
        bus_.bind(registers_->bus.socket);
        repeat("interrupts", [this](Activity& activity) { serve_interrupts(activity); });
    }
}

const Machine::Registers& Host::registers() const {
    if (!registers_) {
        throw ConfigError(place(), "this NPU has no public registers",
                          "it runs networks: ONNX models (.onnx) and shape tables (.yaml)");
    }
    return *registers_;
}

void Host::unmask_interrupts() {
    if (!registers_) {
        return;
    }
    const auto mask = find_place(nvdla_register_blocks(registers_->map), interrupt_mask);
    if (needs_unmasking(program_, mask->address())) {
        access(tlm::TLM_WRITE_COMMAND, mask->address(), 0);
    }
}

void Host::execute_program(Activity& activity) {
    unmask_interrupts();
    for (; statement_ < program_.size(); ++statement_) {
        const Action& action = program_[statement_].action;
        if (!std::holds_alternative<WriteRegister>(action)) {
            catch_up(activity);
        }
        std::visit([&](const auto& chosen) { execute(activity, chosen); }, action);
    }
    catch_up(activity);
    wait_for_jobs(activity, 1);
    executed_ = true;
    wait_for_interrupts(activity);
    finished_ = true;
    sc_core::sc_pause();
    activity.wait_for(board_changed_, WaitKind::Idle, "nothing");
}

void Host::wait_for_interrupts(Activity& activity) {
    while (!board_.awaited().empty()) {
        activity.wait_for(board_changed_, WaitKind::Starved, "interrupts");
    }
    finish_checks();
}

void Host::serve_interrupts(Activity& activity) {
    activity.wait_for(registers_->interrupts.raised(), WaitKind::Idle, "interrupts");
    serve_pending();
}

void Host::serve_pending() {
    Glb& glb = registers().interrupts;
    for (const auto& [source, name] : EnumNames<InterruptSource>::names) {
        for (const unsigned group : {0U, 1U}) {
            const Interrupt interrupt{source, group};
            if (!glb.controller().pending(interrupt) || glb.controller().masked(interrupt)) {
                continue;
            }
            if (board_.serve(interrupt, machine_.counted(glb.last_raised()))) {
                glb.controller().write("S_INTR_STATUS", 1U << interrupt_bit(interrupt));
                glb.changed();
                finish_checks();
                board_changed_.notify(sc_core::SC_ZERO_TIME);
            }
        }
    }
}

ReadBytes Host::memory_bytes() const {
    return [this](Address address, std::span<std::uint8_t> bytes) { memory_.read(address, bytes); };
}

void Host::finish_checks() {
    for (KeptBytes& request : requests_) {
        if (!request.after.empty() && request.bytes.empty() && board_.raised(request.after)) {
            read_kept(request);
        }
    }
    board_.make_checks();
}

void Host::keep_check(CheckResult check) {
    if (!values_) {
        check.skipped = check.pass = true;
        check.actual = "skipped";
    }
    checks_.push_back(std::move(check));
}

void Host::keep_comparison(CheckResult check, const ByteRun& region) {
    if (values_) {
        if (auto unwritten = unwritten_finding(memory_, region, check.place)) {
            findings_.push_back(std::move(*unwritten));
        }
        if (!check.pass) {
            // for an image the address is that of the first byte that differs
            const bool whole = check.kind != CheckKind::Image;
            check.writers = writers_of(memory_, whole ? region : ByteRun{check.address, Bytes(1)});
        }
    }
    keep_check(std::move(check));
}

Diagnostics Host::conclude() {
    ProgramEnd end{.program = program_,
                   .executed = finished_ ? program_.size() : statement_,
                   .board = board_,
                   .enabled = machine_.enabled_groups()};
    if (registers_) {
        end.interrupt_mask = registers_->interrupts.controller().mask();
    }
    std::ranges::move(unmade_checks(end), std::back_inserter(checks_));
    std::ranges::move(open_ends(end), std::back_inserter(findings_));
    return std::exchange(findings_, {});
}

bool Host::at_rest() const {
    return std::ranges::all_of(activities(), [](const Activity& activity) {
        return activity.waiting() && !activity.sleeps_since(now());
    });
}

Cycles Host::cycles() const {
    Cycles all;
    for (const CountedTime& time : counted()) {
        all += time.end - time.begin;
    }
    return all;
}

std::vector<CountedTime> Host::counted() const {
    std::vector<CountedTime> times = job_times_;
    std::vector<CountedTime> nodes;
    for (const HostOperation& operation : operators_) {
        nodes.push_back({operation.record.start, operation.record.end});
    }
    if (register_cycles() > Cycles(0)) {
        std::ranges::move(
            without({*first_op_enable_, *first_op_enable_ + register_cycles()}, nodes),
            std::back_inserter(times));
    }
    times.insert(times.end(), nodes.begin(), nodes.end());
    return times;
}

Cycles Host::register_cycles() const {
    const std::optional<Cycles> end = std::max(board_.last_raised(), last_awaited_);
    if (!first_op_enable_ || !end || *end < *first_op_enable_) {
        return Cycles(0);
    }
    return *end - *first_op_enable_;
}

bool Host::leaves_operations() const {
    const auto* last =
        program_.empty() ? nullptr : std::get_if<WriteRegister>(&program_.back().action);
    return finished_ &&
           ((last != nullptr && starts_operation(*last)) || !machine_.enabled_groups().empty());
}

std::string Host::waits_for() const {
    const bool ended = statement_ == program_.size();
    const Action* action = ended ? nullptr : &program_[statement_].action;
    if (const auto* node = std::get_if<RunNode>(action)) {
        return fmt::format("its own operator '{}'", node->name);
    }
    if (!launched_.empty()) {
        return fmt::format("layer '{}'", launched_.front());
    }
    if (executed_ || std::holds_alternative<WaitForJobs>(*action)) {
        return awaited_interrupts();
    }
    const auto* poll = std::get_if<PollRegister>(action);
    const auto* sync = std::get_if<SyncWait>(action);
    const std::string waits_for =
        poll != nullptr ? fmt::format("{} to be {:#x}", poll->name, poll->expected)
        : sync != nullptr && !board_.raised(sync->sync)     ? awaited_id(sync->sync)
        : std::holds_alternative<WaitForInterrupt>(*action) ? "an interrupt"
                                                            : "the end of a register access";
    const Place at = place();  // a planned network has no lines
    return at.line == 0 ? waits_for : fmt::format("{} at {}", waits_for, to_string(at));
}

std::string Host::awaited_id(const std::string& id) const {
    const auto& awaited = board_.awaited();
    const auto named = std::ranges::find(awaited, id, &SyncBoard::Awaited::sync);
    const std::string interrupt =
        named != awaited.end() && named->interrupt
            ? fmt::format(" by interrupt {} (awaited at {})", to_string(*named->interrupt),
                          to_string(named->place))
            : "";
    return fmt::format("the id '{}' to be raised{}", id, interrupt);
}

bool Host::polls() const {
    return statement_ < program_.size() &&
           std::holds_alternative<PollRegister>(program_[statement_].action);
}

std::string Host::awaited_interrupts() const {
    std::string text;
    for (const SyncBoard::Awaited& awaited : board_.awaited()) {
        text += fmt::format(
            "{}{} (awaited at {})", text.empty() ? "" : ", ",
            awaited.interrupt ? "interrupt " + to_string(*awaited.interrupt) : "any interrupt",
            to_string(awaited.place));
    }
    return text;
}

std::optional<Place> Host::written_at(const Diagnostic& finding) const {
    const std::size_t executed = std::min(statement_ + 1, program_.size());
    return registers_ ? last_write(program_.first(executed), registers_->map, finding)
                      : std::nullopt;
}

void Host::catch_up(Activity& activity) { activity.spend(std::exchange(ahead_, Cycles(0))); }

std::uint32_t Host::access(tlm::tlm_command command, std::uint32_t address, std::uint32_t value,
                           PollExtension* poll) {
    registers();
    sc_core::sc_time delay = to_time(ahead_);
    if (access_register(bus_, command, address, value, delay, poll) != tlm::TLM_OK_RESPONSE) {
        throw ConfigError(place(), fmt::format("no register at {}", to_hex(address)),
                          "`npuscope list registers` prints the map");
    }
    ahead_ = to_cycles(delay);
    return value;
}

void Host::execute(Activity& activity, const WriteRegister& write) {
    access(tlm::TLM_WRITE_COMMAND, write.address, write.value);
    if (starts_operation(write)) {
        catch_up(activity);  // the handshake
        first_op_enable_ = first_op_enable_.value_or(time());
    }
}

void Host::execute(Activity& activity, const ReadRegister& read) {
    PollExtension polling;
    polling.mask = read.mask;
    polling.expected = read.expected;
    const bool polls = read.comparison == Comparison::Equal && read.attempts > 1;
    std::uint32_t value = 0;
    SteadyReads steady;
    for (polling.reads_left = read.attempts; polling.reads_left > 0; --polling.reads_left) {
        value = access(tlm::TLM_READ_COMMAND, read.address, 0, polls ? &polling : nullptr);
        catch_up(activity);
        if (read.holds(value)) {
            break;
        }
        if (steady.after_read(value, now()) && !sc_core::sc_pending_activity()) {
            activity.spend(steady.period() * (polling.reads_left - 1));  // all others read the same
            break;
        }
    }
    keep_check(register_check(read, value, place()));
}

void Host::execute(Activity& activity, const WaitForInterrupt& /*wait*/) {
    // a pending clear must have reached the register
    const auto status = find_place(nvdla_register_blocks(registers().map), interrupt_status);
    access(tlm::TLM_READ_COMMAND, status->address(), 0);
    catch_up(activity);
    Glb& glb = registers().interrupts;
    while (!glb.controller().line()) {
        activity.wait_for(glb.raised(), WaitKind::Starved, "an interrupt");
    }
    last_awaited_ = machine_.counted(glb.last_raised());
}

void Host::execute(Activity& /*activity*/, const ReadMemory& read) {
    keep_comparison(check_word(memory_bytes(), read, place()),
                    {read.address, Bytes(sizeof read.expected)});
}

void Host::execute(Activity& activity, const PollRegister& poll) {
    PollExtension polling;
    polling.mask = poll.mask;
    polling.expected = poll.expected;
    std::uint32_t value = 0;
    for (polling.reads_left = poll_limit; polling.reads_left > 0; --polling.reads_left) {
        value = access(tlm::TLM_READ_COMMAND, poll.address, 0, &polling);
        catch_up(activity);
        if (polling.met(value)) {
            return;
        }
    }
    throw MachineStopped(fmt::format(
        "{}: {} never read as {}, but as {} at last ({} reads, until cycle {}): correct "
        "the value, or start what sets it",
        to_string(place()), poll.name, to_hex(poll.expected), to_hex(value), poll_limit,
        now().value));
}

void Host::execute(Activity& /*activity*/, const NotifyOnInterrupt& notify) {
    board_.expect(awaited_by(notify, place()));
    serve_pending();
}

void Host::execute(Activity& /*activity*/, const SyncNotify& notify) {
    board_.raise(notify.sync, time());
    finish_checks();
}

void Host::execute(Activity& activity, const SyncWait& /*wait*/) {
    // while it waits, statements may be skipped, up to another wait
    const auto sync = [this]() -> const std::string& {
        return std::get<SyncWait>(program_[statement_].action).sync;
    };
    while (!board_.raised(sync())) {
        activity.wait_for(board_changed_, WaitKind::Starved, sync());
    }
}

void Host::execute(Activity& /*activity*/, const CheckCrc& check) {
    board_.when_raised(check.sync, statement_, [this, &check, place = place()] {
        keep_comparison(check_crc(memory_bytes(), check, place), {check.address, check.bytes});
    });
}

void Host::execute(Activity& /*activity*/, const CheckImage& check) {
    board_.when_raised(check.sync, statement_, [this, &check, place = place()] {
        keep_comparison(check_image(memory_bytes(), check, place), {check.address, check.bytes});
    });
}

void Host::execute(Activity& /*activity*/, const CheckNothing& check) { board_.ignore(check.sync); }

void Host::wait_for_jobs(Activity& activity, std::size_t limit) {
    while (launched_.size() >= limit && !launched_.empty()) {
        activity.wait_for(job_ended_, WaitKind::Idle, "the NPU");
    }
}

void Host::execute(Activity& activity, const LaunchJob& launch) {
    share_ = share_.value_or(HostShare{});
    wait_for_jobs(activity, machine_.launch_queue());
    work(launch.before);
    if (launched_.empty()) {
        jobs_since_ = time();
    }
    launched_.push_back(launch.job->name);
    layers_.push_back({.name = launch.job->name,
                       .kind = launch.job->kind,
                       .macs = launch.macs,
                       .operations = {0}});
    machine_.launch(launch.job, [this, &launch](const OperationRecord&) { job_ended(launch); });
}

void Host::job_ended(const LaunchJob& launch) {
    launched_.pop_front();
    if (launched_.empty()) {
        job_times_.push_back({jobs_since_, time()});
    }
    keep_after(launch.job->name);
    work(launch.on_end);
    job_ended_.notify(sc_core::SC_ZERO_TIME);
}

void Host::execute(Activity& activity, const WaitForJobs& /*wait*/) {
    wait_for_jobs(activity, 1);
    wait_for_interrupts(activity);
}

void Host::execute(Activity& activity, const MeetInstances& /*meet*/) {
    bool complete = !meeting_ || meeting_->arrive(++meetings_);
    while (!complete) {
        activity.wait_for(meeting_->complete(), WaitKind::Starved, "the other instances");
        complete = meeting_->is_complete(meetings_);
    }
}

void Host::execute(Activity& /*activity*/, const BeginSegment& /*segment*/) {
    share_ = share_.value_or(HostShare{});
}

void Host::execute(Activity& /*activity*/, const BeginLayer& layer) {
    LayerRecord record;
    record.name = layer.name;
    record.kind = layer.kind;
    record.macs = layer.macs;
    record.operations.resize(layer.operations);
    layers_.push_back(std::move(record));
}

void Host::execute(Activity& activity, const RunNode& node) {
    HostShare share = share_.value_or(HostShare{});
    work(node.work);
    if (!node.op.empty()) {
        OperationRecord record;
        record.unit = "host";
        record.name = node.name;
        record.kind = node.op;
        record.start = time();
        record.end = record.start + node.cycles;
        record.macs = node.macs;
        record.causes[Cause::Work] = node.cycles;
        if (recorder_ != nullptr) {
            recorder_->worked("host.operator", {record.start, record.end});
        }
        layers_.push_back({.name = node.name,
                           .kind = node.op,
                           .on_host = true,
                           .macs = node.macs,
                           .operations = {0}});
        operators_.push_back({machine_.operations().size(), std::move(record)});
        share.cycles += node.cycles;
        share.macs += node.macs;
        ++share.operators;
    }
    share_ = share;
    activity.spend(node.cycles);
}

void Host::work(const HostWork& work) {
    struct View : HostMemory {
        explicit View(Memory& the_memory) : memory(the_memory) {}
        void load(Address address, std::span<const std::uint8_t> bytes) override {
            memory.load(address, bytes);
        }
        void read(Address address, std::span<std::uint8_t> bytes) const override {
            memory.read(address, bytes);
        }
        Memory& memory;
    };
    if (values_ && work) {
        View view(memory_);
        work(view);
    }
}

std::vector<OperationRecord> Host::operations() const {
    std::vector<OperationRecord> all = machine_.operations();
    for (auto entry = operators_.rbegin(); entry != operators_.rend(); ++entry) {
        all.insert(all.begin() + static_cast<std::ptrdiff_t>(entry->after), entry->record);
    }
    const std::vector<CauseCycles> own = own_cycles(all, counted());
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].own = own[i];
    }
    add_operation_counts(machine_, all);
    return all;
}

}  // namespace npuscope
