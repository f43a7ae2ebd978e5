// SPDX-License-Identifier: Apache-2.0
// Serves a stream of bursts with the DRAM device of Ramulator 2, whose sources
// bench/compare_ramulator compiles together with this file; nothing else builds it. The device
// knows states and the rules between commands. The controller here is as simple as npuscope's: data
// in the order of the stream, rows opened ahead of it for the oldest bursts, whichever is ready, a
// refresh of all banks when it is due, one command a clock. LPDDR5's WCK always runs; tAAD, at most
// 8 clocks between the halves of an ACTIVATE, is not checked.
//
// Usage: serve_stream SPEC STREAM    prints clocks, row hits, misses, conflicts, refreshes
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "ramulator/dram/device.h"

namespace {

using Ramulator::AddrVec_t;
using Ramulator::Clk_t;
using Ramulator::ConfigNode;

/// What SPEC contains besides the rules of the device.
struct Latencies {
    Clk_t read = 0;   // READ to the end of its data
    Clk_t write = 0;  // WRITE to the end of its data
    Clk_t refresh_interval = 0;
    std::size_t queue = 0;  // bursts that are considered
};

struct Counts {
    Clk_t end = 0;
    unsigned long long hits = 0;
    unsigned long long misses = 0;
    unsigned long long conflicts = 0;
    unsigned long long refreshes = 0;
};

struct Burst {
    Clk_t asked = 0;
    bool write = false;
    AddrVec_t at;
    bool opened = false;  // a row was opened for it
    bool closed = false;  // another row was closed for it
};

ConfigNode numbers(std::istringstream& line) {
    ConfigNode::Seq all;
    for (int number = 0; line >> number;) {
        all.emplace_back(number);
    }
    return all;
}

/// `1,2`
ConfigNode numbers(std::string text) {
    std::ranges::replace(text, ',', ' ');
    std::istringstream line(text);
    return numbers(line);
}

/// Lines of a word and its numbers; `rule`: level, commands before, commands after, clocks, window,
/// whether it binds siblings.
ConfigNode read_spec(const std::string& path, std::string& standard, Latencies& latencies) {
    std::ifstream file(path);
    ConfigNode::Map dram;
    ConfigNode::Map org;
    ConfigNode::Seq rules;
    for (std::string text; std::getline(file, text);) {
        std::istringstream line(text);
        std::string word;
        line >> word;
        if (word == "standard") {
            line >> standard;
        } else if (word == "counts") {
            org["count"] = numbers(line);
        } else if (word == "timing") {
            dram["timing"] = numbers(line);
        } else if (word == "latencies") {
            line >> latencies.read >> latencies.write >> latencies.refresh_interval >>
                latencies.queue;
        } else if (word == "rule") {
            int level = 0;
            int clocks = 0;
            int window = 0;
            int sibling = 0;
            std::string before;
            std::string after;
            line >> level >> before >> after >> clocks >> window >> sibling;
            rules.push_back(ConfigNode::Seq{level, numbers(before), numbers(after), clocks, window,
                                            ConfigNode(sibling != 0)});
        }
    }
    org["dq"] = 8;
    dram["org"] = org;
    dram["channel_width"] = 64;
    dram["read_latency"] = static_cast<int>(latencies.read);
    dram["timing_constraints"] = rules;
    return ConfigNode::Map{{"dram", dram}};
}

/// The bursts of each channel.
std::map<int, std::deque<Burst>> read_stream(const std::string& path) {
    std::ifstream file(path);
    std::string text;
    std::getline(file, text);  // names of columns
    std::map<int, std::deque<Burst>> stream;
    while (std::getline(file, text)) {
        std::ranges::replace(text, ',', ' ');
        std::istringstream line(text);
        Burst burst;
        burst.at.resize(6);
        line >> burst.asked >> burst.write;
        for (int& part : burst.at) {
            line >> part;
        }
        const int channel = burst.at[0];
        burst.at[0] = 0;  // a device is one channel
        stream[channel].push_back(burst);
    }
    return stream;
}

class Controller {
 public:
    Controller(Ramulator::DRAMDevice& device, const Latencies& latencies, std::deque<Burst> stream)
        : device_(device),
          latencies_(latencies),
          left_(std::move(stream)),
          refresh_due_(latencies.refresh_interval) {
        const auto id = [&](const char* name) { return device_.m_spec->get_command_id(name); };
        const bool halves = device_.m_spec->has_command("ACT1");
        act_ = id(halves ? "ACT1" : "ACT");
        act_end_ = halves ? id("ACT2") : -1;
        pre_ = id("PREpb");
        read_ = id("RD");
        write_ = id("WR");
        refresh_ = id("REFab");
    }

