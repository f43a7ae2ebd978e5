// SPDX-License-Identifier: Apache-2.0
// A verifier's test bench: the NPU as a TLM-2.0 module between a register master and a memory that
// are both the test bench's own. It plays the statements of a register trace one after the other.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <zlib.h>

#include <cstdio>
#include <cstring>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/link/clock.h"
#include "models/npu/npu.h"
#include "sim/program/read_program.h"

namespace ns = npuscope;

/// One MiB from 0x80000000 on, with a latency of 50 cycles.
struct TestMemory : sc_core::sc_module {
    static constexpr std::uint64_t base = 0x8000'0000;
    tlm_utils::simple_target_socket<TestMemory> socket{"socket"};
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(0x10'0000);

    explicit TestMemory(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        socket.register_b_transport(this, &TestMemory::transport);
        socket.register_transport_dbg(this, &TestMemory::debug);
    }
    std::uint8_t* at(ns::Address address) { return bytes.data() + (address.value - base); }

    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        debug(payload);
        delay += ns::to_time(ns::Cycles(50));
    }
    unsigned debug(tlm::tlm_generic_payload& payload) {
        std::uint8_t* here = at(ns::Address(payload.get_address()));
        const unsigned size = payload.get_data_length();
        payload.is_read() ? std::memcpy(payload.get_data_ptr(), here, size)
                          : std::memcpy(here, payload.get_data_ptr(), size);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        return size;
    }
};

struct TestBench : sc_core::sc_module {
    ns::Program program;
    ns::DiagnosticLog log;
    TestMemory memory{"memory"};
    ns::Npu npu{"npu", ns::NpuConfig{}, log};  // the defaults are nv_small
    tlm_utils::simple_initiator_socket<TestBench> bus{"bus"};
    int checks = 0;
    int failed = 0;

    TestBench(const sc_core::sc_module_name& name, ns::Program played)
        : sc_core::sc_module(name), program(std::move(played)) {
        bus.bind(npu.csb.socket);
        npu.mcif.memory.bind(memory.socket);
        SC_THREAD(play);
    }
    SC_HAS_PROCESS(TestBench);

    std::uint32_t access(tlm::tlm_command command, std::uint32_t address, std::uint32_t value) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
        payload.set_data_length(sizeof value);
        payload.set_streaming_width(sizeof value);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        bus->b_transport(payload, delay);
        wait(delay);
        return value;
    }

    void execute(const ns::InitMemory& fill) {
        for (std::uint64_t i = 0; i < fill.bytes.value; ++i) {
            const ns::Address address = fill.address + ns::Bytes(i);
            *memory.at(address) = ns::fill_byte(fill.fill, address);
        }
    }
    void execute(const ns::LoadMemory& load) {
        for (const auto& run : load.image.runs) {
            std::memcpy(memory.at(load.address + ns::Bytes(run.offset)),
                        load.image.bytes.data() + run.position, run.size);
        }
    }
    void execute(const ns::WriteRegister& write) {
        access(tlm::TLM_WRITE_COMMAND, write.address, write.value);
    }
    void execute(const ns::PollRegister& poll) {
        while ((access(tlm::TLM_READ_COMMAND, poll.address, 0) & poll.mask) != poll.expected) {
        }
    }
    void execute(const ns::NotifyOnInterrupt& /*awaited*/) {
        while (!npu.glb.controller().line()) {
            wait(npu.glb.raised());
        }
        const std::uint32_t status = access(tlm::TLM_READ_COMMAND, intr_status, 0);
        access(tlm::TLM_WRITE_COMMAND, intr_status, status);
    }
    void execute(const ns::CheckCrc& check) {
        const auto size = static_cast<uInt>(check.bytes.value);
        const auto crc = static_cast<std::uint32_t>(crc32(0, memory.at(check.address), size));
        ++checks;
        failed += crc == check.crc ? 0 : 1;
        std::printf("cycle %llu: crc 0x%08x, expected 0x%08x\n",
                    static_cast<unsigned long long>(ns::now().value), crc, check.crc);
    }
    template <class Other>
    void execute(const Other& /*statement*/) {}  // waits of a player that runs ahead

    void play() {
        for (const ns::Statement& statement : program.statements) {
            std::visit([this](const auto& action) { execute(action); }, statement.action);
        }
        for (const ns::Diagnostic& finding : log.findings()) {
            std::printf("%s [%s]\n", finding.sentence.c_str(), finding.id.c_str());
        }
        for (const auto& entry : npu.units()) {
            entry.unit->kill_threads();
        }
        sc_core::sc_stop();
    }

    static constexpr std::uint32_t intr_status = 0x100c;  // NVDLA_GLB.S_INTR_STATUS_0
};

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    TestBench bench("bench",
                    ns::read_program(argv[1], ns::RegisterNames(ns::nvdla_register_blocks())));
    sc_core::sc_start();
    return bench.checks > 0 && bench.failed == 0 ? 0 : 1;
}
