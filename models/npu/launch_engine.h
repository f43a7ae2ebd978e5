// SPDX-License-Identifier: Apache-2.0
// From op-enable to launch, without timing: when all blocks that an operation needs are enabled in
// the next register group, their registers are decoded, once, into a job. The engine knows the
// order of launches, what operations pass on the fly, and what convolutions leave in their buffer.
// The dispatcher adds timing to it, a static check adds rules. BDMA, whose registers are a queue,
// is not part of it.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/conv/buffer_history.h"
#include "models/csb/register_file.h"
#include "models/layout/feature_cube.h"
#include "models/npu/pipelines.h"

namespace npuscope {

// Results that pass on the fly from one unit to the next, without memory: from the accumulators to
// the SDP, from the SDP to the PDP. Both units are programmed separately, and the hardware does not
// notice when their registers disagree.

/// An operation at one end, and the cube that its registers describe.
struct OnTheFlyEnd {
    std::string operation;  ///< `conv 1`
    FlyingCube cube;
    ConvMode mode = ConvMode::Direct;   ///< for a convolution
    std::optional<Precision> leaves{};  ///< for the SDP: the type after its output convertor
    unsigned group = 0;                 ///< of its registers
    bool known = true;                  ///< not if the registers make no job: there is no cube
};

struct OnTheFlyPair {
    OnTheFlyEnd producer;
    OnTheFlyEnd consumer;

    /// Contradictions between the two, at the registers of the consumer. Errors: `shape_mismatch`,
    /// and `precision_mismatch`; the latter is a warning where the SDP takes the accumulators'
    /// integers in a different width. `precision_conversion`, a warning: the SDP converts something
    /// other than a direct convolution's result. `unit`: the consumer's, NVDLA_SDP or NVDLA_PDP.
    Diagnostics contradictions(std::string_view unit) const;
};

/// Producers and consumers between two units, paired in order.
class OnTheFlyPairs {
 public:
    /// The pair that this end completes; nothing while the other end is missing.
    std::optional<OnTheFlyPair> produce(OnTheFlyEnd end);
    std::optional<OnTheFlyPair> consume(OnTheFlyEnd end);

 private:
    std::optional<OnTheFlyPair> pair();

    std::deque<OnTheFlyEnd> producers_;
    std::deque<OnTheFlyEnd> consumers_;
};

/// Register blocks that launch together; their two groups are used alternately.
class LaunchGate {
 public:
    explicit LaunchGate(std::vector<RegisterFile*> files) : files_(std::move(files)) {}

    unsigned group() const { return next_group_; }
    /// All blocks are enabled in the next group, and not launched yet.
    bool open() const;
    /// What was launched has finished.
    bool idle() const;
    /// Registers of a block in the next group.
    const RegisterValues& values(std::size_t block) const {
        return files_[block]->values(next_group_);
    }
    /// When a block of the next group was enabled.
    Cycles enabled(std::size_t block) const { return enabled_[block][next_group_]; }
    /// A group of `file`, which may belong to another gate, has been enabled.
    void note_enabled(const RegisterFile& file, unsigned group, Cycles time);
    /// The group has been launched; the other one is next.
    void pass();
    /// A block, which may belong to another gate, has finished its running operation.
    void finish(std::string_view block);
    void finish_all();

    /// A block that is enabled in a group but has not started.
    struct Waiting {
        std::string_view block;
        unsigned group = 0;
        unsigned next_group = 0;  ///< the group that would start
    };
    void add_waiting(std::vector<Waiting>& waiting) const;

 private:
    void finish(std::size_t index);

