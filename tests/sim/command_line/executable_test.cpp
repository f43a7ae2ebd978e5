// SPDX-License-Identifier: Apache-2.0
// The executable itself, as a shell or a script sees it: exit codes, and what is on standard
// output.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/temp_folder.h"

namespace npuscope::executable_test {
namespace {

namespace fs = std::filesystem;

struct Ended {
    int code;
    std::string out;
};

Ended shell(const std::string& arguments) {
    const std::string line = std::string(NPUSCOPE_EXECUTABLE) + " " + arguments + " 2>/dev/null";
    std::FILE* pipe = ::popen(line.c_str(), "r");
    Ended ended{-1, {}};
    std::array<char, 4096> buffer{};
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        ended.out.append(buffer.data(), got);
    }
    ended.code = WEXITSTATUS(::pclose(pipe));
    return ended;
}

class Executable : public testing::Test {
 protected:
    std::string program(const std::string& text) {
        const fs::path path = folder_ / std::to_string(++programs_).append(".cfg");
        std::ofstream(path) << text;
        return "run " + path.string();
    }

    const TempFolder folder_;
    int programs_ = 0;
};

const std::string fill = "mem_init(pri_mem, 0x80000000, 0x40, ALL_ZERO);\n";

TEST_F(Executable, JsonIsAllThatStandsOnStandardOutput) {
    const Ended ended = shell(program(fill) + " --json -");
    EXPECT_EQ(ended.code, 0);
    EXPECT_TRUE(nlohmann::json::accept(ended.out)) << ended.out;
}

TEST_F(Executable, CheckedMemoryEndsWithZeroOrOne) {
    // zlib's CRC-32 of 64 bytes of zero is 0x758d6336
    const std::string notify = fill + "sync_notify(NVDLA_CSC, s);\n";
    EXPECT_EQ(shell(program(notify + "check_crc(s, 1, 0x80000000, 0x40, 0x758d6336);\n")).code, 0);
    EXPECT_EQ(shell(program(notify + "check_crc(s, 1, 0x80000000, 0x40, 0x1);\n")).code, 1);
}

TEST_F(Executable, ComparedBytesThatWereNeverWrittenAreAFinding) {
    const std::string check =
        "sync_notify(NVDLA_CSC, s);\ncheck_crc(s, 1, 0x80000000, 0x80, 0x1);\n";
    const Ended half = shell(program(fill + check));  // the first 64 bytes are zeros
    EXPECT_EQ(half.code, 1);
    EXPECT_NE(half.out.find("64 bytes from 0x80000040 on: never written"), std::string::npos)
        << half.out;
    EXPECT_NE(half.out.find("compares_unwritten"), std::string::npos) << half.out;
    const Ended off = shell(program(fill + check) + " --shadow off");
    EXPECT_EQ(off.code, 1);
    EXPECT_EQ(off.out.find("never written"), std::string::npos) << off.out;
}

TEST_F(Executable, WrongInputEndsWithTwoAndSaysNothingOnStandardOutput) {
    for (const std::string& arguments :
         {std::string(), std::string("rnu"), program("reg_write(;"), program(fill) + " --nup x"}) {
        const Ended ended = shell(arguments);
        EXPECT_EQ(ended.code, 2) << arguments;
        EXPECT_EQ(ended.out, "") << arguments;
    }
}

TEST_F(Executable, WaitForAnInterruptThatNothingRaisesFails) {
    const std::string wait =
        fill + "intr_notify(SDP_0, s);\ncheck_crc(s, 1, 0x80000000, 0x40, 0x758d6336);\n";
    EXPECT_EQ(shell(program(wait)).code, 1);
}

}  // namespace
}  // namespace npuscope::executable_test
