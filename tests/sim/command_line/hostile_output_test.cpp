// SPDX-License-Identifier: Apache-2.0
// The executable when its output goes nowhere, or when names in its input try to reach what they
// should not.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "tests/support/temp_folder.h"

namespace npuscope::hostile_output_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

class Hostile : public testing::Test {
 protected:
    struct Ended {
        int code;
        std::string out;
        std::string err;
    };
    /// As bash runs it; `redirection` goes after the arguments, `before` before the command.
    Ended shell(const std::string& arguments, const std::string& redirection = "",
                const std::string& before = "") const {
        const std::string line = "cd '" + folder_.string() + "' && { " + before +
                                 NPUSCOPE_EXECUTABLE " " + arguments + " >'" +
                                 (folder_ / "out.txt").string() + "' 2>'" +
                                 (folder_ / "err.txt").string() + "' " + redirection + "; }";
        const int status = std::system(line.c_str());  // NOLINT(cert-env33-c): it is a test
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        return {code, text_of(folder_ / "out.txt"), text_of(folder_ / "err.txt")};
    }
    void put(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name, std::ios::binary) << text;
    }
    std::size_t count(const fs::path& folder) const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
    }

    const TempFolder folder_;
};

const std::string fill = "mem_init(pri_mem, 0x80000000, 0x40, ALL_ZERO);\n";
const std::string lenet = NPUSCOPE_SOURCE "/configs/workload/lenet.yaml";

const std::string every_command[] = {"run p.cfg",
                                     "run p.cfg --json -",
                                     "run p.cfg --csv -",
                                     "run p.cfg --json /dev/stdout",
                                     "run p.cfg --csv /dev/fd/1",
                                     "run p.cfg --timeline /dev/stdout",
                                     "run p.cfg --wave /dev/stdout",
                                     "check p.cfg",
                                     "check p.cfg --json -",
                                     "plan " + lenet + " --no-expectations",
                                     "convert --shape 1x3x8x8 --to 4W4C8B --picture 3",
                                     "convert --shape 1x3x8x8 --explain 0,1,2,3",
                                     "convert in.npy out.npy",
                                     "convert in.npy out.npy --json -",
                                     "list rules",
                                     "list fields",
                                     "list presets",
                                     "list layouts",
                                     "list registers",
                                     "list patterns",
                                     "list operators",
                                     "--help",
                                     "run --help",
                                     "--version"};

/// A .npy file of four int8.
std::string four_bytes() {
    std::string head = "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1, 2, 2), }";
    head.resize(117, ' ');
    return std::string("\x93NUMPY\x01\0\x76\0", 10) + head + "\nabcd";
}

TEST_F(Hostile, AFullOrClosedStandardOutputIsAnErrorInEveryCommand) {
    put("p.cfg", fill);
    put("in.npy", four_bytes());
    for (const std::string& command : every_command) {
        ASSERT_EQ(shell(command).code, 0) << command << shell(command).err;
        for (const char* redirection : {">/dev/full", ">&-"}) {
            const Ended ended = shell(command, redirection);
            EXPECT_EQ(ended.code, 2) << command << redirection;
            EXPECT_NE(ended.err.find("npuscope: "), std::string::npos) << command << redirection;
        }
    }
}

TEST_F(Hostile, EveryOutputFileThatIsFullIsAnError) {
    put("p.cfg", fill);
    put("in.npy", four_bytes());
    for (const char* command :
         {"run p.cfg --json /dev/full", "run p.cfg --csv /dev/full",
          "run p.cfg --timeline /dev/full", "check p.cfg --json /dev/full",
          "convert in.npy out.npy --json /dev/full", "run p.cfg --out /dev/full"}) {
        const Ended ended = shell(command);
        EXPECT_EQ(ended.code, 2) << command;
        EXPECT_NE(ended.err.find("npuscope: cannot write"), std::string::npos) << ended.err;
    }
}

