// SPDX-License-Identifier: Apache-2.0
#include "sim/check/placing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "models/base/register_map.h"

namespace npuscope {
namespace {

/// Registers of the sizes of a surface: width, height, channels, and other counts.
struct SizeRow {
    std::string_view unit;
    std::string_view address_register;  ///< prefix of its name
    std::array<std::string_view, 3> shape{};
    std::array<std::string_view, 4> others{};
};

constexpr std::array size_rows{
    SizeRow{
        "NVDLA_CDMA",
        "D_DAIN",
        {"NVDLA_CDMA.D_DATAIN_SIZE_0", "NVDLA_CDMA.D_DATAIN_SIZE_0", "NVDLA_CDMA.D_DATAIN_SIZE_1"},
        {"NVDLA_CDMA.D_BATCH_STRIDE", "NVDLA_CDMA.D_BATCH_NUMBER"}},
    SizeRow{"NVDLA_CDMA",
            "D_W",
            {},
            {"NVDLA_CDMA.D_WEIGHT_SIZE_0", "NVDLA_CDMA.D_WEIGHT_SIZE_1",
             "NVDLA_CDMA.D_WEIGHT_BYTES", "NVDLA_CSC.D_WEIGHT_SIZE_EXT_1"}},
    SizeRow{"NVDLA_SDP_RDMA",
            "D_SRC",
            {"NVDLA_SDP_RDMA.D_DATA_CUBE_WIDTH", "NVDLA_SDP_RDMA.D_DATA_CUBE_HEIGHT",
             "NVDLA_SDP_RDMA.D_DATA_CUBE_CHANNEL"}},
    SizeRow{
        "NVDLA_SDP_RDMA",
        "D_",
        {"NVDLA_SDP_RDMA.D_DATA_CUBE_WIDTH", "NVDLA_SDP_RDMA.D_DATA_CUBE_HEIGHT",
         "NVDLA_SDP_RDMA.D_DATA_CUBE_CHANNEL"},
        {"NVDLA_SDP_RDMA.D_BRDMA_CFG", "NVDLA_SDP_RDMA.D_NRDMA_CFG", "NVDLA_SDP_RDMA.D_ERDMA_CFG"}},
    SizeRow{"NVDLA_SDP",
            "D_DST",
            {"NVDLA_SDP.D_DATA_CUBE_WIDTH", "NVDLA_SDP.D_DATA_CUBE_HEIGHT",
             "NVDLA_SDP.D_DATA_CUBE_CHANNEL"},
            {"NVDLA_SDP.D_DST_BATCH_STRIDE"}},
    SizeRow{"NVDLA_PDP_RDMA",
            "D_SRC",
            {"NVDLA_PDP_RDMA.D_DATA_CUBE_IN_WIDTH", "NVDLA_PDP_RDMA.D_DATA_CUBE_IN_HEIGHT",
             "NVDLA_PDP_RDMA.D_DATA_CUBE_IN_CHANNEL"}},
    SizeRow{"NVDLA_PDP",
            "D_DST",
            {"NVDLA_PDP.D_DATA_CUBE_OUT_WIDTH", "NVDLA_PDP.D_DATA_CUBE_OUT_HEIGHT",
             "NVDLA_PDP.D_DATA_CUBE_OUT_CHANNEL"}},
    SizeRow{"NVDLA_CDP_RDMA",
            "D_SRC",
            {"NVDLA_CDP_RDMA.D_DATA_CUBE_WIDTH", "NVDLA_CDP_RDMA.D_DATA_CUBE_HEIGHT",
             "NVDLA_CDP_RDMA.D_DATA_CUBE_CHANNEL"}},
    SizeRow{"NVDLA_CDP",
            "D_DST",
            {"NVDLA_CDP_RDMA.D_DATA_CUBE_WIDTH", "NVDLA_CDP_RDMA.D_DATA_CUBE_HEIGHT",
             "NVDLA_CDP_RDMA.D_DATA_CUBE_CHANNEL"}},
};

const SizeRow* sizes_of(const SurfaceUse& use) {
    const auto row = std::ranges::find_if(size_rows, [&](const SizeRow& one) {
        return one.unit == use.unit && use.address_register.starts_with(one.address_register);
    });
    return row == size_rows.end() ? nullptr : &*row;
}

/// How one change affects a cube's extent, if it makes the extent `wanted`.
class OneChange {
 public:
    OneChange(const FeatureCube& cube, std::uint64_t have, std::uint64_t wanted)
        : cube_(cube),
          height_(cube.lines_of_batch()),
          surfaces_(cube.surfaces()),
          by_(static_cast<std::int64_t>(wanted) - static_cast<std::int64_t>(have)) {}

