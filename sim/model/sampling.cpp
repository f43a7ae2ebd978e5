// SPDX-License-Identifier: Apache-2.0
// Operators that sample a map between its elements: at the points of a grid, in regions.
// source: ONNX operator definitions, opset 10 to 24; cases that they leave open are as in ONNX
// Runtime
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

enum class Interpolation { Nearest, Linear, Cubic };
enum class Outside { Zeros, Border, Reflection };

/// Attributes of GridSample; the modes have other names from opset 20 on.
struct Sampling {
    explicit Sampling(const GraphNode& node) : corners(node.integer("align_corners", 0) != 0) {
        const std::string name = node.text("mode", "linear");
        require(name == "linear" || name == "bilinear" || name == "nearest" || name == "cubic" ||
                    name == "bicubic",
                fmt::format("mode '{}' is not known", name), "linear, nearest or cubic");
        mode = name == "nearest"                      ? Interpolation::Nearest
               : name == "cubic" || name == "bicubic" ? Interpolation::Cubic
                                                      : Interpolation::Linear;
        const std::string padding = node.text("padding_mode", "zeros");
        require(padding == "zeros" || padding == "border" || padding == "reflection",
                fmt::format("padding_mode '{}' is not known", padding),
                "zeros, border or reflection");
        outside = padding == "zeros"    ? Outside::Zeros
                  : padding == "border" ? Outside::Border
                                        : Outside::Reflection;
    }

    bool corners;  ///< -1 and 1 are the centres of the outer elements, not their edges
    Interpolation mode = Interpolation::Linear;
    Outside outside = Outside::Zeros;
};

/// Elements of one axis with their weights; negative: outside, which is 0.
struct Taps {
    std::array<std::int64_t, 4> at{};
    std::array<double, 4> weight{};
    std::size_t count = 0;
};

/// Takes the points of one axis of a grid to elements of the map.
class SampledAxis {
 public:
    SampledAxis(const Sampling& sampling, std::int64_t size)
        : sampling_(sampling),
          size_(size),
          low_(sampling.corners ? 0.0 : -0.5),
          high_(static_cast<double>(size) + (sampling.corners ? -1.0 : -0.5)) {}

    Taps taps(double point) const {
        const double place = place_of(point);
        const double first = std::floor(place);
        const double rest = place - first;
        const auto base = static_cast<std::int64_t>(first);
        switch (sampling_.mode) {
            case Interpolation::Nearest:
                return {{element(base)}, {1.0}, 1};
            case Interpolation::Linear:
                return {{element(base), element(base + 1)}, {1 - rest, rest}, 2};
            case Interpolation::Cubic:
                break;
        }
        return {{element(base - 1), element(base), element(base + 1), element(base + 2)},
                {weight(1 + rest), weight(rest), weight(1 - rest), weight(2 - rest)},
                4};
    }

 private:
    // source: ONNX, GridSample: a = -0.75
    static double weight(double distance) { return cubic_weight(distance, -0.75); }

    double place_of(double point) const {
        constexpr double far = 1e9;  // outside any map
        const auto size = static_cast<double>(size_);
        double place =
            sampling_.corners ? (point + 1) / 2 * (size - 1) : ((point + 1) * size - 1) / 2;
        place = std::isfinite(place) ? std::clamp(place, -far, far) : -far;
        if (sampling_.mode == Interpolation::Nearest) {
            place = std::nearbyint(place);
        }
        if (place >= low_ && place <= high_) {
            return place;
        }
        if (sampling_.outside == Outside::Border) {
            place = std::clamp(place, 0.0, size - 1);
        } else if (sampling_.outside == Outside::Reflection) {
            place = reflected(place);
        }
        return sampling_.mode == Interpolation::Nearest ? std::nearbyint(place) : place;
    }
    double reflected(double place) const {
        const double range = high_ - low_;
        if (range <= 0) {
            return low_;
        }
        const double distance = place < low_ ? low_ - place : place - high_;
        const double turns = std::floor(distance / range);
        const double rest = distance - turns * range;
        return (place < low_) == (std::fmod(turns, 2) == 0) ? low_ + rest : high_ - rest;
    }
    std::int64_t element(std::int64_t at) const {
        if (at >= 0 && at < size_) {
            return at;
        }
        if (sampling_.outside == Outside::Zeros) {
            return -1;
        }
        const double inside = sampling_.outside == Outside::Border
                                  ? static_cast<double>(at)
                                  : reflected(static_cast<double>(at));
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(inside), 0, size_ - 1);
    }

    const Sampling& sampling_;
    std::int64_t size_;
    double low_;
    double high_;
};

