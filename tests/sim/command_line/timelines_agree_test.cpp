// SPDX-License-Identifier: Apache-2.0
// The timeline of a run and its other numbers report the same cycles and bytes, also where
// operations overlap.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/config/file_io.h"
#include "tests/sim/command_line/typed.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

using Json = nlohmann::json;
using sample::Answer;
using sample::typed;

struct Span {
    std::uint64_t begin;
    std::uint64_t end;
};

struct Told {
    Json result;
    Json events;

    /// Spans of a lane whose category and name are these, in their order.
    std::vector<Span> spans(const std::string& lane, const std::string& cat,
                            const std::string& name) const {
        int number = 0;
        for (const Json& event : events) {
            if (event["ph"] == "M" && event["name"] == "thread_name" &&
                event["args"]["name"] == lane) {
                number = event["tid"];
            }
        }
        std::vector<Span> found;
        for (const Json& event : events) {
            const std::uint64_t begin = event.value("ts", std::uint64_t{0});
            if (event["ph"] == "X" && event["pid"] == 2 && event["tid"] == number &&
                event["cat"] == cat && event["name"] == name) {
                found.push_back({begin, begin + event["dur"].get<std::uint64_t>()});
            }
        }
        std::ranges::sort(found, {}, &Span::begin);
        return found;
    }
    /// Indices of operations that use the MAC array, as they start.
    std::vector<std::size_t> convolutions() const {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < result["operations"].size(); ++i) {
            if (result["operations"][i]["macs"] != 0) {
                order.push_back(i);
            }
        }
        std::ranges::stable_sort(order, {}, [&](std::size_t i) {
            return result["operations"][i]["start"].get<std::uint64_t>();
        });
        return order;
    }
};

Told run_of(const std::string& network, const std::string& npu) {
    const TempFolder folder;
    const Answer answer = typed({"run", network, "--npu", npu, "--values", "off", "--json", "-",
                                 "--timeline", (folder / "t.json").string()});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    return {Json::parse(answer.out),
            Json::parse(read_whole_file(folder / "t.json"))["traceEvents"]};
}

/// Every span belongs to the operation whose cycles of this cause are not used up yet: the array
/// serves one after the other. It must lie inside that operation.
void expect_inside(const Told& run, const std::vector<Span>& spans, const char* cause) {
    const std::vector<std::size_t> order = run.convolutions();
    std::size_t next = 0;
    std::uint64_t left = 0;
    for (Span span : spans) {
        while (span.begin < span.end) {
            while (left == 0 && next < order.size()) {
                left = run.result["operations"][order[next++]]["causes"][cause];
            }
            ASSERT_GT(left, 0U) << "the timeline has more cycles of " << cause;
            const Json& operation = run.result["operations"][order[next - 1]];
            const std::uint64_t taken = std::min(left, span.end - span.begin);
            EXPECT_GE(span.begin, operation["start"].get<std::uint64_t>()) << operation["name"];
            EXPECT_LE(span.begin + taken, operation["end"].get<std::uint64_t>())
                << operation["name"];
            span.begin += taken;
            left -= taken;
        }
    }
    for (; next < order.size(); ++next) {
        left += run.result["operations"][order[next]]["causes"][cause].get<std::uint64_t>();
    }
    EXPECT_EQ(left, 0U) << "the timeline lacks cycles of " << cause;
}

bool any_overlap(const Told& run) {
    const std::vector<std::size_t> order = run.convolutions();
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        if (run.result["operations"][order[i + 1]]["start"] <
            run.result["operations"][order[i]]["end"]) {
            return true;
        }
    }
    return false;
}

TEST(TimelinesAgree, TheArraysCyclesAreThoseOfTheOperationsThatHaveIt) {
    const Told run = run_of("lenet", "nv_small");
    EXPECT_TRUE(any_overlap(run));
    expect_inside(run, run.spans("csc.sequence", "work", "work"), "mac");
    // no operation of this run drains after its last MAC
    expect_inside(run, run.spans("csc.sequence", "blocked", "cacc.credits"), "sdp_drain");
}

TEST(TimelinesAgree, OnEveryPresetAndWhereThreeOperationsOverlap) {
    for (const char* network : {"lenet", "ds_cnn"}) {
        for (const char* npu : {"nv_small", "nv_small_256", "nv_medium_512", "nv_full"}) {
            SCOPED_TRACE(std::string(network) + " on " + npu);
            const Told run = run_of(network, npu);
            expect_inside(run, run.spans("csc.sequence", "work", "work"), "mac");
        }
    }
}

