// SPDX-License-Identifier: Apache-2.0
// What operations do to memory, checked against what is there: regions, overlaps, uninitialised
// bytes, results that are lost. Nothing is computed: of a byte only its origin is known.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/memory/memory_config.h"
#include "sim/check/byte_states.h"
#include "sim/check/operation_surfaces.h"
#include "sim/program/program.h"

namespace npuscope {

class MemoryRules {
 public:
    struct Machine {
        const MemoryConfig& memory;
        std::uint32_t address_bits = 64;
        bool zeroed = false;  ///< uninitialised memory may be read: it is zero
    };
    explicit MemoryRules(const Machine& machine) : machine_(machine) {}

    void fill(const InitMemory& init, const Place& place, DiagnosticLog& log);
    void load(const LoadMemory& load, const Place& place, DiagnosticLog& log);
    /// The host reads and writes the NPU's memory.
    void run(const RunNode& node, const Place& place);
    /// The program compares the bytes with what it expects.
    void compare(const ByteRun& run, const Place& place, DiagnosticLog& log);
    /// Whether a surface lies in memory, and its lines beside each other.
    void check_use(const CheckedOperation& operation, const SurfaceUse& use,
                   DiagnosticLog& log) const;
    /// Whether all bytes of a described surface are there.
    void expect_loaded(const SurfaceUse& use, DiagnosticLog& log) const;
    /// Reads, then writes of an operation that has just been launched.
    void launch(const CheckedOperation& operation, DiagnosticLog& log);
    /// From now on a unit that is not followed may read and write any byte: operands and
    /// comparisons are checked for where they lie, no longer for their origin.
    void lose_track() { lost_track_ = true; }
    /// The bytes of a run as they were loaded or filled; nothing where an operation wrote any of
    /// them, where one is uninitialised, or after lose_track().
    std::optional<std::vector<std::uint8_t>> contents(const ByteRun& run) const;
    /// Results of which a part was read and a part never was.
    void report_unread(DiagnosticLog& log) const;

 private:
    struct SeenBytes;
    struct Owner {
        std::string operation;
        SurfaceUse use;
        Place place;
        bool read = false;             ///< in part at least
        std::uint32_t lines_left = 0;  ///< of each surface, after the last windows of readers
    };

    bool in_memory(const ByteRun& run) const;
    /// What lies there; whose results it is counts as read.
    SeenBytes look_at(std::span<const ByteRun> runs);
    void judge(const CheckedOperation& operation, const SurfaceUse& use, const SeenBytes& seen,
               DiagnosticLog& log) const;
    void judge_strides(const CheckedOperation& operation, const SurfaceUse& use,
                       const SeenBytes& seen, DiagnosticLog& log) const;
    void write(const CheckedOperation& operation, const SurfaceUse& use, DiagnosticLog& log);

    Machine machine_;
    bool lost_track_ = false;
    ByteStates bytes_;
    std::vector<const LoadMemory*> loads_;  // of the program, which outlives this
    std::vector<FillPattern> fills_;
    std::deque<Owner> owners_;
};

/// What mask, group sizes and values of compressed weights contradict each other in. Nothing where
/// mask or sizes are not known; where values are not, they are not judged.
/// source: NVDLA format page; nv_full C model
std::vector<Diagnostic> compressed_findings(const CompressedUse& use, const MemoryRules& memory);

}  // namespace npuscope
