// SPDX-License-Identifier: Apache-2.0
#include "sim/config/atomic_file.h"

#include <gtest/gtest.h>

#include "sim/config/whole_file.h"
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

}  // namespace
}  // namespace npuscope
