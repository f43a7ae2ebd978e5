// SPDX-License-Identifier: Apache-2.0
// Mistakes in a sweep's space are found before anything is written, and named with their place in the
// user's file; points hold what a run reports.
#include <gmock/gmock-matchers.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "sim/config/file_io.h"
#include "tests/sim/command_line/typed.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

using sample::Answer;
using sample::typed;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class SweepCommand : public testing::Test {
 protected:
    std::string at(const std::string& name) const { return (folder_ / name).string(); }
    Answer sweep(const std::string& text) const {
        std::ofstream(folder_ / "s.yaml") << text;
        return typed({"sweep", at("s.yaml"), "--out", at("o"), "--jobs", "1"}, {sweep_command()});
    }
    /// The cells of a column of the CSV file, by its name.
    std::vector<std::string> column(const std::string& text, const std::string& name) const {
        std::ofstream(folder_ / "s.yaml") << text;
        const Answer answer =
            typed({"sweep", at("s.yaml"), "--out", at("o"), "--jobs", "1", "--csv", at("o.csv")},
                  {sweep_command()});
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.out << answer.err;
        std::vector<std::string> cells;
        std::ptrdiff_t wanted = -1;
        std::istringstream lines(read_whole_file(folder_ / "o.csv"));
        for (std::string line; std::getline(lines, line);) {
            std::vector<std::string> row;
            std::istringstream rest(line);
            for (std::string cell; std::getline(rest, cell, ',');) {
                row.push_back(cell);
            }
            if (wanted < 0) {
                wanted = std::ranges::find(row, name) - row.begin();
            } else {
                cells.push_back(row.at(static_cast<std::size_t>(wanted)));
            }
        }
        return cells;
    }
    std::string refusal(const std::string& text) const {
        const Answer answer = sweep(text);
        EXPECT_EQ(answer.code, ExitCode::WrongInput) << text;
        EXPECT_FALSE(std::filesystem::exists(folder_ / "o")) << text;
        const std::string begin = "npuscope: " + at("s.yaml");
        EXPECT_THAT(answer.err, StartsWith(begin));
        return answer.err.substr(std::min(begin.size(), answer.err.size()));
    }

    const TempFolder folder_;
};

constexpr const char* base = "base: {program: lenet, npu: nv_small, run: {values: off}}\n";
constexpr const char* axes = "axes: [{name: banks, field: npu.cbuf.banks, values: [16, 32]}]\n";

TEST_F(SweepCommand, MisspeltNamesOfObjectivesAreFoundBeforeTheFirstRun) {
    const auto objective = [&](const std::string& formula) {
        return refusal(std::string(base) + axes + "objectives:\n  - {minimise: " + formula + "}\n");
    };
    EXPECT_EQ(objective("microsecond / 1000"),
              ":4:16: 'microsecond / 1000' uses 'microsecond', which is neither an axis, a field "
              "nor a number of the result (did you mean 'microseconds'?)\n");
    EXPECT_THAT(objective("npu.cbuf.bank"), HasSubstr("did you mean 'npu.cbuf.banks'?"));
    EXPECT_THAT(objective("utterly_unknown_thing"), HasSubstr("`npuscope list fields`"));
    EXPECT_EQ(objective("bound_by"),
              ":4:16: 'bound_by' is a string, not a number (use numbers, such as cycles)\n");
}

TEST_F(SweepCommand, FormulasAreCheckedBeforeAnythingIsWritten) {
    EXPECT_EQ(refusal(std::string(base) + axes + "where: [banks + 1]\n"),
              ":3:9: 'banks + 1' is not a boolean (compare it with something: >, <=, ==)\n");
    EXPECT_EQ(refusal(std::string(base) + axes + "where: [banks > 32]\n"),
              ":3:9: `where` leaves out all of 2 designs (relax it)\n");
}

TEST_F(SweepCommand, ASearchRunsAtLeastOneDesign) {
    EXPECT_EQ(refusal(std::string(base) + axes + "search: {kind: adaptive, points: 0}\n"),
              ":3:34: `points` is 0: no design would run (nearest legal value: points: 1)\n");
}

