// SPDX-License-Identifier: Apache-2.0
#include "sim/report/measured_error.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/config/preset.h"

namespace npuscope {
namespace {

using testing::HasSubstr;

SystemConfig bundled(const char* npu) {
    SystemConfig system = nvdla_system();
    nvdla_npu(system) = read_preset<NpuConfig>(find_preset(configs_folder(), "npu", npu));
    return system;
}

TEST(MeasuredError, is_known_of_bundled_presets) {
    ASSERT_FALSE(measured_errors().empty());
    for (const MeasuredError& error : measured_errors()) {
        const SystemConfig system = bundled(std::string(error.npu).c_str());
        EXPECT_EQ(measured_error(system), &error) << error.npu;
        EXPECT_THAT(measured_line(system), HasSubstr("runs of the RTL")) << error.npu;
        EXPECT_LE(error.mean, error.worst) << error.npu;
    }
}

TEST(MeasuredError, is_not_known_of_a_changed_preset) {
    SystemConfig system = bundled("nv_small");
    nvdla_npu(system).sdp.request = Cycles(99);
    EXPECT_EQ(measured_error(system), nullptr);
    EXPECT_EQ(measured_line(system), "cycles: not measured against an RTL");
}

TEST(MeasuredError, says_where_memory_is_unlike_that_of_the_rtl) {
    SystemConfig system = bundled("nv_small");
    system.memory.read_latency = Cycles(200);
    EXPECT_THAT(measured_line(system), testing::EndsWith("of the RTL"));
    SystemConfig drawn = system;
    drawn.memory.latency_spread = Cycles(20);
    EXPECT_THAT(measured_line(drawn), testing::EndsWith("not measured with this memory"));
    system.memory.regions.front().bandwidth = BytesPerSecond(4'000'000'000);
    EXPECT_THAT(measured_line(system), testing::EndsWith("not measured with this memory"));
}

TEST(MeasuredError, says_where_several_npus_share_the_memory) {
    const SystemConfig system = bundled("nv_small");
    EXPECT_THAT(measured_line(system, 1), testing::EndsWith("of the RTL"));
    EXPECT_THAT(measured_line(system, 4),
                testing::EndsWith("not measured with several NPUs at one"));
}

TEST(MeasuredError, is_not_known_of_an_npu_with_another_name) {
    SystemConfig system = bundled("nv_small");
    nvdla_npu(system).name = "mine";
    EXPECT_EQ(measured_error(system), nullptr);
}

}  // namespace
}  // namespace npuscope
