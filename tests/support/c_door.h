// SPDX-License-Identifier: Apache-2.0
// A device of the C library as a program's player reaches it; its memory may be external, with its
// own time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>

#include "include/npuscope/npuscope.h"
#include "sim/run/program_player.h"
#include "tests/support/platform.h"

namespace npuscope::test {

/// std::runtime_error with the library's text where it is not NPUSCOPE_OK.
inline void good(npuscope_status status) {
    if (status != NPUSCOPE_OK) {
        throw std::runtime_error(npuscope_error());
    }
}

class CDoor : public DrivenDevice {
 public:
    explicit CDoor(npuscope_device* device) : device_(device) {}

    void write(std::uint32_t address, std::uint32_t value) override {
        good(npuscope_write_register(device_, address, value));
    }
    std::uint32_t read(std::uint32_t address) override {
        std::uint32_t value = 0;
        good(npuscope_read_register(device_, address, &value));
        return value;
    }
    void write_memory(Address address, std::span<const std::uint8_t> bytes) override {
        good(npuscope_write_memory(device_, address.value, bytes.data(), bytes.size()));
    }
    void fill_memory(Address address, std::uint64_t size, std::uint8_t value) override {
        good(npuscope_fill_memory(device_, address.value, value, size));
    }
    void read_memory(Address address, std::span<std::uint8_t> bytes) override {
        good(npuscope_read_memory(device_, address.value, bytes.data(), bytes.size()));
    }
    void await_interrupt() override {
        good(npuscope_run_until_interrupt(device_, patience, nullptr));
    }

 protected:
    static constexpr std::uint64_t patience = 10'000'000'000;
    npuscope_device* device_;
};

/// Random latencies between two bounds; some of the answers are deferred.
class TimedCMemory {
 public:
    TimedCMemory(std::uint64_t least, std::uint64_t most, unsigned put_off_percent, unsigned seed)
        : latency_(least, most), put_off_percent_(put_off_percent), random_(seed) {}

    npuscope_timed_memory calls() {
        return {[](void* user, const npuscope_request* request) {
                    return static_cast<TimedCMemory*>(user)->begin(*request);
                },
                [](void* user, std::uint64_t address, void* data, std::size_t size) {
                    MemoryBytes& held = static_cast<TimedCMemory*>(user)->bytes;
                    for (std::size_t i = 0; i < size; ++i) {
                        static_cast<std::uint8_t*>(data)[i] = held[address + i];
                    }
                    return 0;
                },
                this};
    }
    /// Answers what is due.
    void answer_due(npuscope_device* device) {
        const std::uint64_t now = cycle_of(device);
        while (!put_off_.empty() && put_off_.begin()->first <= now) {
            move(put_off_.begin()->second);
            good(npuscope_answer(device, put_off_.begin()->second.id, 0));
            put_off_.erase(put_off_.begin());
        }
        for (const npuscope_request& request : new_) {  // their latency counts from here
            put_off_.emplace(now + latency_(random_), request);
        }
        new_.clear();
    }
    /// Lets time pass until the interrupt, and answers what is due meanwhile.
    void await_interrupt(npuscope_device* device) {
        while (true) {
            answer_due(device);
            const std::uint64_t most =
                put_off_.empty() ? 64 : put_off_.begin()->first - cycle_of(device);
            const npuscope_status status = npuscope_run_until_interrupt(device, most, nullptr);
            if (status == NPUSCOPE_OK) {
                return;
            }
            if (status == NPUSCOPE_STOPPED && !put_off_.empty()) {
                good(npuscope_advance(device, most));
            } else if (status != NPUSCOPE_LIMIT && new_.empty()) {
                good(status);
            }
        }
    }

    MemoryBytes bytes;
    std::size_t requests = 0;
    std::size_t answered_later = 0;
    bool refuses = false;  ///< the next write

 private:
    std::int64_t begin(const npuscope_request& request) {
        ++requests;
        if (request.write != 0 && refuses) {
            refuses = false;
            return NPUSCOPE_ERROR;
        }
        if (random_() % 100 < put_off_percent_) {
            ++answered_later;
            new_.push_back(request);
            return NPUSCOPE_LATER;
        }
        move(request);
        return static_cast<std::int64_t>(latency_(random_));
    }
    static std::uint64_t cycle_of(npuscope_device* device) {
        std::uint64_t now = 0;
        good(npuscope_cycle(device, &now));
        return now;
    }
    void move(const npuscope_request& request) {
        auto* data = static_cast<std::uint8_t*>(request.data);
        for (std::size_t i = 0; i < request.size; ++i) {
            std::uint8_t& byte = bytes[request.address + i];
            request.write != 0 ? byte = data[i] : data[i] = byte;
        }
    }

    std::uniform_int_distribution<std::uint64_t> latency_;
    unsigned put_off_percent_;
    std::mt19937 random_;
    std::vector<npuscope_request> new_;                       ///< since time was last checked
    std::multimap<std::uint64_t, npuscope_request> put_off_;  ///< by the cycle of the answer
};

/// A device with such a memory.
class TimedCDoor : public CDoor {
 public:
    TimedCDoor(npuscope_device* device, TimedCMemory& memory) : CDoor(device), memory_(memory) {}

    void write_memory(Address address, std::span<const std::uint8_t> bytes) override {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            memory_.bytes[address.value + i] = bytes[i];
        }
    }
    void fill_memory(Address address, std::uint64_t size, std::uint8_t value) override {
        DrivenDevice::fill_memory(address, size, value);
    }
    void read_memory(Address address, std::span<std::uint8_t> bytes) override {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = memory_.bytes[address.value + i];
        }
    }
    std::uint32_t read(std::uint32_t address) override {
        memory_.answer_due(device_);  // for polling hosts
        return CDoor::read(address);
    }
    void await_interrupt() override { memory_.await_interrupt(device_); }

 private:
    TimedCMemory& memory_;
};

}  // namespace npuscope::test
