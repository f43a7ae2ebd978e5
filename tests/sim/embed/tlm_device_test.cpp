// SPDX-License-Identifier: Apache-2.0
// A SystemC platform with several NPUs at different clocks, whose drivers play register programs;
// against the command line's way.
#include <gmock/gmock.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <zlib.h>

#include <deque>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "include/npuscope/device.h"
#include "models/npu/register_blocks.h"
#include "sim/config/preset.h"
#include "sim/program/read_program.h"
#include "sim/run/session.h"
#include "tests/support/families.h"

namespace npuscope {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t intr_status = 0x100c;  // NVDLA_GLB.S_INTR_STATUS_0, nv_small's map

/// Bytes of any address, answered after a latency; what it does wrong can be chosen.
struct PlatformMemory : sc_core::sc_module {
    enum class Fault { None, Waits, RefusesWrites, ShortDebug };

    PlatformMemory(const sc_core::sc_module_name& name, sc_core::sc_time answer)
        : sc_core::sc_module(name), answer_(answer) {
        socket.register_b_transport(this, &PlatformMemory::transport);
        socket.register_transport_dbg(this, &PlatformMemory::debug);
    }
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        if (fault == Fault::Waits) {
            wait(answer_);
        }
        if (fault == Fault::RefusesWrites && payload.is_write()) {
            payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
            return;
        }
        move(payload);
        delay += answer_;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    unsigned debug(tlm::tlm_generic_payload& payload) {
        if (fault == Fault::ShortDebug) {
            return 0;
        }
        move(payload);
        return payload.get_data_length();
    }
    void move(tlm::tlm_generic_payload& payload) {
        for (unsigned i = 0; i < payload.get_data_length(); ++i) {
            std::uint8_t& byte = bytes[payload.get_address() + i];
            std::uint8_t& other = payload.get_data_ptr()[i];
            payload.is_read() ? other = byte : byte = other;
        }
    }

    tlm_utils::simple_target_socket<PlatformMemory> socket{"socket"};
    std::map<std::uint64_t, std::uint8_t> bytes;
    Fault fault = Fault::None;

 private:
    sc_core::sc_time answer_;
};

/// Plays a program's statements.
struct Driver : sc_core::sc_module {
    Driver(const sc_core::sc_module_name& name, Program played, PlatformMemory& behind)
        : sc_core::sc_module(name), program(std::move(played)), memory(behind) {
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
            memory.bytes[address.value] = fill_byte(fill.fill, address);
        }
    }
    void execute(const LoadMemory& load) {
        for (const auto& run : load.image.runs) {
            for (std::size_t i = 0; i < run.size; ++i) {
                memory.bytes[(load.address + Bytes(run.offset + i)).value] =
                    load.image.bytes[run.position + i];
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
            bytes[i] = memory.bytes[check.address.value + i];
        }
        ++checks;
        failed += crc32(0, bytes.data(), static_cast<uInt>(bytes.size())) == check.crc ? 0 : 1;
    }
    template <class Other>
    void execute(const Other& /*statement*/) {}  // waits of a player that runs ahead

    tlm_utils::simple_initiator_socket<Driver> bus{"bus"};
    sc_core::sc_in<bool> interrupt{"interrupt"};
    Program program;
    PlatformMemory& memory;
    bool done = false;
    int checks = 0;
    int failed = 0;
};

/// An NPU with memory and driver, at a clock of its own.
struct Node : sc_core::sc_module {
    Node(const sc_core::sc_module_name& name, const Program& program, const Device::Setup& setup,
         sc_core::sc_time cycle)
        : sc_core::sc_module(name),
          memory("memory", cycle * 51),
          npu("npu", setup),
          driver("driver", program, memory) {
        npu.dram.bind(memory.socket);
        driver.bus.bind(npu.csb);
        npu.interrupt(line);
        driver.interrupt(line);
        npu.on_finding = [this](const std::string& text) {
            findings.push_back(nlohmann::json::parse(text));
        };
    }
    std::string ids() const {
        std::string all;
        for (const auto& finding : findings) {
            all += finding["id"].get<std::string>() + " ";
        }
        return all;
    }