// operands: map N C space, grid N space of the result, coordinates (the last axis first)
Types grid_types(const Operands& operands) {
    const Sizes& map = operands.sizes(0);
    const Sizes& grid = operands.sizes(1);
    require((map.size() == 4 || map.size() == 5) && grid.size() == map.size() &&
                grid[0] == map[0] && grid.back() == std::ssize(map) - 2,
            fmt::format("a grid of {} does not fit a map of {}", sizes_text(grid), sizes_text(map)),
            "give N H W 2 points for N C H W, or N D H W 3 for N C D H W");
    require(std::ranges::find(map, 0) == map.end(), "its map is empty", "give it elements");
    const Sampling sampling(operands.node);
    Sizes out{map[0], map[1]};
    out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
    return {{operands.element(0), out}};
}

/// Sum of the elements around a point of one channel. `taps`: of all axes, last axis first.
double sum_of(const double* channel, const Sizes& space, const std::vector<Taps>& taps) {
    double sum = 0;
    std::size_t all = 1;
    for (const Taps& axis : taps) {
        all *= axis.count;
    }
    for (std::size_t i = 0; i < all; ++i) {
        double weight = 1;
        std::int64_t place = 0;
        std::int64_t step = 1;
        bool inside = true;
        std::size_t rest = i;
        for (std::size_t k = 0; k < taps.size(); ++k) {
            const std::size_t own = rest % taps[k].count;
            rest /= taps[k].count;
            inside = inside && taps[k].at[own] >= 0;
            weight *= taps[k].weight[own];
            place += taps[k].at[own] * step;
            step *= space[space.size() - 1 - k];
        }
        sum += inside ? weight * channel[place] : 0.0;
    }
    return sum;
}

Values grid_sample(const Operands& operands) {
    const Sampling sampling(operands.node);
    GraphValue result = zeros(grid_types(operands).front());
    const Sizes& map = operands.sizes(0);
    const Sizes space(map.begin() + 2, map.end());
    std::vector<SampledAxis> axes;
    for (std::size_t k = 0; k < space.size(); ++k) {
        axes.emplace_back(sampling, space[space.size() - 1 - k]);
    }
    const std::size_t volume = count_elements(space);
    const std::size_t channels = unsigned_of(map[1]);
    const std::size_t points = operands.at(1).numbers.size() / (unsigned_of(map[0]) * space.size());
    for (std::size_t point = 0; point < points * unsigned_of(map[0]); ++point) {
        std::vector<Taps> taps;
        for (std::size_t k = 0; k < space.size(); ++k) {
            taps.push_back(axes[k].taps(operands.at(1).numbers[point * space.size() + k]));
        }
        for (std::size_t c = 0; c < channels; ++c) {
            const std::size_t plane = point / points * channels + c;
            result.numbers[plane * points + point % points] =
                sum_of(operands.at(0).numbers.data() + plane * volume, space, taps);
        }
    }
    return {std::move(result)};
}

// operands: theta N 2 3 (N 3 4), sizes of the map to be sampled
Types affine_types(const Operands& operands) {
    const Sizes map = integers_of(operands.at(1));
    const std::int64_t space = std::ssize(map) - 2;
    require(space == 2 || space == 3, fmt::format("its size has {} numbers", map.size()),
            "give N C H W or N C D H W");
    require(operands.sizes(0) == Sizes{map[0], space, space + 1},
            fmt::format("its theta is {}", sizes_text(operands.sizes(0))),
            fmt::format("it must be {}x{}x{}", map[0], space, space + 1));
    Sizes out{map[0]};
    out.insert(out.end(), map.begin() + 2, map.end());
    out.push_back(space);
    return {{operands.element(0), out}};
}

