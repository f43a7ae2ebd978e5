// SPDX-License-Identifier: Apache-2.0
// What the C interface refuses: calls from callbacks, counts beyond the clock, addresses without a
// register.
#include <fmt/format.h>
#include <gmock/gmock-matchers.h>

#include "tests/sim/embed/c_device.h"

namespace npuscope {
namespace {

using test::intr_status;
using test::Made;
using testing::HasSubstr;

TEST(CApi, readsAndWritesFindTheSameRegisters) {
    for (const char* preset : {"nv_small", "nv_full"}) {
        const Made npu(preset);
        unsigned registers = 0;
        for (std::uint32_t address = 0; address < 0x20000; address += 4) {
            std::uint32_t value = 0;
            const npuscope_status read = npuscope_read_register(npu.device, address, &value);
            EXPECT_EQ(npuscope_write_register(npu.device, address, 0), read) << address;
            registers += read == NPUSCOPE_OK ? 1U : 0U;
        }
        EXPECT_GT(registers, 300U);
        std::uint32_t value = 0;
        for (const std::uint32_t address : {0x2ffcU, 0x1ffcU, 0xfffcU, 0x1001U}) {
            EXPECT_EQ(npuscope_read_register(npu.device, address, &value), NPUSCOPE_WRONG_INPUT);
            EXPECT_THAT(npuscope_error(), HasSubstr(fmt::format("no register at {:#x}", address)));
        }
    }
}

}  // namespace
}  // namespace npuscope
