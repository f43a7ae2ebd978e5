// SPDX-License-Identifier: Apache-2.0
#include "models/layout/surface_limit.h"

#include <gtest/gtest.h>

#include "models/csb/register_blocks.h"
#include "tests/support/refusal.h"

namespace npuscope {
namespace {

TEST(SurfaceLimit, HoldsWhateverTheProductOverflows) {
    EXPECT_FALSE((SurfaceLines{1U << 14U, Bytes(1U << 15U)}.too_large()));
    EXPECT_TRUE((SurfaceLines{(1U << 14U) + 1, Bytes(1U << 15U)}.too_large()));
    EXPECT_TRUE(
        (SurfaceLines{std::uint64_t{1} << 48U, Bytes(std::uint64_t{1} << 18U)}.too_large()));
    EXPECT_FALSE((SurfaceLines{0, Bytes(~std::uint64_t{0})}.too_large()));
}

TEST(SurfaceLimit, NamesTheRegisterAndTheLines) {
    const RegisterValues rubik(*find_block("NVDLA_RBK"));
    EXPECT_NO_THROW(require_surface(rubik, "D_DATAIN_SIZE_0", {4, Bytes(64)}));
    EXPECT_EQ(refusal_of([&] {
                  require_surface(rubik, "D_DATAIN_SIZE_0", {16384, Bytes(262144)});
              }),
              "NVDLA_RBK.D_DATAIN_SIZE_0_0: a surface of 16384 lines of 262144 bytes is larger "
              "than the 512 MiB that one operation may move here");
}

}  // namespace
}  // namespace npuscope
