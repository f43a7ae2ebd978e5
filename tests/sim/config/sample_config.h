// SPDX-License-Identifier: Apache-2.0
// A described struct with a field of every kind.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/base/describe.h"
#include "models/base/error.h"
#include "models/base/quantity.h"
#include "tests/sim/message_of.h"

namespace npuscope::sample {

enum class Policy { RoundRobin, OldestFirst };

struct Region {
    std::string name;
    Address base;
    Bytes size{4096};

    bool operator==(const Region&) const = default;
    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("name", self.name, "name of the region");
        visit.field("base", self.base, "first byte");
        visit.field("size", self.size, "bytes of the region");
    }
};

struct Unit {
    std::uint32_t banks = 16;
    std::uint8_t ways = 4;
    bool enabled = true;
    Policy policy = Policy::RoundRobin;
    std::optional<Cycles> latency;

    bool operator==(const Unit&) const = default;
    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("banks", self.banks, "banks of the buffer");
        visit.field("ways", self.ways, "ways of a bank");
        visit.field("enabled", self.enabled, "the unit exists");
        visit.field("policy", self.policy, "who goes first");
        visit.field("latency", self.latency, "cycles of a read");
    }
};

struct Config {
    std::string title = "plain";
    Hertz clock{1'000'000'000};
    Unit unit;
    std::vector<Region> regions{Region{"dram", Address(0x80000000), Bytes(1 << 20)}};
    std::vector<std::uint16_t> weights{1, 2};
    std::optional<Unit> spare;

    bool operator==(const Config&) const = default;
    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("title", self.title, "what a report calls it");
        visit.field("clock", self.clock, "frequency");
        visit.field("unit", self.unit, "the unit");
        visit.field("regions", self.regions, "address ranges");
        visit.field("weights", self.weights, "shares of the arbiter");
        visit.field("spare", self.spare, "a second unit");
    }
};

}  // namespace npuscope::sample

template <>
struct npuscope::EnumNames<npuscope::sample::Policy> {
    static constexpr std::array names{
        std::pair{npuscope::sample::Policy::RoundRobin, std::string_view("round_robin")},
        std::pair{npuscope::sample::Policy::OldestFirst, std::string_view("oldest_first")}};
};
