// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/bdma/bdma.h"
#include "models/bdma/bdma_registers.h"
#include "tests/support/registers.h"

namespace npuscope {
namespace {

constexpr std::uint32_t kIdle = 1U << 8U;
constexpr std::uint32_t kBusy0 = 1U << 9U;
constexpr std::uint32_t kBusy1 = 1U << 10U;

class BdmaQueueTest : public ::testing::Test {
 protected:
    BdmaQueueTest() : registers_(bdma_block) {
        write_field(registers_, "CFG_OP", "EN", 1);
        write_field(registers_, "CFG_LAUNCH0", "GRP0_LAUNCH", 1);
        write_field(registers_, "CFG_LAUNCH1", "GRP1_LAUNCH", 1);
    }

    static BdmaConfig present() {
        BdmaConfig config;
        config.present = true;
        return config;
    }
    std::shared_ptr<BdmaWork> write(std::string_view name) {
        return queue_.written(name, registers_);
    }

    RegisterValues registers_;
    DiagnosticLog log_;
    BdmaQueue queue_{present(), Bytes(32), log_};
};

TEST_F(BdmaQueueTest, LaunchesTakeWhatWasAddedSinceTheLastOne) {
    EXPECT_EQ(queue_.status(), kIdle | 20U);
    EXPECT_EQ(write("CFG_OP"), nullptr);
    write_field(registers_, "CFG_LINE", "SIZE", 5);
    write("CFG_OP");
    EXPECT_EQ(queue_.status(), 18U);
    const auto first = write("CFG_LAUNCH0");
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->group, 0U);
    ASSERT_EQ(first->jobs.size(), 2U);
    EXPECT_EQ(first->jobs[0].line, Bytes(32));
    EXPECT_EQ(first->jobs[1].line, Bytes(192));
    EXPECT_EQ(queue_.status() & (kBusy0 | kBusy1), kBusy0);
    write("CFG_OP");
    const auto second = write("CFG_LAUNCH1");
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(second->group, 1U);
    EXPECT_EQ(second->jobs.size(), 1U);
    queue_.done(0);
    EXPECT_EQ(queue_.status() & (kBusy0 | kBusy1), kBusy1);
    EXPECT_TRUE(log_.findings().empty());
}

TEST_F(BdmaQueueTest, OtherRegistersAndZerosSetNothingOff) {
    write("CFG_LINE");
    write_field(registers_, "CFG_OP", "EN", 0);
    write("CFG_OP");
    EXPECT_EQ(queue_.status(), kIdle | 20U);
}

TEST_F(BdmaQueueTest, ACommandTooManyIsLostAndReported) {
    for (int i = 0; i < 21; ++i) {
        write("CFG_OP");
    }
    ASSERT_EQ(log_.findings().size(), 1U);
    EXPECT_EQ(log_.findings().front().id, "bdma_full");
    EXPECT_EQ(write("CFG_LAUNCH0")->jobs.size(), 20U);
}

TEST_F(BdmaQueueTest, EmptyAndDoubleLaunchesAreReported) {
    EXPECT_EQ(write("CFG_LAUNCH0"), nullptr);
    write("CFG_OP");
    write("CFG_LAUNCH0");
    write("CFG_OP");
    write("CFG_LAUNCH0");
    ASSERT_EQ(log_.findings().size(), 2U);
    EXPECT_EQ(log_.findings()[0].id, "bdma_empty");
    EXPECT_EQ(log_.findings()[1].id, "bdma_busy");
}

}  // namespace
}  // namespace npuscope
