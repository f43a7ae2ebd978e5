// SPDX-License-Identifier: Apache-2.0
// What lies where in memory, and from which operation to which it is needed: files that are loaded,
// results, and operands that are neither. Parts of one result are one entry.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/check/operation_surfaces.h"
#include "sim/config/text_table.h"
#include "sim/program/program.h"

namespace npuscope {

/// Unknown: read, but neither loaded nor written. Surface: of a described image.
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
    /// operation before it.
    std::vector<std::pair<std::size_t, bool>> uses{};
    SurfaceStrides strides{};
    bool overlaps = false;  ///< with another that is needed at the same time

    /// First and last operation that it must last for.
    std::size_t begin() const;
    std::size_t end() const;
};

class MemoryMap {
 public:
    void load(const LoadMemory& load);
    void add(const CheckedOperation& operation);
    void compare(const ByteRun& run);
    /// Of a described image: no operation uses it.
    void add_surface(const std::string& name, const ByteRun& run);

    /// By address.
    std::vector<MappedBytes> entries() const;
    std::size_t operations() const { return operations_; }

 private:
    MappedBytes* holder_of(const ByteRun& run);

    std::vector<MappedBytes> entries_;
    std::size_t operations_ = 0;
};

/// A line for each entry and gap, with a bar over the operations: `w` writes, `r` reads, `b` both,
/// `-` is needed later.
std::string memory_map_text(const MemoryMap& map, std::size_t width = report_width);

}  // namespace npuscope
