// SPDX-License-Identifier: Apache-2.0
// A tensor cut into boxes that fit the second-level cache, and each box as a row-major tile: where
// values change on their way (codes, quantisation), they change there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "models/layout/layout.h"
#include "models/layout/relayout_run.h"

namespace npuscope {

/// Boxes of at most `elements` (or one block of both layouts, if that is more), cut along the
/// slowest axes first and never inside a block of either layout unless it must be.
void for_each_tile(const Layout& source, const Layout& target, std::uint64_t elements,
                   const std::function<void(const std::vector<IndexRange>&)>& visit);

/// False for components of 32-bit words and high/low values whose runs leave their entries.
bool moves_in_tiles(const Layout& layout);

std::uint64_t elements_of(const std::vector<IndexRange>& box);

/// The box of `shape` in row-major order; indices stay those of the whole tensor. Rows may lie a
/// little apart: `bytes` tells how much memory it takes.
Layout tile_layout(const LogicalShape& shape, const std::vector<IndexRange>& box,
                   std::uint32_t element);

/// Moves one box; codes are taken as plain. Element by element where no loop nest exists.
void relayout_box(const Layout& source, const Layout& target, const std::vector<IndexRange>& box,
                  const NestMemory& memory);

/// Boxes of any layout as values in row-major order: decoded out of it, encoded into it.
class TileMover {
 public:
    explicit TileMover(const Layout& layout);
    /// `values` takes tile_layout(..).bytes bytes.
    void read(std::span<const std::uint8_t> memory, const std::vector<IndexRange>& box,
              std::uint8_t* values, MoveProgress& progress);
    /// `values` are changed on the way.
    void write(std::span<std::uint8_t> memory, const std::vector<IndexRange>& box,
               std::uint8_t* values, MoveProgress& progress);

 private:
    const Layout& layout_;
    std::optional<Layout> bytes_;  ///< of a high/low layout
    std::vector<std::uint8_t> planes_;
};

}  // namespace npuscope
