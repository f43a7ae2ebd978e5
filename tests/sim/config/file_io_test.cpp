// SPDX-License-Identifier: Apache-2.0
#include "sim/config/file_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST_F(AtomicFile, FollowsNoLinkThatLiesInItsWay) {
    std::ofstream(folder_ / "victim") << "mine";
    const std::string foreseen = ".part" + std::to_string(::getpid());
    fs::create_symlink(folder_ / "victim", folder_ / ("r.json" + foreseen));
    write_atomically(folder_ / "r.json", "text");
    EXPECT_EQ(read_whole_file(folder_ / "victim"), "mine");
    EXPECT_TRUE(fs::is_symlink(folder_ / ("r.json" + foreseen)));
}

TEST_F(AtomicFile, WritesTheFileThatALinkNames) {
    std::ofstream(folder_ / "target") << "old";
    fs::create_directory(folder_ / "sub");
    fs::create_symlink("../target", folder_ / "sub/link");
    fs::create_symlink("sub/link", folder_ / "link");
    fs::create_symlink("new", folder_ / "dangling");
    write_atomically(folder_ / "link", "text");
    write_atomically(folder_ / "dangling", "more");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link") && fs::is_symlink(folder_ / "sub/link"));
    EXPECT_EQ(read_whole_file(folder_ / "target"), "text");
    EXPECT_TRUE(fs::is_symlink(folder_ / "dangling"));
    EXPECT_EQ(read_whole_file(folder_ / "new"), "more");
}

TEST_F(AtomicFile, RefusesLinksThatLeadToEachOther) {
    fs::create_symlink("b", folder_ / "a");
    fs::create_symlink("a", folder_ / "b");
    EXPECT_EQ(sample::message_of([&] { write_atomically(folder_ / "a", "text"); }),
              "cannot write '" + (folder_ / "a").string() +
                  "': Too many levels of symbolic links (choose a writable location)");
    EXPECT_TRUE(fs::is_symlink(folder_ / "a") && fs::is_symlink(folder_ / "b"));
}

TEST_F(AtomicFile, KeepsTheModeOfAnOlderFile) {
    for (const auto mode : {fs::perms(0600), fs::perms(0755)}) {
        std::ofstream(folder_ / "r.json") << "old";
        fs::permissions(folder_ / "r.json", mode);
        write_atomically(folder_ / "r.json", "new");
        EXPECT_EQ(fs::status(folder_ / "r.json").permissions(), mode);
    }
}

TEST_F(AtomicFile, LeavesAProtectedFileAsItIs) {
    std::ofstream(folder_ / "r.json") << "old";
    fs::permissions(folder_ / "r.json", fs::perms(0444));
    fs::permissions(folder_.path(), fs::perms(0777));
    const pid_t child = ::fork();
    if (child == 0) {  // root may write anything
        const bool ready = ::geteuid() != 0 || ::setuid(65534) == 0;
        const std::string message =
            sample::message_of([&] { write_atomically(folder_ / "r.json", "new"); });
        const bool refused = message.find("Permission denied") != std::string::npos;
        ::_exit(ready && refused ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(read_whole_file(folder_ / "r.json"), "old");
    EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFile, ContinuesAnOpenDescriptorThatIsNamed) {
    const int file = ::open((folder_ / "log").c_str(), O_WRONLY | O_CREAT, 0600);
    ASSERT_EQ(::write(file, "a", 1), 1);
    write_atomically("/dev/fd/" + std::to_string(file), "b");
    ASSERT_EQ(::write(file, "c", 1), 1);
    ::close(file);
    EXPECT_EQ(read_whole_file(folder_ / "log"), "abc");
}

TEST_F(AtomicFile, SaysThatADeviceIsFull) {
    EXPECT_NE(sample::message_of([] { write_atomically("/dev/full", "text"); }), "");
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

TEST(WholeFile, RefusesWhatHasNoEndOrMakesItWait) {
    const TempFolder folder;
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    fs::create_symlink("/dev/zero", folder / "zero");
    EXPECT_NE(message_of([&] { read_whole_file(folder / "pipe"); }).find("it is a pipe"),
              std::string::npos);
    EXPECT_NE(message_of([&] { read_whole_file(folder / "zero"); }).find("it is a device"),
              std::string::npos);
}

TEST(WholeFile, RefusesMoreThanAnyFileOfItsKindHas) {
    const TempFolder folder;
    std::ofstream(folder / "terabyte").close();
    fs::resize_file(folder / "terabyte", std::uintmax_t{1} << 40U);
    EXPECT_NE(message_of([&] { read_whole_file(folder / "terabyte"); }).find("1099511627776 bytes"),
              std::string::npos);
    std::ofstream(folder / "small") << "123456";
    EXPECT_EQ(read_whole_file(folder / "small", {}, Bytes(6)), "123456");
    EXPECT_NE(message_of([&] { read_whole_file(folder / "small", {}, Bytes(5)); }), "");
}

TEST(WholeFile, ReadsAFileThatTellsNoSize) {
    EXPECT_NE(read_whole_file("/proc/self/status").find("Pid:"), std::string::npos);
}

TEST(WholeFile, AZeroByteDoesNotCutItsName) {
    const TempFolder folder;
    std::ofstream(folder / "a") << "not asked for";
    const std::string name = (folder / "a").string() + std::string(1, '\0') + ".dat";
    EXPECT_NE(message_of([&] { read_whole_file(name); }).find("NUL byte"), std::string::npos);
    EXPECT_NE(message_of([&] { write_atomically(name, "x"); }).find("NUL byte"), std::string::npos);
}

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
