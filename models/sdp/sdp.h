// SPDX-License-Identifier: Apache-2.0
// Single-point data processor with its read DMAs: takes atoms from the accumulator or a cube from
// memory, operands of its three stages from memory, and writes the result or sends it on to PDP.
// The taking of atoms is computed ahead, as far as their input is known; a second thread writes the
// results when they leave. Not modelled: stages stalled by a full write channel.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/base/statistics.h"
#include "models/layout/datapath.h"
#include "models/layout/tensor.h"
#include "models/link/atom_run.h"
#include "models/link/channel.h"
#include "models/link/surface_port.h"
#include "models/link/unit.h"
#include "models/sdp/operand_reader.h"
#include "models/sdp/result_requests.h"
#include "models/sdp/sdp_config.h"
#include "models/sdp/sdp_job.h"
#include "models/sdp/sdp_math.h"
#include "models/sdp/sdp_timing.h"

namespace npuscope {

/// One operation on its way through the unit.
struct SdpWork {
    SdpJob job;
    std::string name;
    unsigned group = 0;
    bool values = true;      ///< false: timing only
    bool uses_rdma = false;  ///< NVDLA_SDP_RDMA was enabled with it
    Cycles rdma_enabled;     ///< when
    LookupTables tables;
    SdpCounters counters;
    OperationRecord record;
};

class Sdp : public Unit {
 public:
    using SourceRun = AtomRun<std::int32_t>;
    using ResultRun = AtomRun<std::int8_t, ElementTensor>;
    /// What the unit is wired to.
    struct Wires {
        Channel<SourceRun>& accumulated;
        Channel<ResultRun>& to_pdp;
        Bytes bus_width;
        ValueThread& values;
        std::uint32_t pooling_bytes = 1;  ///< that the PDP accepts per cycle
    };
    Sdp(const sc_core::sc_module_name& name, const SdpConfig& config,
        const DatapathConfig& datapath, const Wires& wires);

    Channel<std::shared_ptr<SdpWork>> launches{"sdp.launches"};
    OperandReader source{"sdp"};
    PerStage<OperandReader> operands{OperandReader("sdp_b"), OperandReader("sdp_n"),
                                     OperandReader("sdp_e")};
    DmaPort write_port{"sdp", "sdp", "sdp_write"};

    void on_done(std::function<void(const std::shared_ptr<SdpWork>&)> listener) {
        done_ = std::move(listener);
    }
    /// Called once it is known when a convolution's last sum is taken, possibly in the future.
    void on_sums_taken(std::function<void(const SdpWork&, Cycles last)> listener) {
        sums_taken_ = std::move(listener);
    }
    // Atoms of a convolution may be left out, see models/npu/steady_groups.

    struct Position {
        std::uint64_t ended = 0;  ///< operations of the accumulator taken completely
        std::uint64_t atoms = 0;  ///< of the current one
    };
    Position position() const { return {ended_, atom_}; }
    void add_state(Fingerprint& state, std::uint32_t group) const;
    /// What it takes leaves in lines, as it comes: no held-back data tells two moments apart.
    bool takes_lines() const { return output_ && !requests_.reorders() && !drain_.limited(); }
    /// The running operation has been renamed.
    void rename_output() { output_->purpose.operation = output_->work->name; }
    /// Other state that this operation and the next one depend on.
    void add_next_state(Fingerprint& state) const;
    /// `atoms` more atoms may be left out of the operation that now takes them from the
    /// accumulator, from this kernel group on.
    bool can_leave_out(std::uint32_t group, std::uint64_t atoms) const;
    /// Afterwards their results are in memory, if there are values.
    void leave_out(std::uint32_t group, std::uint64_t atoms);

    /// Called where the end of an operation met the previous end on its way in.
    void on_ends_met(std::function<void(const SdpWork&, EndMarks::Meeting)> listener) {
        ends_met_ = std::move(listener);
    }
    /// Called where a wrong mark closes the operation after this many of its atoms.
    void on_closed_early(std::function<void(const SdpWork&, std::uint64_t)> listener) {
        closed_early_ = std::move(listener);
    }

