// SPDX-License-Identifier: Apache-2.0
#include "sim/run/result.h"

#include <gtest/gtest.h>

#include "tests/sim/run/sample_result.h"

namespace npuscope {
namespace {

TEST(Result, PassesWithGoodChecksAndMereWarnings) {
    EXPECT_EQ(sample::result().status(), RunStatus::Pass);
}

TEST(Result, FailsWithOneFailedCheck) {
    Result result = sample::result();
    result.checks.front().pass = false;
    EXPECT_EQ(result.status(), RunStatus::Fail);
}

TEST(Result, FailsWithOneFindingThatIsAnError) {
    Result result = sample::result();
    result.findings.front().severity = Severity::Error;
    EXPECT_EQ(result.status(), RunStatus::Fail);
}

TEST(Result, TotalTrafficIsTheSumOverClients) {
    const ClientTraffic total = sample::result().total_traffic();
    EXPECT_EQ(total.read_bytes, Bytes(8000));
    EXPECT_EQ(total.write_bytes, Bytes(5376));
    EXPECT_EQ(total.read_beats, 1000U);
    EXPECT_EQ(total.write_beats, 672U);
}

TEST(Result, UtilisationIsTheShareOfProductsThatTheArrayCouldHaveMade) {
    OperationRecord operation = sample::result().operations.front();
    EXPECT_DOUBLE_EQ(*mac_utilisation(operation), 0.5);
    operation.mac_cells = 0;
    EXPECT_EQ(mac_utilisation(operation), std::nullopt);
}

}  // namespace
}  // namespace npuscope
