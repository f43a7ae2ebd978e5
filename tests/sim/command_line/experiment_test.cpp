// SPDX-License-Identifier: Apache-2.0
// Experiments: everything from one file, and every run writes a file that repeats it.
#include "sim/command_line/experiment.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>

#include "sim/command_line/lists.h"
#include "sim/config/file_io.h"
#include "sim/config/preset.h"
#include "tests/sim/command_line/typed.h"
#include "tests/support/temp_folder.h"

namespace npuscope::experiment_test {
namespace {

namespace fs = std::filesystem;
using sample::Answer;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Answer typed(const std::vector<std::string>& arguments) {
    return sample::typed(arguments,
                         {run_command(), plan_command(), check_command(), list_command()});
}

/// All but wall-clock times.
std::string timeless(const fs::path& result) {
    auto json = nlohmann::ordered_json::parse(read_whole_file(result));
    json["wall_seconds"] = 0;
    return json.dump(1);
}

/// Another working directory while it lives.
class Elsewhere {
 public:
    explicit Elsewhere(const fs::path& folder) : before_(fs::current_path()) {
        fs::current_path(folder);
    }
    ~Elsewhere() { fs::current_path(before_); }
    Elsewhere(const Elsewhere&) = delete;
    Elsewhere& operator=(const Elsewhere&) = delete;

 private:
    fs::path before_;
};

class ExperimentTest : public testing::Test {
 protected:
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
    }
    std::string at(const std::string& name) const { return (folder_ / name).string(); }

    /// Runs it, and from another folder the file it left: the results must be the same bytes.
    void expect_repeatable(std::vector<std::string> arguments, ExitCode code = ExitCode::Good) {
        arguments.insert(arguments.begin(), "run");
        arguments.insert(arguments.end(), {"--out", at("out")});
        const Answer first = typed(arguments);
        EXPECT_EQ(first.code, code) << first.err;
        fs::create_directories(folder_ / "elsewhere");
        const Elsewhere elsewhere(folder_ / "elsewhere");
        const Answer again = typed({"run", "../out/config.yaml", "--out", at("again")});
        EXPECT_EQ(again.code, code) << again.err;
        EXPECT_EQ(timeless(folder_ / "out/result.json"), timeless(folder_ / "again/result.json"));
        EXPECT_EQ(read_whole_file(folder_ / "out/config.yaml"),
                  read_whole_file(folder_ / "again/config.yaml"));
        EXPECT_EQ(read_whole_file(folder_ / "out/result.csv"),
                  read_whole_file(folder_ / "again/result.csv"));
        fs::remove_all(folder_ / "out");
        fs::remove_all(folder_ / "again");
    }

