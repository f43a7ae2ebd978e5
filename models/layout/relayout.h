// SPDX-License-Identifier: Apache-2.0
// Moves a tensor from one layout to any other of the same shape and element size.
//
// One engine for all pairs: the digits of both sentences are cut against each other into loops, and
// the loops pick the way: contiguous runs, transposes of blocks by vectors, or one element after
// the other. The plain path beside it is the oracle. Values pass through unchanged but for bit 0 of
// codes that cannot hold it.
// Works on any memory, mapped files included; `progress` is called between tiles so that pages can
// be given back.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "models/layout/layout.h"

namespace npuscope {

enum class GapPolicy : std::uint8_t {
    Zero,     ///< every byte that belongs to no element becomes 0
    Keep,     ///< such bytes keep what they hold
    AreZero,  ///< such bytes are 0 already, as in a new file
};

struct RelayoutOptions {
    GapPolicy gaps = GapPolicy::Zero;
    /// Bytes of the last-level cache; larger moves write past the caches. 0: as the system tells.
    std::uint64_t cache = 0;
    /// Gets the bytes moved since its last call.
    std::function<void(std::uint64_t)> progress{};
};

/// `from` covers source.used bytes, `to` target.bytes; they do not overlap. ConfigError where
/// shapes or element sizes differ or a span is too small.
void relayout(const Layout& source, std::span<const std::uint8_t> from, const Layout& target,
              std::span<std::uint8_t> to, const RelayoutOptions& options = {});

/// The same, element by element by address alone.
void relayout_plain(const Layout& source, std::span<const std::uint8_t> from, const Layout& target,
                    std::span<std::uint8_t> to, GapPolicy gaps = GapPolicy::Zero);

}  // namespace npuscope
