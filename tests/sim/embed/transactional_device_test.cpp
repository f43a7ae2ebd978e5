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

}  // namespace
}  // namespace npuscope
