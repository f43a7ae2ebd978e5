// SPDX-License-Identifier: Apache-2.0
// A SystemC platform with several NPUs at different clocks, whose drivers play register programs;
// against the command line.
#include <gmock/gmock-matchers.h>
#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <nlohmann/json.hpp>

#include "include/npuscope/device.h"
#include "tests/sim/embed/platform.h"

namespace npuscope {
namespace {

using testing::HasSubstr;

using test::cycles_alone;
using test::Driver;
using test::golden;

/// Bytes of any address, answered after a latency; what it does wrong can be chosen.
struct PlatformMemory : sc_core::sc_module {
    enum class Fault { None, Waits, RefusesWrites, ShortDebug };

    PlatformMemory(const sc_core::sc_module_name& name, sc_core::sc_time answer)
        : sc_core::sc_module(name), answer_(answer) {
        socket.register_b_transport(this, &PlatformMemory::transport);
        socket.register_transport_dbg(this, &PlatformMemory::debug);
    }
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        if (on_transport) {
            on_transport();
        }
        if (fault == Fault::Waits) {
            wait(answer_);
        }
        if (fault == Fault::RefusesWrites && payload.is_write()) {
            payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
            return;
        }
        test::move_bytes(payload, bytes);
        delay += answer_;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    unsigned debug(tlm::tlm_generic_payload& payload) {
        if (fault == Fault::ShortDebug) {
            return 0;
        }
        test::move_bytes(payload, bytes);
        return payload.get_data_length();
    }
    tlm_utils::simple_target_socket<PlatformMemory> socket{"socket"};
    test::MemoryBytes bytes;
    Fault fault = Fault::None;
    std::function<void()> on_transport{};

 private:
    sc_core::sc_time answer_;
};

/// An NPU with memory and driver, at its own clock.
struct Node : sc_core::sc_module {
    Node(const sc_core::sc_module_name& name, const Program& program, const Device::Setup& setup,
         sc_core::sc_time cycle, unsigned latency = 51)
        : sc_core::sc_module(name),
          memory("memory", cycle * latency),
          npu("npu", setup),
          driver("driver", program, nvdla_register_blocks(), memory.bytes) {
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
    // 600 MHz: a cycle is not a whole number of picoseconds
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
        EXPECT_TRUE(node.driver.player.done) << names[i];
        EXPECT_EQ(node.driver.player.failed, 0) << names[i];
        EXPECT_GT(node.driver.player.checks, 0) << names[i];
        EXPECT_EQ(node.ids(), "") << names[i];
        EXPECT_EQ(nlohmann::json::parse(node.npu.result())["cycles"], expected[i]) << names[i];
    }
    EXPECT_TRUE(six_hundred.driver.player.done);
    EXPECT_EQ(six_hundred.driver.player.failed, 0);
    EXPECT_EQ(nlohmann::json::parse(six_hundred.npu.result())["cycles"], expected[2]);
    EXPECT_TRUE(clocked.driver.player.done);
    EXPECT_EQ(clocked.driver.player.failed, 0);
    EXPECT_EQ(nlohmann::json::parse(clocked.npu.result())["cycles"], expected[0]);
    EXPECT_NEAR(static_cast<double>(clocked.npu.cycles()), 5e6 / 3, 2);
    EXPECT_THAT(waits.ids(), HasSubstr("memory_error_response"));
    EXPECT_THAT(refuses.ids(), HasSubstr("memory_error_response"));
    EXPECT_THAT(short_debug.ids(), HasSubstr("short_debug_transport"));
    EXPECT_THAT(refuses.findings.at(0)["message"].get<std::string>(),
                HasSubstr("TLM_COMMAND_ERROR_RESPONSE"));
}

const sc_core::sc_time one_ns(1, sc_core::SC_NS);

TEST(TlmDevice, TheLatencyCountsTheCyclesOfTheRequestAndTheFirstBeat) {
    const std::uint64_t of_49 = cycles_alone(golden("fz056"), Cycles(49));
    const std::uint64_t of_50 = cycles_alone(golden("fz056"), Cycles(50));
    EXPECT_LT(of_49, of_50);
    const Node delay_50("delay_50", golden("fz056"), {}, one_ns, 50);
    const Node delay_51("delay_51", golden("fz056"), {}, one_ns, 51);
    sc_core::sc_start(sc_core::sc_time(5, sc_core::SC_MS));
    EXPECT_EQ(nlohmann::json::parse(delay_50.npu.result())["cycles"], of_49);
    EXPECT_EQ(nlohmann::json::parse(delay_51.npu.result())["cycles"], of_50);
}

/// Registers of an operation, which is then in progress.
void start(Driver& driver, const Program& program) {
    for (const Statement& statement : program.statements) {
        if (const auto* write = std::get_if<WriteRegister>(&statement.action)) {
            driver.write(write->address, write->value);
        }
    }
    sc_core::wait(20, sc_core::SC_NS);
}

/// Resets an NPU at an edge.
struct ClockedReset : sc_core::sc_module {
    ClockedReset(const sc_core::sc_module_name& name, Device& npu)
        : sc_core::sc_module(name), npu_(npu) {
        SC_CTHREAD(run, clock.pos());
    }
    SC_HAS_PROCESS(ClockedReset);
    sc_core::sc_in<bool> clock{"clock"};

