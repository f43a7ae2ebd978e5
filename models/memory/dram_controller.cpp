// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"

namespace npuscope {

DramController::DramController(const DramConfig& config, Address base)
    : config_(config),
      base_(base),
      map_(config),
      clocks_(config.npu_clock, config.clock),
      timing_(config) {
    if (base.value % map_.burst_bytes().value != 0) {
        throw ConfigError(
            fmt::format("a region with a DRAM begins at {}, inside a burst", to_hex(base)),
            "let it begin at a multiple of the burst's bytes");
    }
}

DramStatistics DramController::statistics() const {
    DramStatistics all = timing_.statistics();
    all.merged_beats = merged_beats_;
    return all;
}

DramLocation DramController::location_of(std::uint64_t burst) const {
    return map_.decode(map_.burst_bytes() * burst);
}

DramController::Kept* DramController::find_kept(std::uint64_t burst) {
    if (latest_ < kept_.size() && kept_[latest_].burst == burst) {
        return &kept_[latest_];
    }
    const auto found = std::ranges::find(kept_, burst, &Kept::burst);
    if (found == kept_.end()) {
        return nullptr;
    }
    latest_ = static_cast<std::size_t>(found - kept_.begin());
    return &*found;
}

void DramController::keep(const Kept& read) {
    if (kept_.size() < config_.read_buffers) {
        latest_ = kept_.size();
        kept_.push_back(read);
    } else if (!kept_.empty()) {
        latest_ = oldest_;
        kept_[oldest_] = read;
        oldest_ = (oldest_ + 1) % kept_.size();
    }
}

bool DramController::gathered(std::uint64_t burst) const {
    return std::ranges::find(batch_, burst) != batch_.end();
}

Cycles DramController::read(Address address, Bytes bytes, Cycles asked) {
    Cycles last = asked;
    const std::uint64_t end = map_.burst_of(address - base_ + bytes - Bytes(1)) + 1;
    for (std::uint64_t burst = map_.burst_of(address - base_); burst < end; ++burst) {
        last = std::max(last, read_burst(burst, asked));
    }
    return last;
}

Cycles DramController::write(Address address, Bytes bytes, Cycles sent) {
    Cycles last = sent;
    const std::uint64_t end = map_.burst_of(address - base_ + bytes - Bytes(1)) + 1;
    for (std::uint64_t burst = map_.burst_of(address - base_); burst < end; ++burst) {
        last = std::max(last, write_burst(burst, sent));
    }
    return last;
}

Cycles DramController::read_burst(std::uint64_t burst, Cycles asked) {
    if (const Kept* kept = find_kept(burst)) {
        ++merged_beats_;
        return std::max(asked, kept->arrived) + config_.controller_latency;
    }
    if (gathered(burst)) {
        ++merged_beats_;
        return asked + config_.controller_latency;
    }
    const Clocks data = timing_.read(location_of(burst), clocks_.to_memory(asked));
    const Cycles arrived = clocks_.to_npu(data);
    keep({burst, arrived});
    return arrived + config_.controller_latency;
}

Cycles DramController::write_burst(std::uint64_t burst, Cycles sent) {
    if (gathered(burst)) {
        ++merged_beats_;
        return sent + config_.controller_latency;
    }
    if (Kept* kept = find_kept(burst)) {
        kept->burst = ~std::uint64_t{0};  // the kept data is stale now
    }
    batch_.push_back(burst);
    Cycles taken = sent;
    if (batch_.size() >= config_.write_batch) {
        taken = std::max(sent, written_);
        write_batch(taken);
    }
    return taken + config_.controller_latency;
}

void DramController::write_batch(Cycles time) {
    const Clocks asked = clocks_.to_memory(time);
    Clocks end = asked;
    for (const std::uint64_t burst : batch_) {
        end = std::max(end, timing_.write(location_of(burst), asked));
    }
    batch_.clear();
    written_ = clocks_.to_npu(end);
}

}  // namespace npuscope
