// SPDX-License-Identifier: Apache-2.0
// NPUs whose memory port is transactional, in one platform: memories that wait, answer in phases, late, in
// any order, or with errors, and offer no debug transport.
#include <fmt/format.h>
#include <gmock/gmock-more-matchers.h>

#include <deque>
#include <nlohmann/json.hpp>

#include "include/npuscope/device.h"
#include "tests/sim/embed/platform.h"

namespace npuscope {
namespace {

using test::Behaviour;
using test::cycles_alone;
using test::Driver;
using test::golden;
using test::MemoryBytes;
using test::PatientMemory;
using testing::HasSubstr;

struct Node {
    Node(const std::string& name, const std::string& program, bool phases,
         const Behaviour& behaviour)
        : memory((name + "_memory").c_str(), phases, behaviour),
          npu(name.c_str(), {"nv_small", {"npu.mcif.transactions=values"}, phases}),
          driver((name + "_driver").c_str(), golden(program), nvdla_register_blocks(),
                 memory.bytes) {
        memory.beat = 8;  // nv_small asks for single ones
        npu.dram.bind(memory.socket);
        driver.bus.bind(npu.csb);
        npu.interrupt(line);
        driver.interrupt(line);
        npu.on_finding = [this](const std::string& text) {
            findings.push_back(nlohmann::json::parse(text));
        };
    }
    std::uint64_t cycles() const { return nlohmann::json::parse(npu.result())["cycles"]; }

    PatientMemory memory;
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
            EXPECT_TRUE(node.driver.player.done) << node.npu.name();
            EXPECT_GT(node.driver.player.checks, 0) << node.npu.name();
            EXPECT_EQ(node.driver.player.failed, 0) << node.npu.name();
            EXPECT_THAT(node.findings, testing::IsEmpty()) << node.npu.name();
            EXPECT_THAT(node.memory.faults, testing::IsEmpty()) << node.npu.name();
            EXPECT_EQ(node.memory.in_flight, 0U) << node.npu.name();
            EXPECT_GT(node.memory.most_in_flight, 1U) << node.npu.name();
        }
    }
    for (Node& node : refused) {
        EXPECT_TRUE(node.driver.player.done) << node.npu.name();
        ASSERT_EQ(node.findings.size(), 1U) << node.npu.name();
        EXPECT_EQ(node.findings.front()["id"], "memory_error_response");
        EXPECT_THAT(node.findings.front()["message"].get<std::string>(),
                    HasSubstr("TLM_GENERIC_ERROR_RESPONSE"));
    }
}

/// Answers one read wrongly, after some good ones.
struct WrongMemory : sc_core::sc_module {
    enum class Fault { AnswersTwice, AnswersAfterCompletion, AnswersAnother };

    WrongMemory(const sc_core::sc_module_name& name, Fault fault)
        : sc_core::sc_module(name), fault_(fault) {
        socket.register_nb_transport_fw(this, &WrongMemory::take_phase);
        SC_METHOD(respond);
        sensitive << responses_.get_event();
        dont_initialize();
    }
    SC_HAS_PROCESS(WrongMemory);
    tlm_utils::simple_target_socket<WrongMemory> socket{"socket"};

 private:
    static constexpr int good_answers = 10;

    tlm::tlm_sync_enum take_phase(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& /*delay*/) {
        if (phase == tlm::END_RESP) {
            return tlm::TLM_COMPLETED;
        }
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        payload.acquire();
        responses_.notify(payload, sc_core::sc_time(50, sc_core::SC_NS));
        if (fault_ == Fault::AnswersAfterCompletion && answers_++ == good_answers) {
            return tlm::TLM_COMPLETED;
        }
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void respond() {
        while (tlm::tlm_generic_payload* payload = responses_.get_next_transaction()) {
            const bool wrong =
                fault_ != Fault::AnswersAfterCompletion && answers_++ == good_answers;
            if (wrong && fault_ == Fault::AnswersAnother) {
                own_.deep_copy_from(*payload);
                answer(own_);
            } else {
                answer(*payload);
            }
            if (wrong && fault_ == Fault::AnswersTwice) {
                answer(*payload);
            }
            payload->release();
        }
    }
    void answer(tlm::tlm_generic_payload& payload) {
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->nb_transport_bw(payload, phase, delay);
    }

    Fault fault_;
    int answers_ = 0;
    tlm::tlm_generic_payload own_;
    tlm_utils::peq_with_get<tlm::tlm_generic_payload> responses_{"responses"};
};

/// What the simulation says of such a memory.
std::string error_of(WrongMemory::Fault fault) {
    WrongMemory memory("memory", fault);
    MemoryBytes bytes;
    Device npu("npu", {"nv_small", {"npu.mcif.transactions=values"}, true});
    Driver driver("driver", golden("pdp_8x8x64_avg8"), nvdla_register_blocks(), bytes);
    sc_core::sc_signal<bool> line;
    npu.dram.bind(memory.socket);
    driver.bus.bind(npu.csb);
    npu.interrupt(line);
    driver.interrupt(line);
    try {
        sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    } catch (const sc_core::sc_report& report) {
        return report.get_msg();
    }
    return "";
}

TEST(TransactionalDevice, ASecondResponseIsAnErrorWithItsAddress) {
    EXPECT_THAT(error_of(WrongMemory::Fault::AnswersTwice),
                testing::MatchesRegex("memory of the platform: BEGIN_RESP for a read of 8 bytes at "
                                      "0x[0-9a-f]+, but the NPU has this answer already: send "
                                      "one BEGIN_RESP for each request.*"));
}

TEST(TransactionalDevice, AResponseAfterCompletionIsAnErrorWithItsAddress) {
    EXPECT_THAT(error_of(WrongMemory::Fault::AnswersAfterCompletion),
                testing::MatchesRegex(".*0x[0-9a-f]+.* none after TLM_COMPLETED"));
}

TEST(TransactionalDevice, AResponseWithAnotherPayloadIsAnErrorWithItsAddress) {
    EXPECT_THAT(error_of(WrongMemory::Fault::AnswersAnother),
                testing::MatchesRegex(".*0x[0-9a-f]+, but the NPU did not send this payload: "
                                      "answer with the payload of the request itself"));
}

}  // namespace
}  // namespace npuscope
