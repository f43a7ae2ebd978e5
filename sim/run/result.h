// SPDX-License-Identifier: Apache-2.0
// The result of a run: plain values without any format. sim/report makes tables and JSON of them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/rule_ids.h"
#include "models/base/statistics.h"
#include "models/base/unit_job.h"
#include "models/memory/memory_config.h"
#include "sim/check/memory_map.h"
#include "sim/compile/model_program.h"
#include "sim/config/system_config.h"
#include "sim/convert/tensor_difference.h"
#include "sim/run/timeline.h"

namespace npuscope {

enum class CheckKind { Crc32, Image, Register, Word, Golden, Layer };

template <>
struct EnumNames<CheckKind> {
    static constexpr std::array names{std::pair{CheckKind::Crc32, std::string_view("crc32")},
                                      std::pair{CheckKind::Image, std::string_view("image")},
                                      std::pair{CheckKind::Register, std::string_view("register")},
                                      std::pair{CheckKind::Word, std::string_view("word")},
                                      std::pair{CheckKind::Golden, std::string_view("golden")},
                                      std::pair{CheckKind::Layer, std::string_view("layer")}};
};

/// One expectation of the program and what became of it.
struct CheckResult {
    CheckKind kind = CheckKind::Crc32;
    std::string subject{};  ///< register, golden file, surface or layer; empty for a CRC
    Address address{};      ///< of the region, or of the first byte that differs
    Bytes bytes{};
    std::string expected{};  ///< as text, `0x8c467827`
    std::string actual{};
    bool pass = false;     ///< also true if it was skipped
    Place place{};         ///< statement of the program
    bool skipped = false;  ///< not checked: timing-only simulation, or nothing is expected
    bool reached = true;   ///< false: the id that it waits for was never raised
    /// For a region that differs: which operations wrote to it, by which registers.
    std::vector<std::string> writers{};
    std::optional<TensorDifference> difference{};  ///< for a tensor that is not as expected
};

/// What passed a port towards memory, and the bytes of its beats: at most one per cycle.
struct NamedPort {
    std::string port;
    ClientTraffic traffic;
    Bytes beat;
};

struct NamedUnit {
    std::string unit;
    UnitStatistics statistics;
};

/// Activity of a region's DRAM.
struct NamedDram {
    std::string region;
    DramStatistics statistics;
};

/// Unchecked: nothing is wrong, but the program expects nothing, or its checks were skipped.
/// HostOnly: as Unchecked, for a model whose layers with MACs all ran on the host.
enum class RunStatus { Pass, Fail, Unchecked, HostOnly };

template <>
struct EnumNames<RunStatus> {
    static constexpr std::array names{
        std::pair{RunStatus::Pass, std::string_view("pass")},
        std::pair{RunStatus::Fail, std::string_view("fail")},
        std::pair{RunStatus::Unchecked, std::string_view("unchecked")},
        std::pair{RunStatus::HostOnly, std::string_view(rule_ids::host_only)}};
};

/// A layer of a network, or an operator that the host computes, with the costs of its operations.
struct LayerRecord {
    std::string name;
    std::string kind{};  ///< `conv`, a pattern, an operator
    bool on_host = false;
    std::uint64_t macs = 0;               ///< useful ones
    double mac_cells = 0;                 ///< MACs per cycle of the array, 0 if it is not involved
    CauseCycles causes{};                 ///< own cycles of its operations: layers sum to the run
    Cycles hidden{};                      ///< cycles of its operations behind those of others
    std::vector<NamedTraffic> traffic{};  ///< by client and port
    std::vector<std::size_t> operations{};  ///< of the result
    std::optional<Deviation> deviation{};   ///< from the model's values

    Cycles cycles() const { return causes.sum(); }
};

/// One register program of a model, and the tensors that it reads and leaves.
struct SegmentRecord {
    std::string name;
    Cycles start;
    Cycles cycles;  ///< as a separate program counts them
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
};

/// The host's part of a model.
struct HostShare {
    Cycles cycles;
    std::uint64_t macs = 0;
    std::size_t operators = 0;
};

/// How NPU and host share a model. `cycles` of the result are both together.
struct ModelShare {
    HostShare host;
    std::vector<SegmentRecord> segments{};
    std::vector<RefusedLayer> refused{};
    std::optional<ModelMemory> memory{};  ///< if the plan counts it
};

/// A class of a classifier's output, by its name.
struct RankedLabel {
    std::string label;
    std::size_t index = 0;  ///< of the output's elements
    double score = 0;       ///< value of that element
    double probability = 0;
};

/// The largest values of an output, in order.
struct Ranking {
    std::string output;
    std::size_t input = 0;  ///< of several that a model ran with, which one
    std::vector<RankedLabel> best{};
};

// What actions cost by a table of energies (sim/report/energy_report).

struct EnergyShare {
    std::string part;
    std::string action;
    std::uint64_t count = 0;
    double picojoules = 0;
};

struct EnergyEstimate {
    std::string process;
    std::vector<EnergyShare> shares{};
    std::vector<std::string> unknown{};  ///< `mac int16`: counted, but without a line
    std::optional<double> mac_square_micrometres{};

