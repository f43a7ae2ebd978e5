// SPDX-License-Identifier: Apache-2.0
// Compressed weights whose surfaces contradict each other: running the program and checking it
// without running it report the same, with kernel group, kernel and address.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "models/base/quantity.h"
#include "sim/check/check_report.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "tests/support/full_layer_session.h"

namespace npuscope {
namespace {

/// Two groups: 20 kernels of 1 x 1 x 40 int16 elements, every third one 0.
LayerProgram two_groups() {
    oracle::FullLayer layer = random_layer({LayerFamily::Direct, oracle::Type::Int16, 0, 5});
    layer.channels = 40;
    layer.kernels = 20;
    layer.height = layer.width = layer.out_height = layer.out_width = 3;
    layer.rows = layer.columns = 1;
    layer.stride_y = layer.stride_x = layer.dilation_y = layer.dilation_x = 1;
    layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right = 0;
    layer.data.assign(std::size_t{40} * 9, 3);
    layer.weights.resize(std::size_t{20} * 40);
    for (std::size_t i = 0; i < layer.weights.size(); ++i) {
        layer.weights[i] = i % 3 == 0 ? 0 : 7;
    }
    return layer_program(layer, true);
}

enum Image : std::size_t { Values = 1, Mask = 2, Sizes = 3 };

class CompressedFaults : public testing::Test {
 protected:
    /// The only thing that running and checking find; the same sentence from both.
    Diagnostic only_finding() {
        const Program program = program_of({program_}, system_);
        const Result result = run_program(program, system_, {});
        const CheckReport report = check_program(program, {nvdla_npu(system_), system_.memory});
        EXPECT_EQ(result.status(), RunStatus::Fail);
        EXPECT_FALSE(report.clean());
        EXPECT_EQ(result.findings.size(), 1U);
        EXPECT_EQ(report.findings.size(), 1U);
        if (result.findings.size() != 1 || report.findings.size() != 1) {
            return {};
        }
        const Diagnostic& checked = report.findings.front();
        EXPECT_FALSE(report.findings.front().register_name.empty());
        EXPECT_FALSE(report.findings.front().remedy.empty());
        EXPECT_EQ(checked.id, result.findings.front().id);
        EXPECT_EQ(checked.sentence, result.findings.front().sentence);
        EXPECT_EQ(checked.address, result.findings.front().address);
        EXPECT_EQ(checked.surface, result.findings.front().surface);
        return checked;
    }
    std::uint64_t address(Image image) const { return program_.images[image].address; }
    std::string at(Image image, std::uint64_t offset) const {
        return to_hex(Address(address(image) + offset));
    }
    void program_both(const std::string& register_name, std::uint32_t change) {
        for (auto& [name, value] : program_.registers) {
            if (name.ends_with("." + register_name + "_0")) {
                value += change;
            }
        }
    }
    std::uint32_t size_of_group(std::size_t group) const {
        std::uint32_t size = 0;
        std::memcpy(&size, &program_.images[Sizes].bytes[4 * group], sizeof size);
        return size;
    }

