// SPDX-License-Identifier: Apache-2.0
#include "sim/run/program_player.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "models/base/error.h"
#include "sim/run/open_ends.h"
#include "sim/run/register_writes.h"
#include "sim/run/steady_reads.h"

namespace npuscope {
namespace {

std::uint32_t address_of(std::span<const RegisterBlock> blocks, std::string_view name) {
    const auto found = find_place(blocks, name);
    if (!found) {
        throw ConfigError("this NPU has no public registers, which a register program writes",
                          "play it on one of NVDLA's presets, such as nv_small");
    }
    return found->address();
}

[[noreturn]] void refuse_statement(std::string_view name, const Place& place) {
    throw ConfigError(place, fmt::format("{} is no access of a driver", name),
                      "execute the program by `npuscope run`");
}

}  // namespace

void DrivenDevice::fill_memory(Address address, std::uint64_t size, std::uint8_t value) {
    in_pieces(
        address, size, [value](Address) { return value; },
        [this](Address at, std::span<const std::uint8_t> bytes) { write_memory(at, bytes); });
}

ProgramPlayer::ProgramPlayer(const Program& program, std::span<const RegisterBlock> blocks,
                             DrivenDevice& device)
    : program_(&program),
      status_(address_of(blocks, "NVDLA_GLB.S_INTR_STATUS_0")),
      mask_(address_of(blocks, "NVDLA_GLB.S_INTR_MASK_0")),
      device_(device) {}

ProgramPlayer::ProgramPlayer(Program&& program, std::span<const RegisterBlock> blocks,
                             DrivenDevice& device)
    : ProgramPlayer(program, blocks, device) {
    own_ = std::make_unique<Program>(std::move(program));
    program_ = own_.get();
}

void ProgramPlayer::play() {
    const std::vector<Statement>& statements = program_->statements;
    if (needs_unmasking(statements, mask_)) {
        device_.write(mask_, 0);
    }
    for (; statement_ < statements.size(); ++statement_) {
        std::visit([this](const auto& action) { execute(action); }, statements[statement_].action);
    }
    serve_all();
    const ProgramEnd end{.program = statements, .executed = statements.size(), .board = board_};
    std::ranges::for_each(unmade_checks(end), [this](const CheckResult& one) { keep(one); });
    done = true;
}

void ProgramPlayer::serve() {
    device_.await_interrupt();
    const std::uint32_t status = device_.read(status_);
    device_.write(status_, status);
    pending_ |= status;
    serve_pending();
}

void ProgramPlayer::serve_pending() {
    for (const auto& [source, name] : EnumNames<InterruptSource>::names) {
        for (const unsigned group : {0U, 1U}) {
            const Interrupt interrupt{source, group};
            const std::uint32_t bit = 1U << interrupt_bit(interrupt);
            if ((pending_ & ~masked_ & bit) != 0 && board_.serve(interrupt, Cycles(0))) {
                pending_ &= ~bit;
                board_.make_checks();
            }
        }
    }
}

void ProgramPlayer::serve_all() {
    while (!board_.awaited().empty()) {
        serve();
    }
}

void ProgramPlayer::keep(const CheckResult& check) {
    if (check.skipped) {
        return;
    }
    ++checks;
    failed += check.pass ? 0 : 1;
    if (on_check) {
        on_check(check);
    }
}

ReadBytes ProgramPlayer::memory_bytes() {
    return [this](Address address, std::span<std::uint8_t> bytes) {
        device_.read_memory(address, bytes);
    };
}

void ProgramPlayer::execute(const InitMemory& init) {
    if (init.fill != FillPattern::LowAddress) {
        device_.fill_memory(init.address, init.bytes.value, fill_byte(init.fill, init.address));
        return;
    }
    fill_in_pieces(init, [this](Address at, std::span<const std::uint8_t> bytes) {
        device_.write_memory(at, bytes);
    });
}

void ProgramPlayer::execute(const LoadMemory& load) {
    for (const MemoryImage::Run& run : load.image.runs) {
        device_.write_memory(load.address + Bytes(run.offset),
                             std::span(load.image.bytes).subspan(run.position, run.size));
    }
}

void ProgramPlayer::execute(const WriteRegister& write) {
    device_.write(write.address, write.value);
    if (write.address == mask_) {
        masked_ = write.value;
        serve_pending();
    } else if (write.address == status_) {
        pending_ &= ~write.value;
    }
}

void ProgramPlayer::execute(const ReadRegister& read) {
    std::uint32_t value = device_.read(read.address);
    for (unsigned i = 1; i < read.attempts && !read.holds(value); ++i) {
        value = device_.read(read.address);
    }
    keep(register_check(read, value, place()));
}

void ProgramPlayer::execute(const PollRegister& poll) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < poll_limit; ++i) {
        value = device_.read(poll.address);
        if ((value & poll.mask) == (poll.expected & poll.mask)) {
            return;
        }
    }
    throw MachineStopped(fmt::format("{}: {} never read as {}, but as {} at last ({} reads)",
                                     to_string(place()), poll.name, to_hex(poll.expected),
                                     to_hex(value), poll_limit));
}

void ProgramPlayer::execute(const ReadMemory& read) {
    keep(check_word(memory_bytes(), read, place()));
}

void ProgramPlayer::execute(const NotifyOnInterrupt& notify) {
    board_.expect(awaited_by(notify, place()));
    serve_pending();
}

void ProgramPlayer::execute(const WaitForInterrupt& /*wait*/) {
    device_.read(status_);  // a pending clear has reached it
    device_.await_interrupt();
}

void ProgramPlayer::execute(const SyncNotify& notify) {
    board_.raise(notify.sync, Cycles(0));
    board_.make_checks();
}

void ProgramPlayer::execute(const SyncWait& wait) {
    while (!board_.raised(wait.sync)) {
        if (board_.awaited().empty()) {
            throw MachineStopped(fmt::format("{}: '{}' is awaited, but nothing raises it",
                                             to_string(place()), wait.sync));
        }
        serve();
    }
}

void ProgramPlayer::execute(const CheckCrc& check) {
    board_.when_raised(check.sync, statement_, [this, &check, at = place()] {
        keep(check_crc(memory_bytes(), check, at));
    });
}

void ProgramPlayer::execute(const CheckImage& check) {
    board_.when_raised(check.sync, statement_, [this, &check, at = place()] {
        keep(check_image(memory_bytes(), check, at));
    });
}

void ProgramPlayer::execute(const LaunchJob& /*launch*/) {
    refuse_statement("launch_job", place());
}

void ProgramPlayer::execute(const WaitForJobs& /*wait*/) { serve_all(); }

void ProgramPlayer::execute(const RunNode& /*node*/) { refuse_statement("run_node", place()); }

}  // namespace npuscope
