// SPDX-License-Identifier: Apache-2.0
#include "sim/config/output_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <map>

#include "sim/config/file_io.h"
#include "tests/sim/message_of.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;
using sample::message_of;

using Files = std::map<std::string, std::string>;

class Outputs : public testing::Test {
 protected:
    fs::path out() const { return folder_ / "out"; }
    void put(const std::string& name, const std::string& text) const {
        fs::create_directories((out() / name).parent_path());
        std::ofstream(out() / name) << text;
    }
    /// All that is there, hidden files as well.
    Files found() const {
        Files files;
        for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
            if (!entry.is_directory()) {
                files[fs::relative(entry.path(), out()).string()] =
                    entry.is_symlink() ? "link" : read_whole_file(entry.path());
            } else if (entry.path().filename().string().front() == '.') {
                files[entry.path().string()] = "a hidden folder";
            }
        }
        return files;
    }
    void write_plan(const Files& files) const {
        OutputFolder folder(out());
        for (const auto& [name, text] : files) {
            folder.write(name, text);
        }
        folder.commit_in_place_of_earlier();
    }
    Files found_without_list() const {
        Files files = found();
        files.erase("written_files.txt");
        return files;
    }

    const TempFolder folder_;
};

TEST_F(Outputs, NothingIsThereBeforeTheLastStep) {
    {
        OutputFolder folder(out());
        folder.write("a", "1");
        EXPECT_FALSE(fs::exists(out()));
    }
    EXPECT_EQ(found(), Files{});
}

TEST_F(Outputs, AllAppearInANewFolderAndNothingElse) {
    OutputFolder folder(out());
    folder.write("a", "1");
    folder.write("segment_1/b", "2");
    folder.commit();
    EXPECT_EQ(found(), (Files{{"a", "1"}, {"segment_1/b", "2"}}));
}

TEST_F(Outputs, OtherFilesOfTheFolderStay) {
    put("notes.txt", "mine");
    put("a", "old");
    OutputFolder folder(out());
    folder.write("a", "new");
    EXPECT_EQ(read_whole_file(out() / "a"), "old");
    folder.commit();
    EXPECT_EQ(found_without_list(), (Files{{"a", "new"}, {"notes.txt", "mine"}}));
}

TEST_F(Outputs, AFailureInBetweenLeavesEverythingAsItWas) {
    put("a", "old a");
    put("c", "old c");
    put("b/mine.txt", "a folder where a file should stand");
    const Files before = found();
    OutputFolder folder(out());
    folder.write("new/x", "1");
    for (const char* name : {"a", "b", "c"}) {
        folder.write(name, "new");
    }
    EXPECT_NE(message_of([&] { folder.commit(); }), "");
    Files after = found();
    std::erase_if(
        after, [](const auto& file) { return file.first.find(".npuscope") != std::string::npos; });
    EXPECT_EQ(after, before);
    EXPECT_FALSE(fs::exists(out() / "new"));
}

TEST_F(Outputs, WhatAnEarlierPlanWroteGoesWithIt) {
    write_plan({{"program.cfg", "1"}, {"weights_7.dat", "1"}, {"segment_2/program.cfg", "1"}});
    put("notes.txt", "mine");
    write_plan({{"program.cfg", "2"}, {"weights_1.dat", "2"}});
    EXPECT_EQ(found_without_list(),
              (Files{{"notes.txt", "mine"}, {"program.cfg", "2"}, {"weights_1.dat", "2"}}));
    EXPECT_FALSE(fs::exists(out() / "segment_2"));
}

TEST_F(Outputs, AnEarlierFileThatSomebodyChangedStays) {
    write_plan({{"program.cfg", "1"}, {"weights_7.dat", "1"}});
    put("weights_7.dat", "2");
    write_plan({{"program.cfg", "2"}});
    EXPECT_EQ(found_without_list(), (Files{{"program.cfg", "2"}, {"weights_7.dat", "2"}}));
}

