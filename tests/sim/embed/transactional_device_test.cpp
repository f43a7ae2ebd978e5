// SPDX-License-Identifier: Apache-2.0
// NPUs whose memory port is transactional, in one platform: memories that wait, answer in phases, late, in
// any order, or with errors, and offer no debug transport.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <random>

#include "include/npuscope/device.h"
#include "tests/sim/embed/platform.h"

namespace npuscope {
namespace {

using test::cycles_alone;
using test::Driver;
using test::golden;
using testing::HasSubstr;

const sc_core::sc_time cycle(1, sc_core::SC_NS);

/// How long answers take, in cycles; `refused`: the first write gets an error.
struct Behaviour {
    std::uint64_t least = 51;
    std::uint64_t most = 51;
    bool refuses = false;
    unsigned seed = 1;
};

/// Answers by b_transport, waiting in several calls at a time; or by nb_transport in phases, accepting
/// requests at once or later.
struct TestMemory : sc_core::sc_module {
    TestMemory(const sc_core::sc_module_name& name, bool phases, const Behaviour& behaviour)
        : sc_core::sc_module(name), behaviour_(behaviour), random_(behaviour.seed) {
        if (!phases) {
            socket.register_b_transport(this, &TestMemory::wait_and_answer);
            return;
        }
        socket.register_nb_transport_fw(this, &TestMemory::take_phase);
        SC_METHOD(respond);
        sensitive << responses_.get_event();
        dont_initialize();
        SC_METHOD(accept);
        sensitive << accepted_.get_event();
        dont_initialize();
    }
    SC_HAS_PROCESS(TestMemory);

    tlm_utils::simple_target_socket<TestMemory> socket{"socket"};
    test::MemoryBytes bytes;
    std::size_t in_flight = 0;
    std::size_t most_in_flight = 0;
    std::vector<std::string> faults;  ///< against the rules of the protocol

 private:
    void wait_and_answer(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
        begin(payload);
        wait(draw());
        carry_out(payload);
    }
    tlm::tlm_sync_enum take_phase(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& /*delay*/) {
        if (phase == tlm::END_RESP) {
            return tlm::TLM_COMPLETED;
        }
        if (accepting_ != nullptr) {
            faults.emplace_back("a request begins before the one before was accepted");
        }
        begin(payload);
        payload.acquire();
        responses_.notify(payload, draw());
        if (behaviour_.least == behaviour_.most || random_() % 2 == 0) {
            phase = tlm::END_REQ;
            return tlm::TLM_UPDATED;
        }
        accepting_ = &payload;
        payload.acquire();
        accepted_.notify(payload, cycle * static_cast<double>(1 + random_() % 5));
        return tlm::TLM_ACCEPTED;
    }
    void accept() {
        while (tlm::tlm_generic_payload* payload = accepted_.get_next_transaction()) {
            if (accepting_ == payload) {
                accepting_ = nullptr;
                answer(*payload, tlm::END_REQ);
            }
            payload->release();
        }
    }
    void respond() {
        while (tlm::tlm_generic_payload* payload = responses_.get_next_transaction()) {
            carry_out(*payload);
            if (accepting_ == payload) {
                accepting_ = nullptr;  // the response accepts the request, too
            }
            answer(*payload, tlm::BEGIN_RESP);
            payload->release();
        }
    }
    void answer(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) {
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->nb_transport_bw(payload, phase, delay);
    }
    sc_core::sc_time draw() {
        std::uniform_int_distribution<std::uint64_t> cycles(behaviour_.least, behaviour_.most);
        return cycle * static_cast<double>(cycles(random_));
    }
    void begin(const tlm::tlm_generic_payload& payload) {
        most_in_flight = std::max(most_in_flight, ++in_flight);
        const std::uint64_t last = payload.get_address() + payload.get_data_length() - 1;
        if (payload.get_data_length() == 0 || payload.get_address() / 8 != last / 8) {
            faults.emplace_back("nv_small's bursts are of one beat");
        }
    }
    void carry_out(tlm::tlm_generic_payload& payload) {
        --in_flight;
        if (payload.is_write() && std::exchange(behaviour_.refuses, false)) {
            payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
            return;
        }
        test::move_bytes(payload, bytes);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }

