// SPDX-License-Identifier: Apache-2.0
// nv_full's units after the convolution against plain loops: random programs in three precisions.
#include "tests/support/random_full.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/config/preset.h"
#include "sim/run/session.h"

namespace npuscope {
namespace {

constexpr std::uint64_t kPrograms = 60;

class RandomFull : public testing::TestWithParam<full::Type> {
 protected:
    RandomFull() {
        const std::filesystem::path configs = std::filesystem::path(NPUSCOPE_SOURCE) / "configs";
        nvdla_npu(system_) = read_preset<NpuConfig>(find_preset(configs, "npu", "nv_full"));
        system_.memory = read_preset<MemoryConfig>(find_preset(configs, "memory", "dram_50"));
    }

    template <class Make>
    void expect_all_to_pass(Make make) const {
        for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
            SCOPED_TRACE(seed);
            const Result result = run_program(make(seed), system_, {});
            EXPECT_EQ(result.status(), RunStatus::Pass);
            for (const CheckResult& check : result.checks) {
                EXPECT_TRUE(check.pass)
                    << check.subject << ": " << check.actual << " instead of " << check.expected;
            }
        }
    }

    SystemConfig system_ = nvdla_system();
};

TEST_P(RandomFull, sdp_programs_leave_what_plain_loops_compute) {
    expect_all_to_pass([](std::uint64_t seed) { return full::random_sdp(GetParam(), seed); });
}

TEST_P(RandomFull, pdp_programs_leave_what_plain_loops_compute) {
    expect_all_to_pass([](std::uint64_t seed) { return full::random_pdp(GetParam(), seed); });
}

TEST_P(RandomFull, cdp_programs_leave_what_plain_loops_compute) {
    expect_all_to_pass([](std::uint64_t seed) { return full::random_cdp(GetParam(), seed); });
}

TEST_P(RandomFull, rubik_programs_leave_what_plain_loops_compute) {
    expect_all_to_pass([](std::uint64_t seed) { return full::random_rubik(GetParam(), seed); });
}

INSTANTIATE_TEST_SUITE_P(InEveryPrecision, RandomFull,
                         testing::Values(full::Type::Int8, full::Type::Int16, full::Type::Fp16),
                         [](const auto& instance) {
                             switch (instance.param) {
                                 case full::Type::Int8:
                                     return "int8";
                                 case full::Type::Int16:
                                     return "int16";
                                 case full::Type::Fp16:
                                     return "fp16";
                             }
                             return "";
                         });

using RandomBdma = RandomFull;

TEST_P(RandomBdma, programs_leave_what_plain_loops_compute) {
    expect_all_to_pass([](std::uint64_t seed) { return full::random_bdma(seed); });
}

INSTANTIATE_TEST_SUITE_P(WithoutPrecision, RandomBdma, testing::Values(full::Type::Int8));

}  // namespace
}  // namespace npuscope
