// SPDX-License-Identifier: Apache-2.0
// What platforms with NPUs in their tests are made of: a driver that plays a register program, golden
// programs, and the cycles that the command line gives.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <zlib.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/npu/register_blocks.h"
#include "sim/config/preset.h"
#include "sim/program/read_program.h"
#include "sim/run/session.h"
#include "tests/support/families.h"

namespace npuscope::test {

inline constexpr std::uint32_t intr_status = 0x100c;  // NVDLA_GLB.S_INTR_STATUS_0, nv_small's map

/// Bytes of any address.
using MemoryBytes = std::map<std::uint64_t, std::uint8_t>;

/// How a bench sees a memory, without time.
struct ByteAccess {
    std::function<std::uint8_t(std::uint64_t)> peek;
    std::function<void(std::uint64_t, std::uint8_t)> poke;

    ByteAccess(MemoryBytes& bytes)  // NOLINT(google-explicit-constructor): a view of it
        : peek([&bytes](std::uint64_t address) { return bytes[address]; }),
          poke([&bytes](std::uint64_t address, std::uint8_t byte) { bytes[address] = byte; }) {}
    template <class Memory>
    explicit ByteAccess(Memory* memory)
        : peek([memory](std::uint64_t address) { return memory->peek(address); }),
          poke([memory](std::uint64_t address, std::uint8_t byte) {
              memory->poke(address, byte);
          }) {}
};

/// What a read or a write does to them.
inline void move_bytes(tlm::tlm_generic_payload& payload, MemoryBytes& bytes) {
    for (unsigned i = 0; i < payload.get_data_length(); ++i) {
        std::uint8_t& byte = bytes[payload.get_address() + i];
        std::uint8_t& other = payload.get_data_ptr()[i];
        payload.is_read() ? other = byte : byte = other;
    }
}

/// Plays a program's statements.
struct Driver : sc_core::sc_module {
    Driver(const sc_core::sc_module_name& name, Program played, ByteAccess behind)
        : sc_core::sc_module(name), program(std::move(played)), memory(std::move(behind)) {
        SC_THREAD(play);
    }
    SC_HAS_PROCESS(Driver);

    void play() {
        for (const Statement& statement : program.statements) {
            std::visit([this](const auto& action) { execute(action); }, statement.action);
        }
        done = true;
    }
    std::uint32_t access(tlm::tlm_command command, std::uint32_t address, std::uint32_t value) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
        payload.set_data_length(sizeof value);
        payload.set_streaming_width(sizeof value);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        bus->b_transport(payload, delay);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE) << std::hex << address;
        wait(delay);
        return value;
    }
    void execute(const InitMemory& fill) {
        for (std::uint64_t i = 0; i < fill.bytes.value; ++i) {
            const Address address = fill.address + Bytes(i);
            memory.poke(address.value, fill_byte(fill.fill, address));
        }
    }
    void execute(const LoadMemory& load) {
        for (const auto& run : load.image.runs) {
            for (std::size_t i = 0; i < run.size; ++i) {
                memory.poke((load.address + Bytes(run.offset + i)).value,
                            load.image.bytes[run.position + i]);
            }
        }
    }
    void execute(const WriteRegister& write) {
        access(tlm::TLM_WRITE_COMMAND, write.address, write.value);
    }
    void execute(const PollRegister& poll) {
        while ((access(tlm::TLM_READ_COMMAND, poll.address, 0) & poll.mask) != poll.expected) {
        }
    }
    void execute(const NotifyOnInterrupt& /*awaited*/) {
        while (!interrupt->read()) {
            wait(interrupt->posedge_event());
        }
        access(tlm::TLM_WRITE_COMMAND, intr_status, access(tlm::TLM_READ_COMMAND, intr_status, 0));
        wait(sc_core::SC_ZERO_TIME);
    }
    void execute(const CheckCrc& check) {
        std::vector<std::uint8_t> bytes(check.bytes.value);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = memory.peek(check.address.value + i);
        }
        ++checks;
        failed += crc32(0, bytes.data(), static_cast<uInt>(bytes.size())) == check.crc ? 0 : 1;
    }
    template <class Other>
    void execute(const Other& /*statement*/) {}  // waits of a player that runs ahead

    tlm_utils::simple_initiator_socket<Driver> bus{"bus"};
    sc_core::sc_in<bool> interrupt{"interrupt"};
    Program program;
    ByteAccess memory;
    bool done = false;
    int checks = 0;
    int failed = 0;
};

inline Program golden(const std::string& name) {
    return read_program(std::filesystem::path(NPUSCOPE_SOURCE) / "tests/golden/rtl" / name,
                        RegisterNames(nvdla_register_blocks()));
}

inline std::uint64_t cycles_alone(const Program& program) {
    SystemConfig system = parse_system(
        read_preset_text(find_preset(configs_folder(), "npu", "nv_small")), "", families());
    system.memory = read_preset<MemoryConfig>(find_preset(configs_folder(), "memory", "dram_50"));
    return run_program(program, system, {}).cycles.value;
}

}  // namespace npuscope::test
