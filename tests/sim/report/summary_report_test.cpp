// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "sim/config/text_table.h"
#include "sim/config/yaml_reader.h"
#include "sim/report/measured_error.h"
#include "sim/report/reports.h"
#include "sim/report/verdict.h"
#include "tests/sim/run/sample_result.h"

namespace npuscope {
namespace {

TEST(SummaryReport, ReadsAsATable) {
    const std::string verdict =
        "dc_small on nv_small: pass: 1 check made, all held\n"
        "  54,914 cycles, 0.05491 ms at 1000 MHz\n"
        "  " +
        measured_line(sample::result().config) +
        "\n  MAC array utilisation 49.1 %: 1,724,800 useful MACs, at most 64 a cycle\n"
        "  primary port: 0.146 GB/s read, 0.0979 written, peak 8 each (1.8 %, 1.2 %)\n"
        "  bound by mac 72 %, sdp_drain 25 %\n"
        "  what would help: a larger MAC array (npu.datapath.atomic_c, npu.datapath.atomic_k)\n"
        "\nwhere the time went: cycles, share of all, MAC array used, bytes\n"
        "  #  operation  kind  cycles   share  MACs used    read  written  bound by\n"
        "  0  conv 0           53,900  98.2 %     50.0 %  8.00 k   5.38 k  mac\n";
    const std::string details =
        "\n"
        "operations, from their launch to their end\n"
        "  #  unit  name    cycles  hidden       MACs  MACs used  bound by\n"
        "  0  conv  conv 0  53,900          1,724,800     50.0 %  mac 74 %, sdp_drain 25 %\n"
        "\n"
        "where the cycles went\n"
        "  #     mac  sdp_drain     sum\n"
        "  0  40,000     13,900  53,900\n"
        "\n"
        "traffic\n"
        "  client    bytes read  beats  bytes written  beats\n"
        "  cdma_dat       8,000  1,000              0      0\n"
        "  sdp                0      0          5,376    672\n"
        "  all            8,000  1,000          5,376    672\n"
        "\n"
        "units, cycles\n"
        "  unit  busy  starved  blocked\n"
        "  cdma   100       20        3\n";
    const std::string rest =
        "\n"
        "checks\n"
        "        kind   address     bytes  expected    actual      place\n"
        "  pass  crc32  0x90000000  5,376  0x8c467827  0x8c467827  p.cfg:210:1\n"
        "\n"
        "findings\n"
        "  p.cfg:7:1: warning: uninitialised bytes were read [uninitialised_read]\n"
        "      operation conv 0, unit cdma_dat, surface input, address 0x80000010\n"
        "\n"
        "simulated 62,555 cycles in 0.50 s (0.13 Mcycles/s)\n";
    EXPECT_EQ(summary_report(sample::result()), verdict + rest);
    EXPECT_EQ(summary_report(sample::result(), Details::Operations), verdict + details + rest);
}

TEST(SummaryReport, SaysHowManyCyclesWereCountedAsRepeats) {
    Result result = sample::result();
    result.repeated_cycles = Cycles(result.simulated_cycles.value / 4);
    EXPECT_NE(summary_report(result).find(
                  "Mcycles/s)\n"
                  "25.0 % of these cycles repeat earlier ones: counted, not simulated\n"),
              std::string::npos);
}

TEST(SummaryReport, SaysWhetherTheHostComputesOrQuantises) {
    Result result = sample::result();
    result.model.emplace().host.cycles = Cycles(40000);
    LayerRecord row{.name = "input_q", .kind = "host QuantizeLinear", .on_host = true};
    row.causes[Cause::Work] = Cycles(40000);
    result.layers = {row};
    EXPECT_NE(summary_report(result).find("integer inputs and outputs; the host spends 72.8 %"),
              std::string::npos);
    result.layers[0].kind = "host Softmax";
    EXPECT_NE(summary_report(result).find("layers that the NPU supports; the host takes 72.8 %"),
              std::string::npos);
}

TEST(SummaryReport, FailedCheckStandsOut) {
    Result result = sample::result();
    result.checks.front().pass = false;
    EXPECT_NE(summary_report(result).find("nv_small: FAIL"), std::string::npos);
    EXPECT_NE(summary_report(result).find("  FAIL  crc32"), std::string::npos);
}

TEST(SummaryReport, ImageThatDiffersSaysWhere) {
    Result result = sample::result();
    CheckResult& image = result.checks.front();
    image.kind = CheckKind::Image;
    image.subject = "golden.bin";
    image.address = Address(0x8000'0123);
    image.pass = true;
    EXPECT_EQ(summary_report(result).find(" at 0x"), std::string::npos);
    image.pass = false;
    EXPECT_NE(summary_report(result).find("golden.bin at 0x80000123"), std::string::npos);
}

TEST(SummaryReport, ErrorsComeFirstAndNotesOfOneKindAreOneEntry) {
    Result result;
    Diagnostic note{.severity = Severity::Note,
                    .id = "read_only",
                    .sentence = "a write is ignored",
                    .unit = "sdp"};
    result.findings.push_back(note);
    note.unit = "cdma";
    result.findings.push_back(note);
    result.findings.push_back({.id = "outside", .sentence = "no memory"});
    const auto findings = [&](Details details) {
        const std::string text = summary_report(result, details);
        const std::size_t begin = text.find("findings");
        return text.substr(begin, text.find("\nsimulated") - begin);
    };
    EXPECT_EQ(findings(Details::Operations),
              "findings\n"
              "  error: no memory [outside]\n"
              "  note: a write is ignored [read_only, 2 times]\n"
              "      unit sdp\n");
    EXPECT_EQ(findings(Details::Layers),
              "findings\n"
              "  error: no memory [outside]\n"
              "  2 more notes (--operations lists them)\n");
}

TEST(SummaryReport, FitsTheWidthWhateverTheNames) {
    Result result = sample::result();
    const std::string name(400, 'n');
    result.program = name;
    result.operations.front().name = name;
    result.checks.front().subject = name;
    result.findings.front().sentence = name + " and " + name;
    result.findings.front().surface = name;
    std::istringstream lines(summary_report(result));
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), report_width) << line;
    }
}

