// SPDX-License-Identifier: Apache-2.0
// What operations do to memory, checked against its contents: regions, overlaps, uninitialised
// bytes, results that are lost. Nothing is computed: only the origin of each byte is known.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/layout/byte_pieces.h"
#include "models/memory/memory_config.h"
#include "sim/check/operation_surfaces.h"
#include "sim/program/program.h"

namespace npuscope {

// What each byte of memory holds while a program is followed without running it: its origin, and
// whether it has been read since.

enum class ByteOrigin { Filled, Loaded, Written };

struct ByteState {
    ByteOrigin origin = ByteOrigin::Filled;
    std::size_t by = 0;      ///< index of the load, or of the surface that was written
    bool looked_at = false;  ///< read by an operation or compared by the program

    bool operator==(const ByteState&) const = default;
};

using ByteStates = BytePieces<ByteState>;

class MemoryRules {
 public:
    struct Machine {
        const MemoryConfig& memory;
        std::uint32_t address_bits = 64;
        bool zeroed = false;  ///< uninitialised memory may be read: it is zero
        Bytes atom{1};        ///< addresses of surfaces are multiples of it
    };
    explicit MemoryRules(const Machine& machine) : machine_(machine) {}

    void fill(const InitMemory& init, const Place& place, DiagnosticLog& log);
    void load(const LoadMemory& load, const Place& place, DiagnosticLog& log);
    /// The host reads and writes the NPU's memory.
    void run(const RunNode& node, const Place& place);
    /// The program compares the bytes with what it expects.
    void compare(const ByteRun& run, const Place& place, DiagnosticLog& log);
    /// The same with the bytes that it expects: those that no operation writes are known.
    void compare(const CheckImage& check, const Place& place, DiagnosticLog& log);
    /// A single word is no complete result.
    void compare_word(const ByteRun& run, const Place& place, DiagnosticLog& log) {
        compare_bytes(run, place, log);
    }
    /// Whether a surface is within memory, and its lines do not overlap.
    void check_use(const CheckedOperation& operation, const SurfaceUse& use,
                   DiagnosticLog& log) const;
    /// Whether all bytes of a described surface have been loaded.
    void expect_loaded(const SurfaceUse& use, DiagnosticLog& log) const;
    /// Whether operations, or the host, have written all bytes of an output of the program.
    void expect_written(const std::string& output, std::span<const ByteRun> runs,
                        DiagnosticLog& log) const;
    /// Reads, then writes of an operation that has just been launched.
    void launch(const CheckedOperation& operation, DiagnosticLog& log);
    /// From now on a unit that is not followed may read and write any byte: operands and
    /// comparisons are still checked for their location, but not for their origin.
    void lose_track() { lost_track_ = true; }
    /// The bytes of a run as they were loaded or filled; nothing if an operation wrote any of them,
    /// if one is uninitialised, if there are more than most_contents, or after lose_track().
    static constexpr Bytes most_contents{std::uint64_t{4} << 30};
    std::optional<std::vector<std::uint8_t>> contents(const ByteRun& run) const;
    /// Results that were read only in part.
    void report_unread(DiagnosticLog& log) const;

 private:
    /// Origin of the bytes of a surface, summed over its pieces. Missing: neither loaded nor
    /// written.
    struct SeenBytes {
        std::uint64_t unwritten = 0;
        std::uint64_t filled = 0;
        std::uint64_t loaded = 0;
        std::uint64_t written = 0;
        std::uint64_t head = 0;            ///< missing before all others
        std::uint64_t tail = 0;            ///< missing after all others
        std::uint64_t before_written = 0;  ///< up to the first that was written
        std::uint64_t after_written = 0;   ///< after the last that was written
        std::optional<Address> first_unwritten;
        std::optional<Address> first_missing;
        std::optional<Address> first_written;
        std::set<std::size_t> writers;
        std::set<std::size_t> loads;
        std::size_t first_load = 0;  ///< by address, an index into `loads`
        std::size_t last_load = 0;

        void add(const ByteRun& piece, const ByteState* state);
    };
    struct Owner {
        std::string operation;
        SurfaceUse use;
        Place place;
        bool read = false;             ///< at least in part
        Bytes gap{};                   ///< bytes that its strides leave after the last line
        std::uint32_t lines_left = 0;  ///< of each surface, before and after the readers' windows
    };
    /// A file that is loaded, and the first operation that reads from it.
    struct Load {
        const LoadMemory* load = nullptr;  ///< of the program, which outlives this
        Place place;
        std::string operation{};  ///< the first that reads from it
        std::optional<SurfaceUse> use{};
        bool begins_there = false;         ///< an operand begins at its address
        bool copied = false;               ///< by a unit that only moves bytes: any part of it
        std::vector<SurfaceUse> slices{};  ///< its readers, without their bytes
        std::vector<SurfaceUse> planes{};  ///< of pixels, without their bytes
        std::vector<std::pair<std::string, SurfaceUse>> readers{};  ///< each with its operation
        Bytes gap{};  ///< bytes that the readers' strides may leave after their last line
        std::uint32_t lines_left = 0;        ///< lines that the windows of a reader may leave
        std::uint32_t columns_left = 0;      ///< columns that they may leave
        std::vector<ByteRun> overwritten{};  ///< by results, before they were read

