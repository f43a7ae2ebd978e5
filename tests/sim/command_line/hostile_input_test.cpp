// SPDX-License-Identifier: Apache-2.0
// Paths that are no files, have no end, are far too large or belong to another user: one message
// and exit 2, at once.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "tests/support/temp_folder.h"

namespace npuscope::hostile_input_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

class HostileInput : public testing::Test {
 protected:
    struct Ended {
        int code;
        std::string err;
    };
    Ended shell(const std::string& arguments) const {
        return in_folder("timeout 60 " NPUSCOPE_EXECUTABLE " " + arguments);
    }
    Ended in_folder(const std::string& command) const {
        const std::string line =
            "cd '" + folder_.string() + "' && " + command + " >out.txt 2>err.txt";
        const int status = std::system(line.c_str());  // NOLINT(cert-env33-c): it is a test
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(folder_ / "err.txt")};
    }
    void put(const std::string& name, const std::string& text) const {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name, std::ios::binary) << text;
    }

    const TempFolder folder_;
};

/// What takes the place of a file: turns `path` into it.
struct Impostor {
    const char* name;
    std::function<void(const fs::path&)> make;
};
const Impostor impostors[] = {
    {"a device without end", [](const fs::path& path) { fs::create_symlink("/dev/zero", path); }},
    {"a pipe", [](const fs::path& path) { ::mkfifo(path.c_str(), 0600); }},
    {"a folder", [](const fs::path& path) { fs::create_directory(path); }},
    {"a sparse terabyte",
     [](const fs::path& path) {
         const fs::path sparse = path.parent_path() / "sparse";
         std::ofstream(sparse).close();
         fs::resize_file(sparse, std::uintmax_t{1} << 40U);
         fs::create_symlink(sparse, path);
     }},
    {"a link to itself", [](const fs::path& path) { fs::create_symlink(path, path); }}};

const std::string network =
    "name: n\ninput: {channels: 8, height: 4, width: 4}\nlayers: [{name: p, kind: max_pool}]\n";

/// A command that reads `file`, and what else it needs.
struct Reader {
    const char* command;
    const char* file;
    const char* beside;  ///< name of another file
    const char* text;    ///< of it
};
const Reader readers[] = {
    {"run x.cfg", "x.cfg", "", ""},
    {"check x.cfg", "x.cfg", "", ""},
    {"run x.txn --npu nv_full", "x.txn", "", ""},
    {"run t --npu nv_full", "t/input.txn", "t/other", ""},
    {"run t --npu nv_full", "t/plusargs.txt", "t/input.txn", "wait\n"},
    {"run t", "t/x.cfg", "t/other", ""},
    {"run x.cfg", "x.dat", "x.cfg", "mem_load(pri_mem, 0x80000000, \"x.dat\");\n"},
    {"run x.cfg", "x.bin", "x.cfg", "mem_load(pri_mem, 0x80000000, \"x.bin\");\n"},
    {"run x.cfg", "x.dat", "x.cfg",
     "sync_notify(A, s);\ncheck_file(s, pri_mem, 0x80000000, 4, \"x.dat\");\n"},
    {"run x.txn --npu nv_full", "x.dat", "x.txn", "load_mem 0x80000000 4 x.dat\n"},
    {"run x.txn --npu nv_full", "x.dat", "x.txn", "dump_mem 0x80000000 4 x.dat\n"},
    {"check i.yaml", "x.bin", "i.yaml", "surfaces: []\nmemory: [{file: x.bin, address: 0}]\n"},
    {"check i.yaml", "x.hex", "i.yaml", "surfaces: []\nmemory: [{file: x.hex, address: 0}]\n"},
    {"check i.yaml", "x.mem", "i.yaml", "surfaces: []\nmemory: [{file: x.mem, address: 0}]\n"},
    {"check i.yaml", "x.dat", "i.yaml", "surfaces: []\nmemory: [{file: x.dat, address: 0}]\n"},
    {"run x.yaml", "x.yaml", "", ""},
    {"check x.yaml", "x.yaml", "", ""},
    {"plan x.yaml", "x.yaml", "", ""},
    {"run x.onnx", "x.onnx", "", ""},
    {"plan x.onnx", "x.onnx", "", ""},
    {"check x.onnx", "x.onnx", "", ""},
    {"run n.yaml --npu ./x.yaml", "x.yaml", "n.yaml", network.c_str()},
    {"run n.yaml --memory ./x.yaml", "x.yaml", "n.yaml", network.c_str()},
    {"run n.yaml --inputs . --outputs o", "input.npy", "n.yaml", network.c_str()},
    {"run n.yaml --inputs . --outputs o", "input.bin", "n.yaml", network.c_str()},
    {"convert --shape 1x1x2x2 --type int8 x.bin o.bin", "x.bin", "", ""},
    {"convert x.npy o.bin", "x.npy", "", ""}};