    double picojoules() const;
};

/// A model that ran with several inputs one after the other, or with several at once; a result
/// describes the first program.
struct BatchRecord {
    std::size_t inputs = 0;
    Cycles all;    ///< of them together
    Cycles least;  ///< for one input: if several were computed at once, their share
    Cycles most;
    std::size_t at_once = 1;        ///< inputs of the first program
    std::size_t shared_layers = 0;  ///< in which operations processed several of them
};

/// Frames of a network one after the other, with two buffers for inputs, maps and outputs.
struct StreamRecord {
    std::size_t frames = 0;
    Cycles all;              ///< from the launch of the first to the end of the last
    Cycles interval;         ///< from the end of one to the end of the next, on average
    Cycles latency;          ///< of one, from its launch to its end, on average
    Cycles most_latency;     ///< the longest of one frame
    Cycles host;             ///< the host's work for each, in parallel with the NPU
    bool simulated = false;  ///< false: derived from the cycles of one frame
};

/// One of several NPUs that ran at once behind one memory.
struct InstanceRecord {
    std::string program{};  ///< if each has its own
    Cycles cycles;
    ClientTraffic traffic;
    std::size_t failed_checks = 0;
};

/// How several NPUs share one network.
enum class NetworkSplit {
    Batch,     ///< each the whole network, on its own input
    Rows,      ///< all of them every layer, some of its rows each
    Pipeline,  ///< each some of the layers, for its own input
};

template <>
struct EnumNames<NetworkSplit> {
    static constexpr std::array names{
        std::pair{NetworkSplit::Batch, std::string_view("batch")},
        std::pair{NetworkSplit::Rows, std::string_view("rows")},
        std::pair{NetworkSplit::Pipeline, std::string_view("pipeline")}};
};

struct SplitRecord {
    NetworkSplit by = NetworkSplit::Batch;
    Cycles alone;     ///< of a single NPU for one input
    Cycles interval;  ///< from one input to the next
    Cycles latency;   ///< of an input
};

struct Result {
    std::string version;  ///< of npuscope
    std::string command;  ///< that requested the run; empty if none did
    std::string program;
    Cycles cycles;            ///< first op-enable write to last awaited interrupt
    Cycles first_op_enable;   ///< when `cycles` begin
    Cycles simulated_cycles;  ///< all of the run
    Cycles repeated_cycles;   ///< of these, cycles that repeat others and were only counted
    double wall_seconds = 0;
    std::vector<CheckResult> checks;
    std::vector<NamedTraffic> traffic;  ///< by client of the memory interface
    std::vector<NamedPort> ports;       ///< towards memory
    std::vector<OperationRecord> operations;
    std::vector<LayerRecord> layers;  ///< of a network, in its order
    std::vector<NamedUnit> units;
    std::vector<ActionCount> actions;  ///< of its parts, as estimates of energy count them
    std::vector<NamedDram> drams;      ///< of the regions that have one
    std::vector<Diagnostic> findings;
    std::vector<std::vector<std::uint8_t>> kept;  ///< for each of RunOptions::keep; may be empty
    bool values = true;                           ///< false: timing-only simulation
    std::optional<Timeline> timeline;             ///< if requested
    std::optional<ModelShare> model;              ///< if a model ran
    std::optional<BatchRecord> batch;             ///< if it ran more than once
    std::optional<StreamRecord> stream;           ///< if one was requested
    std::vector<Ranking> rankings;                ///< if labels were given
    std::vector<InstanceRecord> instances;        ///< if several ran; else empty
    std::optional<SplitRecord> split;             ///< if they share a network
    std::optional<EnergyEstimate> energy;         ///< if a table was given
    std::vector<MappedBytes> memory_map;          ///< if requested
    SystemConfig config;

    std::string npu() const { return config.npu_name(); }
    ClientTraffic total_traffic() const;
    /// Fail if a check failed or a finding is an error; Pass if all checks were made and held, and
    /// there is at least one.
    RunStatus status() const;
    /// Whether the run is as intended: neither failed nor run by the host only.
    bool is_good() const { return status() == RunStatus::Pass || status() == RunStatus::Unchecked; }
};

/// Appends a later part: what is counted is summed. The first part decides whether there is a model
/// or a timeline.
void append(Result& all, Result part);

/// Share of a model's cycles spent on the host, 0 to 1.
double host_share(const Result& result);

/// `cycles` at the NPU's clock.
double microseconds(const Result& result);

/// Share of the array's MACs that were useful, 0 to 1; nothing if it is not involved.
std::optional<double> mac_utilisation(const OperationRecord& operation);
std::optional<double> mac_utilisation(const LayerRecord& layer);

}  // namespace npuscope