    std::vector<RegisterFile*> files_;
    std::vector<std::array<bool, 2>> launched_ = std::vector<std::array<bool, 2>>(files_.size());
    std::vector<std::array<Cycles, 2>> enabled_ = std::vector<std::array<Cycles, 2>>(files_.size());
    unsigned next_group_ = 0;
};

/// One operation of one pipeline, as its registers describe it, and its position among the others.
struct Launch {
    std::string name;  ///< `sdp 3`
    Pipeline pipeline = Pipeline::Conv;
    unsigned group = 0;
    /// When its read DMA was enabled; nothing if that takes no part.
    std::optional<Cycles> rdma_enabled;
    unsigned rdma_group = 0;  ///< of its read DMA's registers, which launches on its own
    RegisterJob job;
    BufferStart start;  ///< for a convolution whose registers agree
    /// What the operation consumes and produces on the fly; nothing: from and to memory.
    std::optional<FlyingCube> consumes;
    std::optional<FlyingCube> produces;
    /// Pairs that this operation completes.
    std::vector<OnTheFlyPair> pairs;
    /// Without a location; `operation` is this one or an earlier one.
    Diagnostics findings;
};

/// Marks that an operation or a surface needs something that the NPU lacks: a run refuses it.
Diagnostic as_lacking(Diagnostic finding);
bool is_lacking(const Diagnostic& finding);

class LaunchEngine {
 public:
    /// The registers of a block by its published name.
    using FileOf = std::function<RegisterFile&(std::string_view block)>;
    LaunchEngine(const NpuConfig& npu, const FileOf& file_of);

    void note_enabled(const RegisterFile& file, unsigned group, Cycles time = Cycles(0));
    /// The next operation that starts; nothing if none can.
    std::optional<Launch> next();
    /// A block has finished its running operation.
    void finish(std::string_view block);
    /// All blocks of the pipeline have finished theirs.
    void finish(Pipeline pipeline, bool uses_rdma);
    /// `sdp 3`: all operations are numbered together, whichever unit runs them.
    std::string next_name(std::string_view unit);
    std::vector<LaunchGate::Waiting> waiting() const;

    /// Operations so far.
    std::uint64_t launched() const { return count_; }
    /// `operations` more operations count as launched.
    void leave_out(std::uint64_t operations) { count_ += static_cast<unsigned>(operations); }
    /// The name of an operation of the same unit that is launched `operations` operations later.
    static std::string later_name(const std::string& name, std::uint64_t operations);
    /// What earlier operations mean for the next one. Groups of the units that a convolution uses
    /// are counted from `group` on.
    void add_state(Fingerprint& state, unsigned group) const;

 private:
    struct Gates {
        LaunchGate main;
        std::optional<LaunchGate> rdma;  ///< where it may be left out
    };

    Gates& gates(Pipeline pipeline) { return gates_[static_cast<std::size_t>(pipeline)]; }
    std::optional<Launch> try_launch(Pipeline pipeline);
    /// A read DMA of the SDP that is enabled with nothing to read ends at once.
    /// source: nv_small RTL, NV_NVDLA_SDP_rdma.v: each part is done if it is disabled
    void end_idle_reads();
    std::optional<Launch> launch_conv(Gates& gates);
    std::optional<Launch> launch_sdp(Gates& gates);
    /// Any other pipeline, according to its row.
    std::optional<Launch> launch_unit(Pipeline pipeline, Gates& gates);
    /// Element-wise operands on an NPU that lacks them produce a job and the warning
    /// `absent_feature`: what the operation touches is known, but it cannot run.
    std::optional<SdpJob> decode_sdp_of(const Gates& gates, Diagnostics& findings) const;
    /// Takes the next group; `findings` are those of the operation.
    Launch begin(Pipeline pipeline, bool uses_rdma, Diagnostics findings);
    /// Tracks the buffer from one convolution to the next.
    void follow_buffer(const ConvJob& job, Launch& launch);
    /// Input lines that a pooling operation leaves disturb the next one.
    void follow_lines(const PdpJob* job, Launch& launch);
    static void add_pair(std::optional<OnTheFlyPair> pair, std::string_view unit, Launch& launch);

    const NpuConfig npu_;
    std::vector<Gates> gates_;  // by pipeline
    BufferHistory history_;
    std::optional<Diagnostic> lines_left_;  // by the previous pooling
    OnTheFlyPairs to_sdp_;
    OnTheFlyPairs to_pdp_;
    unsigned count_ = 0;
};

}  // namespace npuscope