        ByteRun run() const { return {load->address, Bytes(load->image.end())}; }
        /// The same file at the same address.
        bool is_again(const LoadMemory& other) const {
            return load->file == other.file && load->address == other.address;
        }
        /// Bytes are left out: zeros, as some tools write files.
        bool sparse() const { return load->image.runs.size() > 1; }
    };

    bool in_memory(const ByteRun& run) const;
    static void report_unused(const Owner& owner, DiagnosticLog& log);
    void note_reader(const CheckedOperation& operation, const SurfaceUse& use, DiagnosticLog& log);
    /// Parts of one surface are whole lines apart.
    static bool lie_lines_apart(const SurfaceUse& one, const SurfaceUse& other);
    /// Bytes that are features to one operation and weights or per-channel values to another.
    void judge_kind(const CheckedOperation& operation, const SurfaceUse& use, const SeenBytes& seen,
                    DiagnosticLog& log);
    void report_slice(const CheckedOperation& operation, const SurfaceUse& use,
                      const SurfaceUse& other, DiagnosticLog& log) const;
    /// What an operand was most likely meant to fill: the file or the result that contains it.
    ByteRun expected_region(const SurfaceUse& use, const SeenBytes& seen) const;
    /// `found` has id, sentence and address; `region` is what the operand was probably meant to
    /// fill.
    bool report_extent(const CheckedOperation& operation, const SurfaceUse& use,
                       const Diagnostic& found, const ByteRun& region, DiagnosticLog& log) const;
    /// An operand that extends beyond the result, or the file, that holds its beginning; whether it
    /// was reported.
    bool judge_extent(const CheckedOperation& operation, const SurfaceUse& use,
                      const SeenBytes& seen, DiagnosticLog& log) const;
    /// Whether the file has all values that the mask of compressed weights keeps; zeros that fill
    /// up the last block of bytes may be missing.
    bool holds_values(const CheckedOperation& operation, const SurfaceUse& use,
                      const ByteRun& file) const;
    /// Each of several cubes by itself.
    bool judge_batches(const CheckedOperation& operation, const SurfaceUse& use,
                       DiagnosticLog& log) const;
    bool judge_loaded(const CheckedOperation& operation, const SurfaceUse& use,
                      const SeenBytes& seen, DiagnosticLog& log) const;
    /// A comparison with results that are elsewhere, or of another size.
    void judge_compared(const ByteRun& run, const SeenBytes& seen, const Place& place,
                        DiagnosticLog& log) const;
    /// The result that was most likely meant to be in the region.
    const Owner* meant_for(const ByteRun& region) const;
    /// A result of the region's size that has not been read: it may have been meant.
    std::string elsewhere(const ByteRun& region) const;
    /// Bytes of a line, or of per-channel values, between others that are read.
    static bool is_part_of_line(const Load& load, const ByteRun& hole);
    /// Bytes that may be left after the last line that is read from a file.
    static Bytes gap_of(const Load& load);
    /// Whole lines that no part of a surface covers, though parts before and after them are read.
    static bool lies_between_slices(const Load& load, const ByteRun& hole);
    /// The part of a file that no operation reads.
    struct Unread {
        std::optional<ByteRun> hole;  ///< between parts that are read, the first that is not 0
        std::uint64_t head = 0;
        std::uint64_t tail = 0;
        std::uint64_t read = 0;
        std::uint64_t unread = 0;
    };
    void note_unread(const ByteRun& piece, const ByteState& state, Unread& one) const;
    std::vector<Unread> unread_loads() const;
    void report_unread_loads(DiagnosticLog& log) const;
    /// Origin of the bytes; nothing if they cannot be a result at all.
    std::optional<SeenBytes> compare_bytes(const ByteRun& run, const Place& place,
                                           DiagnosticLog& log);
    /// A comparison that fails in bytes that no operation writes.
    void judge_expected(const CheckImage& check, const Place& place, DiagnosticLog& log) const;
    /// What a file or a fill pattern put there, of which `bytes` are zeros; nothing else did.
    void put_contents(const ByteRun& piece, const ByteState* state,
                      std::span<std::uint8_t> bytes) const;
    /// Origin of the bytes there.
    SeenBytes see(std::span<const ByteRun> runs) const;
    /// The same; the results found there count as read.
    SeenBytes look_at(std::span<const ByteRun> runs);
    void judge(const CheckedOperation& operation, const SurfaceUse& use, const SeenBytes& seen,
               DiagnosticLog& log) const;
    void judge_strides(const CheckedOperation& operation, const SurfaceUse& use,
                       const SeenBytes& seen, DiagnosticLog& log) const;
    void write(const CheckedOperation& operation, const SurfaceUse& use, DiagnosticLog& log);

    Machine machine_;
    bool lost_track_ = false;
    std::string only_compares_;  ///< an operation that writes no result
    bool compared_ = false;      ///< the program compares a result with what it expects
    ByteStates bytes_;
    std::vector<Load> loads_;
    std::vector<FillPattern> fills_;
    std::deque<Owner> owners_;
};

/// Contradictions between mask, group sizes and values of compressed weights. Nothing if mask or
/// sizes are not known; unknown values are not judged.
/// source: NVDLA format page; nv_full C model
std::vector<Diagnostic> compressed_findings(const CompressedUse& use, const MemoryRules& memory);

}  // namespace npuscope
