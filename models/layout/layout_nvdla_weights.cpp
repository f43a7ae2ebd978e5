// SPDX-License-Identifier: Apache-2.0
// NVDLA's uncompressed weights as catalogue rows; G = kernels of a group, D = channels of a cube.
//
//     direct        K/G~ C/D~ R S K%G C%D
//     image         the same with columns made channels: X = s * C + c, so K/G~ X/D~ R K%G X%D
//     post-extended K/G~ R/F~ K%G R%F S C         F = 2 or 4 rows interleaved, one cube
//     Winograd      K/G~ C/4 K%G R S C%4          of the 4x4 transformed kernels, channels padded
//     deconvolution R%y S%x K/G~ C/D~ R/y- S/x- K%G C%D   one set per output phase, scanned back
//
// Zeros fill up to 128 bytes at the end (of each set of a deconvolution).
// source: NVDLA format page, weight sections; sets' order and reversal: NVDLA compiler, arithmetic
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/base/error.h"
#include "models/layout/layout_catalog.h"

namespace npuscope {

namespace {

constexpr std::uint64_t weight_multiple = 128;  // source: NVDLA format page, table 35

// source: hardware spec files, C model: nv_full's numbers for one-byte weights
constexpr std::array group_parameters{
    LayoutParameter{"group", 32, "kernels of a group: atomic_k, half of it for 2-byte weights"},
    LayoutParameter{"cube", 64, "channels of a cube: atomic_c"}};
constexpr std::array post_parameters{
    LayoutParameter{"group", 32, "kernels of a group: atomic_k, half of it for 2-byte weights"},
    LayoutParameter{"rows", 2, "rows interleaved: 2 or 4"}};
constexpr std::array winograd_parameters{
    LayoutParameter{"group", 32, "kernels of a group: atomic_k, half of it for 2-byte weights"}};
constexpr std::array deconvolution_parameters{
    LayoutParameter{"group", 32, "kernels of a group: atomic_k, half of it for 2-byte weights"},
    LayoutParameter{"cube", 64, "channels of a cube: atomic_c"},
    LayoutParameter{"stride_y", 2, "sets of rows"},
    LayoutParameter{"stride_x", 2, "sets of columns"}};

std::uint64_t positive(const LayoutRow& row, const LayoutRequest& request, std::string_view name) {
    const std::uint64_t value = parameter(row, request, name);
    if (value == 0 || value > 65536) {
        throw ConfigError(fmt::format("layout {}: {} = {}", row.name, name, value), "1 to 65536");
    }
    return value;
}

Layout make_direct(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t group = positive(row, request, "group");
    const std::uint64_t cube = positive(row, request, "cube");
    return bind_row(row, request, fmt::format("K/{0}~ C/{1}~ R S K%{0} C%{1}", group, cube),
                    {.align_total = weight_multiple});
}

/// Cuts a part over K X R into parts over K C R S: in each, column and cube stay the same.
void split_fused(const LayoutPart& fused, const LogicalShape& shape, std::uint64_t cube,
                 std::vector<LayoutPart>& parts) {
    const std::uint64_t channels = shape.axes[1].extent;
    const IndexRange all = fused.box[1];
    for (std::uint64_t x = all.first; x < all.last;) {
        const std::uint64_t column = x / channels;
        const std::uint64_t end =
            std::min({all.last, (column + 1) * channels, (x / cube + 1) * cube});
        LayoutPart part;
        part.box = {fused.box[0],
                    {x - column * channels, end - column * channels},
                    fused.box[2],
                    {column, column + 1}};
        const std::array<std::uint64_t, 3> origin{fused.box[0].first, x, fused.box[2].first};
        part.base = fused.offset(origin);
        std::array<std::uint64_t, 3> next = origin;
        next[1] = std::min(x + 1, all.last - 1);
        const std::int64_t pitch = end - x > 1 ? fused.offset(next) - part.base : 0;
        part.base -= pitch * static_cast<std::int64_t>(x - column * channels);
        for (const LayoutStep& step : fused.steps) {
            if (step.axis != 1) {
                part.steps.push_back(step);
                const std::uint64_t value = origin[step.axis] / step.divide;
                part.base -= step.pitch * static_cast<std::int64_t>(
                                              step.modulo == 0 ? value : value % step.modulo);
            }
        }
        part.steps.push_back({1, 1, 0, pitch});
        parts.push_back(std::move(part));
        x = end;
    }
}

Layout make_image(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t group = positive(row, request, "group");
    const std::uint64_t cube = positive(row, request, "cube");
    const LogicalShape& shape = request.shape;
    if (shape.elements() !=
        shape.extent('K') * shape.extent('C') * shape.extent('R') * shape.extent('S')) {
        throw ConfigError(
            fmt::format("layout {} takes the axes K C R S, not {}", row.name, to_string(shape)));
    }
    const LogicalShape fused{{{'K', shape.extent('K')},
                              {'X', shape.extent('S') * shape.extent('C')},
                              {'R', shape.extent('R')}}};
    const std::string sentence = fmt::format("K/{0}~ X/{1}~ R K%{0} X%{1}", group, cube);
    Layout layout = bind(parse_sentence(sentence), fused,
                         {.name = std::string(row.name),
                          .element = request.element,
                          .align_total = weight_multiple});
    const std::vector<LayoutPart> parts = std::move(layout.parts);
    layout.parts.clear();
    layout.shape = {{{'K', shape.extent('K')},
                     {'C', shape.extent('C')},
                     {'R', shape.extent('R')},
                     {'S', shape.extent('S')}}};
    for (const LayoutPart& part : parts) {
        split_fused(part, layout.shape, cube, layout.parts);
    }
    return layout;
}

Layout make_post_extended(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t interleaved = positive(row, request, "rows");
    if (interleaved != 1 && interleaved != 2 && interleaved != 4) {
        throw ConfigError(fmt::format("layout {} cannot interleave {} rows", row.name, interleaved),
                          "1, 2 or 4");
    }
    return bind_row(
        row, request,
        fmt::format("K/{0}~ R/{1}~ K%{0} R%{1} S C", positive(row, request, "group"), interleaved),
        {.align_total = weight_multiple});
}

Layout make_winograd(const LayoutRow& row, const LayoutRequest& request) {
    const LogicalShape& shape = request.shape;
    const std::uint64_t step = 32 / request.element;  // source: format page, 32 bytes of channels
    if (shape.extent('R') != 4 || shape.extent('S') != 4 || shape.extent('C') % step != 0) {
        throw ConfigError(
            fmt::format("layout {} takes 4x4 kernels of a multiple of {} channels, shape {} has "
                        "{}x{} of {}",
                        row.name, step, to_string(shape), shape.extent('R'), shape.extent('S'),
                        shape.extent('C')),
            "transform the 3x3 kernels first");
    }
    return bind_row(row, request,
                    fmt::format("K/{0}~ C/4 K%{0} R S C%4", positive(row, request, "group")),
                    {.align_total = weight_multiple});
}

Layout make_deconvolution(const LayoutRow& row, const LayoutRequest& request) {
    const std::string sentence = fmt::format(
        "R%{2} S%{3}^{4} K/{0}~ C/{1}~ R/{2}- S/{3}- K%{0} C%{1}", positive(row, request, "group"),
        positive(row, request, "cube"), positive(row, request, "stride_y"),
        positive(row, request, "stride_x"), weight_multiple);
    return bind_row(row, request, sentence);
}

constexpr std::string_view page = "NVDLA format page, traces";
constexpr std::string_view widths = "elements of 1 or 2 bytes";

constexpr std::array rows{
    LayoutRow{"weight_dc", "nvdla weights", "K/G~ C/D~ R S K%G C%D", "direct convolution", widths,
              page, "KCRS", 0, group_parameters, make_direct},
    LayoutRow{"weight_image", "nvdla weights", "K/G~ X/D~ R K%G X%D",
              "image input, pre-extended: X = S * C + C index", widths, page, "KCRS", 0,
              group_parameters, make_image},
    LayoutRow{"weight_image_post", "nvdla weights", "K/G~ R/F~ K%G R%F S C",
              "image input, post-extended: F rows interleaved", widths, "NVDLA C model", "KCRS", 0,
              post_parameters, make_post_extended},
    LayoutRow{"weight_winograd", "nvdla weights", "K/G~ C/4 K%G R S C%4",
              "Winograd kernels after their transform", "4x4 kernels, 32 bytes of channels", page,
              "KCRS", 0, winograd_parameters, make_winograd},
    LayoutRow{"weight_deconv", "nvdla weights", "R%y S%x K/G~ C/D~ R/y- S/x- K%G C%D",
              "deconvolution, one set per output phase", widths, "NVDLA compiler, arithmetic",
              "KCRS", 0, deconvolution_parameters, make_deconvolution},
};

}  // namespace

std::span<const LayoutRow> nvdla_weight_layouts() { return rows; }

}  // namespace npuscope
