// SPDX-License-Identifier: Apache-2.0
// A convolution and an SDP that were programmed with different cubes: refused by running, found by
// checking, with the same words.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/check/check_report.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "tests/sim/message_of.h"
#include "tests/support/full_layer_session.h"

namespace npuscope {
namespace {

using ::testing::HasSubstr;

class OnTheFlyTest : public testing::Test {
 protected:
    void change(const std::string& register_name, std::uint32_t bits) {
        value_of(layer_.registers, register_name) ^= bits;
    }
    std::string refusal() const {
        return sample::message_of([this] { run_layers({layer_}, system_); });
    }
    Diagnostic checked() const {
        const CheckReport report =
            check_program(program_of({layer_}, system_), {nvdla_npu(system_), system_.memory});
        for (const Diagnostic& found : report.findings) {
            if (found.id.ends_with("_mismatch")) {
                return found;
            }
        }
        return {};
    }

    SystemConfig system_ = nv_full_system();
    LayerProgram layer_ =
        layer_program(random_layer({LayerFamily::Direct, oracle::Type::Fp16, 10, 4}), false);
};

TEST_F(OnTheFlyTest, EndsThatAgreeRun) {
    EXPECT_EQ(run_layers({layer_}, system_).status(), RunStatus::Pass);
    EXPECT_TRUE(checked().id.empty());
}

TEST_F(OnTheFlyTest, AnSdpOfAnotherWidthIsRefused) {
    change("NVDLA_SDP.D_DATA_CUBE_WIDTH_0", 16);
    const Diagnostic found = checked();
    EXPECT_EQ(found.id, "shape_mismatch");
    EXPECT_EQ(found.register_name, "NVDLA_SDP.D_DATA_CUBE_WIDTH_0");
    EXPECT_THAT(refusal(), HasSubstr(found.sentence));
}

TEST_F(OnTheFlyTest, AnSdpOfIntegersDoesNotTakeFp16) {
    change("NVDLA_SDP.D_DATA_FORMAT_0", 0xA ^ 0x5);
    const Diagnostic found = checked();
    EXPECT_EQ(found.id, "precision_mismatch");
    EXPECT_EQ(found.severity, Severity::Error);
    EXPECT_THAT(refusal(), HasSubstr(found.sentence));
}

}  // namespace
}  // namespace npuscope