    SystemConfig system_ = nv_full_system();
    LayerProgram program_ = two_groups();
};

TEST_F(CompressedFaults, AGoodProgramHasNone) {
    const Program program = program_of({program_}, system_);
    EXPECT_EQ(run_program(program, system_, {}).status(), RunStatus::Pass);
    EXPECT_TRUE(check_program(program, {nvdla_npu(system_), system_.memory}).findings.empty());
}

TEST_F(CompressedFaults, AGroupSizeThatIsNotTheMasksCount) {
    const std::uint32_t kept = size_of_group(1);
    program_.images[Sizes].bytes[4] ^= 2U;
    const Diagnostic finding = only_finding();
    EXPECT_EQ(finding.id, "wgs_mismatch");
    EXPECT_EQ(finding.surface, "WGS");
    EXPECT_EQ(finding.sentence, fmt::format("WGS has {} bytes for kernel group 1 (kernels 16 to "
                                            "19) at {}, but the group's mask selects {}",
                                            kept ^ 2U, at(Sizes, 4), kept));
}

TEST_F(CompressedFaults, AZeroAmongTheStoredValues) {
    // element 0 of kernel 16 is 7 (640 % 3 == 1): the first value of group 1
    const std::uint32_t first = size_of_group(0);
    std::fill_n(program_.images[Values].bytes.begin() + first, 2, std::uint8_t{0});
    const Program program = program_of({program_}, system_);
    const CheckReport report = check_program(program, {nvdla_npu(system_), system_.memory});
    ASSERT_EQ(report.findings.size(), 1U);
    const std::string expected = fmt::format(
        "a stored value of kernel 16 (kernel group 1) at {} is 0 although its mask bit is 1",
        at(Values, first));
    EXPECT_EQ(report.findings.front().sentence, expected);
    EXPECT_EQ(report.findings.front().address, Address(address(Values) + first));
    const Result result = run_program(program, system_, {});
    EXPECT_EQ(result.status(), RunStatus::Fail);
    ASSERT_EQ(result.findings.size(), 1U);
    EXPECT_EQ(result.findings.front().id, "stored_zero");
    EXPECT_EQ(result.findings.front().sentence, expected);
}

TEST_F(CompressedFaults, AllValuesOfAGroupZeroAreOneFinding) {
    const std::uint32_t first = size_of_group(0);
    std::fill(program_.images[Values].bytes.begin() + first, program_.images[Values].bytes.end(),
              std::uint8_t{0});
    const std::string message = only_finding().sentence;
    EXPECT_NE(message.find(fmt::format("so are {} more in its group", size_of_group(1) / 2 - 1)),
              std::string::npos)
        << message;
}

TEST_F(CompressedFaults, ValuesThatTheirSizeCutsOff) {
    program_both("D_WEIGHT_BYTES", static_cast<std::uint32_t>(-128));
    const std::size_t kept = size_of_group(0) + size_of_group(1);
    const std::size_t said = program_.images[Values].bytes.size() - 128;
    ASSERT_LT(said, kept);
    const Diagnostic finding = only_finding();
    EXPECT_EQ(finding.id, "weight_bytes_mismatch");
    EXPECT_EQ(
        finding.sentence,
        fmt::format("NVDLA_CDMA.D_WEIGHT_BYTES_0 gives {} bytes of values, but the mask selects "
                    "{} ({} with padding): cut off at kernel 19 (kernel group 1), {}",
                    said, kept, said + 128, at(Values, said)));
}

TEST_F(CompressedFaults, ASurfaceOfValuesThatIsTooLarge) {
    program_both("D_WEIGHT_BYTES", 128);
    program_.images[Values].bytes.resize(program_.images[Values].bytes.size() + 128);
    const std::size_t kept = size_of_group(0) + size_of_group(1);
    const std::string message = only_finding().sentence;
    EXPECT_NE(message.find(fmt::format("the contents end with kernel 19 (kernel group 1), {}",
                                       at(Values, kept))),
              std::string::npos)
        << message;
}

TEST_F(CompressedFaults, AMaskOfAnotherSizeThanItsKernels) {
    program_both("D_WMB_BYTES", 128);
    program_.images[Mask].bytes.resize(program_.images[Mask].bytes.size() + 128);
    const Diagnostic finding = only_finding();
    EXPECT_EQ(finding.id, "wmb_bytes_mismatch");
    EXPECT_EQ(
        finding.sentence,
        fmt::format(
            "NVDLA_CDMA.D_WMB_BYTES_0 gives 256 bytes of mask, but the mask of 20 kernels needs "
            "100 (128 with padding): the contents end with kernel 19 (kernel group 1), {}",
            at(Mask, 100)));
}

}  // namespace
}  // namespace npuscope
