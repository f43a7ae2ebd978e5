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

DECLARE_EXTENDED_PHASE(SNOOPED);  // one that the NPU does not know

/// Accepts a request 10 ns after it has come, in one of the ways that the protocol allows, and
/// counts what comes too early; marks requests.
struct StrictMemory : sc_core::sc_module {
    enum class Accepts { WithADelay, ByADelayedAnswer, ByCompletion, AfterAnIgnorablePhase };
    struct Mark : tlm::tlm_extension<Mark> {
        tlm::tlm_extension_base* clone() const override { return new Mark; }
        void copy_from(const tlm::tlm_extension_base& /*other*/) override {}
    };

    StrictMemory(const sc_core::sc_module_name& name, Accepts accepts)
        : sc_core::sc_module(name), accepts_(accepts) {
        socket.register_nb_transport_fw(this, &StrictMemory::take_phase);
    }
    tlm_utils::simple_target_socket<StrictMemory> socket{"socket"};
    MemoryBytes bytes;
    int requests = 0;
    int early = 0;
    int marked = 0;  ///< of the requests that have just come

 private:
    static sc_core::sc_time ns(int count) { return {static_cast<double>(count), sc_core::SC_NS}; }

    tlm::tlm_sync_enum take_phase(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay) {
        early += sc_core::sc_time_stamp() + delay < accepted_ ? 1 : 0;
        if (phase != tlm::BEGIN_REQ) {
            return tlm::TLM_COMPLETED;
        }
        ++requests;
        marked += payload.get_extension<Mark>() != nullptr ? 1 : 0;
        payload.set_auto_extension(new Mark);
        test::move_bytes(payload, bytes);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        accepted_ = sc_core::sc_time_stamp() + delay + ns(10);
        if (accepts_ == Accepts::AfterAnIgnorablePhase) {
            go_on(payload, true);
            return tlm::TLM_ACCEPTED;
        }
        delay += ns(10);
        if (accepts_ == Accepts::ByCompletion) {
            return tlm::TLM_COMPLETED;
        }
        phase = accepts_ == Accepts::WithADelay ? tlm::END_REQ : tlm::BEGIN_RESP;
        if (accepts_ == Accepts::WithADelay) {
            go_on(payload, false);
        }
        return tlm::TLM_UPDATED;
    }
    void go_on(tlm::tlm_generic_payload& payload, bool accepts) {
        payload.acquire();
        sc_core::sc_spawn([this, &payload, accepts] {
            if (accepts) {
                wait(ns(1));
                send(payload, SNOOPED);
                wait(ns(9));
                send(payload, tlm::END_REQ);
            }
            wait(ns(50));
            send(payload, tlm::BEGIN_RESP);
            payload.release();
        });
    }
    void send(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) {
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->nb_transport_bw(payload, phase, delay);
    }

    Accepts accepts_;
    sc_core::sc_time accepted_;  ///< when the last request is
};

TEST(TransactionalDevice, ARequestBeginsWhenTheOneBeforeIsAcceptedAndBearsNoMarkOfAnother) {
    using enum StrictMemory::Accepts;
    struct Case {
        Case(const std::string& name, StrictMemory::Accepts accepts)
            : memory((name + "_memory").c_str(), accepts),
              npu(name.c_str(), {"nv_small", {"npu.mcif.transactions=values"}, true}),
              driver((name + "_driver").c_str(), golden("pdp_8x8x64_avg8"), nvdla_register_blocks(),
                     memory.bytes) {
            npu.dram.bind(memory.socket);
            driver.bus.bind(npu.csb);
            npu.interrupt(line);
            driver.interrupt(line);
        }
        StrictMemory memory;
        Device npu;
        Driver driver;
        sc_core::sc_signal<bool> line;
    };
    std::deque<Case> cases;
    cases.emplace_back("delay", WithADelay);
    cases.emplace_back("answer", ByADelayedAnswer);
    cases.emplace_back("completion", ByCompletion);
    cases.emplace_back("ignorable", AfterAnIgnorablePhase);
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    for (const Case& one : cases) {
        EXPECT_TRUE(one.driver.player.done) << one.npu.name();
        EXPECT_EQ(one.driver.player.failed, 0) << one.npu.name();
        EXPECT_GT(one.memory.requests, 100) << one.npu.name();
        EXPECT_EQ(one.memory.early, 0) << one.npu.name();
        EXPECT_EQ(one.memory.marked, 0) << one.npu.name();
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