TEST_F(Outputs, AListThatSomebodyForgedRemovesNothingOutside) {
    write_plan({{"program.cfg", "1"}});
    std::ofstream(folder_ / "victim") << "1";
    std::ofstream(out() / ".hidden") << "1";
    const std::string list = read_whole_file(out() / "written_files.txt");
    const std::size_t at = list.find(" program.cfg");
    const std::string fingerprint =
        list.substr(list.rfind('\n', at) + 1, at - list.rfind('\n', at) - 1);
    put("written_files.txt", fingerprint + " ../victim\n" + fingerprint + " .hidden\n" +
                                 fingerprint + " " + (folder_ / "victim").string() +
                                 "\n\n 1\nx y z\n");
    write_plan({{"program.cfg", "2"}});
    EXPECT_EQ(read_whole_file(folder_ / "victim"), "1");
    EXPECT_EQ(read_whole_file(out() / ".hidden"), "1");
}

TEST_F(Outputs, AFileOfAnEarlierCallGoesWithTheNextOne) {
    put("a.bin", "old");
    OutputFolder folder(out());
    folder.write("a.npy", "new");
    folder.remove("a.bin");
    folder.remove("b.bin");
    EXPECT_TRUE(fs::exists(out() / "a.bin"));
    folder.commit();
    EXPECT_EQ(found(), (Files{{"a.npy", "new"}}));
}

TEST_F(Outputs, ALinkIsReplacedAndNotFollowed) {
    std::ofstream(folder_ / "victim") << "mine";
    fs::create_directories(out());
    fs::create_symlink(folder_ / "victim", out() / "a");
    OutputFolder folder(out());
    folder.write("a", "new");
    folder.commit();
    EXPECT_EQ(read_whole_file(folder_ / "victim"), "mine");
    EXPECT_EQ(read_whole_file(out() / "a"), "new");
}

TEST_F(Outputs, AFileInPlaceOfTheFolderIsRefused) {
    std::ofstream(out()) << "mine";
    EXPECT_EQ(message_of([&] { OutputFolder folder(out()); }),
              "cannot write '" + out().string() +
                  "': it is not a folder (nothing in the folder was changed; choose another one)");
}

/// A child that does `work` and is then interrupted.
int interrupted(const std::function<void()>& work, int signal) {
    const pid_t child = ::fork();
    if (child == 0) {
        const InterruptionGuard guard;
        work();
        ::kill(::getpid(), signal);
        while (true) {
            ::pause();
        }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_F(Outputs, AnInterruptionRemovesWhatIsNotComplete) {
    put("a", "old");
    const Files before = found();
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const auto work = [&] {
            auto* folder = new OutputFolder(out());  // never ends its scope
            folder->write("a", "new");
            folder->write("segment_1/b", "new");
            new TemporaryFile(out(), "x");
        };
        EXPECT_EQ(interrupted(work, signal), signal);
        EXPECT_EQ(found(), before);
    }
}

TEST_F(Outputs, WhatAKilledRunLeftHarmsNoLaterOne) {
    const auto work = [&] {
        auto* folder = new OutputFolder(out());
        folder->write("a", "left");
    };
    put("notes.txt", "mine");
    EXPECT_EQ(interrupted(work, SIGKILL), SIGKILL);
    write_plan({{"a", "1"}});
    EXPECT_EQ(read_whole_file(out() / "a"), "1");
    EXPECT_EQ(read_whole_file(out() / "notes.txt"), "mine");
}

TEST(Temporary, NoNameIsUsedTwiceAndAFileBecomesItsTargetOnce) {
    const TempFolder folder;
    fs::create_symlink(folder / "elsewhere", folder / "r");
    {
        TemporaryFile one(folder, folder / "r");
        TemporaryFile two(folder, folder / "r");
        write_to(one.descriptor(), "one", "r");
        one.become(folder / "r");
    }
    EXPECT_EQ(read_whole_file(folder / "r"), "one");
    EXPECT_FALSE(fs::exists(folder / "elsewhere"));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace npuscope