TEST_F(Hostile, AFileBeyondTheLimitOfSizesIsAnError) {
    put("p.cfg", fill);
    put("in.npy", four_bytes());
    for (const char* command : {"run p.cfg --out o", "run p.cfg --json r.json",
                                "convert --to 'N C H:4096 W' in.npy out.bin"}) {
        const Ended ended = shell(command, "", "ulimit -f 1; ");
        EXPECT_EQ(ended.code, 2) << command;
        EXPECT_NE(ended.err.find("npuscope: cannot write '"), std::string::npos) << ended.err;
        EXPECT_EQ(ended.err.find(".npuscope-"), std::string::npos) << ended.err;
        EXPECT_EQ(count(folder_), 4U) << command;  // p.cfg, in.npy, out.txt, err.txt
    }
}

TEST_F(Hostile, AClosedStreamDoesNotBecomeAFileThatIsWritten) {
    put("p.cfg", fill);
    shell("run p.cfg --json r.json", ">&- 2>&- <&-");
    const std::string json = text_of(folder_ / "r.json");
    EXPECT_EQ(json.substr(0, 1), "{");
    EXPECT_EQ(json.substr(json.size() - 2), "}\n");
}

TEST_F(Hostile, AReaderThatHasSeenEnoughEndsTheCommandInSilence) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ::close(ends[0]);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::dup2(::open((folder_ / "err.txt").c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
        ::signal(SIGPIPE, SIG_DFL);
        ::execl(NPUSCOPE_EXECUTABLE, "npuscope", "list", "fields", nullptr);
        ::_exit(127);
    }
    ::close(ends[1]);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE) << status;
    EXPECT_EQ(text_of(folder_ / "err.txt"), "");
}

TEST_F(Hostile, NamesOfLayersStayInTheFolderOfOutputsAndApart) {
    const auto names = [&](const std::string& one, const std::string& two) {
        put("n.yaml",
            "name: n\ninput: {channels: 8, height: 4, width: 4}\nlayers:\n"
            "  - {name: \"" +
                one +
                "\", kind: max_pool}\n"
                "  - {name: \"" +
                two + "\", kind: max_pool, from: [input]}\n");
    };
    fs::create_directories(folder_ / "in");
    fs::create_directories(folder_ / "a/b/c");
    put("in/input.bin", std::string(8 * 4 * 4, 'x'));
    const std::string command = "run n.yaml --npu nv_small --inputs in --outputs a/b/c/o";
    names("../../x", (folder_ / "absolute").string());
    Ended ended = shell(command);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(count(folder_ / "a/b/c"), 1U);
    EXPECT_EQ(count(folder_ / "a/b/c/o"), 4U);
    EXPECT_TRUE(fs::exists(folder_ / "a/b/c/o/%2E.%2F..%2Fx.npy"));
    names("a/b", "a_b");
    ended = shell(command + "2");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(count(folder_ / "a/b/c/o2"), 4U);
    names("a\\0b", "a");
    ended = shell(command + "3");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(count(folder_ / "a/b/c/o3"), 4U);
}

TEST_F(Hostile, AnInputLayersNameStaysInTheFolderOfThePlan) {
    put("n.yaml",
        "name: \"n\\nreg_write(NVDLA_CDMA.D_BANK_0, 1);\\n\\e[31m\"\n"
        "input: {channels: 8, height: 4, width: 4}\nlayers:\n"
        "  - {name: \"../../../x\", kind: input, output: 8x4x4}\n"
        "  - {name: \"s\\nreg_write(NVDLA_CDMA.D_BANK_0, 1);\", kind: add, "
        "from: [input, \"../../../x\"]}\n");
    fs::create_directories(folder_ / "a/b/c");
    const Ended ended = shell("plan n.yaml --npu nv_small --out a/b/c/o");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(count(folder_), 4U);  // n.yaml, a, out.txt, err.txt
    EXPECT_EQ(text_of(folder_ / "a/b/c/o/program.cfg").find("\nreg_write(NVDLA_CDMA.D_BANK_0, 1)"),
              std::string::npos);
    EXPECT_EQ(shell("check a/b/c/o --npu nv_small").code, 0);
    EXPECT_EQ(shell("run a/b/c/o --npu nv_small").code, 0);
}

