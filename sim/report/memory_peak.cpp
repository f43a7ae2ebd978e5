// SPDX-License-Identifier: Apache-2.0
#include "sim/report/memory_peak.h"

#include <algorithm>

#include "sim/compile/nvdla/memory_pace.h"

namespace npuscope {
namespace {

// Of its peak, a memory at its limit moves at least this much.
constexpr double saturated_share = 0.9;
constexpr double saturated_dram_share = 0.7;  // rows, refreshes and turnarounds take the rest

bool was_used(const NamedPort& port) {
    return port.traffic.read_beats + port.traffic.write_beats > 0;
}

}  // namespace

MemoryPeak::MemoryPeak(const Result& result) : result_(result) {
    const std::vector<MemoryRegionConfig>& regions = result.config.memory.regions;
    const bool planned =
        !result.layers.empty() && std::ranges::count_if(result.ports, was_used) == 1;
    if (regions.size() == 1 || (planned && !regions.empty())) {
        region_ = &regions.front();
    }
}

Cycles MemoryPeak::beat_interval_of(const MemoryRegionConfig* region) const {
    const Cycles general = result_.config.memory.beat_interval;
    return std::max(region == nullptr ? general : region->beat_interval.value_or(general),
                    Cycles(1));
}

Cycles MemoryPeak::beat_interval(std::string_view port) const {
    const MemoryConfig& memory = result_.config.memory;
    const MemoryRegionConfig* sram = result_.layers.empty() ? nullptr : sram_region(memory);
    if (region_ != nullptr || sram == nullptr) {
        return beat_interval_of(region_);
    }
    return beat_interval_of(port == "primary" ? &memory.regions.front() : sram);
}

std::optional<double> MemoryPeak::shared() const {
    return region_ == nullptr ? std::nullopt : region_->peak();
}

double MemoryPeak::moved() const {
    ClientTraffic all = result_.instances.empty() ? result_.total_traffic() : ClientTraffic{};
    for (const InstanceRecord& instance : result_.instances) {
        all += instance.traffic;
    }
    const double seconds = microseconds(result_) / 1e6;
    const auto bytes = static_cast<double>((all.read_bytes + all.write_bytes).value);
    return seconds > 0 ? bytes / seconds : 0;
}

bool MemoryPeak::is_saturated() const {
    const std::optional<double> peak = shared();
    const bool dram = region_ != nullptr && region_->dram;
    return peak && moved() >= *peak * (dram ? saturated_dram_share : saturated_share);
}

std::string_view MemoryPeak::fields() const {
    return region_ != nullptr && region_->dram
               ? "memory.regions[0].dram.organisation.channels, memory.regions[0].dram.clock"
               : "memory.regions[0].bandwidth";
}

std::string MemoryPeak::effect_of(std::string_view field) const {
    if (field == "memory.beat_interval") {
        if (shared()) {
            return std::string(fields());
        }
        const bool own = region_->beat_interval.has_value();
        return beat_interval_of(region_) > Cycles(1)
                   ? std::string(own ? "memory.regions[0].beat_interval" : field)
                   : "";
    }
    if (field == "memory.read_latency") {
        if (region_->dram) {
            return "memory.regions[0].dram.controller_latency";
        }
        const bool own = region_->read_latency.has_value();
        const Cycles latency = region_->read_latency.value_or(result_.config.memory.read_latency);
        return latency > Cycles(0) ? std::string(own ? "memory.regions[0].read_latency" : field)
                                   : "";
    }
    if (field == "npu.mcif.bus_width" && shared() && !result_.ports.empty()) {
        const auto beat = static_cast<double>(result_.ports.front().beat.value);
        const auto clock = static_cast<double>(result_.config.clock().value);
        return beat * clock < *shared() ? std::string(field) : "";
    }
    return std::string(field);
}

std::string MemoryPeak::effective(std::string_view fields) const {
    if (region_ == nullptr) {
        return std::string(fields);
    }
    std::string all;
    while (!fields.empty()) {
        const std::size_t end = std::min(fields.find(", "), fields.size());
        if (const std::string field = effect_of(fields.substr(0, end)); !field.empty()) {
            all += (all.empty() ? "" : ", ") + field;
        }
        fields.remove_prefix(std::min(end + 2, fields.size()));
    }
    return all;
}

}  // namespace npuscope