    std::optional<std::uint64_t> line_stride() const {
        const auto stride = stepped(cube_.line_stride.value, height_ - 1);
        return stride && *stride >= cube_.line_bytes().value ? stride : std::nullopt;
    }
    bool natural_line_stride(std::uint64_t stride) const {
        return stride == cube_.line_bytes().value ||
               (surfaces_ > 1 && stride * height_ == cube_.surface_stride.value);
    }
    std::optional<std::uint64_t> surface_stride() const {
        const auto stride = stepped(cube_.surface_stride.value, surfaces_ - 1);
        return stride && *stride >= cube_.line_stride.value * height_ ? stride : std::nullopt;
    }
    bool natural_surface_stride(std::uint64_t stride) const {
        return stride == cube_.line_stride.value * height_;
    }
    std::optional<std::uint64_t> width() const { return counted(cube_.shape.width, cube_.atom); }
    bool natural_width(std::uint64_t width) const {
        return width * cube_.atom.value == cube_.line_stride.value;
    }
    std::optional<std::uint64_t> height() const { return counted(height_, cube_.line_stride); }
    bool natural_height(std::uint64_t height) const {
        return surfaces_ == 1 || height * cube_.line_stride.value == cube_.surface_stride.value;
    }
    std::optional<std::uint64_t> surfaces() const {
        return counted(surfaces_, cube_.surface_stride);
    }

 private:
    /// Strides are multiples of the atom.
    std::optional<std::uint64_t> stepped(std::uint64_t stride, std::uint64_t steps) const {
        if (steps == 0 || by_ % static_cast<std::int64_t>(steps) != 0) {
            return std::nullopt;
        }
        const std::int64_t value =
            static_cast<std::int64_t>(stride) + by_ / static_cast<std::int64_t>(steps);
        const bool aligned = value % static_cast<std::int64_t>(cube_.atom.value) == 0;
        return value > 0 && aligned ? std::optional(static_cast<std::uint64_t>(value))
                                    : std::nullopt;
    }
    std::optional<std::uint64_t> counted(std::uint64_t count, Bytes each) const {
        const auto size = static_cast<std::int64_t>(each.value);
        if (size == 0 || by_ % size != 0) {
            return std::nullopt;
        }
        const std::int64_t value = static_cast<std::int64_t>(count) + by_ / size;
        return value > 0 ? std::optional(static_cast<std::uint64_t>(value)) : std::nullopt;
    }