 private:
    /// An operation and what writes its results.
    struct Output {
        std::shared_ptr<SdpWork> work;
        Purpose purpose;
        std::vector<CubeWriter> writers{};  ///< one per batch
    };
    /// A run of results on its way to memory.
    struct Outgoing {
        PixelRun run;
        std::size_t batch = 0;
        std::shared_ptr<Output> output;
        bool last = false;
    };
    /// An operation whose atoms have all been taken.
    struct Ending {
        std::shared_ptr<Output> output;
        Cycles left;  ///< last atom at the write port
        /// Atoms that hold no channel left after the last one; their writes take this long.
        std::optional<Cycles> padding{};
    };
    /// Neighbouring atoms of one surface that are taken in sequence.
    struct Run {
        std::uint32_t surface = 0;
        std::uint64_t first_pixel = 0;
        std::uint64_t count = 0;
        Cycles first_ready{};  ///< none earlier
        Cycles interval{};     ///< from one to the next
        TimedCounter* credits = nullptr;
        Cycles credit_delay{};
        bool last = false;
    };
    void run_operation(Activity& activity);
    void start_reading(SdpWork& work);
    void read_source(SdpWork& work, Cycles start);
    void run_flying(Activity& activity, SdpWork& work);
    /// Takes a run in the giver's thread if nothing needs to be waited for.
    using Offer = Channel<SourceRun>::Offer;
    Offer take_at_once(const SourceRun& run);
    /// Takes what came from the accumulator; returns the time of the last atom.
    Cycles take_flying(Activity& activity, SdpWork& work, const SourceRun& run);
    void run_from_memory(Activity& activity, SdpWork& work);
    /// Takes the atoms of a run; returns the time of the last.
    Cycles take_run(Activity& activity, SdpWork& work, const Run& run);
    /// Returns the credits of atoms taken at these times, the first of them after `done` others of
    /// the run, and notes how long before that the last one entered.
    void enter(const Run& run, std::uint64_t done, const TimedCounter::Series& taken);
    Cycles take_atom(Activity& activity, SdpWork& work, Cycles ready);
    /// Atoms of the run, after the `done` first ones, that need no other beats than the atom before
    /// them needed, and arrive no slower than atoms are taken.
    std::uint64_t even_atoms(const Run& run, std::uint64_t done) const;
    void take_evenly(SdpWork& work, std::uint64_t count);
    /// When the next atom has what it needs from memory, expressed as times of taking it.
    struct InputsReady {
        Cycles before;  ///< of all but the last stage with operands
        Cycles last;    ///< of that one
    };
    InputsReady inputs_ready(Activity& activity);
    /// The open streams may go on: an atom has been taken.
    void make_room();
    /// When atoms of a run were taken.
    struct Taken {
        Cycles first;
        Cycles last;
        Cycles interval;
    };
    void hand_on(Activity& activity, SdpWork& work, const Run& run, const Taken& taken);
    /// From the last beat of an operand to the atom that uses it, by stage. Where beats hold
    /// several atoms, those of the element-wise stage pass their own convertor.
    /// source: NV_NVDLA_SDP_CORE_Y_cvt.v of nvdlav1; nv_full RTL, simulated
    PerStage<Cycles> operands_to_atom(const SdpJob& job) const;
    /// Cycles in which a stage's operands for an atom pass, one memory atom per cycle.
    /// source: NV_NVDLA_SDP_NRDMA_eg.v of nvdlav1; nv_full RTL, simulated
    Cycles operand_cycles(const SdpJob& job, std::size_t stage) const;
    /// What the stages before the last one with operands from memory add.
    Cycles before_last_operands(const SdpJob& job) const;
    /// From taking an atom to the request for a slot that its operands of a stage free.
    Cycles pack_request(const SdpJob& job, std::size_t stage) const;
    /// The source's atoms wait in packs like operands.
    void pack_source(const SdpJob& job, SdpStreamPlan& plan) const;
    OperandPairs pairs_of(const SdpJob& job, std::size_t stage, const SdpStreamPlan& plan) const;
    std::optional<PoolingLimit> pooling_limit(const SdpJob& job) const;
    /// The results of a run, which may span several destinations, on their way to memory.
    void send(Activity& activity, const Run& run, Cycles first_left, Cycles interval);
    void finish(Activity& activity, const SdpWork& work);
    /// The response to an operation's last write ends it, while the next one already runs.
    void end_operation(Activity& activity);
    void write_results(Activity& activity);
    /// Requests the values of one stage's operands, if the operation has any.
    void fetch_operands(std::size_t stage, const Purpose& purpose);
    /// The result of the running operation, if it has values, from all that it takes.
    template <class Input>
    void compute(const std::shared_ptr<const Input>& input);
    void open_writers(const SdpJob& job);
    /// Where values arrive with the reads: results are computed run by run.
    void begin_result(const SdpWork& work);
    void compute_run(SdpWork& work, const Run& run);
    void compute_pixels(SdpWork& work, const PixelRun& run);
    /// Computes a whole surface with its first atom if all its inputs have arrived; otherwise false.
    bool compute_surface(SdpWork& work, std::uint32_t surface);
    void compute_part(SdpWork& work, const TensorPart& part);
    /// Channels of an atom in the stages: a kernel group's, or those of memory's atoms.
    std::uint32_t lanes(const SdpJob& job) const {
        return job.flying() ? datapath_.group_kernels(job.stages.processing)
                            : datapath_.atom_channels(job.stages.processing);
    }