TEST_F(Hostile, NoControlCharacterReachesTheTerminal) {
    put("n.yaml",
        "name: \"\\e]0;title\\a\"\ninput: {channels: 8, height: 4, width: 4}\nlayers:\n"
        "  - {name: \"\\e[31mred\\x9b\", kind: max_pool}\n");
    put("bad.yaml", "name: n\n\"\\e[31m\": 1\n");
    put("i.yaml",
        "surfaces: [{name: \"\\e[31m\", layout: feature, shape: 1x8x4x4, address: 0x80000001}]\n");
    put("p.cfg", "\x1b[31m(\n");
    for (const char* command :
         {"run n.yaml", "run n.yaml --operations", "run n.yaml --csv -", "run n.yaml --json -",
          "plan n.yaml", "plan n.yaml --explain", "check n.yaml", "check bad.yaml", "check i.yaml",
          "check i.yaml --json -", "run p.cfg", "run $'\\e[31m'", "--$'\\e'", "$'\\e'",
          "run n.yaml --npu $'\\e[31m'", "run n.yaml --set $'\\e[31m=1'", "list $'\\e'",
          "convert $'\\e' x", "run n.yaml --out o"}) {
        const std::string line = std::string("bash -c \"") + NPUSCOPE_EXECUTABLE + " " + command +
                                 " >out.txt 2>err.txt\"";
        std::system(("cd '" + folder_.string() + "' && " + line).c_str());
        const std::string shown = text_of(folder_ / "out.txt") + text_of(folder_ / "err.txt");
        EXPECT_NE(shown, "") << command;
        for (const char control : {'\x1b', '\x07', '\0', '\r'}) {
            EXPECT_EQ(shown.find(control), std::string::npos) << command << shown;
        }
        EXPECT_EQ(shown.find("\xc2\x9b"), std::string::npos) << command;
    }
    EXPECT_EQ(text_of(folder_ / "o/summary.txt").find('\x1b'), std::string::npos);
}

TEST_F(Hostile, ALinkToItselfIsNotReplaced) {
    put("p.cfg", fill);
    put("in.npy", four_bytes());
    fs::create_symlink("loop", folder_ / "loop");
    for (const char* command :
         {"run p.cfg --json loop", "check p.cfg --json loop", "convert in.npy loop"}) {
        const Ended ended = shell(command);
        EXPECT_EQ(ended.code, 2) << command;
        EXPECT_EQ(ended.err.find("npuscope: cannot write 'loop': Too many levels"), 0U)
            << command << ended.err;
        EXPECT_TRUE(fs::is_symlink(folder_ / "loop")) << command;
    }
}

TEST_F(Hostile, AnInterruptedConversionLeavesNothing) {
    put("in.bin", "");
    fs::resize_file(folder_ / "in.bin", std::uintmax_t{1} << 28U);
    fs::create_directories(folder_ / "o");
    const pid_t child = ::fork();
    if (child == 0) {
        ::execl(NPUSCOPE_EXECUTABLE, "npuscope", "convert", "--shape", "1x64x2048x2048", "--type",
                "int8", "--to", "H W C", (folder_ / "in.bin").c_str(),
                (folder_ / "o/out.bin").c_str(), nullptr);
        ::_exit(127);
    }
    int status = 0;
    while (count(folder_ / "o") == 0 && ::waitpid(child, &status, WNOHANG) == 0) {
    }
    ::kill(child, SIGTERM);
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
    EXPECT_EQ(count(folder_ / "o"), 0U);
}

}  // namespace
}  // namespace npuscope::hostile_output_test
