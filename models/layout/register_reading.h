// SPDX-License-Identifier: Apache-2.0
// What the decoders of SDP, PDP and CDP share: addresses in two registers, cubes in a handful of
// them, and refusals that name register and value. Fields are read one by one, so registers that
// a mode does not use are never looked at.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/error.h"
#include "models/base/register_map.h"
#include "models/layout/alignment.h"
#include "models/layout/feature_cube.h"
#include "models/layout/surface_limit.h"

namespace npuscope {

/// A field as a message points at it.
struct FieldName {
    std::string_view register_name;
    std::string_view field_name;
};

/// ConfigError: `NVDLA_SDP.D_DP_BS_CFG_0.BS_ALU_ALGO = 3: <why>`.
[[noreturn]] inline void refuse(const RegisterValues& values, const FieldName& name,
                                const std::string& why, const std::string& remedy) {
    throw ConfigError(
        fmt::format("{}.{} = {}: {}", spelled(values.block().name, name.register_name),
                    name.field_name, values.field(name.register_name, name.field_name), why),
        remedy);
}

/// `stem` is the register's name without `_LOW` and `_HIGH`, the fields' name without its `D_`.
inline Address read_address(const RegisterValues& values, std::string_view stem) {
    const std::string low = fmt::format("D_{}_LOW", stem);
    const std::string high = fmt::format("D_{}_HIGH", stem);
    return Address((std::uint64_t{values.field(high, high.substr(2))} << 32U) |
                   values.field(low, low.substr(2)));
}

/// Where start and strides of a surface stand: D_<stem>_BASE_ADDR_LOW, D_<stem>_LINE_STRIDE, ...
struct SurfacePlace {
    Address base;
    Bytes line_stride;
    Bytes surface_stride;
};

inline Bytes read_stride(const RegisterValues& values, const std::string& name,
                         const AlignmentNeed& need) {
    const std::uint32_t stride = values.field("D_" + name, name);
    require_aligned({values.block().name, "D_" + name, stride}, need);
    return Bytes(stride);
}

inline Address read_base(const RegisterValues& values, std::string_view stem,
                         const AlignmentNeed& need) {
    const Address base = read_address(values, fmt::format("{}_BASE_ADDR", stem));
    const std::string name = fmt::format("D_{}_BASE_ADDR_LOW", stem);
    require_aligned({values.block().name, name, base.value}, need);
    return base;
}

inline SurfacePlace read_surface(const RegisterValues& values, std::string_view stem, DataKind kind,
                                 Bytes memory_atom) {
    const std::string prefix(stem);
    return {
        read_base(values, stem, {kind, AlignedPart::Start, memory_atom}),
        read_stride(values, prefix + "_LINE_STRIDE", {kind, AlignedPart::LineStride, memory_atom}),
        read_stride(values, prefix + "_SURFACE_STRIDE",
                    {kind, AlignedPart::SurfaceStride, memory_atom})};
}

/// A feature cube of elements of `element` bytes at D_<stem>_..., its channels rounded up to whole
/// atoms.
inline FeatureCube read_cube(const RegisterValues& values, std::string_view stem,
                             const Shape& shape, Bytes memory_atom, Bytes element = Bytes(1)) {
    const SurfacePlace place = read_surface(values, stem, DataKind::Feature, memory_atom);
    FeatureCube cube{place.base, place.line_stride, place.surface_stride,
                     shape,      memory_atom,       element};
    cube.shape.channels = cube.surfaces() * cube.channels_per_atom();
    require_surface(values, fmt::format("D_{}_BASE_ADDR_LOW", stem),
                    {cube.lines(), cube.line_bytes()});
    return cube;
}

/// Two registers that describe one size must agree.
inline void require_same(const RegisterValues& mine, const RegisterValues& other,
                         const FieldName& name) {
    const std::uint32_t value = other.field(name.register_name, name.field_name);
    if (mine.field(name.register_name, name.field_name) != value) {
        refuse(mine, name,
               fmt::format("{} says {}", spelled(other.block().name, name.register_name), value),
               "program the same value in both units");
    }
}

}  // namespace npuscope
