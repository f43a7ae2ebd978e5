// SPDX-License-Identifier: Apache-2.0
// What operations do to memory, held against what is there: regions, overlaps, bytes that nobody
// put there, results that are lost, and operations that run at one time. Nothing is computed:
// bytes are known by who wrote them.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "models/memory/memory_config.h"
#include "models/npu/npu_config.h"
#include "sim/check/byte_states.h"
#include "sim/check/checked_operation.h"
#include "sim/check/found.h"
#include "sim/program/program.h"

namespace npuscope {

struct SeenBytes;

class MemoryRules {
 public:
    struct Machine {
        const NpuConfig& npu;
        const MemoryConfig& memory;
        bool zeroed = false;  ///< memory that nobody wrote may be read
    };
    explicit MemoryRules(const Machine& machine) : machine_(machine) {}

    void fill(const InitMemory& init, const Place& place, FoundList& found);
    void load(const LoadMemory& load, const Place& place, FoundList& found);
    /// The program compares the bytes with what it expects.
    void compare(const ByteRun& run, const Place& place, FoundList& found);
    /// Whether every surface lies in memory.
    void check_bounds(const CheckedOperation& operation, FoundList& found);
    /// Reads, then writes of an operation that has just been launched.
    void launch(const CheckedOperation& operation, FoundList& found);
    /// From now on a unit that is not followed may read and write any byte: neither operands nor
    /// comparisons are judged by who wrote them, only by where they lie.
    void lose_track() { lost_track_ = true; }
    /// The bytes of a run as they were loaded or filled; nothing where an operation wrote any of
    /// them, where nobody put any, or after lose_track().
    std::optional<std::vector<std::uint8_t>> contents(const ByteRun& run) const;
    /// Results of which a part was read and a part never was.
    void report_unread(FoundList& found) const;

 private:
    struct Owner {
        std::string operation;
        SurfaceUse use;
        Place place;
        bool read = false;  ///< in part at least
    };

    bool in_memory(const ByteRun& run) const;
    void check_use(const CheckedOperation& operation, const SurfaceUse& use, FoundList& found);
    void read(const CheckedOperation& operation, const SurfaceUse& use, FoundList& found);
    void judge(const CheckedOperation& operation, const SurfaceUse& use, const SeenBytes& seen,
               FoundList& found) const;
    void judge_strides(const CheckedOperation& operation, const SurfaceUse& use,
                       const SeenBytes& seen, FoundList& found) const;
    void write(const CheckedOperation& operation, const SurfaceUse& use, FoundList& found);

    Machine machine_;
    bool lost_track_ = false;
    ByteStates bytes_;
    std::vector<const LoadMemory*> loads_;  // of the program, which outlives this
    std::vector<FillPattern> fills_;
    std::deque<Owner> owners_;
};

/// One finding about a surface of an operation.
Found surface_found(const CheckedOperation& operation, const SurfaceUse& use, const char* kind,
                    const std::string& message);

}  // namespace npuscope
