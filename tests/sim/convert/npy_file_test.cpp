// SPDX-License-Identifier: Apache-2.0
#include "sim/convert/npy_file.h"

#include <gtest/gtest.h>

#include "tests/sim/message_of.h"

namespace npuscope {
namespace {

NpyHeader read(const std::string& text) {
    return read_npy_header({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
                           "a.npy");
}

/// A head as numpy writes it, version 1.
std::string head(const std::string& fields) {
    std::string text = fields + std::string(118 - fields.size() % 118 - 1, ' ') + "\n";
    std::string bytes("\x93NUMPY\x01\0", 8);
    bytes += static_cast<char>(text.size());
    bytes += '\0';
    return bytes + text;
}

TEST(NpyFile, WhatIsWrittenIsRead) {
    for (const StoredType& type : stored_types()) {
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
              "'a.npy' has 23 bytes of elements, shape (2, 3) of float32 needs 24");
    EXPECT_EQ(sample::message_of(
                  [] { read(head("{'descr': '>f4', 'fortran_order': False, 'shape': (), }")); }),
              "'a.npy' holds elements of type '>f4', high byte first (save a.astype('<f4'))");
    EXPECT_EQ(sample::message_of(
                  [] { read(head("{'descr': '<c8', 'fortran_order': False, 'shape': (), }")); }),
              "'a.npy' holds elements of type '<c8', which is none of ours (int8, uint8, int16, "
              "uint16, float16, int32, uint32, float32, int64, uint64, float64)");
    EXPECT_NE(sample::message_of([] { read("\x93NUMP"); }), "");
    EXPECT_NE(sample::message_of([] { read(head("{'descr': '<f4'}")); }), "");
}

}  // namespace
}  // namespace npuscope