TEST_F(HostileInput, AFileThatIsCutShortWhileItIsReadIsAnError) {
    const Ended ended = in_folder(
        "(truncate -s 256M x.bin; " NPUSCOPE_EXECUTABLE
        " convert --shape 1x16x4096x4096 --type int8 --from nchw --to nhwc x.bin o.bin & p=$!; "
        "until grep -q x.bin /proc/$p/maps; do :; done; : > x.bin; wait $p)");
    EXPECT_EQ(ended.code, 2) << ended.err;
    // while the conversion reads it, or after its plan and before that
    EXPECT_TRUE(ended.err.find("was truncated") != std::string::npos ||
                ended.err.find("has 0 bytes of data") != std::string::npos)
        << ended.err;
    EXPECT_FALSE(fs::exists(folder_ / "o.bin"));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 3);  // no partial output
}

class Impostors : public HostileInput, public testing::WithParamInterface<Impostor> {};

TEST_P(Impostors, AreRefusedByEveryReaderAtOnce) {
    for (const Reader& reader : readers) {
        const TempFolder none;
        for (const auto& entry : fs::directory_iterator(folder_.path())) {
            fs::remove_all(entry.path());
        }
        if (*reader.beside != '\0') {
            put(reader.beside, reader.text);
        }
        GetParam().make(folder_ / reader.file);
        const Ended ended = shell(reader.command);
        EXPECT_EQ(ended.code, 2) << reader.command << ": " << reader.file << ": " << ended.err;
        EXPECT_LT(ended.err.size(), 500U);
        EXPECT_FALSE(fs::exists(folder_ / "o.bin"));
    }
}

INSTANTIATE_TEST_SUITE_P(Files, Impostors, testing::ValuesIn(impostors), [](const auto& one) {
    std::string name = one.param.name;
    std::erase_if(name, [](char letter) { return letter == ' '; });
    return name;
});

TEST_F(HostileInput, NoMessageQuotesAFileThatATraceNames) {
    put("t/secret", "root:$6$hash:19000:0:99999:7:::\n");
    for (const char* secret :
         {"{password: hunter2}", "root:$6$hash", "0xhunter2", "hunter2 = 1\nroot"}) {
        put("t/secret", secret);
        put("t/x.cfg", "mem_load(pri_mem, 0x80000000, \"secret\");\n");
        put("t/x.txn", "load_mem 0x80000000 4 secret\n");
        for (const char* format : {"dat", "ihex", "readmemh"}) {
            put("i.yaml",
                std::string("surfaces: []\nmemory: [{file: t/secret, address: 0, format: ") +
                    format + "}]\n");
            const Ended ended = shell("check i.yaml");
            EXPECT_EQ(ended.code, 2);
            EXPECT_EQ(ended.err.find("hunter2"), std::string::npos) << ended.err;
            EXPECT_EQ(ended.err.find("root"), std::string::npos) << ended.err;
        }
        for (const char* command : {"run t/x.cfg", "run t/x.txn --npu nv_full"}) {
            const Ended ended = shell(command);
            EXPECT_EQ(ended.code, 2) << ended.err;
            EXPECT_EQ(ended.err.find("hunter2"), std::string::npos) << ended.err;
            EXPECT_EQ(ended.err.find("root:"), std::string::npos) << ended.err;
        }
    }
}