Values affine_grid(const Operands& operands) {
    GraphValue result = zeros(affine_types(operands).front());
    const Sizes& sizes = result.type.sizes;
    const bool corners = operands.node.integer("align_corners", 0) != 0;
    const std::size_t space = sizes.size() - 2;
    const auto coordinate = [&](std::int64_t at, std::int64_t size) {
        const double steps = static_cast<double>(corners ? size - 1 : size);
        const double offset = corners ? 0 : 1;
        return steps == 0 ? 0.0 : (2 * static_cast<double>(at) + offset) / steps - 1;
    };
    Odometer odometer(sizes);
    for (double& number : result.numbers) {
        const auto& at = odometer.at();
        const double* row = operands.at(0).numbers.data() +
                            (unsigned_of(at[0]) * space + unsigned_of(at.back())) * (space + 1);
        number = row[space];
        for (std::size_t k = 0; k < space; ++k) {
            number += row[k] * coordinate(at[space - k], sizes[space - k]);
        }
        odometer.next();
    }
    return {std::move(result)};
}

/// Attributes of RoiAlign.
struct Regions {
    explicit Regions(const Operands& operands)
        : rows(operands.node.integer("output_height", 1)),
          columns(operands.node.integer("output_width", 1)),
          samples(operands.node.integer("sampling_ratio", 0)),
          scale(operands.node.number("spatial_scale", 1.0)) {
        const std::string mode = operands.node.text("mode", "avg");
        require(mode == "avg" || mode == "max", fmt::format("mode '{}' is not known", mode),
                "avg or max");
        largest = mode == "max";
        const std::string points =
            operands.node.text("coordinate_transformation_mode",
                               operands.opset < 16 ? "output_half_pixel" : "half_pixel");
        require(points == "half_pixel" || points == "output_half_pixel",
                fmt::format("coordinate_transformation_mode '{}' is not known", points),
                "half_pixel or output_half_pixel");
        half_pixel = points == "half_pixel";
        require(rows >= 1 && columns >= 1 && samples >= 0 && samples <= most_samples,
                "its output sizes or its sampling_ratio are out of range",
                fmt::format("sizes are 1 or more, the ratio is 0 to {}", most_samples));
    }

    static constexpr std::int64_t most_samples = 1024;  ///< along one axis of a bin

    std::int64_t rows;
    std::int64_t columns;
    std::int64_t samples;  ///< along each axis of a bin; 0: one per element
    double scale;
    bool largest = false;
    bool half_pixel = false;
};

/// One axis of a region: its begin, the size of a bin, samples in a bin.
struct RegionAxis {
    RegionAxis(double from, double to, std::int64_t bins, const Regions& regions)
        : begin(from * regions.scale - (regions.half_pixel ? 0.5 : 0.0)) {
        double size = to * regions.scale - (regions.half_pixel ? 0.5 : 0.0) - begin;
        size = regions.half_pixel ? size : std::max(size, 1.0);
        bin = size / static_cast<double>(bins);
        const double wanted =
            regions.samples > 0 ? static_cast<double>(regions.samples) : std::ceil(bin);
        require(std::isfinite(begin) && std::isfinite(bin) &&
                    wanted <= static_cast<double>(Regions::most_samples),
                fmt::format("its region from {} to {} is too large", from, to),
                "correct the region, or spatial_scale");
        samples = static_cast<std::int64_t>(std::max(wanted, 0.0));
    }
    double place(std::int64_t index, std::int64_t sample) const {
        return begin + static_cast<double>(index) * bin +
               (static_cast<double>(sample) + 0.5) * bin / static_cast<double>(samples);
    }

    double begin;
    double bin = 0;
    std::int64_t samples = 0;
};

/// The two elements around a place, with their weights; none if it is outside.
Taps region_taps(double place, std::int64_t size) {
    if (place < -1 || place > static_cast<double>(size)) {
        return {};
    }
    const double inside = std::clamp(place, 0.0, static_cast<double>(size - 1));
    const auto low = static_cast<std::int64_t>(inside);
    const double rest = inside - static_cast<double>(low);
    return {{low, std::min(low + 1, size - 1)}, {1 - rest, rest}, 2};
}