    const TempFolder folder_;
    const std::string source_ = NPUSCOPE_SOURCE;
};

TEST_F(ExperimentTest, ARegisterProgramIsRepeated) {
    const Elsewhere source(source_);
    expect_repeatable({"configs/experiment/three_layers/program.cfg", "--set",
                       "memory.read_latency=7", "--max-cycles", "10000000"});
    expect_repeatable({"configs/experiment/three_layers"});
    expect_repeatable({"three_layers", "--values", "off"});
    expect_repeatable(
        {"configs/experiment/three_layers/program.cfg", "--set", "memory.read_latency=7"});
}

TEST_F(ExperimentTest, AFailedRunIsRepeatedAsWell) {
    write("fill.cfg",
          "mem_init(pri_mem, 0x80000000, 0x40, ALL_ZERO);\n"
          "sync_notify(HOST, done);\ncheck_crc(done, 1, 0x80000000, 0x40, 0x1);\n");
    const Elsewhere here(folder_.path());
    expect_repeatable({"fill.cfg"}, ExitCode::ExpectationFailed);
}

TEST_F(ExperimentTest, NetworksAreRepeatedOnEveryKindOfNpu) {
    expect_repeatable({"lenet", "--npu", "nv_large", "--memory", "ddr4_3200", "--set",
                       "npu.cbuf.banks=16", "--compress", "never"});
    expect_repeatable({"ds_cnn", "--values", "off"});
    expect_repeatable({"ti_cls_1k", "--npu", "tinpu_f28p55"});
    expect_repeatable({source_ + "/tests/golden/onnx/net/three_patterns_min/model.onnx",
                       "--input-type", "uint8", "--set", "host.cycles_per_element=3"});
}

TEST_F(ExperimentTest, EnergyIsEstimatedAgain) {
    expect_repeatable({"lenet", "--values", "off", "--energy", "horowitz_45nm"});
    typed({"run", "lenet", "--values", "off", "--energy", "horowitz_45nm", "--out", at("out")});
    EXPECT_THAT(read_whole_file(folder_ / "out/result.json"), HasSubstr("\"energy\""));
    fs::copy(source_ + "/configs/energy/horowitz_45nm.yaml", folder_ / "mine.yaml");
    const Elsewhere here(folder_.path());
    expect_repeatable({"lenet", "--values", "off", "--energy", "./mine.yaml"});
}

TEST_F(ExperimentTest, InputsOfANetworkAreFoundAgain) {
    write("tiny.yaml",
          "name: tiny\ninput: {channels: 3, height: 4, width: 6}\n"
          "layers:\n  - {name: c1, kind: conv, kernels: 5, kernel: 3}\n");
    fs::create_directories(folder_ / "in");
    write("in/input.bin", std::string(4 * 8 * 4, 'x'));
    const Elsewhere here(folder_.path());
    expect_repeatable({"tiny.yaml", "--npu", "kl720", "--inputs", "in"});
}

TEST_F(ExperimentTest, PathsOfAnExperimentAreRelativeToItsFile) {
    write("fill.cfg", "mem_init(pri_mem, 0x80000000, 0x40, ALL_ZERO);\n");
    write("memory.yaml", "read_latency: 9\nregions: [{name: dram, base: 0x80000000, size: 1 MiB}]");
    write("e.yaml",
          "program: fill.cfg\nnpu: nv_large\nmemory: ./memory.yaml\nset: [npu.cbuf.banks=16]\n"
          "run: {max_cycles: 1000}\nwrite: {out: results, json: r.json}\n");
    const Answer answer = typed({"run", at("e.yaml"), "--set", "memory.beat_interval=2"});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    const auto config = nlohmann::json::parse(read_whole_file(folder_ / "r.json"))["config"];
    EXPECT_EQ(config["npu"]["name"], "nv_large");
    EXPECT_EQ(config["npu"]["cbuf"]["banks"], 16);
    EXPECT_EQ(config["memory"]["read_latency"], 9);
    EXPECT_EQ(config["memory"]["beat_interval"], 2);
    EXPECT_TRUE(fs::exists(folder_ / "results/result.json"));
}

TEST_F(ExperimentTest, TypedOptionsGoFirst) {
    write("fill.cfg", "mem_init(pri_mem, 0x80000000, 0x40, ALL_ZERO);\n");
    write("e.yaml",
          "program: fill.cfg\nnpu: {name: mine}\nhost: {cycles_per_mac: 3}\ncommand: as before\n"
          "set: [memory.read_latency=4]\nrun: {values: off}\n");
    const Answer plain = typed({"run", at("e.yaml"), "--json", "-"});
    const auto before = nlohmann::json::parse(plain.out);
    EXPECT_EQ(before["values"], "off");
    EXPECT_EQ(before["npu"], "mine");
    EXPECT_EQ(before["command"], "as before");
    EXPECT_EQ(before["config"]["host"]["cycles_per_mac"], 3);
    const Answer changed = typed({"run", at("e.yaml"), "--json", "-", "--values", "on", "--npu",
                                  "nv_small", "--set", "memory.read_latency=5"});
    const auto after = nlohmann::json::parse(changed.out);
    EXPECT_EQ(after["values"], "on");
    EXPECT_EQ(after["npu"], "nv_small");
    EXPECT_EQ(after["config"]["memory"]["read_latency"], 5);
    EXPECT_THAT(after["command"].get<std::string>(), StartsWith("npuscope run "));
}

TEST_F(ExperimentTest, PlansAndChecksTakeThemToo) {
    write("e.yaml",
          "program: lenet\nnpu: nv_small\nplan: {compress: never, expectations: false}\n"
          "write: {out: planned}\n");
    const Answer planned = typed({"plan", at("e.yaml")});
    EXPECT_EQ(planned.code, ExitCode::Good) << planned.err;
    EXPECT_TRUE(fs::exists(folder_ / "planned/program.cfg"));
    EXPECT_EQ(typed({"run", at("planned/config.yaml")}).code, ExitCode::Good);
    fs::copy(folder_ / "planned/program.cfg", folder_ / "before.cfg");
    EXPECT_EQ(typed({"plan", at("planned/config.yaml"), "--out", at("planned")}).code,
              ExitCode::Good);
    EXPECT_EQ(read_whole_file(folder_ / "planned/program.cfg"),
              read_whole_file(folder_ / "before.cfg"));
    EXPECT_THAT(typed({"check", "three_layers"}).out, HasSubstr("program"));
    EXPECT_EQ(typed({"check", at("e.yaml")}).code, ExitCode::Good);
}

TEST_F(ExperimentTest, MistakesAreNamedWithTheirPlace) {
    const auto refusal = [&](const std::string& text) {
        write("e.yaml", text);
        const Answer answer = typed({"run", at("e.yaml")});
        EXPECT_EQ(answer.code, ExitCode::WrongInput) << text;
        return answer.err;
    };
    const std::string file = "npuscope: " + at("e.yaml");
    EXPECT_EQ(refusal("program: lenet\nrum: {values: on}\n"),
              file + ":2:1: unknown field 'rum' (did you mean 'run'?)\n");
    EXPECT_EQ(refusal("program: lenet\nrun: {max_cycles: 0}\n"),
              file +
                  ":2:19: 'run.max_cycles' is 0, but must be 1 to 1000000000000 (nearest legal "
                  "value: run.max_cycles=1)\n");
    EXPECT_EQ(refusal("program: lenet\nnpu: {cbuf: {banks: 4096}}\n"),
              file +
                  ":2:21: 'npu.cbuf.banks' is 4096, but must be 2 to 1024 (nearest legal value: "
                  "npu.cbuf.banks=32)\n");
    EXPECT_EQ(refusal("program: lenet\nhost: {cycles_per_mac: 9999999}\n"),
              file +
                  ":2:24: 'host.cycles_per_mac' is 9999999, but must be 0 to 1048576 (nearest "
                  "legal value: host.cycles_per_mac=1048576)\n");
    EXPECT_EQ(refusal("program: lenet\nset:\n  - npu.cbuf.bank=3\n"),
              file + ":3:5: unknown field 'npu.cbuf.bank' (did you mean 'banks'?)\n");
    EXPECT_THAT(refusal("program: lenet\nnpu: 5\n"),
                StartsWith(file + ":2:6: unknown npu preset '5' (known: "));
    EXPECT_THAT(refusal("program: lenet\nnpu: [nv_small]\n"),
                StartsWith(file + ":2:6: field 'npu' must be a preset's name or a mapping, found a "
                                  "list"));
    EXPECT_THAT(refusal("program: lenet\nwrite: {energy: nope}\n"),
                StartsWith(file + ":2:17: unknown energy preset 'nope'"));
    EXPECT_THAT(refusal("program: lennet\n"), HasSubstr(":1:10: there is no file 'lennet'"));
    EXPECT_THAT(refusal("program: three_layers\n"), HasSubstr("is an experiment itself"));
    EXPECT_THAT(refusal("surfaces: []\n"), HasSubstr("give it to `npuscope check`"));
    EXPECT_THAT(refusal("steps: []\n"), HasSubstr("describes the segments of a plan"));
    EXPECT_EQ(refusal("progam: lenet\nrun: {values: off}\n"),
              file + ":1:1: unknown field 'progam' (did you mean 'program'?)\n");
    EXPECT_THAT(refusal("program: buffer_sizes\n"),
                HasSubstr("is a design space, not a program (give it to `npuscope sweep`)"));
}

TEST_F(ExperimentTest, NetworksAndImagesNameTheNearestLegalValue) {
    write("n.yaml",
          "name: n\ninput: {channels: 3, height: 4, width: 6}\n"
          "layers:\n  - {name: c1, kind: conv, kernels: 5, stride: 0}\n");
    EXPECT_EQ(typed({"run", at("n.yaml")}).err,
              "npuscope: " + at("n.yaml") +
                  ":4:48: 'layers[0].stride' is 0, but must be 1 to 65536 (nearest legal value: "
                  "layers[0].stride=1)\n");
    write("i.yaml", "surfaces:\n  - {name: a, layout: raw, address: 0x80000000, components: 3}\n");
    EXPECT_THAT(typed({"check", at("i.yaml")}).err,
                HasSubstr(":2:61: 'surfaces[0].components' is 3, but must be 1 to 2"));
    write("n.yaml",
          "name: n\ninput: {channels: 3, height: 4, width: 6}\n"
          "layers:\n  - {name: c1, kind: conv, kernels: 5, kernel: 9}\n");
    EXPECT_THAT(typed({"run", at("n.yaml")}).err, HasSubstr("n.yaml:4:5: layer 'c1': a kernel of"));
}

TEST_F(ExperimentTest, UnknownProgramsNameTheNearest) {
    EXPECT_THAT(typed({"run", "resnt50"}).err,
                StartsWith("npuscope: there is no file 'resnt50' and no bundled item of that name "
                           "(did you mean 'resnet50'? networks: "));
    EXPECT_EQ(typed({"plan", "lenet5x"}).code, ExitCode::WrongInput);
    EXPECT_THAT(typed({"run", "resnt50"}).err, Not(HasSubstr("sweeps: ")));
}

TEST_F(ExperimentTest, FilesOfAnotherKindNameTheirCommand) {
    for (const char* command : {"run", "plan", "check"}) {
        EXPECT_EQ(typed({command, "buffer_sizes"}).err,
                  "npuscope: 'buffer_sizes' is a design space, not a program (give it to `npuscope "
                  "sweep`)\n");
    }
    EXPECT_EQ(typed({"run", "lenet", "--values", "off", "--beside", "three_layers"}).err,
              "npuscope: 'three_layers' is an experiment itself (name its program)\n");
    write("image.yaml", "surfaces: []\n");
    EXPECT_EQ(typed({"plan", at("image.yaml")}).err,
              "npuscope: '" + at("image.yaml") +
                  "' describes a memory image, which cannot be planned (give it to `npuscope "
                  "check`)\n");
}

TEST(Bundled, NetworksAndExperimentsHaveNamesOfTheirOwn) {
    const auto networks = list_presets(configs_folder(), "workload");
    for (const std::string& name : list_presets(configs_folder(), "experiment")) {
        EXPECT_EQ(std::ranges::count(networks, name), 0) << name;
    }
}

TEST(Docs, TheTableOfAnExperimentsKeysIsThatOfItsDescription) {
    const std::string page = read_whole_file(fs::path(NPUSCOPE_SOURCE) / "docs/experiments.md");
    const std::string rows = typed({"list", "fields", "experiment.", "--markdown"}).out;
    EXPECT_GT(rows.size(), 500U);
    EXPECT_NE(page.find(rows), std::string::npos)
        << "docs/experiments.md lacks what `npuscope list fields experiment. --markdown` prints";
}

TEST_F(ExperimentTest, APresetNamesTheMemoryOfItsNpu) {
    write("far.yaml", "name: far\nmemory: dram_200\n");
    const auto latency = [&](std::vector<std::string> options) {
        options.insert(options.begin(), {"run", "lenet", "--npu", at("far.yaml"), "--values", "off",
                                         "--json", at("r.json")});
        const Answer answer = typed(options);
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
        return nlohmann::json::parse(
                   read_whole_file(at("r.json")))["config"]["memory"]["read_latency"]
            .get<int>();
    };
    EXPECT_EQ(latency({}), 200);
    EXPECT_EQ(latency({"--memory", "dram_50"}), 50);
}

/// Names of the struct's texts.
struct TextFields {
    template <class T>
    void field(std::string_view name, const T& /*value*/, std::string_view /*sentence*/) {
        if constexpr (std::is_same_v<T, std::string>) {
            all.insert(std::string(name));
        }
    }
    std::set<std::string> all;
};

TEST_F(ExperimentTest, EveryFileOfARunIsInTheListOfItsOutputs) {
    TextFields texts;
    const WriteChoices none;
    WriteChoices::describe(texts, none);
    std::set<std::string> listed{"energy", "loadable"};  // is read; a plan writes it
    for (const WrittenOption& option : written_options) {
        EXPECT_TRUE(listed.emplace(option.name).second) << option.name;
    }
    EXPECT_EQ(texts.all, listed);
}

TEST_F(ExperimentTest, ALoadableIsWrittenBesideTheExperiment) {
    write("plan.yaml", "program: lenet\nnpu: nv_small\nwrite: {loadable: here.nvdla}\n");
    const TempFolder other;
    const Elsewhere elsewhere(other.path());
    const Answer answer = typed({"plan", at("plan.yaml")});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_TRUE(fs::exists(at("here.nvdla")));
    EXPECT_FALSE(fs::exists("here.nvdla"));
}

}  // namespace
}  // namespace npuscope::experiment_test
