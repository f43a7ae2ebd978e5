// SPDX-License-Identifier: Apache-2.0
#include "models/base/quantity.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace npuscope {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
    a + b;
};

TEST(QuantityTest, amounts_of_one_kind_add_subtract_scale_and_compare) {
    Cycles cycles{10};
    cycles += Cycles{5};
    cycles -= Cycles{3};
    EXPECT_EQ(cycles, Cycles{12});
    EXPECT_EQ(cycles + Cycles{1}, Cycles{13});
    EXPECT_EQ(cycles - Cycles{2}, Cycles{10});
    EXPECT_EQ(cycles * 3, Cycles{36});
    EXPECT_EQ(3 * cycles, Cycles{36});
    EXPECT_LT(Cycles{11}, cycles);
}

TEST(QuantityTest, dividing_amounts_counts_whole_times) {
    EXPECT_EQ(Bytes{100} / Bytes{32}, 3U);
    EXPECT_EQ(Bytes{96} / Bytes{32}, 3U);
}

TEST(QuantityTest, cycles_and_bytes_do_not_mix) {
    EXPECT_TRUE((Addable<Cycles, Cycles>));
    EXPECT_FALSE((Addable<Cycles, Bytes>));
    EXPECT_FALSE((std::is_convertible_v<int, Cycles>));
}

TEST(QuantityTest, addresses_differ_by_bytes) {
    const Address base{0x80000000};
    EXPECT_EQ(base + Bytes{0x20}, Address{0x80000020});
    EXPECT_EQ(Address{0x80000020} - base, Bytes{32});
    EXPECT_FALSE((Addable<Address, Address>));
}

TEST(QuantityTest, addresses_print_as_hexadecimal) {
    EXPECT_EQ(to_hex(Address{0x9000abcd}), "0x9000abcd");
    EXPECT_EQ(to_hex(std::uint64_t{0}), "0x0");
}

TEST(QuantityTest, rounding_up_reaches_the_next_step_and_stays_on_one) {
    EXPECT_EQ(divide_up(0, 8), 0U);
    EXPECT_EQ(divide_up(1, 8), 1U);
    EXPECT_EQ(divide_up(8, 8), 1U);
    EXPECT_EQ(divide_up(9, 8), 2U);
    EXPECT_EQ(round_up(33, 32), 64U);
    EXPECT_EQ(round_up(64, 32), 64U);
}

}  // namespace
}  // namespace npuscope
