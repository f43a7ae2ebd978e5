// SPDX-License-Identifier: Apache-2.0
// Cross-channel data processor: normalises a cube from memory over its neighbours in channel
// direction, line by line, within a line by blocks of columns, within a block surface by surface.
// Not modelled: results that stall the pipeline before 32 blocks of them are waiting.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/cdp/cdp_job.h"
#include "models/cdp/cdp_timing.h"
#include "models/layout/datapath.h"
#include "models/link/atom_stream.h"
#include "models/link/channel.h"
#include "models/link/surface_port.h"
#include "models/link/unit.h"

namespace npuscope {

/// One normalisation on its way through the unit.
struct CdpWork : UnitWork {
    CdpJob job;
    LookupTables tables;
    CdpCounters counters;

    StatusValues statuses() const {
        return {{"D_NAN_OUTPUT_NUM", counters.nan_outputs},
                {"D_OUT_SATURATION", counters.saturated}};
    }
};

class Cdp : public Unit {
 public:
    using Work = CdpWork;
    /// The bus behind it.
    struct Bus {
        Bytes width;
        std::uint32_t longest_burst = 1;  ///< beats
        Cycles lone_result{3};            ///< after the previous result, for a block of one column
    };
    Cdp(const sc_core::sc_module_name& name, const CdpConfig& config,
        const DatapathConfig& datapath, const Bus& bus);

    Channel<std::shared_ptr<CdpWork>> launches{"cdp.launches"};
    DmaPort read_port{"cdp", "cdp"};
    DmaPort write_port{"cdp", "cdp", "cdp_write"};

    void on_done(std::function<void(CdpWork&)> listener) { done_ = std::move(listener); }

 private:
    /// Columns of one line and surface.
    struct Block {
        std::uint32_t surface = 0;
        std::uint64_t first_pixel = 0;
        std::uint32_t columns = 0;
    };
    /// A block of results on its way to memory.
    struct Outgoing {
        PixelRun run;
        const CdpWork* work = nullptr;
    };

    void run_operation(Activity& activity);
    std::vector<Block> blocks_of(const FeatureCube& cube) const;
    AtomStream open_stream(const CdpWork& work, const std::vector<Block>& blocks);
    void normalise(Activity& activity, const CdpWork& work, const std::vector<Block>& blocks);
    /// Takes one block; returns when the first result of the previous block is ready.
    std::optional<Cycles> take_block(Activity& activity, const Block& block, AtomStream& stream);
    void send(Activity& activity, const CdpWork& work, const Block& block, Cycles ready);
    /// The results of a block whose neighbours in channel direction have arrived.
    void compute(const CdpWork& work, const Block& block);
    void write_results(Activity& activity);
    /// Extra cycles of the sum of `local_size` fp16 squares compared with that of integers.
    Cycles fp16_sum(std::uint32_t local_size) const;
    NormalisationPace pace_of(const CdpWork& work) const;
    bool in_pairs() const { return bus_.width > datapath_.memory_atom; }
    void account(CdpWork& work) const;

    const CdpConfig config_;
    const DatapathConfig datapath_;
    const Bus bus_;
    std::function<void(CdpWork&)> done_;
    Channel<Outgoing> results_{"cdp.results", 32};
    Channel<WriteResponse> written_{"cdp.written", 1};
    std::optional<CubeWriter> writer_;
    std::shared_ptr<ElementTensor> growing_;  // the result, where values arrive with the reads
    // of the running operation
    std::optional<NormalisationPace> pace_;
    ResultPace leaving_;
    std::vector<Cycles> arrivals_;  // of the current block
    WriteResponse last_response_;
    Cycles first_request_;
};

}  // namespace npuscope
