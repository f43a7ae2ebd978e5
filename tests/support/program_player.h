// SPDX-License-Identifier: Apache-2.0
// Plays a register program on a device that a driver reaches from outside: by the C library, by
// sockets, by pins. Interrupts are served when a statement waits for one.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/glb/interrupt.h"
#include "models/npu/register_blocks.h"
#include "sim/program/program.h"

namespace npuscope::test {

/// What a driver can do to a device; memory without time.
class Door {
 public:
    Door() = default;
    Door(const Door&) = delete;
    Door& operator=(const Door&) = delete;
    virtual ~Door() = default;

    virtual void write(std::uint32_t address, std::uint32_t value) = 0;
    virtual std::uint32_t read(std::uint32_t address) = 0;
    virtual void write_memory(Address address, std::span<const std::uint8_t> bytes) = 0;
    /// `size` bytes of one value.
    virtual void fill_memory(Address address, std::uint64_t size, std::uint8_t value) {
        constexpr std::uint64_t piece = 64 * 1024;
        const std::vector<std::uint8_t> same(std::min(size, piece), value);
        for (std::uint64_t done = 0; done < size; done += same.size()) {
            write_memory(address + Bytes(done),
                         std::span(same).first(std::min<std::uint64_t>(same.size(), size - done)));
        }
    }
    virtual void read_memory(Address address, std::span<std::uint8_t> bytes) = 0;
    /// Returns while the interrupt line is high.
    virtual void await_interrupt() = 0;
};

class ProgramPlayer {
 public:
    /// `blocks`: whose registers the program, which outlives this, writes.
    ProgramPlayer(const Program& program, std::span<const RegisterBlock> blocks, Door& door)
        : program_(&program),
          status_(find_place(blocks, "NVDLA_GLB.S_INTR_STATUS_0")->address()),
          mask_(find_place(blocks, "NVDLA_GLB.S_INTR_MASK_0")->address()),
          door_(door) {}
    ProgramPlayer(Program&& program, std::span<const RegisterBlock> blocks, Door& door)
        : ProgramPlayer(program, blocks, door) {
        own_ = std::make_unique<Program>(std::move(program));
        program_ = own_.get();
    }

    /// Runs to the last awaited interrupt and its checks. std::runtime_error if it cannot continue.
    void play() {
        const bool masks = std::ranges::any_of(program_->statements, [this](const Statement& one) {
            const auto* write = std::get_if<WriteRegister>(&one.action);
            return write != nullptr && write->address == mask_;
        });
        if (!masks) {
            door_.write(mask_, 0);
        }
        for (const Statement& statement : program_->statements) {
            std::visit([this](const auto& action) { execute(action); }, statement.action);
        }
        while (!awaited_.empty()) {
            serve();
        }
        done = true;
    }

    bool done = false;
    int checks = 0;
    int failed = 0;

 private:
    using Check = std::variant<const CheckCrc*, const CheckImage*>;

    void serve() {
        door_.await_interrupt();
        const std::uint32_t status = door_.read(status_);
        door_.write(status_, status);
        for (unsigned bit = 0; bit < 32; ++bit) {
            const auto notified = std::ranges::find_if(awaited_, [&](const auto& one) {
                return (status >> bit & 1U) != 0 && (!one.first || *one.first == bit);
            });
            if (notified != awaited_.end()) {
                const std::string sync = notified->second;
                awaited_.erase(notified);
                raise(sync);
            }
        }
    }
    void raise(const std::string& sync) {
        raised_.insert(sync);
        std::erase_if(waiting_, [&](const auto& one) {
            if (one.first == sync) {
                make(one.second);
            }
            return one.first == sync;
        });
    }
    void when_raised(const std::string& sync, Check check) {
        if (sync.empty() || raised_.contains(sync)) {
            make(check);
        } else {
            waiting_.emplace_back(sync, check);
        }
    }
    void make(Check check) {
        std::visit([this](const auto* one) { compare(*one); }, check);
    }
    std::vector<std::uint8_t> bytes_at(Address address, std::uint64_t size) {
        std::vector<std::uint8_t> bytes(size);
        door_.read_memory(address, bytes);
        return bytes;
    }
    void count(bool holds) {
        ++checks;
        failed += holds ? 0 : 1;
    }
    void compare(const CheckCrc& check) {
        const std::vector<std::uint8_t> bytes = bytes_at(check.address, check.bytes.value);
        count(crc32(0, bytes.data(), static_cast<uInt>(bytes.size())) == check.crc);
    }
    void compare(const CheckImage& check) {
        bool same = true;
        for (const MemoryImage::Run& run : check.image.runs) {
            const std::uint64_t size =
                std::min(run.size, check.bytes.value - std::min(run.offset, check.bytes.value));
            const std::vector<std::uint8_t> actual =
                bytes_at(check.address + Bytes(run.offset), size);
            same = same && std::ranges::equal(
                               actual, std::span(check.image.bytes).subspan(run.position, size));
        }
        count(same);
    }

