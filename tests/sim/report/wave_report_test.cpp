// SPDX-License-Identifier: Apache-2.0
// A reader of dumps of the test's own: what each signal is when.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "sim/report/reports.h"
#include "tests/sim/run/sample_result.h"

namespace npuscope::wave_report_test {
namespace {

struct Wave {
    std::map<std::string, std::string> codes;                            ///< by path
    std::map<std::string, std::map<std::uint64_t, std::string>> values;  ///< by code and time

    std::string at(const std::string& path, std::uint64_t time) const {
        const auto& changes = values.at(codes.at(path));
        const auto after = changes.upper_bound(time);
        return after == changes.begin() ? "unknown" : std::prev(after)->second;
    }
};

Wave read(const std::string& text) {
    Wave wave;
    std::istringstream lines(text);
    std::string line;
    std::string scope;
    std::uint64_t time = 0;
    bool first = true;
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "$scope") {
            std::string kind;
            words >> kind >> word;
            scope += word + ".";
        } else if (word == "$upscope") {
            scope.erase(scope.rfind('.', scope.size() - 2) + 1);
        } else if (word == "$var") {
            std::string kind;
            std::string width;
            std::string code;
            words >> kind >> width >> code >> word;
            EXPECT_TRUE(wave.codes.emplace(scope + word, code).second) << scope + word;
        } else if (word[0] == '#') {
            const std::uint64_t next = std::stoull(word.substr(1));
            EXPECT_TRUE(first || next > time) << next;
            first = false;
            time = next;
        } else if (word[0] == 'b' || word[0] == 'r') {
            std::string code;
            words >> code;
            wave.values[code][time] = word.substr(1);
        } else if (word[0] == '0' || word[0] == '1') {
            wave.values[word.substr(1)][time] = word.substr(0, 1);
        }
    }
    EXPECT_EQ(scope, "");
    return wave;
}

Result with_timeline() {
    Result result = sample::result();
    result.timeline.emplace();
    result.timeline->lanes["csc.sequence"] = {
        {"cbuf.data (filled)", "starved", Cycles(100), Cycles(150)},
        {"work", "work", Cycles(150), Cycles(400)},
        {"work", "work", Cycles(400), Cycles(500)}};
    result.timeline->counters["cbuf.data"] = {{Cycles(120), 64}, {Cycles(400), 0}};
    result.timeline->moved["cdma_dat read"] = {
        {Cycles(0), 0}, {Cycles(100), 400}, {Cycles(200), 400}};
    return result;
}

TEST(WaveReport, AnActivityIsThreeWires) {
    const Wave wave = read(wave_report(with_timeline()));
    const std::string path = "npuscope.units.csc.sequence.";
    EXPECT_EQ(wave.at(path + "starved", 0), "0");
    EXPECT_EQ(wave.at(path + "starved", 100'000), "1") << "a cycle of 1 GHz is 1000 ps";
    EXPECT_EQ(wave.at(path + "starved", 150'000), "0");
    EXPECT_EQ(wave.at(path + "work", 149'999), "0");
    EXPECT_EQ(wave.at(path + "work", 150'000), "1");
    EXPECT_EQ(wave.at(path + "work", 400'000), "1") << "one span follows the other";
    EXPECT_EQ(wave.at(path + "work", 500'000), "0");
    EXPECT_EQ(wave.at(path + "blocked", 500'000), "0");
}

TEST(WaveReport, OperationsBuffersAndBytes) {
    const Wave wave = read(wave_report(with_timeline()));
    const std::string none(32, '1');
    const std::string zero(32, '0');
    EXPECT_EQ(wave.at("npuscope.operations.conv.index", 0), none);
    EXPECT_EQ(wave.at("npuscope.operations.conv.index", 100'000), zero);
    EXPECT_EQ(wave.at("npuscope.operations.conv.running", 100'000), std::string(31, '0') + "1");
    EXPECT_EQ(wave.at("npuscope.operations.conv.index", 54'000'000), none);
    EXPECT_EQ(wave.at("npuscope.buffers.cbuf_data", 120'000), std::string(25, '0') + "1000000");
    EXPECT_EQ(wave.at("npuscope.memory.cdma_dat.read", 99'000), "4");
    EXPECT_EQ(wave.at("npuscope.memory.cdma_dat.read", 100'000), "0");
}

TEST(WaveReport, ManySignalsHaveNamesOfTheirOwn) {
    Result result = with_timeline();
    for (int i = 0; i < 300; ++i) {
        result.timeline->counters["buffer " + std::to_string(i)] = {{Cycles(10), i}};
    }
    const Wave wave = read(wave_report(result));
    EXPECT_EQ(wave.at("npuscope.buffers.buffer_299", 10'000), std::string(23, '0') + "100101011");
}

TEST(WaveReport, WithoutATimelineOperationsAlone) {
    const Wave wave = read(wave_report(sample::result()));
    EXPECT_EQ(wave.codes.size(), 2U);
}

}  // namespace
}  // namespace npuscope::wave_report_test
