// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/emulated.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "sim/config/element_type.h"
#include "tests/support/refusal.h"

namespace npuscope {
namespace {

void put(std::vector<std::uint8_t>& bytes, std::size_t place, std::uint32_t value,
         std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        bytes[place + i] = static_cast<std::uint8_t>(value >> (8 * i) & 0xff);
    }
}

/// One operation on fp16 of 3 channels, as the first compilers or later ones wrote it.
struct Lists {
    explicit Lists(bool scales) {
        put(network, 0, 1, 2);
        put(network, 2, 2, 2);
        put(network, 4, 1, 2);
        operations.resize(scales ? 24 : 16);
        for (const std::size_t buffer : {0U, 256U}) {
            std::size_t place = buffer;
            put(buffers, place, 3, 2);
            place += scales ? 6 : 2;
            put(buffers, place, 32, 4);
            put(buffers, place + 4, scales ? 3 : 2, 2);
            put(buffers, place + 6, 1, 2);
            put(buffers, place + 8, 1, 2);
            put(buffers, place + 10, 3, 2);
            put(buffers, place + 12, 32, 4);
            put(buffers, place + 16, 32, 4);
        }
    }
    void set_float(std::size_t place, float value) {
        put(operations, place, std::bit_cast<std::uint32_t>(value), 4);
    }
    std::vector<EmulatedOperation> read() const {
        return read_emulated(
            [this](std::int16_t index, const std::string&) {
                return std::span<const std::uint8_t>(index == 0   ? network
                                                     : index == 1 ? operations
                                                                  : buffers);
            },
            {0, 11, 0}, "task 0", "x.fbuf");
    }

    std::vector<std::uint8_t> network = std::vector<std::uint8_t>(256);
    std::vector<std::uint8_t> operations;
    std::vector<std::uint8_t> buffers = std::vector<std::uint8_t>(512);
};

std::vector<double> run(const EmulatedOperation& operation, const std::vector<double>& numbers) {
    std::string text;
    append_elements(ElementType::Float16, numbers, text);
    const std::vector<std::uint8_t> source(text.begin(), text.end());
    std::vector<std::uint8_t> destination(source.size());
    emulate(operation, source, destination);
    return read_elements(ElementType::Float16, destination);
}

TEST(Emulated, PowersOfTheFirstFormHaveTheirNumbersFromByteOneOn) {
    Lists lists(false);
    lists.set_float(1, 2.0F);
    lists.set_float(5, 3.0F);
    lists.set_float(9, 1.0F);
    const auto operations = lists.read();
    EXPECT_EQ(run(operations.at(0), {0, 1, 2}), (std::vector<double>{1, 16, 49}));
}

TEST(Emulated, PowersOfTheLaterFormHaveScales) {
    Lists lists(true);
    lists.set_float(4, 0.5F);
    lists.set_float(8, 0.25F);
    lists.set_float(12, 1.0F);
    lists.set_float(16, 2.0F);
    lists.set_float(20, 1.0F);
    EmulatedOperation operation = lists.read().at(0);
    operation.source.format = operation.destination.format = EmulatedFormat::Int8;
    const std::vector<std::uint8_t> source{3, 0xfe, 100};
    std::vector<std::uint8_t> destination(3);
    emulate(operation, source, destination);
    // (1 + 2 * (3 * 0.5)) / 0.25; (1 - 2) / 0.25; 101 / 0.25, cut off
    EXPECT_EQ(destination, (std::vector<std::uint8_t>{16, 0xfc, 127}));
}

TEST(Emulated, SoftmaxSumsToOne) {
    Lists lists(false);
    put(lists.operations, 0, 1, 1);
    const auto shares = run(lists.read().at(0), {1, 2, 3});
    EXPECT_NEAR(shares[0] + shares[1] + shares[2], 1, 2e-3);
    EXPECT_EQ(shares[2], from_float16(to_float16(static_cast<double>(
                             std::exp(0.0F) / (std::exp(-2.0F) + std::exp(-1.0F) + 1.0F)))));
}

TEST(Emulated, WhatIsNoOperationIsRefused) {
    Lists lists(false);
    put(lists.operations, 0, 2, 1);
    EXPECT_EQ(refusal_of([&] { lists.read(); }),
              "task 0: operation 0: kind 2 is neither power (0) nor softmax (1)");
    lists = Lists(false);
    put(lists.network, 4, 9, 2);
    EXPECT_EQ(refusal_of([&] { lists.read(); }),
              "task 0: 9 operations of 16 bytes exceed the 16 bytes of their list");
    lists = Lists(false);
    put(lists.buffers, 6, 5, 2);
    EXPECT_EQ(
        refusal_of([&] { lists.read(); }),
        "task 0: operation 0: buffer format 5 is not supported by the emulator: use int8 or fp16");
}

}  // namespace
}  // namespace npuscope