    Counts run() {
        for (Clk_t clock = 0; !left_.empty() || !window_.empty(); ++clock) {
            while (!left_.empty() && window_.size() < latencies_.queue &&
                   left_.front().asked <= clock) {
                window_.push_back(left_.front());
                left_.pop_front();
            }
            if (!refresh(clock)) {
                issue_one(clock);
            }
        }
        return counts_;
    }

 private:
    /// Bursts whose row was opened for them have priority. Returns whether it took the command bus.
    bool refresh(Clk_t clock) {
        if (latencies_.refresh_interval == 0 || clock < refresh_due_ ||
            std::ranges::any_of(window_, &Burst::opened)) {
            return false;
        }
        const AddrVec_t rank{0, 0, -1, -1, -1, -1};
        const int command = device_.get_preq_command(refresh_, rank, clock);
        if (!device_.check_timing(command, rank, clock)) {
            return true;
        }
        device_.issue_command(command, rank, clock);
        if (command == refresh_) {
            ++counts_.refreshes;
            refresh_due_ += latencies_.refresh_interval;
        }
        return true;
    }

    void issue_one(Clk_t clock) {
        // bursts older than one whose row is already open go before the refresh
        const bool is_due = latencies_.refresh_interval > 0 && clock >= refresh_due_;
        const auto begun = std::ranges::find_if(window_.rbegin(), window_.rend(), &Burst::opened);
        const auto most =
            static_cast<std::size_t>(is_due ? window_.rend() - begun : std::ssize(window_));
        std::vector<int> banks;  // that older bursts still need
        for (std::size_t i = 0; i < most; ++i) {
            Burst& burst = window_[i];
            const int bank = device_.get_flat_bank_id(burst.at);
            const bool mine = std::ranges::find(banks, bank) == banks.end();
            const int last = burst.write ? write_ : read_;
            const int command = device_.get_preq_command(last, burst.at, clock);
            const bool allowed = command == last ? i == 0 : mine;
            if (allowed && device_.check_timing(command, burst.at, clock)) {
                issue(command, burst, clock);
                return;
            }
            banks.push_back(bank);
        }
    }

    void issue(int command, Burst& burst, Clk_t clock) {
        device_.issue_command(command, burst.at, clock);
        burst.opened = burst.opened || command == act_;
        burst.closed = burst.closed || command == pre_;
        if (command == act_ || command == act_end_ || command == pre_) {
            return;
        }
        counts_.end =
            std::max(counts_.end, clock + (burst.write ? latencies_.write : latencies_.read));
        ++(burst.closed ? counts_.conflicts : burst.opened ? counts_.misses : counts_.hits);
        window_.pop_front();  // the data of the oldest one
    }

    Ramulator::DRAMDevice& device_;
    Latencies latencies_;
    std::deque<Burst> left_;
    std::deque<Burst> window_;
    Clk_t refresh_due_;
    Counts counts_;
    int act_ = 0;
    int act_end_ = -1;  // the other half of an ACTIVATE
    int pre_ = 0;
    int read_ = 0;
    int write_ = 0;
    int refresh_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: serve_stream SPEC STREAM\n";
        return 2;
    }
    std::string standard;
    Latencies latencies;
    const ConfigNode config = read_spec(argv[1], standard, latencies);
    Counts all;
    for (auto& [channel, stream] : read_stream(argv[2])) {
        Ramulator::DRAMDevice device;
        device.init(Ramulator::DRAMSpec::create(standard, config));
        const Counts one = Controller(device, latencies, std::move(stream)).run();
        all.end = std::max(all.end, one.end);
        all.hits += one.hits;
        all.misses += one.misses;
        all.conflicts += one.conflicts;
        all.refreshes += one.refreshes;
    }
    std::printf("%lld,%llu,%llu,%llu,%llu\n", static_cast<long long>(all.end), all.hits, all.misses,
                all.conflicts, all.refreshes);
    return 0;
}