TEST(SummaryReport, EmptyResultHasOnlyItsHeadline) {
    const std::string text = summary_report(Result{});
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

TEST(SummaryReport, TheRateIsThatOfAllInputs) {
    Result result = sample::result();  // 54,914 cycles at 1 GHz
    result.cycles = Cycles(50'000);
    EXPECT_DOUBLE_EQ(inputs_per_second(result), 20'000);
    result.instances = {{{}, Cycles(50'000), {}, 0}, {{}, Cycles(62'500), {}, 0}};
    EXPECT_DOUBLE_EQ(inputs_per_second(result), 32'000);  // both end with the later one
    result.instances = {{"a", Cycles(50'000), {}, 0}, {"b", Cycles(62'500), {}, 0}};
    EXPECT_DOUBLE_EQ(inputs_per_second(result),
                     20'000);  // other programs are no inputs of this one
    result.instances.clear();
    result.batch = BatchRecord{6, Cycles(75'000), Cycles(12'500), Cycles(12'500), 4};
    EXPECT_DOUBLE_EQ(inputs_per_second(result), 80'000);
    result.batch.reset();
    result.stream.emplace().interval = Cycles(40'000);
    EXPECT_DOUBLE_EQ(inputs_per_second(result), 25'000);
}

TEST(SummaryReport, ASlowClockIsShown) {
    Result result = sample::result();
    SystemConfig& system = result.config;
    override_field(system, "npu.clock=1500 Hz");
    EXPECT_NE(summary_report(result).find(" ms at 0.0015 MHz\n"), std::string::npos);
}

}  // namespace
}  // namespace npuscope