TEST_F(SweepCommand, ABaseThatCannotWorkIsRefused) {
    EXPECT_THAT(refusal(std::string("base: {program: lent}\n") + axes),
                StartsWith(":1:17: there is no file 'lent' and no bundled item of that name"));
    EXPECT_THAT(refusal(std::string("base: {npu: nv_small}\n") + axes),
                StartsWith(":1:7: field 'program' is missing"));
    EXPECT_THAT(refusal(std::string("base: {program: lenet, npu: nv_smal}\n") + axes),
                HasSubstr("unknown npu preset 'nv_smal' (did you mean 'nv_small'?"));
    EXPECT_THAT(refusal(std::string("base: {program: lenet, run: {values: maybe}}\n") + axes),
                HasSubstr("field 'run.values': unknown name 'maybe'"));
    EXPECT_THAT(refusal(std::string(base) + "axes: [{field: npu.cbuf.bank, values: [16]}]\n"),
                HasSubstr("unknown field 'npu.cbuf.bank' (did you mean 'banks'?)"));
    EXPECT_THAT(refusal(std::string(base) + "axes: [{field: foo, values: [16]}]\n"),
                HasSubstr("unknown field 'foo'"));
}

TEST_F(SweepCommand, AFieldThatNoDesignHasIsFoundInALargeSpace) {
    EXPECT_THAT(refusal(std::string(base) +
                        "axes: [{field: npu.cbuf.bansk, range: {from: 1, to: 90000}}]\n"),
                HasSubstr("unknown field 'npu.cbuf.bansk' (did you mean 'banks'?)"));
}

TEST_F(SweepCommand, FilesOfDesignsAreNotOverwritten) {
    const std::string lenet = std::string(NPUSCOPE_SOURCE) + "/configs/workload/lenet.yaml";
    const std::string npu = std::string(NPUSCOPE_SOURCE) + "/configs/npu/nv_small.yaml";
    for (const char* name : {"n.yaml", "other.yaml"}) {
        std::filesystem::copy(lenet, folder_ / name);
    }
    std::filesystem::copy(npu, folder_ / "npu.yaml");
    std::ofstream(folder_ / "s.yaml")
        << "base: {program: n.yaml, run: {values: off}}\n"
           "axes:\n"
           "  - {field: program, values: [n.yaml, other.yaml]}\n"
           "  - {field: npu, values: [nv_full, ./npu.yaml]}\n"
           "  - {field: run.max_cycles, range: {from: 1, to: 1000}}\n";
    for (const char* name : {"s.yaml", "n.yaml", "other.yaml", "npu.yaml"}) {
        const std::string before = read_whole_file(folder_ / name);
        for (const char* option : {"--csv", "--export"}) {
            const Answer answer = typed({"sweep", at("s.yaml"), "--out", at("o"), option, at(name)},
                                        {sweep_command()});
            EXPECT_EQ(answer.code, ExitCode::WrongInput) << name;
            EXPECT_THAT(answer.err, HasSubstr("' is also an input; the output would overwrite it"));
        }
        EXPECT_EQ(read_whole_file(folder_ / name), before);
        EXPECT_FALSE(std::filesystem::exists(folder_ / "o"));
    }
}

TEST_F(SweepCommand, AWrongTaskIsFoundBeforeAnythingIsWritten) {
    std::ofstream(folder_ / "s.yaml") << std::string(base) + axes;
    const Answer answer =
        typed({"sweep", at("s.yaml"), "--out", at("o"), "--task", "4/4"}, {sweep_command()});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_THAT(answer.err, HasSubstr("'4/4' is not of the form I/N"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "o"));
}

TEST_F(SweepCommand, TextThatIsNotUtf8IsRefused) {
    const Answer answer =
        sweep("base: {program: t\xff.yaml, run: {values: off}}\n" + std::string(axes));
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_THAT(answer.err, HasSubstr("s.yaml:1:18: byte 0xff is not UTF-8 text"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "o"));
}

TEST_F(SweepCommand, UnknownNamesOfferSweepsOnly) {
    const std::string told =
        typed({"sweep", "buffer_size", "--out", at("o")}, {sweep_command()}).err;
    EXPECT_THAT(told, HasSubstr("(did you mean 'buffer_sizes'? sweeps: buffer_sizes, "));
    EXPECT_THAT(told, Not(HasSubstr("networks: ")));
}

TEST_F(SweepCommand, DesignsBeyondALimitAreRecorded) {
    const Answer answer =
        sweep(std::string(base) + "axes: [{field: npu.datapath.atomic_c, values: [3, 5]}]\n");
    EXPECT_EQ(answer.code, ExitCode::ExpectationFailed) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("in the database: 2 illegal"));
    EXPECT_THAT(answer.out, HasSubstr("1 illegal: space.yaml:2:48: 'npu.datapath.atomic_c' is 3"));
}