TEST_F(HostileInput, ALongNameOfAnInputIsRefused) {
    const std::string name(252, 'x');
    put("n.yaml",
        "name: n\ninput: {channels: 8, height: 4, width: 4}\nlayers:\n  - {name: " + name +
            ", kind: input, output: 8x4x4}\n  - {name: s, kind: add, from: [input, " + name +
            "]}\n");
    put("in/input.bin", std::string(128, 'x'));
    for (const char* command : {"run n.yaml --inputs in --outputs o", "plan n.yaml --out o"}) {
        const Ended ended = shell(command);
        EXPECT_EQ(ended.code, 2) << ended.err;
        EXPECT_NE(ended.err.find("File name too long"), std::string::npos) << ended.err;
        EXPECT_FALSE(fs::exists(folder_ / "o"));
    }
    EXPECT_EQ(shell("run n.yaml").code, 0);  // no file is named after it
}

TEST_F(HostileInput, APollThatCannotSucceedEndsAtOnce) {
    for (const char* comparison : {"==", ">=", "<="}) {
        const char* never = *comparison == '<' ? "0xffffffff <= 0x0" : "0xffffffff == 0x1234";
        put("t/input.txn", std::string("write_reg 0xffff1405 0x7\nread_reg 0xffff1405 ") +
                               (*comparison == '>' ? "0xffffffff >= 0x1234" : never) +
                               " 4294967295\n");
        const Ended ended = shell("run t --npu nv_full");
        EXPECT_TRUE(ended.code == 1 || ended.code == 3) << comparison << ended.code << ended.err;
    }
}

TEST_F(HostileInput, DeeplyNestedJsonIsRefused) {
    put("n.yaml", network);
    ASSERT_EQ(shell("run n.yaml --out r").code, 0);
    const std::string nested = std::string(200'000, '[') + std::string(200'000, ']');
    put("r/timeline.json", "{\"traceEvents\": [" + nested + "]}");
    const Ended timeline = shell("report r --html r.html");
    EXPECT_EQ(timeline.code, 2);
    EXPECT_EQ(timeline.err.find("npuscope: r/timeline.json: is nested more than 100 deep"), 0U)
        << timeline.err;
    std::string result = text_of(folder_ / "r/result.json");
    result.insert(result.find("\"config\": {") + 11, "\"x\": " + nested + ", ");
    put("r/result.json", result);
    fs::remove(folder_ / "r/timeline.json");
    const Ended report = shell("report r/result.json --html r.html");
    EXPECT_EQ(report.code, 2);
    EXPECT_EQ(report.err.find("npuscope: r/result.json: is nested more than 100 deep"), 0U)
        << report.err;
    EXPECT_FALSE(fs::exists(folder_ / "r.html"));
}

TEST_F(HostileInput, WhatMayNotBeReadIsRefused) {
    put("t/x.cfg", "mem_init(pri_mem, 0x80000000, 0x40, ALL_ZERO);\n");
    put("n.yaml", network);
    fs::permissions(folder_.path(), fs::perms(0755));
    fs::permissions(folder_ / "t", fs::perms::none);
    // root may read everything, the user 65534 may not
    const std::string other_user =
        ::geteuid() == 0 ? "setpriv --reuid=65534 --clear-groups " NPUSCOPE_EXECUTABLE " "
                         : NPUSCOPE_EXECUTABLE " ";
    for (const char* command :
         {"run t", "run t/x.cfg", "run n.yaml --inputs t --outputs o", "check t", "check t/x.cfg",
          "run n.yaml --npu t/x.yaml", "convert t/x.npy o.bin", "plan n.yaml --out t/o",
          "run n.yaml --out t/o", "run n.yaml --json t/o/r.json"}) {
        const std::string line = "cd '" + folder_.string() + "' && " + other_user + command;
        std::FILE* pipe = ::popen((line + " 2>&1").c_str(), "r");
        std::string said(1000, '\0');
        said.resize(std::fread(said.data(), 1, said.size(), pipe));
        EXPECT_EQ(WEXITSTATUS(::pclose(pipe)), 2) << command << said;
        EXPECT_NE(said.find("npuscope: "), std::string::npos) << command << said;
    }
    fs::permissions(folder_ / "t", fs::perms::owner_all);
}

}  // namespace
}  // namespace npuscope::hostile_input_test
