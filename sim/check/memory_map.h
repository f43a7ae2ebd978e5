// SPDX-License-Identifier: Apache-2.0
// What is where in memory, and from which operation to which it is needed: files that are loaded,
// results, and operands that are neither. Parts of one result are one entry.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/check/operation_surfaces.h"
#include "sim/config/text_table.h"
#include "sim/program/program.h"

namespace npuscope {

/// Unknown: read, but neither loaded nor written. Surface: of a described image, or a map that the
/// host provides.
enum class MappedKind { File, Result, Unknown, Surface };

template <>
struct EnumNames<MappedKind> {
    static constexpr std::array names{std::pair{MappedKind::File, std::string_view("file")},
                                      std::pair{MappedKind::Result, std::string_view("result")},
                                      std::pair{MappedKind::Unknown, std::string_view("unknown")},
                                      std::pair{MappedKind::Surface, std::string_view("surface")}};
};

struct MappedBytes {
    MappedKind kind = MappedKind::File;
    std::string name;
    ByteRun run;
    /// By operation, counted from 0: whether it writes. A comparison counts as a read by the last
    /// operation before the comparison.
    std::vector<std::pair<std::size_t, bool>> uses{};
    SurfaceStrides strides{};
    bool overlaps = false;  ///< with another that is needed at the same time
    std::string segment{};  ///< of a model: the one in whose memory it is

    /// First and last operation for which it must be kept.
    std::size_t begin() const;
    std::size_t end() const;
};

class MemoryMap {
 public:
    /// Without its bytes, as in a timing-only simulation, a file is as large as the part that is
    /// read.
    void load(const LoadMemory& load);
    void add(const CheckedOperation& operation);
    void compare(const ByteRun& run);
    /// What operations wrote since the last call is one result, and has this name. If a program's
    /// results are named like this, none is derived from its operations.
    void name_result(const std::string& name);
    void expect_names() { named_ = true; }
    /// Of a described image, which no operation uses, or from the host.
    void add_surface(const std::string& name, const ByteRun& run);

    /// Sorted by address.
    std::vector<MappedBytes> entries() const;
    std::size_t operations() const { return operations_; }

 private:
    MappedBytes* holder_of(const ByteRun& run);
    /// An operand may lie in several files.
    void mark_other_files(const SurfaceUse& use, const MappedBytes& holder, std::size_t operation);
    /// The result that a surface is part of; null if results have names.
    MappedBytes* result_with(const SurfaceUse& part);
    std::size_t index_of(const MappedBytes& entry) const {
        return static_cast<std::size_t>(&entry - entries_.data());
    }
    /// The nearest file of unknown contents that begins at or before the run.
    MappedBytes* file_before(const ByteRun& run);

    std::vector<MappedBytes> entries_;
    std::set<std::size_t> without_bytes_;  ///< files of entries_
    std::size_t operations_ = 0;
    std::size_t named_entries_ = 0;  ///< of entries_, from the first on
    bool named_ = false;
};

/// One line per entry and gap, with a bar over the operations: `w` writes, `r` reads, `b` both, `-`
/// is needed later.
std::string memory_map_text(const MemoryMap& map, std::size_t width = report_width);
/// `[{segment, name, kind, address, bytes, overlaps, from, to}]`: operations are counted from 0.
nlohmann::ordered_json memory_map_json(std::span<const MappedBytes> entries);

}  // namespace npuscope
