// SPDX-License-Identifier: Apache-2.0
#include "models/npu/launch_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string_view>

#include "models/npu/register_blocks.h"

namespace npuscope {
namespace {

class LaunchEngineTest : public testing::Test {
 protected:
    /// The engine looks them up while it is constructed.
    static std::deque<RegisterFile> register_files() {
        std::deque<RegisterFile> files;
        for (const RegisterBlock& block : nvdla_register_blocks()) {
            files.emplace_back(block);
        }
        return files;
    }
    RegisterFile& file(std::string_view block) {
        return *std::ranges::find_if(
            files_, [&](const RegisterFile& file) { return file.block().name == block; });
    }
    void write(std::string_view block, std::string_view name, std::uint32_t value) {
        RegisterFile& target = file(block);
        const WriteEffect effect = target.write(find_register(target.block(), name)->offset, value);
        if (effect.kind == WriteEffect::Kind::OpEnabled) {
            engine_.note_enabled(target, effect.group, Cycles(7));
        }
    }
    void enable(std::string_view block, unsigned group = 0) {
        write(block, "S_POINTER", group);
        write(block, "D_OP_ENABLE", 1);
    }
    std::deque<RegisterFile> files_ = register_files();
    LaunchEngine engine_{NpuConfig{},
                         [this](std::string_view block) -> RegisterFile& { return file(block); }};
};

TEST_F(LaunchEngineTest, AnOperationStartsWhenAllItsBlocksAreEnabled) {
    enable("NVDLA_CDP");
    EXPECT_FALSE(engine_.next());
    enable("NVDLA_CDP_RDMA");
    const std::optional<Launch> launch = engine_.next();
    ASSERT_TRUE(launch);
    EXPECT_EQ(launch->name, "cdp 0");
    EXPECT_EQ(launch->pipeline, Pipeline::Cdp);
    EXPECT_EQ(launch->group, 0U);
    EXPECT_EQ(launch->rdma_enabled, Cycles(7));
    EXPECT_FALSE(engine_.next());
}

TEST_F(LaunchEngineTest, GroupsAreUsedAlternately) {
    for (const unsigned group : {1U, 0U}) {
        enable("NVDLA_CDP", group);
        enable("NVDLA_CDP_RDMA", group);
        EXPECT_EQ(engine_.waiting().size(), group == 1 ? 2U : 4U);
        EXPECT_EQ(engine_.waiting().front().next_group, 0U);
    }
    EXPECT_EQ(engine_.next()->group, 0U);
    EXPECT_EQ(engine_.next()->group, 1U);
    EXPECT_TRUE(engine_.waiting().empty());
    enable("NVDLA_CDP_RDMA", 0);
    EXPECT_FALSE(engine_.next());
}

TEST_F(LaunchEngineTest, AGroupIsFreeWhenItsBlocksHaveFinished) {
    enable("NVDLA_CDP");
    enable("NVDLA_CDP_RDMA");
    ASSERT_TRUE(engine_.next());
    engine_.finish("NVDLA_CDP");
    EXPECT_FALSE(file("NVDLA_CDP").op_enabled(0));
    EXPECT_TRUE(file("NVDLA_CDP_RDMA").op_enabled(0));
    engine_.finish("NVDLA_CDP_RDMA");
    EXPECT_FALSE(file("NVDLA_CDP_RDMA").op_enabled(0));
}

TEST_F(LaunchEngineTest, AnSdpThatReadsMemoryWaitsForItsReadDma) {
    enable("NVDLA_SDP");
    EXPECT_FALSE(engine_.next());
    enable("NVDLA_SDP_RDMA");
    const std::optional<Launch> launch = engine_.next();
    ASSERT_TRUE(launch);
    EXPECT_EQ(launch->rdma_enabled, Cycles(7));
}

TEST_F(LaunchEngineTest, RegistersThatMakeNoJobStartWithTheReason) {
    write("NVDLA_PDP", "D_OPERATION_MODE_CFG", 3);  // no such pooling method
    enable("NVDLA_PDP");
    const std::optional<Launch> launch = engine_.next();
    ASSERT_TRUE(launch);
    EXPECT_TRUE(std::holds_alternative<std::monostate>(launch->job));
    ASSERT_FALSE(launch->findings.empty());
    EXPECT_EQ(launch->findings.front().id, "register_value");
    EXPECT_EQ(launch->findings.front().operation, "pdp 0");
    EXPECT_FALSE(launch->findings.front().register_name.empty());
}

}  // namespace
}  // namespace npuscope