/// A cycle in which an operation has the array is that operation's, so none of it is hidden.
TEST(TimelinesAgree, LayersOwnEveryCycleOfTheArray) {
    const Told run = run_of("lenet", "nv_small");
    std::uint64_t worked = 0;
    for (const Span& span : run.spans("csc.sequence", "work", "work")) {
        worked += span.end - span.begin;
    }
    std::uint64_t owned = 0;
    for (const Json& layer : run.result["layers"]) {
        owned += layer["causes"]["mac"].get<std::uint64_t>();
    }
    EXPECT_EQ(owned, worked);
}

/// Work is reported ahead of time and waits are not those of a thread, so no cycle counts twice.
TEST(TimelinesAgree, TheSdpWorksOrWaitsForInputButNotBothAtOnce) {
    for (const char* npu : {"nv_small", "nv_full"}) {
        SCOPED_TRACE(npu);
        const Told run = run_of("ds_cnn", npu);
        const Json& sdp = run.result["units"]["sdp"];
        EXPECT_GT(sdp["starved"], 0U);
        EXPECT_LE(sdp["starved"].get<std::uint64_t>() + sdp["busy"].get<std::uint64_t>(),
                  run.result["cycles"]);
        EXPECT_FALSE(run.spans("sdp.process", "starved", "input").empty());
        Span before{0, 0};
        for (const Span& span : run.spans("sdp.process", "work", "work")) {
            EXPECT_LE(before.end, span.begin);
            before = span;
        }
    }
}

TEST(TimelinesAgree, TheConvolutionDmaWorksForACycleABeatAndSaysWhatItWaitsFor) {
    const auto cdma = [](const char* network, const std::string& interval) {
        const Answer answer = typed({"run", network, "--values", "off", "--set",
                                     "memory.beat_interval=" + interval, "--json", "-"});
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
        const Json result = Json::parse(answer.out);
        std::uint64_t beats = 0;
        for (const char* client : {"cdma_dat", "cdma_wt"}) {
            beats += result["traffic"]["by_client"][client]["read_beats"].get<std::uint64_t>();
        }
        EXPECT_EQ(result["units"]["cdma"]["busy"], beats) << network;
        return result["units"]["cdma"];
    };
    const Json large = cdma("resnet18", "1");
    EXPECT_GT(large["blocked"], large["starved"]) << "weights wait until the array has used others";
    const auto fast = cdma("ds_cnn", "1")["starved"].get<std::uint64_t>();
    EXPECT_GT(cdma("ds_cnn", "8")["starved"], 4 * fast) << "memory is slow";
}

TEST(TimelinesAgree, OperationsCarryTheNameOfTheirLayer) {
    const Told run = run_of("lenet", "nv_small");
    std::map<std::string, std::size_t> named;
    for (const Json& event : run.events) {
        if (event["ph"] == "X" && event["pid"] == 1 && event["args"].contains("layer")) {
            const std::string layer = event["args"]["layer"];
            EXPECT_TRUE(event["name"].get<std::string>().ends_with(", " + layer));
            ++named[layer];
        }
    }
    for (const Json& layer : run.result["layers"]) {
        EXPECT_EQ(named[layer["name"]], layer["operations"].size()) << layer["name"];
    }
}

TEST(TimelinesAgree, BandwidthSumsToTheTraffic) {
    const Told run = run_of("lenet", "nv_small");
    struct Last {
        std::uint64_t time;
        double rate;
        double bytes = 0;
    };
    std::map<std::string, Last> counters;
    std::map<std::uint64_t, double> reads;  // of all clients together
    for (const Json& event : run.events) {
        if (event["ph"] == "C" && event["pid"] == 4) {
            const std::uint64_t time = event["ts"];
            const double rate = event["args"]["GB/s"];
            reads[time] += event["name"].get<std::string>().ends_with(" read") ? rate : 0;
            const auto [last, fresh] = counters.try_emplace(event["name"], Last{time, rate});
            if (!fresh) {
                ASSERT_GT(time, last->second.time);
                // at 1 GHz a byte in a cycle is 1 GB/s
                last->second.bytes +=
                    last->second.rate * static_cast<double>(time - last->second.time);
                last->second.time = time;
                last->second.rate = rate;
            }
        }
    }
    const double rounding = 0.001 * run.result["simulated_cycles"].get<double>();
    for (const auto& [client, moved] : run.result["traffic"]["by_client"].items()) {
        for (const auto& [direction, key] :
             {std::pair{" read", "read_bytes"}, std::pair{" written", "write_bytes"}}) {
            const auto counter = counters.find(client + direction);
            const double bytes = counter == counters.end() ? 0 : counter->second.bytes;
            EXPECT_NEAR(bytes, moved[key].get<double>(), rounding) << client << direction;
        }
    }
    EXPECT_GE(counters.size(), 4U);
    for (const auto& [time, rate] : reads) {
        EXPECT_LE(rate, 8.1) << time;  // a bus of 8 bytes; samples are whole bytes
    }
}

}  // namespace
}  // namespace npuscope