    Behaviour behaviour_;
    std::mt19937 random_;
    tlm_utils::peq_with_get<tlm::tlm_generic_payload> responses_{"responses"};
    tlm_utils::peq_with_get<tlm::tlm_generic_payload> accepted_{"accepted"};
    tlm::tlm_generic_payload* accepting_ = nullptr;
};

struct Node {
    Node(const std::string& name, const std::string& program, bool phases,
         const Behaviour& behaviour)
        : memory((name + "_memory").c_str(), phases, behaviour),
          npu(name.c_str(), {"nv_small", {"npu.mcif.transactions=values"}, phases}),
          driver((name + "_driver").c_str(), golden(program), memory.bytes) {
        npu.dram.bind(memory.socket);
        driver.bus.bind(npu.csb);
        npu.interrupt(line);
        driver.interrupt(line);
        npu.on_finding = [this](const std::string& text) {
            findings.push_back(nlohmann::json::parse(text));
        };
    }
    std::uint64_t cycles() const { return nlohmann::json::parse(npu.result())["cycles"]; }

    TestMemory memory;
    Device npu;
    Driver driver;
    sc_core::sc_signal<bool> line;
    std::vector<nlohmann::json> findings;
};

TEST(TransactionalDevice, BytesAreThoseThatTheReadsBringWhateverTheMemoryDoes) {
    const std::vector<std::string> names{"fp04", "fs10", "fz056", "sdp_1x1x800", "pdp_8x8x64_avg8"};
    std::vector<std::uint64_t> expected;
    for (const std::string& name : names) {
        expected.push_back(cycles_alone(golden(name)));
    }
    std::deque<Node> fixed;
    std::deque<Node> random;
    for (const std::string& name : names) {
        for (const bool phases : {false, true}) {
            const std::string node = name + (phases ? "_phases" : "_waits");
            fixed.emplace_back(node, name, phases, Behaviour{});
            for (unsigned seed = 1; seed <= 3; ++seed) {
                random.emplace_back(fmt::format("{}_{}", node, seed), name, phases,
                                    Behaviour{.least = 1, .most = 300, .seed = seed});
            }
        }
    }
    std::deque<Node> refused;
    refused.emplace_back("refused_waits", "fs10", false, Behaviour{.refuses = true});
    refused.emplace_back("refused_phases", "fs10", true, Behaviour{.refuses = true});

    sc_core::sc_report_handler::set_actions("npuscope", sc_core::SC_DO_NOTHING);
    sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_MS));

    for (std::size_t i = 0; i < fixed.size(); ++i) {
        EXPECT_EQ(fixed[i].cycles(), expected[i / 2]) << fixed[i].npu.name();
    }
    for (std::deque<Node>* nodes : {&fixed, &random}) {
        for (Node& node : *nodes) {
            EXPECT_TRUE(node.driver.done) << node.npu.name();
            EXPECT_GT(node.driver.checks, 0) << node.npu.name();
            EXPECT_EQ(node.driver.failed, 0) << node.npu.name();
            EXPECT_THAT(node.findings, testing::IsEmpty()) << node.npu.name();
            EXPECT_THAT(node.memory.faults, testing::IsEmpty()) << node.npu.name();
            EXPECT_EQ(node.memory.in_flight, 0U) << node.npu.name();
            EXPECT_GT(node.memory.most_in_flight, 1U) << node.npu.name();
        }
    }
    for (Node& node : refused) {
        EXPECT_TRUE(node.driver.done) << node.npu.name();
        ASSERT_EQ(node.findings.size(), 1U) << node.npu.name();
        EXPECT_EQ(node.findings.front()["id"], "memory_error_response");
        EXPECT_THAT(node.findings.front()["message"].get<std::string>(),
                    HasSubstr("TLM_GENERIC_ERROR_RESPONSE"));
    }
}

}  // namespace
}  // namespace npuscope
