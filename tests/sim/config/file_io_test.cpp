// SPDX-License-Identifier: Apache-2.0
#include "sim/config/file_io.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/sim/config/sample_config.h"
#include "tests/sim/message_of.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

class AtomicFile : public testing::Test {
 protected:
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

    const TempFolder folder_;
};

TEST_F(AtomicFile, MakesItsFolderAndReplacesAnOlderFile) {
    write_atomically(folder_ / "a/r.json", "old and longer");
    write_atomically(folder_ / "a/r.json", "new");
    EXPECT_EQ(read_whole_file(folder_ / "a/r.json"), "new");
}

TEST_F(AtomicFile, WritesToADeviceInsteadOfReplacingIt) {
    fs::create_symlink("/dev/null", folder_ / "sink");
    write_atomically(folder_ / "sink", "text");
    EXPECT_TRUE(fs::is_character_file(folder_ / "sink"));
    EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFile, LeavesNothingElseBehind) {
    write_atomically(folder_ / "r.json", "text");
    EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFile, SaysWhatItCannotWriteAndLeavesNoTemporaryFile) {
    fs::create_directories(folder_ / "taken/inner");
    const std::string target = (folder_ / "taken").string();
    const std::string message = sample::message_of([&] { write_atomically(target, "text"); });
    EXPECT_TRUE(message.starts_with("cannot write '" + target + "': ")) << message;
    EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFile, RefusesAFolderThatCannotBeMade) {
    write_atomically(folder_ / "file", "text");
    EXPECT_NE(sample::message_of([&] { write_atomically(folder_ / "file/r.json", "x"); }), "");
}

using sample::message_of;

TEST(WholeFile, ReadsEveryByte) {
    const TempFolder folder;
    const std::filesystem::path path = folder / "bytes";
    const std::string bytes("a\0b\r\n\xff", 6);
    std::ofstream(path, std::ios::binary) << bytes;
    EXPECT_EQ(read_whole_file(path), bytes);
}

TEST(WholeFile, ReadsAPipeOrDeviceOfUnknownSize) { EXPECT_EQ(read_whole_file("/dev/null"), ""); }

TEST(WholeFile, SaysWhyItCannotAndWhoAsked) {
    EXPECT_EQ(message_of([] {
                  read_whole_file("no/such.dat", {"a.cfg", 3, 1});
              }),
              "a.cfg:3:1: cannot read 'no/such.dat': No such file or directory"
              " (put the file there, or correct its name)");
    EXPECT_EQ(message_of([] { read_whole_file("/"); }),
              "cannot read '/': it is a folder (put the file there, or correct its name)");
}

}  // namespace
}  // namespace npuscope
