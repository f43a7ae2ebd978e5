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

TEST(CommandLine, ValuesOutOfPlaceAreRefusedInPlainWords) {
    const auto refusal = [](std::vector<std::string> options) {
        options.insert(options.begin(), {"run", "a.cfg"});
        const Answer answer = typed(options);
        EXPECT_EQ(answer.code, ExitCode::WrongInput);
        return answer.err;
    };
    EXPECT_EQ(refusal({"--npu", "nv_small", "--npu", "nv_full"}),
              "npuscope: --npu is given twice (give it once)\n");
    EXPECT_EQ(refusal({"--csv", "a", "--csv", "b", "--csv", "c"}),
              "npuscope: --csv is given 3 times (give it once)\n");
    EXPECT_EQ(refusal({"--operations=maybe"}),
              "npuscope: --operations takes no value (see `npuscope run --help`)\n");
    EXPECT_EQ(refusal({"--instances", "two"}),
              "npuscope: --instances: 'two' is not a whole number from 1 to 64 (see `npuscope run "
              "--help`)\n");
    for (const char* number : {"0", "x", "-1", "1.5", "0x2", "18446744073709551616"}) {
        EXPECT_EQ(refusal({"--batch", number}),
                  std::string("npuscope: --batch: '") + number +
                      "' is not a whole number from 1 to 100000 (see `npuscope run --help`)\n");
    }
}

TEST(CommandLine, AnEmptyValueIsNoValue) {
    const std::vector<std::vector<std::string>> lines{{"run", "a.cfg", "--out", ""},
                                                      {"run", "a.cfg", "--out="},
                                                      {"run", "--out=", "a.cfg"},
                                                      {"run", "a.cfg", "--out"}};
    for (const std::vector<std::string>& line : lines) {
        EXPECT_EQ(typed(line).err, "npuscope: --out needs a value (see `npuscope run --help`)\n");
    }
    EXPECT_EQ(typed({"run", "a.cfg", "--set", ""}).err,
              "npuscope: --set needs a value (see `npuscope run --help`)\n");
    EXPECT_EQ(typed({"run", ""}).err,
              "npuscope: PROGRAM needs a value (see `npuscope run --help`)\n");
}

TEST(CommandLine, ACommandsNameCanBeAnArgument) {
    const std::vector<Command> commands{run_command(), list_command(), plan_command()};
    EXPECT_EQ(typed({"list", "presets", "plan"}, commands).err,
              "npuscope: there are no presets whose names begin with 'plan' (`npuscope list "
              "presets` shows all)\n");
    EXPECT_EQ(typed({"list", "presets", "npu", "plan"}, commands).err,
              "npuscope: unexpected argument 'plan' (see `npuscope list --help`)\n");
}

TEST(CommandLine, HelpIsGoodAndEveryCommandShowsAnExample) {
    const Answer all = typed({"--help"});
    EXPECT_EQ(all.code, ExitCode::Good);
    EXPECT_NE(all.out.find("Usage: npuscope [OPTIONS] [COMMAND]\n"), std::string::npos) << all.out;
    EXPECT_NE(all.out.find("Exit codes:\n  0   success\n"), std::string::npos) << all.out;
    for (const char* command : {"run", "list"}) {
        const Answer answer = typed({command, "--help"});
        EXPECT_EQ(answer.code, ExitCode::Good);
        EXPECT_EQ(answer.err, "");
        EXPECT_NE(answer.out.find(std::string("Usage: npuscope ") + command), std::string::npos);
        EXPECT_NE(answer.out.find(std::string("Example:\n  npuscope ") + command),
                  std::string::npos);
    }
}

TEST(CommandLine, HelpNamesWhatAnOptionTakes) {
    const std::string text = typed({"run", "--help"}).out;
    for (const char* shown : {"\n  PROGRAM     ", "\n  --npu PRESET=nv_small ", "\n  --out DIR ",
                              "\n  --inputs, --input PATH ", "\n  --winograd, --no-winograd "}) {
        EXPECT_NE(text.find(shown), std::string::npos) << shown << text;
    }
}

TEST(CommandLine, VersionIsPrinted) {
    const Answer answer = typed({"--version"});
    EXPECT_EQ(answer.code, ExitCode::Good);
    EXPECT_TRUE(answer.out.starts_with("npuscope "));
}

}  // namespace
}  // namespace npuscope