TEST_F(SweepCommand, TheKeptSpaceFindsTheFilesOfTheBase) {
    std::filesystem::create_directory(folder_ / "data");
    std::filesystem::copy(std::string(NPUSCOPE_SOURCE) + "/configs/workload/lenet.yaml",
                          folder_ / "data/n.yaml");
    const std::string text = "base: {program: n.yaml, run: {values: off}}\nfolder: data # here\n";
    EXPECT_EQ(sweep(text + axes).code, ExitCode::Good);
    EXPECT_THAT(typed({"sweep", at("o"), "--jobs", "1"}, {sweep_command()}).out,
                StartsWith("o: 2 designs, 0 run now, 2 already in the database\n"));
}

TEST_F(SweepCommand, ASpaceIsWrittenInLines) {
    EXPECT_THAT(refusal("{base: {program: lenet}, axes: [{field: npu, values: [nv_small]}]}\n"),
                StartsWith(":1:1: a space is not written inside { }"));
}

TEST_F(SweepCommand, ASpaceWhoseCopyCouldNotBeReadIsRefused) {
    const std::string text = std::string(base) + axes;
    const std::string byte_order_mark = "\xef\xbb\xbf";
    for (const std::string& space : {text + "...\n", "folder:\n  \"a\n   b/..\"\n" + text,
                                     byte_order_mark + "folder: .\n" + text}) {
        EXPECT_THAT(refusal(space),
                    HasSubstr("needs a copy of the space, which could not be read"));
    }
}

TEST_F(SweepCommand, TheKeptSpaceHasTheLinesOfTheOriginal) {
    const std::string text = std::string(base) + axes;
    EXPECT_EQ(sweep(text).code, ExitCode::Good);
    EXPECT_THAT(read_whole_file(folder_ / "o/space.yaml"), StartsWith(text + "folder: "));
    EXPECT_THAT(typed({"sweep", at("o"), "--jobs", "1"}, {sweep_command()}).out,
                StartsWith("o: 2 designs, 0 run now, 2 already in the database\n"));
    std::ofstream(folder_ / "o/space.yaml") << "";
    EXPECT_EQ(
        typed({"sweep", at("o")}, {sweep_command()}).err,
        "npuscope: " + at("o/space.yaml") +
            ":1:1: the file must be a mapping, found nothing (write each of its fields on a line: "
            "NAME: VALUE)\n");
}

TEST_F(SweepCommand, TheRateIsThatOfAllInstancesTogether) {
    const std::vector<std::string> rates =
        column(std::string(base) + "axes: [{name: n, field: run.instances, values: [1, 4]}]\n",
               "inputs_per_second");
    ASSERT_EQ(rates.size(), 2U);
    EXPECT_GT(std::stod(rates[1]), 2 * std::stod(rates[0]));
}

TEST_F(SweepCommand, TheRateOfAStreamIsThatOfItsFrames) {
    const std::vector<std::string> rates =
        column(std::string(base) + "axes: [{name: n, field: run.stream, values: [0, 8]}]\n",
               "inputs_per_second");
    ASSERT_EQ(rates.size(), 2U);
    EXPECT_GT(std::stod(rates[1]), std::stod(rates[0]));
}

TEST_F(SweepCommand, ADesignRunsAgainIfAFileThatItReadsHasChanged) {
    const std::string workloads = std::string(NPUSCOPE_SOURCE) + "/configs/workload/";
    const std::string text =
        "base: {program: lenet, run: {values: off, beside: [b.yaml]}}\n" + std::string(axes);
    const auto overwrite = std::filesystem::copy_options::overwrite_existing;
    std::filesystem::copy(workloads + "lenet.yaml", folder_ / "b.yaml");
    EXPECT_THAT(sweep(text).out, StartsWith("o: 2 designs, 2 run now\n"));
    EXPECT_THAT(sweep(text).out, StartsWith("o: 2 designs, 0 run now, 2 already"));
    std::filesystem::copy(workloads + "ds_cnn.yaml", folder_ / "b.yaml", overwrite);
    EXPECT_THAT(sweep(text).out, StartsWith("o: 2 designs, 2 run now\n"));
}

TEST_F(SweepCommand, ABaseThatWritesIsRefused) {
    for (const std::string given :
         {"out: o", "json: o", "csv: o", "timeline: o", "wave: o", "actions: o", "outputs: o",
          "loadable: o", "dump: [s2=o.npy]", "operations: true", "explain: true"}) {
        EXPECT_THAT(refusal("base: {program: lenet, write: {" + given + "}}\n" + axes),
                    StartsWith(":1:31: write." + given.substr(0, given.find(':')) +
                               ": a design of a sweep writes nothing but its point"));
    }
}

