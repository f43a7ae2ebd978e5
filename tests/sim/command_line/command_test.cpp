// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/command.h"

#include <gtest/gtest.h>

#include "tests/sim/command_line/typed.h"

namespace npuscope {
namespace {

using sample::Answer;
using sample::typed;

TEST(CommandLine, UnknownCommandNamesTheNearest) {
    const Answer answer = typed({"rnu", "a.cfg"});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_EQ(answer.err, "npuscope: unknown command 'rnu' (did you mean 'run'?)\n");
}

TEST(CommandLine, UnknownOptionNamesTheNearest) {
    EXPECT_EQ(typed({"run", "a.cfg", "--nup", "nv_small"}).err,
              "npuscope: unknown option '--nup' (did you mean '--npu'?)\n");
    EXPECT_EQ(typed({"run", "a.cfg", "--max-cycle=3"}).err,
              "npuscope: unknown option '--max-cycle' (did you mean '--max-cycles'?)\n");
    EXPECT_EQ(typed({"--verison"}).err,
              "npuscope: unknown option '--verison' (did you mean '--version'?)\n");
    EXPECT_EQ(typed({"run", "a.cfg", "--nup"}).code, ExitCode::WrongInput);
}

TEST(CommandLine, MissingAndSurplusArgumentsAreRefused) {
    EXPECT_EQ(typed({}).code, ExitCode::WrongInput);
    EXPECT_EQ(typed({"run"}).code, ExitCode::WrongInput);
    EXPECT_EQ(typed({"run", "a.cfg", "--npu"}).code, ExitCode::WrongInput);
    EXPECT_EQ(typed({"list", "presets", "npu", "more"}).err,
              "npuscope: unexpected argument 'more' (see `npuscope list --help`)\n");
}

TEST(CommandLine, HelpIsGoodAndEveryCommandShowsAnExample) {
    EXPECT_EQ(typed({"--help"}).code, ExitCode::Good);
    for (const char* command : {"run", "list"}) {
        const Answer answer = typed({command, "--help"});
        EXPECT_EQ(answer.code, ExitCode::Good);
        EXPECT_EQ(answer.err, "");
        EXPECT_NE(answer.out.find(std::string("Usage: npuscope ") + command), std::string::npos);
        EXPECT_NE(answer.out.find(std::string("Example:\n  npuscope ") + command),
                  std::string::npos);
    }
}

TEST(CommandLine, VersionIsPrinted) {
    const Answer answer = typed({"--version"});
    EXPECT_EQ(answer.code, ExitCode::Good);
    EXPECT_TRUE(answer.out.starts_with("npuscope "));
}

}  // namespace
}  // namespace npuscope
