// SPDX-License-Identifier: Apache-2.0
// The catalogue: one row for each memory layout that a vendor names. A row has the expression with
// its parameters in braces, its purpose, limits and source, and binds it to a shape. Compressed
// weights are a codec, not a layout; Winograd weights are listed as transformed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/layout/layout.h"
#include "models/layout/weight_layout.h"

namespace npuscope {

struct LayoutParameter {
    std::string_view name;
    std::uint64_t standard;  ///< value if none is given
    std::string_view sentence;
};

struct LayoutRow;

/// What a layout is requested for.
struct LayoutRequest {
    LogicalShape shape;
    std::uint32_t element = 1;  ///< bytes
    std::map<std::string, std::uint64_t, std::less<>> parameters;
};

struct LayoutRow {
    std::string_view name;
    std::string_view family;    ///< plain, nvdla, nvdla weights, nvdla pixels, kneron, ncnn
    std::string_view sentence;  ///< parameters in braces
    std::string_view use;
    std::string_view limits;
    std::string_view source;
    std::string_view axes;  ///< letters of its logical shape, in row-major order
    std::uint32_t element;  ///< element bytes that it is made for; 0: any
    std::span<const LayoutParameter> parameters;
    Layout (*make)(const LayoutRow& row, const LayoutRequest& request);
};

std::span<const LayoutRow> plain_layouts();
std::span<const LayoutRow> nvdla_layouts();
std::span<const LayoutRow> nvdla_weight_layouts();
std::span<const LayoutRow> nvdla_pixel_layouts();
std::span<const LayoutRow> kneron_layouts();
std::span<const LayoutRow> ncnn_layouts();

/// The weight order as the codec of compressed weights uses it, for a row of nvdla_weight_layouts()
/// and a shape that make_layout() accepts. Nothing for deconvolution, whose sets are compressed one
/// by one, and for all other rows.
std::optional<WeightLayout> stored_weights(const LayoutRow& row, const LayoutRequest& request);

/// Every row of every family.
std::vector<const LayoutRow*> layout_catalog();
/// By name, case-insensitive; nullptr where there is none.
const LayoutRow* find_layout(std::string_view name);

/// ConfigError for a parameter that the row lacks (listing those it has), or an element or shape
/// outside its limits (with the numbers).
Layout make_layout(const LayoutRow& row, const LayoutRequest& request);

/// For rows: the parameter's value or its default.
std::uint64_t parameter(const LayoutRow& row, const LayoutRequest& request, std::string_view name);
/// For rows: ConfigError unless the axis has at most (or exactly) this many elements.
void require_extent(const LayoutRow& row, const LayoutRequest& request, char axis,
                    std::uint64_t most);
/// For rows: binds the expression under the row's name.
Layout bind_row(const LayoutRow& row, const LayoutRequest& request, std::string_view sentence,
                BindOptions options = {});

// How ncnn's convert_packing chooses: an axis that the wanted elempack does not divide leaves the
// blob unchanged, unless padding is requested. source: ncnn's packing layer, run on 168 cases

/// The axis whose neighbours share a packed element: channels of 3-D and 4-D blobs, rows of 2-D,
/// columns of 1-D ones. The shape's axes decide.
char ncnn_packed_axis(const LogicalShape& shape);

struct NcnnPacking {
    std::uint64_t present = 1;  ///< elempack of the source
    std::uint64_t wanted = 1;
    bool padding = false;
};

/// The elempack of the result: `wanted`, or `present` where it does not divide the axis.
std::uint64_t ncnn_elempack(const LogicalShape& shape, const NcnnPacking& packing);

}  // namespace npuscope