TEST_F(SweepCommand, EnergyAndAreaAreRankedByATable) {
    const std::string rest = std::string(axes) + "objectives: [{minimise: picojoules}]\n";
    EXPECT_THAT(refusal(std::string(base) + rest),
                HasSubstr(":3:25: 'picojoules' needs a table of energies"));
    const std::string text =
        "base: {program: lenet, run: {values: off}, write: {energy: horowitz_45nm}}\n" + rest;
    for (const std::string& energy : column(text, "picojoules")) {
        EXPECT_GT(std::stod(energy), 1e6);
    }
    for (const std::string& area : column(text, "mac_square_micrometres")) {
        EXPECT_GT(std::stod(area), 1e3);
    }
    EXPECT_THAT(sweep(text).out, HasSubstr("best, minimised picojoules, of 2 designs"));
    EXPECT_THAT(typed({"sweep", at("o")}, {sweep_command()}).out, HasSubstr("2 already"));
}

TEST_F(SweepCommand, ARangeHasTheUnitOfItsField) {
    const auto axis = [&](const std::string& field, const std::string& range) {
        return std::string(base) + "axes: [{field: " + field + ", " + range + "}]\n";
    };
    EXPECT_THAT(refusal(axis("npu.clock", "range: {from: 8 B, to: 32}")),
                HasSubstr(":2:41: field 'npu.clock': '8 B' is not a number of hertz"));
    EXPECT_THAT(refusal(axis("npu.clock", "log_range: {from: 8, to: 32 cycles}")),
                HasSubstr("'32 cycles' is not a number of hertz"));
    EXPECT_THAT(refusal(axis("memory.read_latency", "range: {from: 1, to: 9, step: 4 KiB}")),
                HasSubstr("'4 KiB' is not a number of cycles"));
    EXPECT_THAT(refusal(axis("run.max_cycles", "range: {from: 1 MHz, to: 2 MHz, step: 1 MHz}")),
                HasSubstr("'1 MHz' is not a number of cycles"));
    EXPECT_EQ(sweep(axis("npu.clock", "range: {from: 1 GHz, to: 2 GHz, step: 500 MHz}")).code,
              ExitCode::Good);
}

TEST_F(SweepCommand, FormulasNameFieldsOfLists) {
    EXPECT_THAT(refusal(std::string(base) + axes +
                        "objectives: [{minimise: \"memory.region[0].size"
                        "\"}]\n"),
                HasSubstr("uses 'memory.region[0].size', which is neither an axis"));
    const std::string region = "memory.regions[0].bandwidth";
    const Answer answer = sweep(std::string(base) + "axes: [{name: bw, field: \"" + region +
                                "\", values: [1 GB/s, 2 GB/s, 4 GB/s]}]\nwhere: [\"" + region +
                                " > 1000000000\"]\nobjectives: [{minimise: \"" + region + "\"}]\n");
    EXPECT_THAT(answer.out, HasSubstr("; `where` leaves out 1\n")) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("2,000,000,000  2 GB/s"));
}

TEST_F(SweepCommand, AReasonIsOneLine) {
    const Answer answer =
        sweep(std::string(base) + "axes: [{field: run.max_cycles, values: [1000, 100000000]}]\n");
    EXPECT_THAT(answer.out, HasSubstr("1 stopped: "));
    EXPECT_THAT(answer.out, Not(HasSubstr("\\x0a")));
}

TEST_F(SweepCommand, ALauncherThatFailsSaysWhy) {
    std::ofstream(folder_ / "sbatch") << "#!/bin/sh\necho 'sbatch: error: no cluster'\nexit 1\n";
    std::filesystem::permissions(folder_ / "sbatch", std::filesystem::perms::owner_all);
    const std::string before = std::getenv("PATH");
    setenv("PATH", (folder_.path().string() + ":" + before).c_str(), 1);
    std::ofstream(folder_ / "s.yaml") << std::string(base) + axes;
    const Answer answer =
        typed({"sweep", at("s.yaml"), "--out", at("o"), "--launcher", "slurm"}, {sweep_command()});
    setenv("PATH", before.c_str(), 1);
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_EQ(
        answer.err,
        "npuscope: no task was started: sbatch: error: no cluster (see the launcher's messages "
        "in " +
            at("o/tasks/slurm.log") + ")\n");
}

}  // namespace
}  // namespace npuscope