    const SdpConfig config_;
    const DatapathConfig datapath_;
    Wires wires_;
    std::function<void(const std::shared_ptr<SdpWork>&)> done_;
    std::function<void(const SdpWork&, Cycles)> sums_taken_;
    std::function<void(const SdpWork&, EndMarks::Meeting)> ends_met_;
    std::function<void(const SdpWork&, std::uint64_t)> closed_early_;
    Channel<Cycles> never_{"cacc.atoms after the end"};
    Channel<Outgoing> results_{"sdp.results", 8};
    Channel<WriteResponse> written_{"sdp.written"};
    Channel<Ending> endings_{"sdp.endings"};
    std::shared_ptr<SdpOperands> fetched_;
    std::shared_ptr<const ElementTensor> result_;
    std::shared_ptr<ElementTensor> growing_;  // the same, where it is computed run by run
    std::shared_ptr<const Tensor<std::int32_t>> flying_input_;  // of it
    std::vector<bool> surfaces_computed_;                       // of it, as a whole
    std::shared_ptr<Output> output_;
    ResultRequests requests_;
    std::vector<ResultRequests::Request> requested_;  // of the last run
    AtomDrain drain_;
    Cycles opens_;      // the next operation's first atom may be taken
    Cycles rdma_free_;  // the read DMAs may begin the next operation
    // of the running operation
    PerStage<Cycles> delays_{};
    PerStage<Cycles> to_atom_{};
    PerStage<Cycles> operand_pace_{};
    PerStage<Cycles> operands_free_{};
    OperandPairs pairs_;  // of a stage that has them
    HalfPairs half_pairs_;
    Cycles begun_;  // when it was launched
    AtomsAhead ahead_;
    Cycles ahead_of_last_;  // how long before being taken the last atom passed the first stages
    Cycles leaving_;        // from taking an atom to the write channel, without the stages
    Activity* flying_ = nullptr;      // it waits for what comes from the accumulator
    bool reads_ = false;              // a stream from memory is open
    bool reads_each_atom_ = false;    // operands, different for each atom
    std::uint32_t source_parts_ = 1;  // surfaces that an atom of the source spans
    std::vector<Cycles> taken_;       // when each atom was taken, where streams need to know
    std::uint64_t atom_ = 0;          // next to be taken
    std::uint64_t ended_ = 0;         // operations from the accumulator
    Cycles last_left_;                // last atom at the write channel
};

}  // namespace npuscope