 private:
    void run() { npu_.reset(); }
    Device& npu_;
};

TEST(TlmDevice, IsResetFromAnyProcess) {
    const std::uint64_t expected = cycles_alone(golden("fs10"));
    std::deque<Node> nodes;
    for (const char* name : {"thread", "busy", "method", "clocked", "outside"}) {
        nodes.emplace_back(name, golden("fs10"), Device::Setup{}, one_ns);
    }
    Node& thread = nodes[0];
    thread.driver.before = [&] {
        sc_core::wait(1000, sc_core::SC_NS);
        thread.npu.reset();
        EXPECT_EQ(sc_core::sc_time_stamp(), 1000 * one_ns);
        EXPECT_EQ(thread.npu.cycles(), 0U);
    };
    Node& busy = nodes[1];
    busy.driver.before = [&] {
        start(busy.driver, golden("fz056"));
        EXPECT_GT(busy.npu.cycles(), 20U);
        busy.npu.reset();
        EXPECT_EQ(busy.npu.cycles(), 0U);
    };
    sc_core::sc_event asked;
    sc_core::sc_spawn_options options;
    options.spawn_method(), options.set_sensitivity(&asked), options.dont_initialize();
    sc_core::sc_spawn([&] { nodes[2].npu.reset(); }, "resets", &options);
    nodes[2].driver.before = [&] {
        start(nodes[2].driver, golden("fz056"));
        asked.notify();
        sc_core::wait(1, sc_core::SC_NS);
    };
    sc_core::sc_clock clock("clock", 10 * one_ns, 0.5, 2000 * one_ns);
    ClockedReset clocked("clocked_reset", nodes[3].npu);
    clocked.clock(clock);
    for (const std::size_t i : {3U, 4U}) {
        nodes[i].driver.before = [&, i] {
            start(nodes[i].driver, golden("fz056"));
            sc_core::wait(3000 * one_ns - sc_core::sc_time_stamp());
        };
    }
    sc_core::sc_start(2500 * one_ns);
    nodes[4].npu.reset();
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    for (const Node& node : nodes) {
        EXPECT_TRUE(node.driver.player.done) << node.name() << node.driver.failure;
        EXPECT_GT(node.driver.player.checks, 0) << node.name();
        EXPECT_EQ(node.driver.player.failed, 0) << node.name();
        EXPECT_EQ(nlohmann::json::parse(node.npu.result())["cycles"], expected) << node.name();
    }
}

TEST(TlmDevice, IsResetFromItsOwnCallBacksInTheNextDeltaCycle) {
    Node finds("finds", golden("fs10"), {}, one_ns);
    finds.memory.fault = PlatformMemory::Fault::RefusesWrites;
    bool found = false;
    finds.npu.on_finding = [&](const std::string& /*text*/) {
        finds.npu.reset();
        found = true;
    };
    Node accessed("accessed", golden("fs10"), {}, one_ns);
    bool accesses = false;
    accessed.memory.on_transport = [&] {
        accessed.npu.reset();
        accesses = true;
    };
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    for (const Node* node : {&finds, &accessed}) {
        EXPECT_FALSE(node->driver.player.done);  // the interrupt does not come
        EXPECT_LT(node->npu.cycles(), 1'000'000U);
        EXPECT_EQ(nlohmann::json::parse(node->npu.result())["operations"].size(), 0U);
    }
    EXPECT_TRUE(found);
    EXPECT_TRUE(accesses);
}

TEST(TlmDevice, ARegisterAccessDuringAResetEnds) {
    Node node("node", golden("fs10"), {}, one_ns);
    std::vector<std::string> errors;
    const auto read = [&] {
        try {
            node.driver.read(0x1000);
        } catch (const std::runtime_error& failure) {
            errors.emplace_back(failure.what());
        }
        EXPECT_EQ(sc_core::sc_time_stamp(), 5 * one_ns);
    };
    node.driver.before = read;
    sc_core::sc_spawn(read);  // one of them waits until the other is served
    sc_core::sc_clock clock("clock", one_ns);
    Node clocked("clocked", golden("fs10"), {}, one_ns);
    clocked.npu.clock(clock);
    clocked.driver.before = [&] {
        sc_core::wait(1000 * one_ns - sc_core::sc_time_stamp());
        start(clocked.driver, golden("fs10"));
        EXPECT_LT(sc_core::sc_time_stamp(), 1900 * one_ns);
    };
    sc_core::sc_start(5 * one_ns);
    node.npu.reset();
    sc_core::sc_start(1001 * one_ns - sc_core::sc_time_stamp());
    clocked.npu.reset();
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    EXPECT_EQ(errors, std::vector<std::string>(2, "TLM_GENERIC_ERROR_RESPONSE"));
    EXPECT_TRUE(node.driver.player.done);
    EXPECT_EQ(node.driver.player.failed, 0);
}

TEST(TlmDevice, AThreadMayBeKilledInARegisterAccess) {
    Node node("node", golden("fs10"), {}, one_ns);
    std::uint32_t version = 0;
    node.driver.before = [&] {
        sc_core::sc_process_handle killed =
            sc_core::sc_spawn([&] { node.driver.read(0x1004); }, "killed");
        sc_core::wait(5, sc_core::SC_NS);
        killed.kill();
        version = node.driver.read(0x1000);  // NVDLA_GLB.S_NVDLA_HW_VERSION_0
    };
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    EXPECT_EQ(version, 0x303031U);
    EXPECT_TRUE(node.driver.player.done);
    EXPECT_EQ(node.driver.player.failed, 0);
}

TEST(TlmDevice, RegisterAccessesThatAreNoneHaveTheirErrors) {
    Node node("node", golden("fs10"), {}, one_ns);
    // `bytes`: 0 for four without a pointer to them
    const auto response = [&](tlm::tlm_command command, std::uint64_t address, unsigned bytes) {
        tlm::tlm_generic_payload payload;
        std::array<std::uint8_t, 8> data{};
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(bytes == 0 ? nullptr : data.data());
        payload.set_data_length(bytes == 0 ? 4 : bytes);
        payload.set_streaming_width(payload.get_data_length());
        sc_core::sc_time delay;
        node.driver.bus->b_transport(payload, delay);
        return payload.get_response_status();
    };
    node.driver.before = [&] {
        EXPECT_EQ(response(tlm::TLM_READ_COMMAND, 0x1000, 4), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(response(tlm::TLM_READ_COMMAND, 0x2ffc, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        EXPECT_EQ(response(tlm::TLM_WRITE_COMMAND, 0x2ffc, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        for (const std::uint64_t nowhere : {0x1002ULL, 0x100000000ULL, 0x100001000ULL}) {
            EXPECT_EQ(response(tlm::TLM_READ_COMMAND, nowhere, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        }
        EXPECT_EQ(response(tlm::TLM_READ_COMMAND, 0x1000, 8), tlm::TLM_BURST_ERROR_RESPONSE);
        EXPECT_EQ(response(tlm::TLM_READ_COMMAND, 0x1000, 0), tlm::TLM_GENERIC_ERROR_RESPONSE);
        EXPECT_EQ(response(tlm::TLM_WRITE_COMMAND, 0x1000, 0), tlm::TLM_GENERIC_ERROR_RESPONSE);
        EXPECT_EQ(response(tlm::TLM_IGNORE_COMMAND, 0x1000, 4), tlm::TLM_COMMAND_ERROR_RESPONSE);
    };
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    EXPECT_TRUE(node.driver.player.done);
}

}  // namespace
}  // namespace npuscope
