// SPDX-License-Identifier: Apache-2.0
// What a run gives: plain values without any format. sim/report makes tables and JSON of them.
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
    bool pass = false;     ///< true as well where it was skipped
    Place place{};         ///< statement of the program
    bool skipped = false;  ///< not looked at: time alone was simulated
    bool reached = true;   ///< false: the id that it waits for was never raised
    /// Of a region that differs: which operations wrote to it, by which registers.
    std::vector<std::string> writers{};
    std::optional<TensorDifference> difference{};  ///< of a tensor that is not as it should be
};

/// What passed a port towards memory, and the bytes of its beats: one a cycle at most.
struct NamedPort {
    std::string port;
    ClientTraffic traffic;
    Bytes beat;
};

struct NamedUnit {
    std::string unit;
    UnitStatistics statistics;
};

/// What the DRAM of a region did.
struct NamedDram {
    std::string region;
    DramStatistics statistics;
};

/// Unchecked: nothing is wrong, but the program expects nothing, or its checks were skipped.
/// HostOnly: likewise, of a model whose layers with products all ran on the host.
enum class RunStatus { Pass, Fail, Unchecked, HostOnly };

template <>
struct EnumNames<RunStatus> {
    static constexpr std::array names{
        std::pair{RunStatus::Pass, std::string_view("pass")},
        std::pair{RunStatus::Fail, std::string_view("fail")},
        std::pair{RunStatus::Unchecked, std::string_view("unchecked")},
        std::pair{RunStatus::HostOnly, std::string_view(rule_ids::host_only)}};
};

/// A layer of a network, or an operator that the host computes, with what its operations took.
struct LayerRecord {
    std::string name;
    std::string kind{};  ///< `conv`, a pattern, an operator
    bool on_host = false;
    std::uint64_t macs = 0;  ///< that are of use
    double mac_cells = 0;    ///< products per cycle of the array, 0 where it has no part
    CauseCycles causes{};    ///< own cycles of its operations: layers sum to the run
    Cycles hidden{};         ///< cycles of its operations behind those of others
    std::vector<NamedTraffic> traffic{};    ///< by client and port
    std::vector<std::size_t> operations{};  ///< of the result
    std::optional<Deviation> deviation{};   ///< from the model's numbers

    Cycles cycles() const { return causes.sum(); }
};

/// One register program of a model, and the tensors that it reads and leaves.
struct SegmentRecord {
    std::string name;
    Cycles start;
    Cycles cycles;  ///< as a program of its own counts them
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
};

/// What the host computed of a model.
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
    std::optional<ModelMemory> memory{};  ///< where the plan counts it
};

/// A class of a classifier's output, by its name.
struct RankedLabel {
    std::string label;
    std::size_t index = 0;  ///< of the output's numbers
    double score = 0;       ///< that number
    double probability = 0;
};

/// The largest numbers of an output, in order.
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

/// A model that ran with several inputs one after the other, or with several at once; a result tells of
/// the first program.
struct BatchRecord {
    std::size_t inputs = 0;
    Cycles all;    ///< of them together
    Cycles least;  ///< of an input: where several were computed at once, their share
    Cycles most;
    std::size_t at_once = 1;        ///< inputs of the first program
    std::size_t shared_layers = 0;  ///< in which operations took several of them
};

/// Frames of a network one after the other, with two places for inputs, maps and outputs.
struct StreamRecord {
    std::size_t frames = 0;
    Cycles all;              ///< from the launch of the first to the end of the last
    Cycles interval;         ///< from the end of one to the end of the next, on average
    Cycles latency;          ///< of one, from its launch to its end, on average
    Cycles most_latency;     ///< likewise, the longest
    Cycles host;             ///< that the host works for each, beside the NPU
    bool simulated = false;  ///< false: worked out from the cycles of one frame
};

/// One of several NPUs that ran at once behind one memory.
struct InstanceRecord {
    std::string program{};  ///< where each has one of its own
    Cycles cycles;
    ClientTraffic traffic;
    std::size_t failed_checks = 0;
};

/// What several NPUs make of one network.
enum class NetworkSplit {
    Batch,     ///< each all of it, on an input of its own
    Rows,      ///< all of them each layer, some of its rows each
    Pipeline,  ///< each some of the layers, of an input of its own
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
    Cycles alone;     ///< of one NPU for one input
    Cycles interval;  ///< from one input to the next
    Cycles latency;   ///< of an input
};

struct Result {
    std::string version;  ///< of npuscope
    std::string command;  ///< that asked for the run; empty where none did
    std::string program;
    Cycles cycles;            ///< first op-enable write to last awaited interrupt
    Cycles first_op_enable;   ///< when `cycles` begin
    Cycles simulated_cycles;  ///< all of the run
    Cycles repeated_cycles;   ///< of them those that repeat others and were only counted
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
    bool values = true;                           ///< false: time alone was simulated
    std::optional<Timeline> timeline;             ///< where it was asked for
    std::optional<ModelShare> model;              ///< where a model ran
    std::optional<BatchRecord> batch;             ///< where it ran more than once
    std::optional<StreamRecord> stream;           ///< where one was asked for
    std::vector<Ranking> rankings;                ///< where labels were given
    std::vector<InstanceRecord> instances;        ///< where several ran; else empty
    std::optional<SplitRecord> split;             ///< where they share a network
    std::optional<EnergyEstimate> energy;         ///< where a table was given
    std::vector<MappedBytes> memory_map;          ///< where it was asked for
    SystemConfig config;

    std::string npu() const { return config.npu_name(); }
    ClientTraffic total_traffic() const;
    /// Fail where a check failed or a finding is an error; Pass where all checks were made and held,
    /// at least one.
    RunStatus status() const;
    /// Whether the run is as it was meant to be: neither failed nor done by the host alone.
    bool is_good() const { return status() == RunStatus::Pass || status() == RunStatus::Unchecked; }
};

/// Adds what followed in time: what is counted is added up. The first part decides whether there is
/// a model or a timeline.
void append(Result& all, Result part);

/// Share of a model's cycles that the host took, 0 to 1.
double host_share(const Result& result);

/// `cycles` at the NPU's clock.
double microseconds(const Result& result);

/// Share of the array's products that were of use, 0 to 1; nothing where it has no part.
std::optional<double> mac_utilisation(const OperationRecord& operation);
std::optional<double> mac_utilisation(const LayerRecord& layer);

}  // namespace npuscope
