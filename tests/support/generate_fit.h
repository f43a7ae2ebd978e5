// SPDX-License-Identifier: Apache-2.0
// Keeps generated layers meaningful: how many different values a cube has, and converters that
// spread their input over int8. A layer whose outputs are all equal would prove nothing.
#pragma once

#include <cstdint>

#include "tests/support/generate_random.h"
#include "tests/support/oracle_memory.h"
#include "tests/support/oracle_sdp.h"

namespace npuscope {

/// Different values, counted up to 64.
std::uint32_t variety(const oracle::Cube& cube);

/// Whether a stage kept enough of the differences in its input.
bool still_varied(const oracle::Cube& before, const oracle::Cube& after);

/// A converter for values like these; occasionally any. Offsets have `offset_bits` bits.
oracle::OutputConverter fit_converter(Random& random, const oracle::Cube& values,
                                      std::uint32_t offset_bits);

/// Largest magnitude of the values.
std::int64_t largest(const oracle::Cube& cube);

/// Bits that hold a magnitude: 0 for 0, 8 for 255.
std::uint32_t magnitude_bits(std::int64_t value);

}  // namespace npuscope
