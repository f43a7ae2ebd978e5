// SPDX-License-Identifier: Apache-2.0
// Convolution DMA: two threads, one for feature or pixel data, one for weights. At launch the
// operands are fetched in zero time and decoded to logical tensors; then two streams read the same
// bytes in simulated time, as far as there is room, and what arrives is announced to the
// convolution buffer: the cube as a whole, weights group by group. The next operation starts when
// both are done. Not modelled: the shared buffer inside, early release of slices.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/conv/cdma_timing.h"
#include "models/conv/conv_config.h"
#include "models/conv/conv_work.h"
#include "models/conv/operand_fetch.h"
#include "models/layout/datapath.h"
#include "models/link/channel.h"
#include "models/link/dma_port.h"
#include "models/link/entry_store.h"
#include "models/link/unit.h"

namespace npuscope {

class Cdma : public Unit {
 public:
    /// What the DMA is wired to; `split` assigns the buffer's banks to data and weights.
    struct Wires {
        EntryStore& data;
        EntryStore& weights;
        EntryStore& masks;
        std::function<void(BankSplit banks)> split;
        DiagnosticLog& log;
        ValueThread& values;
    };
    /// Widths that the DMA shares with its neighbours.
    struct Widths {
        Bytes bus;
        DatapathConfig datapath;
    };
    Cdma(const sc_core::sc_module_name& name, const CdmaConfig& config, const Widths& widths,
         const Wires& wires);

    Channel<std::shared_ptr<ConvWork>> launches{"cdma.launches"};
    DmaPort data_port{"cdma_dat", "cdma"};
    DmaPort weight_port{"cdma_wt", "cdma"};

    // Kernel groups simulated for timing only may be left out, see models/npu/steady_groups.

    /// Which of an operation's groups may be: while its weights are being read, only the last ones,
    /// in multiples of `step`; any number once all are in the buffer and no others are read.
    GroupStream::Removable removable_groups(const ConvWork& work) const;
    /// All state that later groups depend on, once the sequencer has begun group number `begun`.
    void add_state(Fingerprint& state, const ConvWork& work, std::uint32_t begun) const;
    /// Requests for a cube's lines are cut where addresses are a multiple of this.
    Bytes request_window() const { return memory_atom_ * config_.request_atoms; }
    /// The added state covers all that is being read: no data, nothing compressed.
    bool tells_all() const {
        const bool reads = reading_.work != nullptr;
        return activities().front().idle() && (reads || activities().back().idle()) &&
               !(reads && reading_.work->job.parts.cdma.compression);
    }
    /// Other state that later operations depend on, without values.
    void add_next_state(Fingerprint& state, const ConvWork& work) const;
    /// Beats that reading `groups` groups takes in simulated time; 0 once all have been read.
    std::uint64_t beats_under_way(const ConvWork& work, std::uint32_t groups) const;
    void leave_out(ConvWork& work, std::uint32_t groups);

    /// Called when all data, or all weights, of an operation are in the buffer.
    void on_data_done(std::function<void(const ConvWork&)> listener) {
        data_done_ = std::move(listener);
    }
    void on_weights_done(std::function<void(const ConvWork&)> listener) {
        weights_done_ = std::move(listener);
    }

 private:
    void run_data(Activity& activity);
    void run_weights(Activity& activity);
    /// Sets the buffer's split and when the fetches begin.
    void prepare_buffer(Activity& activity, ConvWork& work);
    /// Waits until the contents of the weight banks have been taken.
    void wait_for_weights_taken(Activity& activity, const ConvWork& work);
    /// Waits until the previous operation has passed the sequencer.
    void wait_for_sequencer(Activity& activity);
    void fetch_operands(const std::shared_ptr<ConvWork>& of);
    void fetch_weights(const std::shared_ptr<ConvWork>& work);
    void keep_data(const std::shared_ptr<ConvWork>& work);
    /// Which weights stay in the buffer, once their values are known.
    void keep_weights(const ConvWork& work);
    /// Where values arrive with the reads: what is known at launch, and a group that has arrived.
    void expect_operands(const std::shared_ptr<ConvWork>& of);
    void take_group(ConvWork& work, std::uint32_t group);
    std::unique_ptr<DataStream> data_stream(const ConvWork& work);
    std::unique_ptr<GroupStream> weight_stream(const ConvWork& work);
    std::unique_ptr<GroupStream> compressed_stream(const ConvWork& work);
    /// One cycle per beat is work; the others are waits, for room in the buffer or for memory.
    static void count_fetch(Activity& activity, Recorder::Span span, std::uint64_t beats,
                            const char* without_room);
    void read_data(Activity& activity, const std::shared_ptr<ConvWork>& of);
    void read_weights(Activity& activity, ConvWork& work);

    const CdmaConfig config_;
    const Bytes bus_width_;
    const Bytes memory_atom_;
    OperandFetch fetch_;
    Wires wires_;
    Channel<std::shared_ptr<ConvWork>> weight_launches_{"cdma.weight_launches"};
    Channel<Cycles> weights_finished_{"cdma.weights_finished"};
    std::optional<Cycles> finished_;  // end of the previous operation, so that the next may start
    std::function<void(const ConvWork&)> data_done_;
    std::function<void(const ConvWork&)> weights_done_;
    /// The weights that are being read.
    struct Reading {
        const ConvWork* work = nullptr;  ///< null: none are
        GroupStream* stream = nullptr;
        std::uint32_t place = 0;     ///< group of the stream that is expected next
        std::uint32_t left_out = 0;  ///< groups that the stream will not deliver
    };
    Reading reading_;
    std::optional<BankSplit> split_;
    std::shared_ptr<const ConvWork> before_;  // whose weights were read last
    // what the buffer holds for a following operation that reuses it
    std::shared_ptr<const ElementTensor> kept_data_;
    std::shared_ptr<const LateKernels> kept_weights_;
    BufferUse kept_use_;
    std::vector<std::shared_ptr<const WeightKernels>> kept_groups_;  // in place of kept_weights_
    BufferedWeights buffered_;                                       // used by the value thread
    std::size_t announced_ = 0;            // in it, before the running operation
    std::uint64_t kept_weight_bytes_ = 0;  // of an operation that releases none of its own
};

}  // namespace npuscope