    PlatformMemory memory;
    Device npu;
    Driver driver;
    sc_core::sc_signal<bool> line{"line"};
    std::vector<nlohmann::json> findings;
};

Program golden(const std::string& name) {
    return read_program(std::filesystem::path(NPUSCOPE_SOURCE) / "tests/golden/rtl" / name,
                        RegisterNames(nvdla_register_blocks()));
}

std::uint64_t cycles_alone(const Program& program) {
    SystemConfig system = parse_system(
        read_preset_text(find_preset(configs_folder(), "npu", "nv_small")), "", test::families());
    system.memory = read_preset<MemoryConfig>(find_preset(configs_folder(), "memory", "dram_50"));
    return run_program(program, system, {}).cycles.value;
}

TEST(TlmDevice, AnNpuThatIsNoneIsSaidSo) {
    EXPECT_THAT(
        [] {
            Device("none", {"nv_smal", {}});
        },
        testing::ThrowsMessage<std::invalid_argument>(HasSubstr("did you mean 'nv_small'?")));
    EXPECT_THAT(
        [] {
            Device("tinpu", {"tinpu_f28p55", {}});
        },
        testing::ThrowsMessage<std::invalid_argument>(HasSubstr("has no registers")));
}

TEST(TlmDevice, SeveralInOnePlatformGiveTheCommandLinesBytesAndCycles) {
    const std::vector<std::string> names{"fp04", "fs10", "fz056", "sdp_1x1x800", "pdp_8x8x64_avg8"};
    std::vector<std::uint64_t> expected;
    for (const std::string& name : names) {
        expected.push_back(cycles_alone(golden(name)));
    }

    std::deque<Node> nodes;
    for (const std::string& name : names) {
        nodes.emplace_back(name.c_str(), golden(name), Device::Setup{},
                           sc_core::sc_time(1, sc_core::SC_NS));
    }
    // 600 MHz: a cycle is no whole number of picoseconds
    const sc_core::sc_time slow(1e9 / 600e6, sc_core::SC_NS);
    Node six_hundred("six_hundred", golden("fz056"), {"nv_small", {"npu.clock=600 MHz"}}, slow);
    sc_core::sc_clock clock("clock", sc_core::sc_time(3, sc_core::SC_NS));
    Node clocked("clocked", golden("fp04"), {}, sc_core::sc_time(3, sc_core::SC_NS));
    clocked.npu.clock(clock);
    Node waits("waits", golden("fs10"), {}, sc_core::sc_time(1, sc_core::SC_NS));
    waits.memory.fault = PlatformMemory::Fault::Waits;
    Node refuses("refuses", golden("fs10"), {}, sc_core::sc_time(1, sc_core::SC_NS));
    refuses.memory.fault = PlatformMemory::Fault::RefusesWrites;
    Node short_debug("short_debug", golden("fs10"), {}, sc_core::sc_time(1, sc_core::SC_NS));
    short_debug.memory.fault = PlatformMemory::Fault::ShortDebug;

    sc_core::sc_report_handler::set_actions("npuscope", sc_core::SC_DO_NOTHING);
    sc_core::sc_start(sc_core::sc_time(5, sc_core::SC_MS));

    for (std::size_t i = 0; i < names.size(); ++i) {
        const Node& node = nodes[i];
        EXPECT_TRUE(node.driver.done) << names[i];
        EXPECT_EQ(node.driver.failed, 0) << names[i];
        EXPECT_GT(node.driver.checks, 0) << names[i];
        EXPECT_EQ(node.ids(), "") << names[i];
        EXPECT_EQ(nlohmann::json::parse(node.npu.result())["cycles"], expected[i]) << names[i];
    }
    EXPECT_TRUE(six_hundred.driver.done);
    EXPECT_EQ(six_hundred.driver.failed, 0);
    EXPECT_EQ(nlohmann::json::parse(six_hundred.npu.result())["cycles"], expected[2]);
    EXPECT_TRUE(clocked.driver.done);
    EXPECT_EQ(clocked.driver.failed, 0);
    EXPECT_EQ(nlohmann::json::parse(clocked.npu.result())["cycles"], expected[0]);
    EXPECT_NEAR(static_cast<double>(clocked.npu.cycles()), 5e6 / 3, 2);
    EXPECT_THAT(waits.ids(), HasSubstr("memory_error_response"));
    EXPECT_THAT(refuses.ids(), HasSubstr("memory_error_response"));
    EXPECT_THAT(short_debug.ids(), HasSubstr("short_debug_transport"));
    EXPECT_THAT(refuses.findings.at(0)["message"].get<std::string>(),
                HasSubstr("TLM_COMMAND_ERROR_RESPONSE"));
}

}  // namespace
}  // namespace npuscope