    void execute(const InitMemory& fill) {
        if (fill.fill != FillPattern::LowAddress) {
            door_.fill_memory(fill.address, fill.bytes.value, fill_byte(fill.fill, fill.address));
            return;
        }
        constexpr std::uint64_t chunk = 64 * 1024;
        std::vector<std::uint8_t> bytes(std::min(fill.bytes.value, chunk));
        for (std::uint64_t filled = 0; filled < fill.bytes.value; filled += bytes.size()) {
            const Address at = fill.address + Bytes(filled);
            bytes.resize(std::min(fill.bytes.value - filled, chunk));
            for (std::uint64_t i = 0; i < bytes.size(); ++i) {
                bytes[i] = fill_byte(fill.fill, at + Bytes(i));
            }
            door_.write_memory(at, bytes);
        }
    }
    void execute(const LoadMemory& load) {
        for (const MemoryImage::Run& run : load.image.runs) {
            door_.write_memory(load.address + Bytes(run.offset),
                               std::span(load.image.bytes).subspan(run.position, run.size));
        }
    }
    void execute(const WriteRegister& write) { door_.write(write.address, write.value); }
    void execute(const ReadRegister& read) {
        bool holds = false;
        for (unsigned i = 0; i < read.attempts && !holds; ++i) {
            holds = read.holds(door_.read(read.address));
        }
        count(holds);
    }
    void execute(const PollRegister& poll) {
        constexpr int patience = 1'000'000;
        for (int i = 0; (door_.read(poll.address) & poll.mask) != poll.expected; ++i) {
            if (i == patience) {
                throw std::runtime_error(poll.name + " does not become what is expected");
            }
        }
    }
    void execute(const ReadMemory& read) {
        const std::vector<std::uint8_t> bytes = bytes_at(read.address, 4);
        std::uint32_t word = 0;
        for (std::size_t i = 4; i-- > 0;) {
            word = word << 8U | bytes[i];
        }
        count((word & read.mask) == (read.expected & read.mask));
    }
    void execute(const NotifyOnInterrupt& notify) {
        std::optional<unsigned> bit;
        if (!notify.unit.empty()) {
            bit = interrupt_bit(interrupt_from_name(notify.unit).value());
        }
        awaited_.emplace_back(bit, notify.sync);
    }
    void execute(const WaitForInterrupt& /*wait*/) {
        door_.read(status_);  // a pending clear has reached it
        door_.await_interrupt();
    }
    void execute(const SyncNotify& notify) { raise(notify.sync); }
    void execute(const SyncWait& wait) {
        while (!raised_.contains(wait.sync)) {
            serve();
        }
    }
    void execute(const CheckCrc& check) { when_raised(check.sync, &check); }
    void execute(const CheckImage& check) { when_raised(check.sync, &check); }
    template <class Other>
    void execute(const Other& /*statement*/) {}  // names of layers and segments

    std::unique_ptr<const Program> own_;
    const Program* program_;
    std::uint32_t status_;
    std::uint32_t mask_;
    Door& door_;
    std::deque<std::pair<std::optional<unsigned>, std::string>> awaited_;  ///< bit, what it raises
    std::vector<std::pair<std::string, Check>> waiting_;                   ///< what they wait for
    std::set<std::string> raised_;
};

}  // namespace npuscope::test
