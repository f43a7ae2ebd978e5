// SPDX-License-Identifier: Apache-2.0
// Planar data processor: pools what SDP sends, or a cube from memory, and writes the result line by
// line. Not modelled: results that stall the pooling before sixteen runs of them are waiting.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/layout/datapath.h"
#include "models/layout/tensor.h"
#include "models/link/atom_run.h"
#include "models/link/atom_stream.h"
#include "models/link/channel.h"
#include "models/link/surface_port.h"
#include "models/link/unit.h"
#include "models/pdp/pdp_job.h"
#include "models/pdp/pdp_timing.h"

namespace npuscope {

/// One pooling operation on its way through the unit.
struct PdpWork : UnitWork {
    PdpJob job;
    /// fp16. D_NAN_INPUT_NUM and D_INF_INPUT_NUM stay 0, as in nv_full's C model.
    std::uint64_t nan_outputs = 0;

    StatusValues statuses() const { return {{"D_NAN_OUTPUT_NUM", nan_outputs}}; }
};

class Pdp : public Unit {
 public:
    using Work = PdpWork;
    Pdp(const sc_core::sc_module_name& name, const PdpConfig& config,
        const DatapathConfig& datapath, Bytes bus_width, ValueThread& values);

    Channel<std::shared_ptr<PdpWork>> launches{"pdp.launches"};
    Channel<AtomRun<std::int8_t, ElementTensor>> flying{"pdp.flying", 8};
    DmaPort read_port{"pdp", "pdp"};
    DmaPort write_port{"pdp", "pdp", "pdp_write"};

    void on_done(std::function<void(PdpWork&)> listener) { done_ = std::move(listener); }

 private:
    /// Results of one line on their way to memory; without any, the operation ends.
    struct Outgoing {
        PixelRun run;
        const PdpWork* work = nullptr;
    };
    /// Atoms of one input line.
    struct LinePiece {
        std::size_t part = 0;
        std::uint32_t surface = 0;
        std::uint32_t y = 0;
        std::uint32_t begin = 0;  ///< first column, of the part
        std::uint32_t count = 0;
    };
    void run_operation(Activity& activity);
    /// Channels of an atom: a kernel group's on the fly, those of memory's atoms otherwise.
    std::uint32_t lanes_of(const PdpJob& job) const;
    void begin(const PdpWork& work);
    void begin_part(const PdpPooling& pooling, std::size_t part);
    void pool_from_memory(Activity& activity, const std::shared_ptr<PdpWork>& of);
    void pool_flying(Activity& activity, const std::shared_ptr<PdpWork>& of);
    /// Computes the whole result and makes it ready to be written.
    void compute(const std::shared_ptr<PdpWork>& work,
                 const std::shared_ptr<const ElementTensor>& input);
    /// Where values arrive with the reads: computes, in the output line that a run is in, the
    /// results whose windows have arrived.
    void compute_line(const PdpWork& work, const PixelRun& run);
    /// `source` knows when the atom of a column arrives, and is told when it is taken.
    template <class Source>
    void pool(Activity& activity, const PdpWork& work, const LinePiece& piece, Source& source);
    void send_results(Activity& activity, const PdpWork& work, const LinePiece& piece);
    void send(Activity& activity, const PdpWork& work, const PooledAtoms& atoms, PixelRun run);
    void pool_run(Activity& activity, const PdpWork& work,
                  const AtomRun<std::int8_t, ElementTensor>& run);
    void write_results(Activity& activity);
    void account(PdpWork& work) const;
    AtomStream open_stream(const PdpWork& work);

    const PdpConfig config_;
    const DatapathConfig datapath_;
    const Bytes bus_width_;
    ValueThread& values_;
    std::function<void(PdpWork&)> done_;
    Channel<Outgoing> results_{"pdp.results", 16};
    Channel<WriteResponse> written_{"pdp.written", 1};
    std::optional<CubeWriter> writer_;
    std::shared_ptr<ElementTensor> growing_;             // the result, where values arrive
    std::shared_ptr<const ElementTensor> flying_input_;  // of it, from the SDP
    std::size_t part_ = 0;                               // current one
    // of the running operation
    PoolingPace pace_;
    std::vector<std::uint32_t> rows_;     // windows that end in each input row
    std::uint32_t in_the_way_ = 0;        // lines that leave before the next surface begins
    std::vector<std::uint32_t> columns_;  // windows that end in each column of the current part
    std::uint32_t next_line_ = 0;         // of the output, in the current surface
    std::uint32_t next_column_ = 0;       // of the output, in the current part
    bool begun_ = false;                  // the first atom's time is set
    Cycles first_request_;
    Cycles first_arrival_;
    WriteResponse last_response_;
};

}  // namespace npuscope
