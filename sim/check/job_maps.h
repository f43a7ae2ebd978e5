// SPDX-License-Identifier: Apache-2.0
// Maps of a program that launches jobs, as named in its comments.
#pragma once

#include <optional>
#include <string>

#include "models/tinpu/tinpu_job.h"
#include "sim/program/program.h"

namespace npuscope {

struct NamedMap {
    std::string name;
    std::string after;  ///< the job after which it is available; empty: provided by the host
    MapSurface map;
    Place place;

    ByteRun run() const { return {map.base, map.bytes()}; }
};

/// Nothing for anything but a map of 8-bit values.
std::optional<NamedMap> map_of(const NamedSurface& surface);

/// Elements are stored in the order H W C: another shape of the same elements is a view of them,
/// but one with other channels only if one of the two is flat.
bool is_view_of(const Shape& one, const Shape& other);

/// `4x8x8 uint8 at 0x1000`
std::string map_text(const MapSurface& map);

/// The same bytes, as a view and with the same sign.
bool lies_as(const MapSurface& one, const MapSurface& other);

}  // namespace npuscope
