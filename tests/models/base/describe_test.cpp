// SPDX-License-Identifier: Apache-2.0
#include "models/base/describe.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace npuscope {

enum class Colour { Red, Green };

template <>
struct EnumNames<Colour> {
    static constexpr std::array names{std::pair{Colour::Red, std::string_view("red")},
                                      std::pair{Colour::Green, std::string_view("green")}};
};

namespace {

struct Lamp {
    std::uint32_t watts = 5;
    Colour colour = Colour::Green;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("watts", self.watts, "power of the lamp");
        visit.field("colour", self.colour, "its light");
    }
};

struct NameCollector {
    std::vector<std::string> names;

    template <class T>
    void field(std::string_view name, const T& /*value*/, std::string_view /*sentence*/) {
        names.emplace_back(name);
    }
};

struct Brighten {
    void field(std::string_view /*name*/, std::uint32_t& value, std::string_view /*sentence*/) {
        value *= 2;
    }
    void field(std::string_view /*name*/, Colour& /*value*/, std::string_view /*sentence*/) {}
};

TEST(DescribeTest, a_described_struct_is_recognised_and_a_plain_one_is_not) {
    EXPECT_TRUE(Described<Lamp>);
    EXPECT_TRUE(Described<const Lamp>);
    EXPECT_FALSE(Described<std::string>);
}

TEST(DescribeTest, a_visitor_meets_the_fields_in_their_order) {
    NameCollector collector;
    const Lamp lamp;
    Lamp::describe(collector, lamp);
    EXPECT_EQ(collector.names, (std::vector<std::string>{"watts", "colour"}));
}

TEST(DescribeTest, a_visitor_may_change_the_fields) {
    Lamp lamp;
    Brighten brighten;
    Lamp::describe(brighten, lamp);
    EXPECT_EQ(lamp.watts, 10U);
}

TEST(DescribeTest, enumerators_and_their_names_convert_both_ways) {
    EXPECT_EQ(enum_name(Colour::Red), "red");
    EXPECT_EQ(enum_from_name<Colour>("green"), Colour::Green);
    EXPECT_EQ(enum_from_name<Colour>("blue"), std::nullopt);
    EXPECT_FALSE(DescribedEnum<int>);
}

}  // namespace
}  // namespace npuscope
