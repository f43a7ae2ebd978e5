// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/config/file_io.h"
#include "tests/sim/command_line/typed.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;
using sample::Answer;
using sample::typed;

class CommandRun : public testing::Test {
 protected:
    void SetUp() override {
        std::ofstream(program_) << "mem_init(pri_mem, 0x80000000, 0x40, ALL_ZERO);\n";
    }

    const TempFolder folder_;
    const std::string program_ = (folder_ / "fill.cfg").string();
};

TEST_F(CommandRun, WrongInputIsRefusedBeforeAnythingRuns) {
    EXPECT_EQ(typed({"run", "none.cfg"}).err,
              "npuscope: cannot read 'none.cfg': No such file or directory"
              " (put the file there, or correct its name)\n");
    EXPECT_EQ(typed({"run", "picture.png"}).err,
              "npuscope: 'picture.png' is not a program (register traces end in .cfg or .txn, "
              "models in .onnx, shape tables and experiments in .yaml, loadables in .fbuf or "
              ".nvdla)\n");
    EXPECT_EQ(typed({"run", program_, "--set", "npu=nv_full"}).err,
              "npuscope: --set npu=nv_full: field 'npu' must be a mapping, found a single value "
              "(choose a preset with --npu nv_full)\n");
    EXPECT_EQ(typed({"run", program_, "--set", "npu.cbuf.bank=3"}).err,
              "npuscope: --set npu.cbuf.bank=3: unknown field 'npu.cbuf.bank' "
              "(did you mean 'banks'?)\n");
    const std::string unknown = typed({"run", program_, "--set", "npu.qqqqqq=1"}).err;
    EXPECT_EQ(unknown.find("rubik"), unknown.rfind("rubik")) << unknown;
    const std::string file = (folder_ / "npu.yaml").string();
    std::ofstream(file) << "qqqqqq: 1\n";
    EXPECT_TRUE(typed({"run", program_, "--npu", file})
                    .err.starts_with("npuscope: " + file +
                                     ":1:1: unknown field 'qqqqqq' (known: family, host, name,"));
    EXPECT_EQ(typed({"run", program_, "--max-cycles", "many"}).code, ExitCode::WrongInput);
    const Answer preset = typed({"run", program_, "--npu", "nv_smal"});
    EXPECT_EQ(preset.code, ExitCode::WrongInput);
    EXPECT_TRUE(
        preset.err.starts_with("npuscope: unknown npu preset 'nv_smal' (did you mean 'nv_small'?"));
}

TEST_F(CommandRun, SummaryGoesToStandardOutput) {
    const Answer answer = typed({"run", program_});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_TRUE(answer.out.starts_with("fill on nv_small: unchecked"));
    EXPECT_EQ(answer.err, "");
}

TEST_F(CommandRun, JsonOnStandardOutputMovesTheSummaryAway) {
    const Answer answer = typed({"run", program_, "--json", "-", "--set", "memory.read_latency=7",
                                 "--set", "npu.cbuf.banks=16"});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_TRUE(answer.err.starts_with("fill on nv_small: unchecked"));
    const auto json = nlohmann::json::parse(answer.out);
    EXPECT_EQ(json["config"]["memory"]["read_latency"], 7);
    EXPECT_EQ(json["config"]["npu"]["cbuf"]["banks"], 16);
}

TEST_F(CommandRun, EveryOutputHasAFileOfItsOwn) {
    const auto refused = [&](std::vector<std::string> options) {
        options.insert(options.begin(), {"run", program_});
        const Answer answer = typed(options);
        EXPECT_EQ(answer.code, ExitCode::WrongInput);
        EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()),
                  1);
        return answer.err;
    };
    const std::string same = (folder_ / "same").string();
    const std::string other = (folder_ / "." / "none" / ".." / "same").string();
    EXPECT_EQ(
        refused({"--json", same, "--csv", other}),
        "npuscope: both --json and --csv write '" + other + "' (give each a file of its own)\n");
    EXPECT_EQ(
        refused({"--wave", same, "--out", same}),
        "npuscope: both --out and --wave write '" + same + "' (give each a file of its own)\n");
    EXPECT_EQ(refused({"--dump", "a=" + same, "--dump", "b=" + same}),
              "npuscope: --dump writes '" + same + "' twice (give each a file of its own)\n");
    EXPECT_EQ(refused({"--timeline", program_}),
              "npuscope: '" + program_ +
                  "' is also an input; the output would overwrite it (give another file)\n");
    EXPECT_EQ(refused({"--out", program_}),
              "npuscope: '" + program_ +
                  "' is also an input; the output would overwrite it (give another folder)\n");
    EXPECT_EQ(refused({"--json", "-", "--csv", "-"}),
              "npuscope: both --json and --csv ask for standard output (give one of them a "
              "file)\n");
    EXPECT_EQ(refused({"--timeline", "-"}),
              "npuscope: --timeline cannot be written to standard output (name a file)\n");
    EXPECT_EQ(typed({"run", program_, "--json", "/dev/null", "--csv", "/dev/null"}).code,
              ExitCode::Good);
}

