// SPDX-License-Identifier: Apache-2.0
#include "sim/run/traffic_sampler.h"

#include <cmath>

#include "models/link/clock.h"

namespace npuscope {
namespace {

constexpr std::size_t most_samples = 1024;  // per client: what a screen can show

}  // namespace

void TrafficSampler::worked(const std::string& activity, Span span) {
    look();
    next_.worked(activity, span);
}

void TrafficSampler::waited(const std::string& activity, WaitKind kind, std::string_view what,
                            Span span) {
    look();
    next_.waited(activity, kind, what, span);
}

void TrafficSampler::counted(const std::string& counter, Cycles time, std::int64_t change) {
    look();
    next_.counted(counter, time, change);
}

void TrafficSampler::restarted(const std::string& counter, Cycles time, std::int64_t value) {
    look();
    next_.restarted(counter, time, value);
}

void TrafficSampler::look() {
    if (now() >= due_) {
        sample();
        due_ = now() + window_;
    }
}

void TrafficSampler::sample() {
    bool full = false;
    for (const Mcif::Traffic& client : machine_.traffic()) {
        const auto add = [&](const char* direction, Bytes bytes) {
            std::vector<TimelineStep>& steps = moved_[client.client + direction];
            if (steps.empty() || steps.back().time < now()) {
                steps.push_back({now(), 0});
            }
            steps.back().value = static_cast<std::int64_t>(bytes.value);
            full = full || steps.size() > most_samples;
        };
        add(" read", client.moved.read_bytes);
        add(" written", client.moved.write_bytes);
    }
    if (full) {
        thin_out();
    }
}

void TrafficSampler::thin_out() {
    window_ = window_ + window_;
    for (auto& [name, steps] : moved_) {
        std::vector<TimelineStep> fewer;
        for (std::size_t i = 0; i < steps.size(); i += 2) {
            fewer.push_back(steps[i]);
        }
        steps = std::move(fewer);
    }
}

void TrafficSampler::spread(std::string_view direction, double bytes_per_cycle) {
    std::vector<std::vector<TimelineStep>*> clients;
    for (auto& [name, steps] : moved_) {
        if (name.ends_with(direction)) {
            clients.push_back(&steps);
        }
    }
    if (clients.empty() || bytes_per_cycle == 0) {
        return;
    }
    std::vector<double> before(clients.size(), 0);
    Cycles last;
    for (std::size_t i = 0; i < clients.front()->size(); ++i) {
        const Cycles time = (*clients.front())[i].time;
        double wanted = 0;
        for (std::size_t k = 0; k < clients.size(); ++k) {
            wanted += static_cast<double>((*clients[k])[i].value) - before[k];
        }
        const double possible = bytes_per_cycle * static_cast<double>((time - last).value);
        const double share = wanted > possible ? possible / wanted : 1;
        for (std::size_t k = 0; k < clients.size(); ++k) {
            std::int64_t& value = (*clients[k])[i].value;
            before[k] += share * (static_cast<double>(value) - before[k]);
            value = std::llround(before[k]);
        }
        last = time;
    }
}

std::map<std::string, std::vector<TimelineStep>> TrafficSampler::take() {
    sample();
    double bytes_per_cycle = 0;
    for (const Machine::PortTraffic& port : machine_.ports()) {
        bytes_per_cycle += static_cast<double>(port.beat.value);
    }
    spread(" read", bytes_per_cycle);
    spread(" written", bytes_per_cycle);
    std::erase_if(moved_, [](const auto& entry) { return entry.second.back().value == 0; });
    return std::move(moved_);
}

}  // namespace npuscope
