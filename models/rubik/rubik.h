// SPDX-License-Identifier: Apache-2.0
// Reshape engine: moves a cube line by line between feature and planar format, or interleaves the
// cubes of a deconvolution. Not modelled: the reorder buffer's size, which cuts lines into pieces.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/link/block_mover.h"
#include "models/link/channel.h"
#include "models/link/unit.h"
#include "models/rubik/rubik_job.h"
#include "models/rubik/rubik_math.h"

namespace npuscope {

/// One reshape operation on its way through the unit.
struct RubikWork : UnitWork {
    RubikJob job;

    static StatusValues statuses() { return {}; }
};

class Rubik : public Unit {
 public:
    using Work = RubikWork;
    Rubik(const sc_core::sc_module_name& name, const RubikConfig& config,
          const DatapathConfig& datapath, Bytes bus_width);

    Channel<std::shared_ptr<RubikWork>> launches{"rubik.launches"};
    DmaPort read_port{"rbk", "rubik"};
    DmaPort write_port{"rbk", "rubik", "rbk_write"};

    void on_done(std::function<void(RubikWork&)> listener) { done_ = std::move(listener); }

 private:
    void run_operation(Activity& activity);
    MovedBlocks blocks_of(const RubikWork& work);
    /// Block `number`: lines within a surface, surface by surface.
    MovedBlock contract(const RubikWork& work, std::uint64_t number);
    MovedBlock split(const RubikWork& work, std::uint64_t number);
    MovedBlock merge(const RubikWork& work, std::uint64_t number);
    /// Values of a run, now; added to the block's reads.
    ByteLine fetch(const RubikWork& work, const ByteRun& run, MovedBlock& block);

    const RubikConfig config_;
    const Bytes bus_width_;
    std::function<void(RubikWork&)> done_;
    BlockMover mover_{read_port, write_port};
};

}  // namespace npuscope