// operands: map N C H W, regions (x1 y1 x2 y2), the batch of each
Types region_types(const Operands& operands) {
    const Regions regions(operands);
    const Sizes& map = operands.sizes(0);
    const Sizes& list = operands.sizes(1);
    require(map.size() == 4 && std::ranges::find(map, 0) == map.end(),
            fmt::format("its map is {}", sizes_text(map)), "it must be N C H W");
    require(list.size() == 2 && list[1] == 4 && operands.sizes(2) == Sizes{list[0]},
            fmt::format("its regions are {}, their batches {}", sizes_text(list),
                        sizes_text(operands.sizes(2))),
            "give four numbers and one batch for each region");
    return {{operands.element(0), {list[0], map[1], regions.rows, regions.columns}}};
}

/// One bin of one channel. The largest is that of the weighted elements, as in ONNX Runtime.
double bin_of(const double* plane, const Sizes& map, const std::vector<Taps>& rows,
              const std::vector<Taps>& columns, bool largest) {
    double sum = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (const Taps& row : rows) {
        for (const Taps& column : columns) {
            for (std::size_t i = 0; i < row.count * column.count; ++i) {
                const std::size_t y = i / column.count;
                const std::size_t x = i % column.count;
                const double part =
                    row.weight[y] * column.weight[x] * plane[row.at[y] * map[3] + column.at[x]];
                sum += part;
                most = std::max(most, part);
            }
            most = row.count * column.count == 0 ? std::max(most, 0.0) : most;
        }
    }
    const std::size_t count = std::max<std::size_t>(rows.size() * columns.size(), 1);
    return largest ? (std::isinf(most) ? 0.0 : most) : sum / static_cast<double>(count);
}

Values region_align(const Operands& operands) {
    const Regions regions(operands);
    GraphValue result = zeros(region_types(operands).front());
    const Sizes& map = operands.sizes(0);
    const std::size_t plane = unsigned_of(map[2] * map[3]);
    const std::size_t channels = unsigned_of(map[1]);
    const std::size_t bins = unsigned_of(regions.rows * regions.columns);
    std::uint64_t samples = 0;
    for (std::size_t r = 0; r < operands.at(2).numbers.size(); ++r) {
        const double* corners = operands.at(1).numbers.data() + 4 * r;
        const RegionAxis x(corners[0], corners[2], regions.columns, regions);
        const RegionAxis y(corners[1], corners[3], regions.rows, regions);
        samples += unsigned_of(x.samples * y.samples);
        require_work({samples, channels, bins});
    }
    for (std::size_t r = 0; r < operands.at(2).numbers.size(); ++r) {
        const double* corners = operands.at(1).numbers.data() + 4 * r;
        const std::int64_t batch = to_integer(operands.at(2).numbers[r]);
        require(batch >= 0 && batch < map[0], fmt::format("batch index {} does not exist", batch),
                fmt::format("indices are 0 to {}", map[0] - 1));
        const RegionAxis x(corners[0], corners[2], regions.columns, regions);
        const RegionAxis y(corners[1], corners[3], regions.rows, regions);
        for (std::size_t bin = 0; bin < bins; ++bin) {
            const auto row = static_cast<std::int64_t>(bin) / regions.columns;
            const auto column = static_cast<std::int64_t>(bin) % regions.columns;
            std::vector<Taps> rows;
            std::vector<Taps> columns;
            for (std::int64_t i = 0; i < y.samples; ++i) {
                rows.push_back(region_taps(y.place(row, i), map[2]));
            }
            for (std::int64_t i = 0; i < x.samples; ++i) {
                columns.push_back(region_taps(x.place(column, i), map[3]));
            }
            for (std::size_t c = 0; c < channels; ++c) {
                const double* from =
                    operands.at(0).numbers.data() + (unsigned_of(batch) * channels + c) * plane;
                result.numbers[(r * channels + c) * bins + bin] =
                    bin_of(from, map, rows, columns, regions.largest);
            }
        }
    }
    return {std::move(result)};
}

}  // namespace

std::span<const OperatorRow> sampling_operators() {
    static constexpr std::array rows{
        row("GridSample", {2, 2}, grid_sample) | inferring(grid_types) |
            attributes("align_corners mode padding_mode"),
        row("AffineGrid", {2, 2}, affine_grid) | inferring(affine_types) |
            attributes("align_corners") | sized_by(1),
        row("RoiAlign", {3, 3}, region_align) | inferring(region_types) |
            attributes("coordinate_transformation_mode mode output_height output_width "
                       "sampling_ratio spatial_scale")};
    return rows;
}

}  // namespace npuscope::host
