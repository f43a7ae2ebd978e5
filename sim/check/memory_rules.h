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
#include "models/npu/npu_config.h"
#include "sim/check/byte_states.h"
#include "sim/check/operation_surfaces.h"
#include "sim/program/program.h"

namespace npuscope {

/// What the packets of a file put at `offset` and after it, the last one winning; bytes that none
/// holds stay as they are.
void copy_loaded(const MemoryImage& image, std::uint64_t offset, std::span<std::uint8_t> bytes);

class MemoryRules {
 public:
    struct Machine {
        const NpuConfig& npu;
        const MemoryConfig& memory;
        bool zeroed = false;  ///< uninitialised memory may be read: it is zero
    };
    explicit MemoryRules(const Machine& machine) : machine_(machine) {}

    void fill(const InitMemory& init, const Place& place, DiagnosticLog& log);
    void load(const LoadMemory& load, const Place& place, DiagnosticLog& log);
    /// The program compares the bytes with what it expects.
    void compare(const ByteRun& run, const Place& place, DiagnosticLog& log);
    /// Whether every surface lies in memory.
    void check_bounds(const CheckedOperation& operation, DiagnosticLog& log);
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
        bool read = false;  ///< in part at least
    };

    bool in_memory(const ByteRun& run) const;
    void check_use(const CheckedOperation& operation, const SurfaceUse& use, DiagnosticLog& log);
    void read(const CheckedOperation& operation, const SurfaceUse& use, DiagnosticLog& log);
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

/// A finding about a surface of an operation, at the register of its address.
Diagnostic surface_finding(const CheckedOperation& operation, const SurfaceUse& use, const char* id,
                           const std::string& message);

}  // namespace npuscope
