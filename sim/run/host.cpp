// SPDX-License-Identifier: Apache-2.0
#include "sim/run/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "models/base/error.h"
#include "models/csb/register_place.h"
#include "models/link/clock.h"
#include "sim/run/memory_checks.h"

namespace npuscope {
namespace {

/// Reads of one register after which a poll that never succeeds counts as a machine that stopped.
constexpr unsigned poll_limit = 100'000;
constexpr std::string_view interrupt_mask = "NVDLA_GLB.S_INTR_MASK_0";

}  // namespace

Host::Host(const sc_core::sc_module_name& name, const Program& program, Memory& memory, Glb& glb)
    : Unit(name), program_(program), memory_(memory), glb_(glb) {
    repeat("program", [this](Activity& activity) { execute_program(activity); });
    repeat("interrupts", [this](Activity& activity) { serve_interrupts(activity); });
}

void Host::unmask_interrupts(Activity& activity) {
    const auto mask = find_register_by_name(interrupt_mask);
    const auto writes_mask = [&](const Statement& statement) {
        const auto* write = std::get_if<WriteRegister>(&statement.action);
        return write != nullptr && write->address == mask->address();
    };
    const auto awaits = [](const Statement& statement) {
        return std::holds_alternative<NotifyOnInterrupt>(statement.action);
    };
    if (std::ranges::any_of(program_.statements, awaits) &&
        std::ranges::none_of(program_.statements, writes_mask)) {
        access(activity, tlm::TLM_WRITE_COMMAND, mask->address(), 0);
    }
}

void Host::execute_program(Activity& activity) {
    unmask_interrupts(activity);
    for (const Statement& statement : program_.statements) {
        place_ = statement.place;
        std::visit([&](const auto& action) { execute(activity, action); }, statement.action);
    }
    executed_ = true;
    while (!board_.complete()) {
        activity.wait_for(board_changed_, WaitKind::Starved, "interrupts");
    }
    finish_checks();
    finished_ = true;
    sc_core::sc_pause();
    activity.wait_for(board_changed_, WaitKind::Idle, "nothing");
}

void Host::serve_interrupts(Activity& activity) {
    activity.wait_for(glb_.raised(), WaitKind::Idle, "interrupts");
    serve_pending();
}

void Host::serve_pending() {
    for (const auto& [source, name] : EnumNames<InterruptSource>::names) {
        for (const unsigned group : {0U, 1U}) {
            const Interrupt interrupt{source, group};
            if (!glb_.controller().pending(interrupt)) {
                continue;
            }
            if (board_.serve(interrupt, glb_.last_raised())) {
                glb_.controller().write("S_INTR_STATUS", 1U << interrupt_bit(interrupt));
                glb_.changed();
                finish_checks();
                board_changed_.notify(sc_core::SC_ZERO_TIME);
            }
        }
    }
}

void Host::when_raised(const std::string& sync, std::function<void()> check) {
    waiting_checks_.push_back({sync, std::move(check)});
    finish_checks();
}

void Host::finish_checks() {
    const auto run = [&](const WaitingCheck& check) {
        if (!board_.raised(check.sync)) {
            return false;
        }
        check.run();
        return true;
    };
    std::erase_if(waiting_checks_, run);
}

void Host::keep_check(CheckResult check) {
    if (!values_) {
        check.skipped = check.pass = true;
        check.actual = "skipped";
    }
    checks_.push_back(std::move(check));
}

Cycles Host::cycles() const {
    const std::optional<Cycles> end = board_.last_raised();
    if (!first_op_enable_ || !end || *end < *first_op_enable_) {
        return Cycles(0);
    }
    return *end - *first_op_enable_;
}

std::string Host::waits_for() const {
    if (!executed_) {
        return fmt::format("the statement at {}", to_string(place_));
    }
    std::string text;
    for (const SyncBoard::Awaited& awaited : board_.awaited()) {
        text += fmt::format(
            "{}{} (awaited at {})", text.empty() ? "" : ", ",
            awaited.interrupt ? "interrupt " + to_string(*awaited.interrupt) : "any interrupt",
            to_string(awaited.place));
    }
    return text;
}

std::optional<Place> Host::written_at(const std::string& sentence) const {
    std::optional<Place> place;
    std::size_t longest = 0;
    for (const auto& [name, where] : written_at_) {
        const std::string stem = name.substr(0, name.rfind("_0"));
        if (stem.size() > longest && sentence.find(stem) != std::string::npos) {
            longest = stem.size();
            place = where;
        }
    }
    return place;
}

std::uint32_t Host::access(Activity& activity, tlm::tlm_command command, std::uint32_t address,
                           std::uint32_t value) {
    tlm::tlm_generic_payload payload;
    std::array<std::uint8_t, sizeof value> bytes{};
    std::memcpy(bytes.data(), &value, sizeof value);
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(bytes.data());
    payload.set_data_length(sizeof value);
    payload.set_streaming_width(sizeof value);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    bus->b_transport(payload, delay);
    if (payload.is_response_error()) {
        throw ConfigError(place_, fmt::format("no register at {}", to_hex(address)),
                          "`npuscope list registers` prints the map");
    }
    activity.spend(to_cycles(delay));
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

void Host::execute(Activity& /*activity*/, const InitMemory& init) {
    if (values_) {
        init_memory(memory_, init, place_);
    }
}

void Host::execute(Activity& /*activity*/, const LoadMemory& load) {
    if (values_) {
        load_memory(memory_, load, place_);
    }
}

void Host::execute(Activity& activity, const WriteRegister& write) {
    written_at_[write.name] = place_;
    access(activity, tlm::TLM_WRITE_COMMAND, write.address, write.value);
    const bool enables = write.name.find(".D_OP_ENABLE") != std::string::npos;
    if (enables && (write.value & 1U) != 0 && !first_op_enable_) {
        first_op_enable_ = now();  // the handshake
    }
}

void Host::execute(Activity& activity, const ReadRegister& read) {
    const std::uint32_t value = access(activity, tlm::TLM_READ_COMMAND, read.address, 0);
    keep_check(register_check(read, value, place_));
}

void Host::execute(Activity& activity, const PollRegister& poll) {
    for (unsigned reads = 0; reads < poll_limit; ++reads) {
        const std::uint32_t value = access(activity, tlm::TLM_READ_COMMAND, poll.address, 0);
        if ((value & poll.mask) == (poll.expected & poll.mask)) {
            return;
        }
    }
    throw MachineStopped(fmt::format("{}: {} never read {} ({} reads, until cycle {})",
                                     to_string(place_), poll.name, to_hex(poll.expected),
                                     poll_limit, now().value));
}

void Host::execute(Activity& /*activity*/, const NotifyOnInterrupt& notify) {
    std::optional<Interrupt> interrupt;
    if (!notify.unit.empty()) {
        interrupt = interrupt_from_name(notify.unit);
        if (!interrupt) {
            throw ConfigError(place_, fmt::format("no interrupt is called {}", notify.unit),
                              "a unit and its register group, e.g. SDP_0");
        }
    }
    board_.expect({interrupt, notify.sync, place_});
    serve_pending();
}

void Host::execute(Activity& /*activity*/, const SyncNotify& notify) {
    board_.raise(notify.sync, now());
    finish_checks();
}

void Host::execute(Activity& activity, const SyncWait& wait) {
    while (!board_.raised(wait.sync)) {
        activity.wait_for(board_changed_, WaitKind::Starved, wait.sync);
    }
}

void Host::execute(Activity& /*activity*/, const CheckCrc& check) {
    when_raised(check.sync, [this, &check, place = place_] {
        keep_check(check_crc(memory_, check, place));
    });
}

void Host::execute(Activity& /*activity*/, const CheckImage& check) {
    when_raised(check.sync, [this, &check, place = place_] {
        keep_check(check_image(memory_, check, place));
    });
}

void Host::execute(Activity& /*activity*/, const CheckNothing& check) { board_.ignore(check.sync); }

}  // namespace npuscope
