// SPDX-License-Identifier: Apache-2.0
#include "sim/program/read_program.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/sim/program/program_samples.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

class ReadProgram : public testing::Test {
 protected:
    void write(const char* name) const { std::ofstream(folder_ / name) << "check_nothing(s);\n"; }

    const TempFolder folder_;
};

TEST_F(ReadProgram, TraceIsNamedByFileOrByItsFolder) {
    write("a.cfg");
    EXPECT_EQ(read_program(folder_ / "a.cfg", sample::names()).name, "a");
    EXPECT_EQ(read_program(folder_, sample::names()).name, "a");
}

TEST_F(ReadProgram, FolderWithNoOrSeveralTracesIsRefused) {
    const auto message = [&] {
        return sample::message_of([&] { read_program(folder_, sample::names()); });
    };
    EXPECT_NE(message().find("holds neither a .cfg file nor an input.txn (name a folder"),
              std::string::npos);
    write("a.cfg");
    write("b.cfg");
    EXPECT_NE(message().find("holds 2 .cfg files"), std::string::npos);
}

TEST_F(ReadProgram, FolderWithAnInputTxnIsNamedByTheFolder) {
    std::ofstream(folder_ / "input.txn") << "wait\n";
    write("a.cfg");
    EXPECT_EQ(read_program(folder_, sample::names()).name, folder_.path().filename());
    EXPECT_TRUE(read_program(folder_ / "input.txn", sample::names()).zeroed_memory);
}

TEST_F(ReadProgram, FileOfAnotherKindIsRefused) {
    EXPECT_EQ(sample::message_of([] { read_program("a.png", sample::names()); }),
              "'a.png' is not a program (register traces end in .cfg or .txn, models in .onnx, "
              "shape tables and experiments in .yaml, loadables in .fbuf or .nvdla)");
}

}  // namespace
}  // namespace npuscope
