// SPDX-License-Identifier: Apache-2.0
// Bridge DMA: copies between the memories of the two ports, or within one. Commands are gathered
// and launched as one of two groups; a group's commands run one after the other, and its interrupt
// comes when the last write of the last one has been answered. Not modelled: reads of a command
// while the one before still writes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/base/statistics.h"
#include "models/bdma/bdma_config.h"
#include "models/bdma/bdma_job.h"
#include "models/link/block_mover.h"
#include "models/link/channel.h"
#include "models/link/unit.h"

namespace npuscope {

/// The commands of one launch.
struct BdmaWork {
    std::vector<BdmaJob> jobs;
    std::string name;
    unsigned group = 0;
    bool values = true;  ///< false: time alone is simulated
    OperationRecord record;
};

class Bdma : public Unit {
 public:
    /// `atom`: of memory; `bus_width`: of the ports.
    Bdma(const sc_core::sc_module_name& name, const BdmaConfig& config, Bytes atom,
         Bytes bus_width);

    Channel<std::shared_ptr<BdmaWork>> launches{"bdma.launches"};
    DmaPort read_port{"bdma", "bdma"};
    DmaPort write_port{"bdma", "bdma", "bdma_write"};

    void on_done(std::function<void(BdmaWork&)> listener) { done_ = std::move(listener); }
    /// Commands whose turn has come, of all launches.
    std::uint64_t begun() const { return begun_; }

 private:
    void run_group(Activity& activity);
    void run_command(Activity& activity, BdmaWork& work, const BdmaJob& job);
    /// Line `number`, surface by surface, with its values.
    MovedBlock fetch(const BdmaWork& work, const BdmaJob& job, std::uint64_t number);

    const BdmaConfig config_;
    const Bytes atom_;
    const Bytes bus_width_;
    std::function<void(BdmaWork&)> done_;
    BlockMover mover_{read_port, write_port};
    std::uint64_t begun_ = 0;
};

}  // namespace npuscope
