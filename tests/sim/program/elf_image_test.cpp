// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "sim/program/memory_image.h"
#include "tests/sim/fuzz/mutate.h"
#include "tests/sim/message_of.h"

namespace npuscope {
namespace {

struct Kind {
    bool wide;
    bool big_endian;
};

/// A file of two segments: four bytes at 0x80000000, of which the last two are zeros only in
/// memory, and a note that is not loaded.
class ElfSample {
 public:
    explicit ElfSample(const Kind& kind) : kind_(kind) {
        bytes_ = std::string("\x7f") + "ELF";
        bytes_ += static_cast<char>(kind.wide ? 2 : 1);
        bytes_ += static_cast<char>(kind.big_endian ? 2 : 1);
        bytes_.resize(16);
        const std::size_t head = kind.wide ? 64 : 52;
        put(2, 2);  // executable
        put(243, 2);
        put(1, 4);
        put(0, word());     // entry
        put(head, word());  // program headers
        put(0, word());
        put(0, 4);
        put(head, 2);
        put(kind.wide ? 56 : 32, 2);
        put(2, 2);
        bytes_.resize(head);
        const std::size_t data = head + 2 * (kind.wide ? 56U : 32U);
        segment(4, data, 0, 2);
        segment(1, data, 0x80000000, 4);
        bytes_ += "\x05\x06";
    }

    const std::string& bytes() const { return bytes_; }

 private:
    unsigned word() const { return kind_.wide ? 8 : 4; }
    void put(std::uint64_t value, unsigned size) {
        for (unsigned i = 0; i < size; ++i) {
            bytes_ += static_cast<char>(value >> 8 * (kind_.big_endian ? size - 1 - i : i) & 0xffU);
        }
    }
    void segment(unsigned type, std::size_t offset, std::uint64_t address, std::uint64_t size) {
        put(type, 4);
        if (kind_.wide) {
            put(5, 4);
        }
        for (const std::uint64_t value :
             {offset, std::size_t{0x1000}, address, std::size_t{2}, size}) {
            put(value, word());
        }
        put(5, kind_.wide ? 8 : 4);
        if (!kind_.wide) {
            put(1, 4);
        }
    }

    Kind kind_;
    std::string bytes_;
};

constexpr std::array kinds{Kind{false, false}, Kind{false, true}, Kind{true, false},
                           Kind{true, true}};

TEST(ElfImage, SegmentsLieAtTheirPhysicalAddresses) {
    for (const Kind& kind : kinds) {
        const MemoryImage image = parse_elf(ElfSample(kind).bytes(), "a.elf");
        ASSERT_EQ(image.runs.size(), 1U);
        EXPECT_EQ(image.runs.front(), (MemoryImage::Run{0x80000000, 0, 4}));
        EXPECT_EQ(image.bytes, (std::vector<std::uint8_t>{5, 6, 0, 0}));
    }
}

TEST(ElfImage, WhatIsWrongIsToldWithItsOffset) {
    const std::string good = ElfSample({true, false}).bytes();
    const auto refused = [](const std::string& bytes) {
        return sample::message_of([&] { parse_elf(bytes, "a.elf"); });
    };
    EXPECT_NE(refused("ELF").find("at byte 0x0"), std::string::npos);
    EXPECT_NE(refused(good.substr(0, good.size() - 1)).find("extends beyond the file's"),
              std::string::npos);
    EXPECT_NE(refused(good.substr(0, 50)).find("it ends before the end of a header field"),
              std::string::npos);
    std::string object = good;
    object[56] = 0;
    EXPECT_NE(refused(object).find("link it"), std::string::npos);
    std::string huge = good;
    huge[64 + 56 + 40 + 5] = 1;
    EXPECT_NE(refused(huge).find("bytes of memory"), std::string::npos);
}

TEST(ElfImage, DamagedFilesAreReadOrRefused) {
    fuzz::Mutator mutator(5);
    for (int i = 0; i < 2000; ++i) {
        try {
            parse_elf(mutator.damage(ElfSample(kinds[static_cast<std::size_t>(i) % 4]).bytes()),
                      "a.elf");
        } catch (const ConfigError& error) {
            ASSERT_FALSE(std::string(error.what()).empty());
        }
    }
}

TEST(ArrayImage, ElementsLieInTheOrderOfC) {
    const std::string head = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2), }";
    std::string file = std::string("\x93NUMPY\x01") + '\0';
    file += static_cast<char>(head.size() + 1);
    file += '\0' + head + '\n' + "abcd";
    EXPECT_EQ(parse_array(file, "a.npy").bytes, (std::vector<std::uint8_t>{'a', 'c', 'b', 'd'}));
}

}  // namespace
}  // namespace npuscope
