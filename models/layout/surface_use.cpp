// SPDX-License-Identifier: Apache-2.0
#include "models/layout/surface_use.h"

#include <algorithm>

namespace npuscope {
namespace {

SurfaceStrides strides_of(const Shape& shape, std::uint32_t surfaces, Bytes line, Bytes surface) {
    SurfaceStrides strides;
    if (shape.height > 1) {
        strides.line = line;
    }
    if (surfaces > 1) {
        strides.surface = surface;
    }
    return strides;
}

}  // namespace

SurfaceUse with_runs(SurfaceUse use, std::vector<ByteRun> runs) {
    std::erase_if(runs, [](const ByteRun& run) { return run.bytes.value == 0; });
    if (!std::ranges::is_sorted(runs, {}, &ByteRun::address)) {  // true for strides without overlap
        std::ranges::sort(runs, {}, &ByteRun::address);
    }
    use.runs.clear();
    for (const ByteRun& run : runs) {
        if (use.runs.empty() || use.runs.back().end() < run.address) {
            use.runs.push_back(run);
            continue;
        }
        ByteRun& last = use.runs.back();
        use.overlaps_itself = use.overlaps_itself || last.end() > run.address;
        last.bytes = std::max(last.end(), run.end()) - last.address;
    }
    return use;
}

SurfaceUse surface_at(const char* surface, const char* unit, const std::string& stem,
                      DataKind kind) {
    SurfaceUse use;
    use.surface = surface;
    use.unit = unit;
    use.address_register = "D_" + stem + "_BASE_ADDR_LOW";
    use.stride_register = "D_" + stem + "_LINE_STRIDE";
    use.surface_stride_register = "D_" + stem + "_SURFACE_STRIDE";
    use.kind = kind;
    return use;
}

SurfaceUse source_use(const char* unit, const FeatureCube& cube) {
    return cube_use(surface_at("source", unit, "SRC"), cube);
}

SurfaceUse result_use(const char* unit, const FeatureCube& cube) {
    SurfaceUse use = surface_at("result", unit, "DST");
    use.writes = true;
    return cube_use(std::move(use), cube);
}

SurfaceUse ends_use(const MovedSide& side, const ByteRun& first, const ByteRun& last) {
    SurfaceUse use;
    use.unit = side.unit;
    use.surface = side.surface;
    use.address_register = side.address_register;
    use.base = first.address;
    use.runs = {first};
    if (last != first) {
        use.runs.push_back(last);
    }
    return use;
}

SurfaceUse cube_use(SurfaceUse use, const FeatureCube& cube) {
    use.base = cube.base;
    use.strides = strides_of(cube.shape, cube.surfaces(), cube.line_stride, cube.surface_stride);
    use.cube = cube;
    return with_runs(std::move(use), cube.runs());
}

SurfaceUse operand_use(SurfaceUse use, const OperandSurface& operand) {
    use.base = operand.base;
    use.constant = operand.spread == OperandSpread::PerChannel;
    if (use.constant) {
        use.stride_register.clear();
    } else {
        use.strides = strides_of(operand.shape, operand.surfaces(), operand.line_stride,
                                 operand.surface_stride);
    }
    return with_runs(std::move(use), operand.runs());
}

std::optional<Address> common_byte(const std::vector<ByteRun>& one,
                                   const std::vector<ByteRun>& other) {
    for (auto a = one.begin(), b = other.begin(); a != one.end() && b != other.end();) {
        const Address begin = std::max(a->address, b->address);
        if (begin < std::min(a->end(), b->end())) {
            return begin;
        }
        a->end() < b->end() ? ++a : ++b;
    }
    return std::nullopt;
}

}  // namespace npuscope