    const FeatureCube& cube_;
    std::uint64_t height_;
    std::uint64_t surfaces_;
    std::int64_t by_;
};

Suspect suspect_of_cube(const SurfaceUse& use, const OneChange& change) {
    const SizeRow* sizes = sizes_of(use);
    const std::string line = spelled(use.unit, use.stride_register);
    const std::string surface = spelled(use.unit, use.surface_stride_register);
    const auto size = [&](std::size_t i) {
        return sizes == nullptr || sizes->shape[i].empty() ? address_name(use)
                                                           : std::string(sizes->shape[i]) + "_0";
    };
    const auto line_stride = change.line_stride();
    const auto surface_stride =
        use.surface_stride_register.empty() ? std::nullopt : change.surface_stride();
    const auto width = change.width();
    const auto height = change.height();
    if (line_stride && change.natural_line_stride(*line_stride)) {
        return {line, line_stride};
    }
    if (surface_stride && change.natural_surface_stride(*surface_stride)) {
        return {surface, surface_stride};
    }
    if (width && change.natural_width(*width)) {
        return {size(0), std::nullopt};
    }
    if (height && change.natural_height(*height)) {
        return {size(1), std::nullopt};
    }
    if (surface_stride) {
        return {surface, surface_stride};
    }
    if (line_stride) {
        return {line, line_stride};
    }
    return {change.surfaces() ? size(2) : size(0), std::nullopt};
}

}  // namespace

std::string address_name(const SurfaceUse& use) {
    if (use.address_register.empty()) {
        return {};
    }
    std::string name = use.address_register;
    if (name.find(' ') != std::string::npos) {  // words of a descriptor
        return name;
    }
    if (const std::size_t low = name.find("_LOW");
        use.base.value >> 32U != 0 && low != std::string::npos) {
        name.replace(low, 4, "_HIGH");
    }
    return spelled(use.unit, name);
}

std::vector<std::string> placing_registers(const SurfaceUse& use) {
    std::vector<std::string> names;
    if (use.address_register.empty()) {
        return names;
    }
    names.push_back(address_name(use));
    const auto add = [&](const std::string& name) {
        if (!name.empty() && std::ranges::find(names, name) == names.end()) {
            names.push_back(name);
        }
    };
    if (!use.constant) {
        for (const std::string& stride : {use.stride_register, use.surface_stride_register}) {
            add(stride.empty() ? stride : spelled(use.unit, stride));
        }
    }
    for (const std::string& name : use.placing) {
        add(spelled(use.unit, name));
    }
    if (const SizeRow* sizes = sizes_of(use)) {
        for (const std::string_view name : sizes->shape) {
            add(name.empty() ? std::string() : std::string(name) + "_0");
        }
        for (const std::string_view name : sizes->others) {
            add(name.empty() ? std::string() : std::string(name) + "_0");
        }
    }
    return names;
}

Suspect suspect_of(const SurfaceUse& use, const ByteRun& region, Bytes atom) {
    const ByteRun extent = use.extent();
    Suspect address{address_name(use), std::nullopt};
    if (extent.bytes == region.bytes && use.base == extent.address) {
        const bool helps = region.address != use.base && region.address.value % atom.value == 0;
        return {address.register_name, helps ? std::optional(region.address.value) : std::nullopt};
    }
    if (!use.cube || extent.address != region.address || use.batches > 1) {
        return address;
    }
    return suspect_of_cube(use, OneChange(*use.cube, extent.bytes.value, region.bytes.value));
}

std::string remedy_for(const SurfaceUse& use, const Suspect& suspect) {
    std::vector<std::string> others = placing_registers(use);
    std::erase(others, suspect.register_name);
    const std::string first = suspect.value ? fmt::format("set {} to {:#x}", suspect.register_name,
                                                          *suspect.value & 0xffffffffU)
                                            : fmt::format("correct {}", suspect.register_name);
    return others.empty() ? first
                          : fmt::format("{}, or correct {}", first, fmt::join(others, ", "));
}

Bytes gap_after(const SurfaceUse& use, std::uint32_t lines_left, std::uint32_t columns_left) {
    std::uint64_t gap = 0;
    for (std::size_t i = 1; i < use.runs.size(); ++i) {
        gap = std::max(gap, (use.runs[i].address - use.runs[i - 1].end()).value);
    }
    if (use.kind == DataKind::Pixels) {
        const std::uint32_t lines = lines_left + (columns_left > 0 ? 1 : 0);
        gap += lines * use.strides.line.value_or(Bytes(0)).value;
    }
    if (use.cube) {
        const FeatureCube& cube = *use.cube;
        const std::uint64_t lines = cube.line_stride.value * cube.lines_of_batch();
        const std::uint64_t line = cube.line_bytes().value;
        gap = std::max({gap,
                        cube.surface_stride.value > lines ? cube.surface_stride.value - lines : 0,
                        cube.line_stride.value > line ? cube.line_stride.value - line : 0});
        if (cube.surface_stride.value > lines && cube.line_stride.value > line) {
            gap += cube.line_stride.value - line;
        }
        gap += lines_left * cube.line_stride.value + columns_left * cube.atom.value;
    }
    return Bytes(gap);
}

namespace {

/// Drivers round surfaces up to longer bursts: the surface stride is the size of the lines rounded
/// up, and those of the operation's other cubes are rounded alike.
bool is_rounded_up(const CheckedOperation& operation, const FeatureCube& cube) {
    const std::uint64_t lines = cube.line_stride.value * cube.shape.height;
    return std::ranges::any_of(std::array{64U, 128U, 256U}, [&](std::uint64_t burst) {
        return cube.surface_stride.value > lines &&
               cube.surface_stride.value == round_up(lines, burst) &&
               std::ranges::all_of(operation.uses, [&](const SurfaceUse& use) {
                   return !use.cube || use.cube->surfaces() < 2 ||
                          use.cube->surface_stride.value % burst == 0;
               });
    });
}

/// Strides that differ from each other by one atom: for every line, or once.
void check_stride_pair(const CheckedOperation& operation, const SurfaceUse& use,
                       DiagnosticLog& log) {
    if (!use.cube || use.cube->shape.height < 2 || use.cube->surfaces() < 2 ||
        use.cube->batch_lines != 0 || use.surface_stride_register.empty()) {
        return;
    }
    const FeatureCube& cube = *use.cube;
    const std::uint64_t lines = cube.line_stride.value * cube.shape.height;
    const std::uint64_t apart = lines > cube.surface_stride.value
                                    ? lines - cube.surface_stride.value
                                    : cube.surface_stride.value - lines;
    const bool line_off = apart == cube.atom.value * cube.shape.height;
    if (cube.surface_stride.value == 0 || (!line_off && apart != cube.atom.value) ||
        is_rounded_up(operation, cube)) {
        return;
    }
    const bool dense = cube.line_stride.value == cube.atom.value * cube.shape.width;
    if (dense && cube.surface_stride.value % cube.line_stride.value == 0 &&
        (line_off || cube.surface_stride.value > lines)) {
        return;  // some lines of a taller map
    }
    const std::string& name = line_off ? use.stride_register : use.surface_stride_register;
    Diagnostic one = surface_finding(
        operation, use, "strides_apart",
        fmt::format(
            "{} has a line stride of {:#x} and a surface stride of {:#x}, which differs by {} from "
            "the size of {} lines",
            surface_label(operation, use), cube.line_stride.value, cube.surface_stride.value,
            line_off ? "one atom per line" : "one atom", cube.shape.height),
        "correct the line stride or the surface stride");
    one.severity = Severity::Warning;
    one.register_name = spelled(use.unit, name);
    log.add(std::move(one));
}

/// Lines or planes moved by a unit, each followed by room for one more part of it.
void check_moved_lines(const CheckedOperation& operation, const SurfaceUse& use,
                       DiagnosticLog& log) {
    if (use.piece_register.empty() || use.runs.size() < 2) {
        return;
    }
    const Bytes run = use.runs.front().bytes;
    const Bytes gap = use.runs[1].address - use.runs.front().end();
    for (std::size_t i = 1; i < use.runs.size(); ++i) {
        if (use.runs[i].bytes != run || use.runs[i].address - use.runs[i - 1].end() != gap) {
            return;
        }
    }
    if (gap.value == 0 || gap >= run || run.value % gap.value != 0) {
        return;
    }
    Diagnostic one = surface_finding(
        operation, use, "strides_apart",
        fmt::format("{} consists of {} pieces of {} bytes with gaps of {}, as if one part of each "
                    "were missing",
                    surface_label(operation, use), use.runs.size(), run.value, gap.value),
        fmt::format("correct {}, or the strides", use.piece_register));
    one.severity = Severity::Warning;
    one.register_name = spelled(use.unit, use.piece_register);
    log.add(std::move(one));
}

}  // namespace

void check_strides_apart(const CheckedOperation& operation, const SurfaceUse& use,
                         DiagnosticLog& log) {
    check_stride_pair(operation, use, log);
    check_moved_lines(operation, use, log);
}

}  // namespace npuscope
