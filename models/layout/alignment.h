// SPDX-License-Identifier: Apache-2.0
// Alignment rules of addresses, strides and sizes. The published table is in bytes of nv_full,
// whose memory atom is 32 bytes; on every other NPU the 32-byte rules scale with its atom. One rule
// is weaker than published: weights need atom alignment, not 256-byte alignment.
// source: NVDLA format page, table 35; scaling: nv_small, nv_medium and nv_large traces; weights: a
// v1 trace with weights at ...dfe0 whose output is right, register masks of both RTLs
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/base/diagnostic.h"
#include "models/base/quantity.h"
#include "models/base/register_map.h"

namespace npuscope {

enum class DataKind { Feature, Pixels, Weights, Bias, Prelu, BatchNorm, ElementWise };
enum class AlignedPart { Start, LineStride, SurfaceStride, CubeStride, Size };
enum class AlignmentUnit { Atom, Byte };

struct AlignmentRule {
    DataKind kind;
    AlignedPart part;
    std::uint32_t multiple;
    AlignmentUnit unit;
};

inline constexpr std::array alignment_rules{
    AlignmentRule{DataKind::Feature, AlignedPart::Start, 1, AlignmentUnit::Atom},
    AlignmentRule{DataKind::Feature, AlignedPart::LineStride, 1, AlignmentUnit::Atom},
    AlignmentRule{DataKind::Feature, AlignedPart::SurfaceStride, 1, AlignmentUnit::Atom},
    AlignmentRule{DataKind::Feature, AlignedPart::CubeStride, 1, AlignmentUnit::Atom},
    AlignmentRule{DataKind::Pixels, AlignedPart::Start, 1, AlignmentUnit::Atom},
    AlignmentRule{DataKind::Pixels, AlignedPart::LineStride, 1, AlignmentUnit::Atom},
    AlignmentRule{DataKind::Weights, AlignedPart::Start, 1, AlignmentUnit::Atom},
    AlignmentRule{DataKind::Weights, AlignedPart::Size, 128, AlignmentUnit::Byte},
    AlignmentRule{DataKind::Bias, AlignedPart::Start, 1, AlignmentUnit::Atom},
    AlignmentRule{DataKind::Bias, AlignedPart::LineStride, 1, AlignmentUnit::Atom},
    AlignmentRule{DataKind::Bias, AlignedPart::SurfaceStride, 1, AlignmentUnit::Atom},
    AlignmentRule{DataKind::Prelu, AlignedPart::Start, 1, AlignmentUnit::Atom},
    AlignmentRule{DataKind::BatchNorm, AlignedPart::Start, 1, AlignmentUnit::Atom},
    AlignmentRule{DataKind::ElementWise, AlignedPart::Start, 1, AlignmentUnit::Atom},
    AlignmentRule{DataKind::ElementWise, AlignedPart::LineStride, 1, AlignmentUnit::Atom},
    AlignmentRule{DataKind::ElementWise, AlignedPart::SurfaceStride, 1, AlignmentUnit::Atom},
};

/// 1 where no rule requires more.
Bytes required_multiple(DataKind kind, AlignedPart part, Bytes memory_atom);

/// A value as a register holds it, to be reported where it breaks a rule.
struct RegisterValue {
    std::string_view unit;           ///< NVDLA_CDMA
    std::string_view register_name;  ///< D_LINE_STRIDE
    std::uint64_t value = 0;
};

struct AlignmentNeed {
    DataKind kind;
    AlignedPart part;
    Bytes memory_atom;
    std::uint64_t also = 0;  ///< a value that is no multiple but legal; 0: none
};

/// A finding of rule `misaligned` where the value is not the required multiple: it names the
/// register, its value, the multiple and the nearest legal values.
std::optional<Diagnostic> misaligned(const RegisterValue& value, const AlignmentNeed& need);

}  // namespace npuscope
