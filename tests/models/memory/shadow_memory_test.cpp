// SPDX-License-Identifier: Apache-2.0
#include "models/memory/shadow_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace npuscope {
namespace {

ByteRun run(std::uint64_t address, std::uint64_t bytes) { return {Address(address), Bytes(bytes)}; }

/// `from+bytes text` of each piece.
std::vector<std::string> pieces_of(const ShadowMemory& shadow, const ByteRun& asked) {
    std::vector<std::string> pieces;
    shadow.visit(asked, [&](const ByteRun& piece, const ByteWriter* writer) {
        pieces.push_back(std::to_string(piece.address.value) + "+" +
                         std::to_string(piece.bytes.value) + " " +
                         (writer == nullptr ? "unwritten" : writer_text(*writer)));
    });
    return pieces;
}

TEST(ShadowMemory, KnowsWhoWroteAndWhen) {
    ShadowMemory shadow;
    shadow.load(run(0, 100), "in.dat");
    shadow.write(run(50, 10), 3, "conv 1", "output", Cycles(200));
    shadow.write(run(60, 10), 3, "conv 1", "output", Cycles(205));
    shadow.write(run(120, 8), 3, "conv 2", "output", Cycles(900));
    EXPECT_EQ(
        pieces_of(shadow, run(40, 90)),
        (std::vector<std::string>{
            "40+10 'in.dat', loaded by the host", "50+20 output of conv 1 (cycles 200 to 205)",
            "70+30 'in.dat', loaded by the host", "100+20 unwritten",
            "120+8 output of conv 2 (cycles 900 to 900)", "128+2 unwritten"}));
    EXPECT_EQ(shadow.first_unwritten(run(0, 100)), std::nullopt);
    EXPECT_EQ(shadow.first_unwritten(run(90, 40)), Address(100));
    EXPECT_EQ(shadow.first_unwritten(run(120, 9)), Address(128));
    EXPECT_EQ(shadow.first_unwritten(run(200, 0)), std::nullopt);
}

TEST(ShadowMemory, TwoClientsInTurnStayTwoWriters) {
    ShadowMemory shadow;
    for (std::uint64_t i = 0; i < 4; ++i) {
        shadow.write(run(i * 8, 8), 1, "conv 1", "output", Cycles(i));
        shadow.write(run(100 + i * 8, 8), 2, "pdp 1", "output", Cycles(10 + i));
    }
    EXPECT_EQ(pieces_of(shadow, run(0, 32)),
              std::vector<std::string>{"0+32 output of conv 1 (cycles 0 to 3)"});
    EXPECT_EQ(pieces_of(shadow, run(100, 32)),
              std::vector<std::string>{"100+32 output of pdp 1 (cycles 10 to 13)"});
}

TEST(ShadowMemory, RemembersWhatAPlainArrayOfBytesRemembers) {
    std::mt19937 random(5);
    ShadowMemory shadow;
    std::map<std::uint64_t, std::string> plain;
    for (int step = 0; step < 2000; ++step) {
        const ByteRun bytes = run(random() % 500, random() % 40);
        const std::string file = "file " + std::to_string(random() % 4);
        shadow.load(bytes, file);
        for (std::uint64_t at = bytes.address.value; at < bytes.end().value; ++at) {
            plain[at] = file;
        }
    }
    shadow.visit(run(0, 600), [&](const ByteRun& piece, const ByteWriter* writer) {
        for (std::uint64_t at = piece.address.value; at < piece.end().value; ++at) {
            const auto expected = plain.find(at);
            ASSERT_EQ(writer == nullptr, expected == plain.end()) << at;
            if (writer != nullptr) {
                ASSERT_EQ(writer->surface, expected->second) << at;
            }
        }
    });
}

}  // namespace
}  // namespace npuscope
