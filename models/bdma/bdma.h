// SPDX-License-Identifier: Apache-2.0
// Bridge DMA: copies between the memories of the two ports, or within one. Commands are collected
// and launched as one of two groups; a group's commands are read one after the other without a gap,
// as long as they read and write the same memories, and its interrupt comes when the last write of
// the last one has been answered. Not modelled: reads of a group while the previous one still
// writes.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/bdma/bdma_job.h"
#include "models/layout/datapath.h"
#include "models/link/block_mover.h"
#include "models/link/channel.h"
#include "models/link/unit.h"

namespace npuscope {

/// The commands of one launch.
struct BdmaWork : UnitWork {
    std::vector<BdmaJob> jobs;
};

class Bdma : public Unit {
 public:
    Bdma(const sc_core::sc_module_name& name, const BdmaConfig& config,
         const DatapathConfig& datapath, Bytes bus_width);

    Channel<std::shared_ptr<BdmaWork>> launches{"bdma.launches"};
    DmaPort read_port{"bdma", "bdma"};
    DmaPort write_port{"bdma", "bdma", "bdma_write"};

    void on_done(std::function<void(BdmaWork&)> listener) { done_ = std::move(listener); }
    /// Commands whose turn has come, of all launches.
    std::uint64_t begun() const { return begun_; }

 private:
    void run_group(Activity& activity);
    /// Commands between the same memories.
    void run_commands(Activity& activity, BdmaWork& work, std::span<const BdmaJob> jobs);
    /// Line `number`, surface by surface, with its values.
    MovedBlock fetch(const BdmaWork& work, const BdmaJob& job, std::uint64_t number);

    const BdmaConfig config_;
    const Bytes atom_;
    const Bytes bus_width_;
    std::function<void(BdmaWork&)> done_;
    BlockMover mover_{read_port, write_port};
    std::uint64_t begun_ = 0;
};

// The BDMA's registers as a queue: CFG_OP adds a command, a launch hands all commands added since
// the last one to the unit as group 0 or 1. STATUS holds the number of free slots and the busy
// groups. source: nv_full RTL, NV_NVDLA_BDMA_csb.v

class BdmaQueue {
 public:
    BdmaQueue(const BdmaConfig& config, Bytes memory_atom, DiagnosticLog& log)
        : config_(config), memory_atom_(memory_atom), log_(log) {}

    /// For an NPU that has the unit.
    void attach(Bdma& unit) { unit_ = &unit; }
    /// A register of the block was written; returns the launch that this starts, or null.
    std::shared_ptr<BdmaWork> written(std::string_view register_name, const RegisterValues& values);
    void done(unsigned group) { busy_.at(group) = false; }
    bool busy(unsigned group) const { return busy_.at(group); }
    /// The value of STATUS.
    std::uint32_t status() const;

 private:
    std::shared_ptr<BdmaWork> launch(unsigned group);
    void add_command(const RegisterValues& values);
    std::uint64_t waiting() const { return added_ - (unit_ == nullptr ? 0 : unit_->begun()); }
    void report(std::string id, std::string register_name, const std::string& problem,
                std::string remedy);

    const BdmaConfig config_;
    const Bytes memory_atom_;
    DiagnosticLog& log_;
    Bdma* unit_ = nullptr;
    std::vector<BdmaJob> gathered_;
    std::uint64_t added_ = 0;
    std::array<bool, 2> busy_{};
};

}  // namespace npuscope
