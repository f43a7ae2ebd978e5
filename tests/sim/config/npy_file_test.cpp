// SPDX-License-Identifier: Apache-2.0
#include "sim/config/npy_file.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tests/sim/message_of.h"

namespace npuscope::npy_file_test {
namespace {

NpyHeader read(const std::string& text) {
    return read_npy_header({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
                           "a.npy");
}

/// A header as numpy writes it, version 1.
std::string head(const std::string& fields) {
    std::string text = fields + std::string(118 - fields.size() % 118 - 1, ' ') + "\n";
    std::string bytes("\x93NUMPY\x01\0", 8);
    bytes += static_cast<char>(text.size());
    bytes += '\0';
    return bytes + text;
}

TEST(NpyFile, WhatIsWrittenIsRead) {
    for (const ElementRow& type : element_table) {
        for (const std::vector<std::uint64_t>& shape :
             std::vector<std::vector<std::uint64_t>>{{}, {7}, {2, 3}, {1, 3, 4, 5}}) {
            std::uint64_t elements = 1;
            for (const std::uint64_t extent : shape) {
                elements *= extent;
            }
            const std::string written = npy_header(type, shape);
            EXPECT_EQ(written.size() % 64, 0U);
            const NpyHeader header = read(written + std::string(elements * type.bytes, 'x'));
            EXPECT_EQ(header.type, &type);
            EXPECT_EQ(header.shape, shape);
            EXPECT_EQ(header.data_begin, written.size());
        }
    }
}

TEST(NpyFile, HeadsOfNumpyAreRead) {
    const NpyHeader header = read(
        head("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }") + std::string(24, 'x'));
    EXPECT_EQ(header.type->name, "float32");
    EXPECT_EQ(header.shape, (std::vector<std::uint64_t>{2, 3}));
    EXPECT_FALSE(header.fortran_order);
    EXPECT_TRUE(
        read(head("{'shape': (3,), 'fortran_order': True, 'descr': '|i1'}") + "abc").fortran_order);
}

TEST(NpyFile, WhatCannotBeIsRefusedWithTheNumbers) {
    EXPECT_EQ(sample::message_of([] {
                  read(head("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }") +
                       std::string(23, 'x'));
              }),
              "'a.npy' has 23 bytes of data, but shape (2, 3) of float32 needs 24");
    EXPECT_EQ(sample::message_of(
                  [] { read(head("{'descr': '>f4', 'fortran_order': False, 'shape': (), }")); }),
              "'a.npy' holds big-endian elements of type '>f4' (save a.astype('<f4'))");
    EXPECT_EQ(sample::message_of(
                  [] { read(head("{'descr': '<c8', 'fortran_order': False, 'shape': (), }")); }),
              "'a.npy' holds elements of type '<c8', which is not supported (int8, uint8, int16, "
              "uint16, float16, int32, uint32, float32, int64, uint64, float64, bool)");
    EXPECT_NE(sample::message_of([] { read("\x93NUMP"); }), "");
    EXPECT_NE(sample::message_of([] { read(head("{'descr': '<f4'}")); }), "");
}

TEST(NpyFile, HeadersThatAreNoPlainArraysSayWhy) {
    const auto refusal = [](const std::string& fields) {
        const std::string message = sample::message_of([&] { read(head(fields)); });
        return message.substr(0, message.find(" ("));
    };
    EXPECT_EQ(refusal("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (3,), }"),
              "'a.npy' is a structured array, which is not supported");
    EXPECT_EQ(refusal("{'descr': '|i1', 'fortran_order': False, 'shape': (2, -3), }"),
              "'a.npy': the .npy header has a negative extent at character 55");
    for (const char* shape : {"(99999999999999999999999,)", "(16777216, 16777217)"}) {
        EXPECT_EQ(refusal(std::string("{'descr': '|i1', 'fortran_order': False, 'shape': ") +
                          shape + ", }"),
                  "'a.npy': the .npy header has a shape of more than 281,474,976,710,656 elements");
    }
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::vector<double> numbers_of(const std::string& text) {
    const NpyHeader header = read(text);
    return npy_numbers(header, bytes_of(text).subspan(header.data_begin));
}

TEST(NpyFile, NumbersOfEveryTypeSurvive) {
    const std::array<std::uint64_t, 2> shape{2, 2};
    for (const ElementRow& type : element_table) {
        std::vector<double> numbers{0, 1, 1, 0};
        if (type.kind != 'b') {
            numbers = {0, 1, type.kind == 'u' ? 200.0 : -128.0, 127};
        }
        EXPECT_EQ(numbers_of(npy_bytes(type, shape, numbers)), numbers) << type.name;
    }
}

TEST(NpyFile, FloatsOf16BitsAreReadAndRounded) {
    const std::array<std::uint64_t, 1> shape{5};
    const std::vector<double> numbers{1.0 / 3, 65504, -5.9604644775390625e-08, 70000, -0.25};
    EXPECT_EQ(numbers_of(npy_bytes(find_element("float16"), shape, numbers)),
              (std::vector<double>{0.333251953125, 65504, -5.9604644775390625e-08,
                                   std::numeric_limits<double>::infinity(), -0.25}));
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        if ((bits & 0x7FFFU) <= 0x7C00U) {
            EXPECT_EQ(to_float16(from_float16(half)), half);
        } else {
            EXPECT_TRUE(std::isnan(from_float16(half)));
        }
    }
}

TEST(NpyFile, FortranOrderIsReadInTheOrderOfC) {
    const std::string text =
        head("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }") + "adbecf";
    const NpyHeader header = read(text);
    EXPECT_TRUE(header.is_transposed());
    const std::vector<std::uint8_t> ordered =
        in_c_order(header, bytes_of(text).subspan(header.data_begin));
    EXPECT_EQ(std::string(ordered.begin(), ordered.end()), "abcdef");
    EXPECT_EQ(numbers_of(text), (std::vector<double>{'a', 'b', 'c', 'd', 'e', 'f'}));
}

TEST(NpyFile, HeadersOfVersions2And3AreRead) {
    for (const char version : {'\x02', '\x03'}) {
        const std::string first = head("{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }");
        std::string text = first.substr(0, 6) + version + '\0' + first.substr(8, 2);
        text += std::string(2, '\0') + first.substr(10) + "\x01\xff\x03";
        EXPECT_EQ(numbers_of(text), (std::vector<double>{1, -1, 3})) << int{version};
    }
    std::string later = head("{'descr': '|i1', 'fortran_order': False, 'shape': (), }") + "x";
    later[6] = '\x04';
    EXPECT_EQ(sample::message_of([&] { read(later); }),
              "'a.npy' has .npy version 4 (1 to 3 are supported)");
}

}  // namespace
}  // namespace npuscope::npy_file_test