TEST_F(CommandRun, AWrongTableOfEnergiesIsFoundBeforeAnythingIsWritten) {
    std::ofstream(folder_ / "bad.yaml") << "process: x\n";
    std::ofstream(folder_ / "n.yaml") << "name: n\ninput: {channels: 8, height: 4, width: 4}\n"
                                         "layers: [{name: p, kind: max_pool}]\n";
    fs::create_directory(folder_ / "in");
    std::ofstream(folder_ / "in/input.bin") << std::string(128, 'x');
    const Answer answer =
        typed({"run", (folder_ / "n.yaml").string(), "--inputs", (folder_ / "in").string(),
               "--outputs", (folder_ / "o").string(), "--energy", (folder_ / "bad.yaml").string()});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_NE(answer.err.find("bad.yaml:1:1: field 'actions' is missing"), std::string::npos)
        << answer.err;
    EXPECT_FALSE(fs::exists(folder_ / "o"));
}

TEST_F(CommandRun, OutFolderHoldsResultSummaryAndConfiguration) {
    const fs::path out = folder_ / "made/out";
    EXPECT_EQ(typed({"run", folder_.string(), "--out", out.string()}).code, ExitCode::Good);
    EXPECT_TRUE(nlohmann::json::accept(read_whole_file(out / "result.json")));
    EXPECT_TRUE(read_whole_file(out / "summary.txt").starts_with("fill on nv_small: unchecked"));
    EXPECT_NE(read_whole_file(out / "config.yaml").find("\nnpu:\n  name: nv_small\n"),
              std::string::npos);
}

TEST_F(CommandRun, BytesThatWereNeverLoadedAreToldUnlessTheShadowIsOff) {
    const fs::path copy = folder_ / "copy";
    fs::copy(fs::path(NPUSCOPE_SOURCE) / "tests/golden/nv_full/sdp_ew_f16_3", copy);
    std::istringstream lines(read_whole_file(copy / "input.txn"));
    std::ostringstream left;  // nothing is compared, so that the run itself succeeds
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("load_mem 0x80000000") && !line.starts_with("dump_mem")) {
            left << line << '\n';
        }
    }
    fs::remove(copy / "input.txn");
    std::ofstream(copy / "input.txn") << left.str();
    const auto findings = [&](const char* shadow) {
        const Answer answer =
            typed({"run", copy.string(), "--npu", "nv_full", "--shadow", shadow, "--json", "-"});
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
        return nlohmann::json::parse(answer.out)["findings"];
    };
    const nlohmann::json told = findings("on");
    ASSERT_EQ(told.size(), 1U) << told;
    EXPECT_EQ(told[0]["id"], "never_loaded");
    EXPECT_EQ(told[0]["severity"], "warning");
    EXPECT_TRUE(findings("off").empty());
}

TEST_F(CommandRun, ANetworksImagesComeFromFilesAndGoToFiles) {
    const std::string network = (folder_ / "tiny.yaml").string();
    std::ofstream(network) << "name: tiny\ninput: {channels: 3, height: 4, width: 6}\n"
                              "layers:\n  - {name: c1, kind: conv, kernels: 5, kernel: 3}\n";
    std::ofstream(folder_ / "input.bin") << std::string(4 * 8 * 4, 'x');  // rows of 8 pixels
    const Answer answer = typed({"run", network, "--npu", "kl720", "--inputs", folder_.string(),
                                 "--outputs", (folder_ / "out").string()});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_EQ(fs::file_size(folder_ / "out/c1.bin"), 5U * 2 * 16);
    EXPECT_TRUE(fs::exists(folder_ / "out/c1.npy"));
    EXPECT_EQ(typed({"run", program_, "--inputs", folder_.string()}).code, ExitCode::WrongInput);
}

TEST_F(CommandRun, BurstsMayBeAsLongAsTheirFifo) {
    std::ofstream(folder_ / "pool.yaml")
        << "name: pool\ninput: {channels: 8, height: 8, width: 400}\nlayers:\n"
           "  - {name: conv, kind: conv, kernels: 8, kernel: 1}\n"
           "  - {name: pool, kind: max_pool, kernel: 2, stride: 2}\n";
    for (const char* npu : {"nv_small", "nv_small_256_full", "nv_large", "nv_full"}) {
        for (const char* burst : {"16", "64", "256"}) {
            const Answer answer = typed({"run", (folder_ / "pool.yaml").string(), "--npu", npu,
                                         "--set", std::string("npu.mcif.max_burst=") + burst});
            EXPECT_EQ(answer.code, ExitCode::Good) << npu << ' ' << burst << ' ' << answer.err;
        }
    }
    const Answer answer = typed(
        {"run", "lenet", "--npu", "nv_full", "--set", "npu.sdp.operand_fifo=1", "--values", "off"});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_NE(answer.err.find("room for a whole burst"), std::string::npos) << answer.err;
}

}  // namespace
}  // namespace npuscope
