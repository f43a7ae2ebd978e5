// SPDX-License-Identifier: Apache-2.0
// The host's program: what it may write when, checked statement by statement.
#include "sim/compile/nvdla/plan_program.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "tests/sim/compile/nvdla/sample_networks.h"

namespace npuscope {
namespace {

Program mixed_program(std::uint32_t bank_depth) {
    PlanTarget target = sample::target_with_bank_depth(bank_depth);
    target.images = false;
    return plan_program(plan_network(sample::mixed_network(), target));
}

/// Follows the pointers of a program as silicon would.
class Follower {
 public:
    void operator()(const WriteRegister& write) {
        const std::string block = write.name.substr(0, write.name.find('.'));
        if (write.name.find("S_POINTER") != std::string::npos) {
            pointer_[block] = write.value;
        } else if (write.name.find("D_OP_ENABLE") != std::string::npos) {
            enable(block);
        } else if (write.name.find(".D_") != std::string::npos) {
            EXPECT_FALSE(running_[block].contains(pointer_[block])) << write.name;
        }
    }
    void operator()(const NotifyOnInterrupt& notify) {
        for (const std::string& block : enabled_) {
            used_[notify.sync].emplace_back(block, pointer_[block]);
        }
        EXPECT_EQ(
            notify.unit.back(),
            pointer_[enabled_.contains("NVDLA_PDP") ? "NVDLA_PDP" : "NVDLA_SDP"] == 0 ? '0' : '1');
        enabled_.clear();
        ++operations;
    }
    /// The operation has finished, and with it all before it on the same unit.
    void operator()(const SyncWait& wait) {
        ASSERT_TRUE(used_.contains(wait.sync)) << wait.sync;
        for (const auto& [block, group] : used_[wait.sync]) {
            running_[block].erase(group);
        }
    }
    template <class Other>
    void operator()(const Other& /*statement*/) {}

    std::size_t operations = 0;

 private:
    void enable(const std::string& block) {
        EXPECT_TRUE(running_[block].insert(pointer_[block]).second) << block;
        EXPECT_EQ(pointer_[block], next_[block]) << block << ": groups take turns";
        next_[block] ^= 1U;
        enabled_.insert(block);
    }

    std::map<std::string, std::uint32_t> pointer_;
    std::map<std::string, std::uint32_t> next_;
    std::map<std::string, std::set<std::uint32_t>> running_;
    std::set<std::string> enabled_;
    std::map<std::string, std::vector<std::pair<std::string, std::uint32_t>>> used_;
};

TEST(PlanProgram, NeverWritesToAGroupInUseAndTakesTheGroupsInTurn) {
    for (const std::uint32_t depth : {28U, 512U}) {
        Follower follower;
        for (const Statement& statement : mixed_program(depth).statements) {
            std::visit(follower, statement.action);
        }
        EXPECT_GE(follower.operations, 11U);
    }
}

TEST(PlanProgram, WritesRegistersOfTheNextOperationBeforeItWaits) {
    bool waited = false;
    std::size_t written_before_wait = 0;
    std::size_t notified = 0;
    for (const Statement& statement : mixed_program(512).statements) {
        waited = waited || std::holds_alternative<SyncWait>(statement.action);
        notified += std::holds_alternative<NotifyOnInterrupt>(statement.action) ? 1U : 0U;
        if (notified == 1 && !waited && std::holds_alternative<WriteRegister>(statement.action)) {
            ++written_before_wait;
        }
    }
    EXPECT_GT(written_before_wait, 50U);
}

TEST(PlanProgram, WritesARegisterOnlyWhenItsGroupHoldsAnotherValue) {
    std::map<std::string, std::uint32_t> pointer;
    std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> held;
    for (const Statement& statement : mixed_program(28).statements) {
        const auto* write = std::get_if<WriteRegister>(&statement.action);
        if (write == nullptr || write->name.find("OP_ENABLE") != std::string::npos) {
            continue;
        }
        const std::string block = write->name.substr(0, write->name.find('.'));
        if (write->name.find("S_POINTER") != std::string::npos) {
            pointer[block] = write->value;
            continue;
        }
        const auto key = std::pair{write->name, pointer[block]};
        EXPECT_FALSE(held.contains(key) && held[key] == write->value) << write->name;
        held[key] = write->value;
    }
}

TEST(PlanProgram, WaitsForWhatAnOperationDependsOnBeforeItIsEnabled) {
    PlanTarget target = sample::target_with_bank_depth(28);
    target.images = false;
    const Plan plan = plan_network(sample::mixed_network(), target);
    std::set<std::string> waited;
    std::size_t operation = 0;
    for (const Statement& statement : plan_program(plan).statements) {
        if (const auto* wait = std::get_if<SyncWait>(&statement.action)) {
            waited.insert(wait->sync);
        } else if (std::holds_alternative<NotifyOnInterrupt>(statement.action)) {
            for (const std::size_t before : plan.operations[operation].after) {
                EXPECT_TRUE(waited.contains(sync_name(before))) << operation;
            }
            ++operation;
        }
    }
    EXPECT_EQ(operation, plan.operations.size());
}

}  // namespace
}  // namespace npuscope
