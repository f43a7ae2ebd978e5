// SPDX-License-Identifier: Apache-2.0
// Maps of a program that launches jobs, as its comments name them.
#pragma once

#include <optional>
#include <string>

#include "models/tinpu/tinpu_job.h"
#include "sim/program/program.h"

namespace npuscope {

struct NamedMap {
    std::string name;
    std::string after;  ///< the job after which it is there; empty: the host brings it
    MapSurface map;
    Place place;

    ByteRun run() const { return {map.base, map.bytes()}; }
};

/// Nothing for what is no map of 8-bit numbers.
std::optional<NamedMap> map_of(const NamedSurface& surface);

/// Elements lie in the order H W C: another shape of the same elements is a view of them, but one
/// with other channels only where one of the two is flat.
bool is_view_of(const Shape& one, const Shape& other);

/// `4x8x8 uint8 at 0x1000`
std::string map_text(const MapSurface& map);

/// The same bytes, as a view and with the same sign.
bool lies_as(const MapSurface& one, const MapSurface& other);

}  // namespace npuscope
