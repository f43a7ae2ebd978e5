// SPDX-License-Identifier: Apache-2.0
#include "sim/config/file_name.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>

namespace npuscope {
namespace {

using std::string_literals::operator""s;

TEST(FileName, UsualNamesStayAsTheyAre) {
    for (const char* name : {"conv1", "input_1:0", "Conv-2.weight", "a,b=c+d@e", "größe", "x..y"}) {
        EXPECT_EQ(file_name(name, ".npy"), std::string(name) + ".npy");
    }
}

TEST(FileName, NoNameLeavesItsFolderOrIsHidden) {
    EXPECT_EQ(file_name("../../x", ".npy"), "%2E.%2F..%2Fx.npy");
    EXPECT_EQ(file_name("/etc/passwd", ".npy"), "%2Fetc%2Fpasswd.npy");
    EXPECT_EQ(file_name("..", ""), "%2E.");
    EXPECT_EQ(file_name(".", ""), "%2E");
    EXPECT_EQ(file_name("", ".npy"), "%.npy");
}

TEST(FileName, WhatEndsNamesOrStatementsIsCoded) {
    EXPECT_EQ(file_name("a\0b\n\"c\" d\x1b"s, ""), "a%00b%0A%22c%22%20d%1B");
    EXPECT_EQ(file_name("\xff", ""), "%FF");
}

TEST(FileName, DifferentNamesAreDifferentFilesAndAreFoundBack) {
    const std::string letters = "a/_%2F.\\ \0\n\"\xc3\xa4\xff:"s;
    std::mt19937 random(5);
    std::set<std::string> names{"a/b", "a_b", "a%2Fb", "", "%", "%%", "%2", "%zz", "."};
    for (int i = 0; i < 20000; ++i) {
        std::string name;
        for (std::size_t length = random() % 6; name.size() < length;) {
            name += letters[random() % letters.size()];
        }
        names.insert(name);
    }
    std::set<std::string> files;
    for (const std::string& name : names) {
        const std::string file = file_name(name, "");
        EXPECT_TRUE(files.insert(file).second) << file;
        EXPECT_EQ(name_of_file(file), name) << file;
        EXPECT_EQ(std::filesystem::path(file).filename(), file);
        EXPECT_NE(file.front(), '.');
    }
}

}  // namespace
}  // namespace npuscope
