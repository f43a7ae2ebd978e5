// SPDX-License-Identifier: Apache-2.0
// Moves a tensor from one layout to any other of the same shape and element size.
//
// One engine for all pairs: the digits of both expressions are refined into common loops, and the
// loops determine the method: contiguous runs, vectorised block transposes, or one element at a
// time. The plain path is the oracle. Values are unchanged except for bit 0 in codes that cannot
// hold it. Works on any memory, mapped files included; `progress` is called between tiles so that
// pages can be released.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "models/layout/layout.h"

namespace npuscope {

enum class GapPolicy : std::uint8_t {
    Zero,     ///< every byte that belongs to no element becomes 0
    Keep,     ///< such bytes are unchanged
    AreZero,  ///< such bytes are 0 already, as in a new file
};

struct RelayoutOptions {
    GapPolicy gaps = GapPolicy::Zero;
    /// Bytes of the last-level cache; larger moves bypass the caches when writing. 0: as the OS reports.
    std::uint64_t cache = 0;
    /// Called with the bytes moved since its last call.
    std::function<void(std::uint64_t)> progress{};
};

/// `from` covers source.used bytes, `to` target.bytes; they do not overlap. ConfigError if shapes
/// or element sizes differ or a span is too small.
void relayout(const Layout& source, std::span<const std::uint8_t> from, const Layout& target,
              std::span<std::uint8_t> to, const RelayoutOptions& options = {});

/// The same, element by element by address only.
void relayout_plain(const Layout& source, std::span<const std::uint8_t> from, const Layout& target,
                    std::span<std::uint8_t> to, GapPolicy gaps = GapPolicy::Zero);

}  // namespace npuscope
