// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "models/base/check.h"
#include "models/base/error.h"
#include "sim/command_line/command.h"

namespace npuscope {
namespace {

template <class Error>
std::pair<ExitCode, std::string> ended_by(const Error& error) {
    std::ostringstream errors;
    const ExitCode code = guard([&]() -> ExitCode { throw error; }, errors);
    return {code, errors.str()};
}

TEST(ExitCode, EveryKindOfErrorHasItsCodeAndItsLine) {
    EXPECT_EQ(
        ended_by(ConfigError(Place{"a.yaml", 4, 3}, "unknown field")),
        std::pair(ExitCode::WrongInput, std::string("npuscope: a.yaml:4:3: unknown field\n")));
    EXPECT_EQ(ended_by(MachineStopped("sdp waits")),
              std::pair(ExitCode::MachineStopped,
                        std::string("npuscope: the machine stopped: sdp waits\n")));
    EXPECT_EQ(ended_by(InternalError("broken")).first, ExitCode::Bug);
    EXPECT_EQ(ended_by(std::logic_error("unexpected")).first, ExitCode::Bug);
}

TEST(ExitCode, TooLittleMemoryAndPathsThatCannotBeUsedAreTheInputsFault) {
    EXPECT_EQ(ended_by(std::bad_alloc()).first, ExitCode::WrongInput);
    const auto refused = std::make_error_code(std::errc::permission_denied);
    EXPECT_EQ(ended_by(std::filesystem::filesystem_error("status", "a/b", refused)),
              std::pair(ExitCode::WrongInput,
                        std::string("npuscope: cannot use 'a/b': Permission denied\n")));
}

TEST(ExitCode, MessagesStayOnTheirLineAndLeaveTheTerminalAlone) {
    EXPECT_EQ(ended_by(ConfigError("unknown field '\x1b[31m\n'")).second,
              "npuscope: unknown field '\\x1b[31m\\x0a'\n");
    EXPECT_LT(ended_by(ConfigError(std::string(1'000'000, 'a'))).second.size(), 5000U);
}

TEST(ExitCode, NumbersAreThoseOfTheContract) {
    EXPECT_EQ(static_cast<int>(ExitCode::Good), 0);
    EXPECT_EQ(static_cast<int>(ExitCode::ExpectationFailed), 1);
    EXPECT_EQ(static_cast<int>(ExitCode::WrongInput), 2);
    EXPECT_EQ(static_cast<int>(ExitCode::MachineStopped), 3);
    EXPECT_EQ(static_cast<int>(ExitCode::Bug), 70);
}

TEST(ExitCode, WorkThatEndsWellSaysNothing) {
    std::ostringstream errors;
    EXPECT_EQ(guard([] { return ExitCode::ExpectationFailed; }, errors),
              ExitCode::ExpectationFailed);
    EXPECT_EQ(errors.str(), "");
}

}  // namespace
}  // namespace npuscope
