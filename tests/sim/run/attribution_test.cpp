// SPDX-License-Identifier: Apache-2.0
#include "sim/run/attribution.h"

#include <gtest/gtest.h>

#include <random>

namespace npuscope {
namespace {

OperationRecord operation(std::uint64_t start, const char* unit = "conv") {
    OperationRecord record;
    record.unit = unit;
    record.start = record.end = Cycles(start);
    return record;
}

void spend(OperationRecord& record, std::uint64_t cycles, Cause cause, bool array = false) {
    record.pass(record.end + Cycles(cycles), cause);
    record.parts.back().array = array;
    record.end += Cycles(cycles);
}

std::vector<CountedTime> whole(std::uint64_t begin, std::uint64_t end) {
    return {{Cycles(begin), Cycles(end)}};
}

TEST(Attribution, gives_a_gap_to_the_operation_that_starts_next) {
    std::vector<OperationRecord> operations{operation(10), operation(130)};
    spend(operations[0], 100, Cause::Mac, true);
    spend(operations[1], 50, Cause::Mac, true);
    const auto own = own_cycles(operations, whole(10, 180));
    EXPECT_EQ(own[0].sum(), Cycles(100));
    EXPECT_EQ(own[1][Cause::Programming], Cycles(20));
    EXPECT_EQ(own[1][Cause::Mac], Cycles(50));
}

TEST(Attribution, hides_what_an_operation_does_while_the_one_before_computes) {
    std::vector<OperationRecord> operations{operation(0), operation(20)};
    spend(operations[0], 100, Cause::Mac, true);
    spend(operations[1], 80, Cause::WeightFetch);
    spend(operations[1], 60, Cause::Mac, true);
    const auto own = own_cycles(operations, whole(0, 160));
    EXPECT_EQ(own[0][Cause::Mac], Cycles(100));
    EXPECT_EQ(own[1][Cause::WeightFetch], Cycles(0));
    EXPECT_EQ(own[1].sum(), Cycles(60));
}

TEST(Attribution, gives_the_cycles_of_the_array_to_who_has_it) {
    std::vector<OperationRecord> operations{operation(0), operation(20)};
    spend(operations[0], 100, Cause::Mac, true);
    spend(operations[0], 30, Cause::SdpDrain);
    spend(operations[1], 80, Cause::WaitsForPrevious);
    spend(operations[1], 60, Cause::Mac, true);
    const auto own = own_cycles(operations, whole(0, 160));
    EXPECT_EQ(own[0][Cause::SdpDrain], Cycles(0));  // behind the other's MACs
    EXPECT_EQ(own[1][Cause::Mac], Cycles(60));
    EXPECT_EQ(own[0].sum() + own[1].sum(), Cycles(160));
}

TEST(Attribution, shares_a_part_that_is_half_hidden_by_cause) {
    std::vector<OperationRecord> operations{operation(0, "pdp"), operation(50)};
    spend(operations[0], 100, Cause::Work);
    operations[0].parts.back().causes[Cause::Work] = Cycles(60);
    operations[0].parts.back().causes[Cause::Memory] = Cycles(40);
    spend(operations[1], 100, Cause::Mac, true);
    const auto own = own_cycles(operations, whole(0, 150));
    EXPECT_EQ(own[0][Cause::Work], Cycles(30));
    EXPECT_EQ(own[0][Cause::Memory], Cycles(20));
}

TEST(Attribution, sums_to_the_counted_time_whatever_overlaps) {
    std::mt19937 random(7);
    const auto any = [&](std::uint64_t most) {
        return std::uniform_int_distribution<std::uint64_t>(0, most)(random);
    };
    for (int round = 0; round < 500; ++round) {
        std::vector<OperationRecord> operations;
        for (std::uint64_t i = 0; i <= any(6); ++i) {
            operations.push_back(operation(any(300)));
            for (std::uint64_t part = 0; part <= any(4); ++part) {
                spend(operations.back(), 1 + any(90), static_cast<Cause>(any(8)));
                operations.back().parts.back().array = any(3) == 0;
            }
        }
        const std::uint64_t middle = any(200);
        const std::uint64_t end = 200 + any(400);
        Cycles sum;
        for (const CauseCycles& own :
             own_cycles(operations, {{Cycles(0), Cycles(middle)}, {Cycles(200), Cycles(end)}})) {
            sum += own.sum();
        }
        EXPECT_EQ(sum, Cycles(middle + end - 200));
    }
}

TEST(Attribution, gives_layers_their_operations_in_order) {
    std::vector<OperationRecord> operations{operation(0), operation(40, "host"), operation(20)};
    spend(operations[0], 20, Cause::Mac, true);
    spend(operations[1], 10, Cause::Work);
    spend(operations[2], 20, Cause::Mac, true);
    const auto own = own_cycles(operations, whole(0, 50));
    for (std::size_t i = 0; i < own.size(); ++i) {
        operations[i].own = own[i];
    }
    std::vector<LayerRecord> layers(2);
    layers[0].on_host = true;
    layers[0].operations = {0};
    layers[1].operations = {0, 0};
    fill_layers(layers, operations);
    EXPECT_EQ(layers[0].operations, std::vector<std::size_t>{1});
    EXPECT_EQ(layers[1].operations, (std::vector<std::size_t>{0, 2}));
    EXPECT_EQ(layers[1].cycles(), Cycles(40));
}

}  // namespace
}  // namespace npuscope
