// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/report/reports.h"

namespace npuscope {
namespace {

OperationRecord operation(std::uint64_t mac, std::uint64_t latency) {
    OperationRecord record;
    record.end = Cycles(mac + latency);
    record.causes[Cause::Mac] = Cycles(mac);
    record.causes[Cause::Latency] = Cycles(latency);
    return record;
}

TEST(CauseTable, ShowsTheCausesThatTookCyclesAndTheirSum) {
    EXPECT_EQ(cause_table({operation(900, 100), operation(1000, 0)}),
              "\nwhere the cycles went\n"
              "  #    mac  latency    sum\n"
              "  0    900      100  1,000\n"
              "  1  1,000           1,000\n");
}

TEST(CauseTable, IsEmptyWithoutOperationsOrCauses) {
    EXPECT_EQ(cause_table({}), "");
    EXPECT_EQ(cause_table({OperationRecord{}}), "");
}

}  // namespace
}  // namespace npuscope
