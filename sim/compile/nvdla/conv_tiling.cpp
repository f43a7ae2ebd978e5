// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/conv_tiling.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/layout/weight_layout.h"
#include "sim/compile/nvdla/tiling_estimate.h"

namespace npuscope {
namespace {

constexpr std::uint32_t most_released_rows = 4096;  // source: NVDLA_CSC.rdl, RLS_SLICES

/// Kernel rows that may share a load: their columns, and what the windows of that many rows cover,
/// must fit the multipliers of a cell.
/// source: NVDLA format page, channel post-extension; limits as in the public compiler
std::vector<std::uint32_t> row_groups(const ConvProblem& problem, const NpuConfig& npu) {
    const std::uint32_t channels = problem.pixels->channels;
    const std::uint32_t folded = problem.kernels.columns * channels;
    const std::uint32_t step = channels * problem.geometry.stride_x;
    const std::uint32_t depth = npu.datapath.atomic_c;
    std::vector<std::uint32_t> groups{1};
    if (folded <= depth / 2 && step + folded <= depth && problem.kernels.rows / 2 > 1) {
        groups.push_back(2);
    }
    if (folded <= depth / 4 && step * 3 + folded <= depth && problem.kernels.rows / 4 > 1) {
        groups.push_back(4);
    }
    return groups;
}

/// Rows and columns of output in multiples of four, 3 x 3 kernels with a stride of 1.
bool suits_winograd(const ConvProblem& problem, const NpuConfig& npu) {
    const Convolution& geometry = problem.geometry;
    const bool three = problem.kernels.rows == 3 && problem.kernels.columns == 3;
    const bool steps_of_one = geometry.stride_y == 1 && geometry.stride_x == 1 &&
                              geometry.dilation_y == 1 && geometry.dilation_x == 1;
    const bool fours = geometry.out_height % 4 == 0 && geometry.out_width % 4 == 0;
    return npu.cdma.winograd && npu.sdp.winograd && three && steps_of_one && fours &&
           problem.features && problem.row_step == 1;
}

/// The problem as the form sees it: Winograd is cut at multiples of four rows.
ConvProblem in_form(ConvProblem problem, const ConvForm& form) {
    if (form.mode == ConvMode::Winograd) {
        problem.row_step = 4;
    }
    return problem;
}

/// `image T_A8B8G8R8, 2 kernel rows at once`, empty for features and plain weights.
std::string form_words(const ConvForm& form, const ConvProblem& problem) {
    if (form.mode == ConvMode::Image) {
        return fmt::format(
            "image {}{}", problem.pixels->name,
            form.row_group > 1 ? fmt::format(", {} kernel rows at once", form.row_group) : "");
    }
    if (form.mode == ConvMode::Winograd) {
        return "Winograd";
    }
    if (form.compressed) {
        const CompressedSizes& sizes = *problem.compressed;
        return fmt::format("weights compressed to {} of {} bytes", sizes.all().value,
                           sizes.plain.value);
    }
    return "";
}

/// Banks that parts of a convolution need.
struct BufferNeed {
    std::uint32_t tile_banks = 0;
    std::uint32_t two_tile_banks = 0;
    std::uint32_t group_banks = 0;
    std::uint32_t two_group_banks = 0;
    std::uint32_t weight_banks = 0;
};

std::uint32_t banks_for(std::uint64_t entries, const NpuConfig& npu) {
    return static_cast<std::uint32_t>(divide_up(entries, npu.cbuf.bank_depth));
}

/// One row of output at a time; a map of one column is not cut into single pixels, which the SDP
/// would pack.
std::uint32_t most_tiles(const ConvProblem& problem) {
    const std::uint32_t rows = problem.geometry.out_height / problem.row_step;
    return problem.geometry.out_width > 1 ? rows : std::max(1U, rows / 2);
}

std::uint32_t tallest(const ConvOperands& operands, const std::vector<RowPiece>& tiles) {
    std::uint32_t rows = 0;
    for (const RowPiece& tile : tiles) {
        rows = std::max(rows, operands.buffer_rows(tile.out_rows, tile.in_rows));
    }
    return rows;
}

BufferNeed need_of(const ConvOperands& operands, const NpuConfig& npu,
                   const std::vector<RowPiece>& tiles) {
    const std::uint64_t cube = std::uint64_t{operands.row_entries} * tallest(operands, tiles);
    return {.tile_banks = banks_for(cube, npu),
            .two_tile_banks = banks_for(2 * cube, npu),
            .group_banks = banks_for(operands.group_entries, npu),
            .two_group_banks = banks_for(2 * operands.group_entries, npu),
            .weight_banks = banks_for(operands.weight_entries, npu)};
}

/// Splits of the banks at which something changes: room for one, two or three tiles of data and
/// weights in the remainder; or just enough for all weights, two groups, one group.
std::vector<std::uint32_t> data_bank_choices(const BufferNeed& need, std::uint32_t banks) {
    std::vector<std::uint32_t> choices;
    const auto add = [&](std::uint64_t data) {
        if (data >= need.tile_banks && data + need.group_banks <= banks) {
            choices.push_back(static_cast<std::uint32_t>(data));
        }
    };
    add(need.tile_banks);
    add(need.two_tile_banks);
    add(banks - std::min(banks, need.weight_banks));
    add(banks - std::min(banks, need.two_group_banks));
    std::ranges::sort(choices);
    choices.erase(std::unique(choices.begin(), choices.end()), choices.end());
    return choices;
}

/// Tile counts that differ in the height of the tallest tile; for maps that one operation cannot
/// hold, those whose tiles are half as tall each time.
std::vector<std::uint32_t> tile_counts(const ConvProblem& problem) {
    std::vector<std::uint32_t> counts;
    const std::uint32_t rows = problem.geometry.out_height / problem.row_step;
    if (rows > largest_cube_size) {
        for (std::uint32_t tall = largest_cube_size; tall > 0; tall /= 2) {
            counts.push_back(static_cast<std::uint32_t>(divide_up(rows, tall)));
        }
        return counts;
    }
    std::uint64_t height = 0;
    for (std::uint32_t count = 1; count <= most_tiles(problem); ++count) {
        if (divide_up(rows, count) != height) {
            height = divide_up(rows, count);
            counts.push_back(count);
        }
    }
    return counts;
}

std::optional<ConvTiling> tiling_of(const ConvProblem& problem, const TilingCosts& costs,
                                    const TilingEstimate& estimate, const TilingKey& key) {
    if (key.tiles < 1 || key.tiles > most_tiles(problem)) {
        return std::nullopt;
    }
    const ConvOperands& operands = estimate.operands();
    ConvTiling tiling;
    tiling.problem = problem;
    tiling.form = key.form;
    tiling.operands = operands;
    tiling.tiles = cut_rows(problem, key.tiles);
    const BufferNeed need = need_of(operands, costs.npu, tiling.tiles);
    const std::uint32_t banks = operands.banks;
    const bool stays =
        operands.weights_can_stay && key.tiles > 1 && key.data_banks + need.weight_banks <= banks;
    const bool short_enough =
        std::ranges::all_of(tiling.tiles,
                            [](const RowPiece& tile) {
                                return std::max(tile.in_rows, tile.out_rows) <= largest_cube_size;
                            }) &&
        tallest(operands, tiling.tiles) <= most_released_rows;
    const bool fits = short_enough && key.data_banks >= need.tile_banks &&
                      key.data_banks + need.group_banks <= banks && (!key.resident || stays);
    if (!fits) {
        return std::nullopt;
    }
    tiling.banks = {key.data_banks, banks - key.data_banks};
    tiling.resident = key.resident;
    tiling.overlapped =
        key.data_banks >= need.two_tile_banks && (key.tiles > 1 || problem.slices > 1);
    estimate.fill(tiling);
    return tiling;
}

}  // namespace

namespace {

/// Joins neighbouring groups until they fill whole atoms.
ChannelCut cut_groups(const ConvProblem& whole, std::uint32_t groups, std::uint32_t atom) {
    ChannelCut cut{.slices = {}, .lanes = atom};
    const std::uint32_t channels = cut.group_channels = whole.input.channels / groups;
    const std::uint32_t kernels = cut.group_kernels = whole.kernels.kernels / groups;
    std::uint32_t together = 1;
    while (together < groups &&
           (together * channels % atom != 0 || together * kernels % atom != 0)) {
        ++together;
    }
    for (std::uint32_t group = 0; group < groups; group += together) {
        const std::uint32_t count = std::min(together, groups - group);
        cut.slices.push_back(
            {group * channels / atom, count * channels, group * kernels / atom, count * kernels});
    }
    return cut;
}

}  // namespace

std::variant<ChannelCut, Diagnostic> cut_channels(const ConvProblem& whole, std::uint32_t groups,
                                                  bool has_holes, const NpuConfig& npu) {
    const std::uint32_t atom = npu.datapath.atom_channels(whole.precision);
    if (groups > 1) {
        if (has_holes) {
            return Diagnostic{.sentence =
                                  "the previous layer leaves atoms partly empty, which grouped "
                                  "convolution cannot skip",
                              .remedy = "choose a preset with a larger convolution buffer",
                              .field = buffer_depth};
        }
        return cut_groups(whole, groups, atom);
    }
    const std::uint32_t channels = whole.input.channels;
    const std::uint32_t kernels = whole.kernels.kernels;
    const std::uint32_t group = largest_group(whole, npu);
    if (group == 0) {
        return Diagnostic{.sentence =
                              "the convolution buffer cannot hold even one kernel together with "
                              "the input it needs",
                          .remedy = "choose a preset with a larger convolution buffer",
                          .field = buffer_depth};
    }
    if (group == npu.datapath.atomic_k) {
        return ChannelCut{.slices = {{0, channels, 0, kernels}}, .lanes = atom};
    }
    ChannelCut cut{.slices = {}, .lanes = std::min(group, atom)};
    for (std::uint32_t k = 0; k < kernels; k += cut.lanes) {
        cut.slices.push_back({0, channels, k / cut.lanes, std::min(cut.lanes, kernels - k)});
    }
    return cut;
}

std::vector<ConvForm> forms_of(const ConvProblem& problem, const NpuConfig& npu) {
    if (problem.settled) {
        return {*problem.settled};
    }
    std::vector<ConvForm> forms;
    if (problem.features) {
        if (problem.plain_weights || !problem.compressed) {
            forms.push_back({});
        }
        if (problem.compressed) {
            forms.push_back({.compressed = true});
        }
    }
    if (problem.winograd && suits_winograd(problem, npu)) {
        forms.push_back({.mode = ConvMode::Winograd});
    }
    if (problem.pixels != nullptr) {
        for (const std::uint32_t rows : row_groups(problem, npu)) {
            forms.push_back({.mode = ConvMode::Image, .row_group = rows});
        }
    }
    return forms;
}

std::vector<RowPiece> cut_rows(const ConvProblem& problem, std::uint32_t count) {
    const Convolution& geometry = problem.geometry;
    const RowWindows windows{.in_rows = problem.input.height,
                             .span = dilated_span(problem.kernels.rows, geometry.dilation_y),
                             .stride = geometry.stride_y,
                             .pad_top = geometry.pad_top};
    std::vector<RowPiece> tiles;
    std::uint32_t begin = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t steps = geometry.out_height / problem.row_step;
        const auto end =
            static_cast<std::uint32_t>(std::uint64_t{steps} * (i + 1) / count * problem.row_step);
        tiles.push_back(windows.piece(begin, end - begin));
        begin = end;
    }
    return tiles;
}

std::uint32_t largest_group(const ConvProblem& problem, const NpuConfig& npu) {
    const std::vector<RowPiece> tiles = cut_rows(problem, most_tiles(problem));
    ConvProblem group = problem;
    for (std::uint32_t kernels = npu.datapath.atomic_k; kernels > 0; kernels /= 2) {
        group.kernels.kernels = std::min(kernels, problem.kernels.kernels);
        const ConvOperands operands = operands_of(group, {}, npu);
        const std::uint32_t data =
            banks_for(std::uint64_t{operands.row_entries} * tallest(operands, tiles), npu);
        if (data + banks_for(operands.group_entries, npu) <= npu.cbuf.banks) {
            return kernels;
        }
    }
    return 0;
}

std::optional<ConvTiling> tiling_with(const ConvProblem& problem, const TilingCosts& costs,
                                      const TilingKey& key) {
    const std::vector<ConvForm> forms = forms_of(problem, costs.npu);
    if (std::ranges::find(forms, key.form) == forms.end()) {
        return std::nullopt;
    }
    const ConvProblem shaped = in_form(problem, key.form);
    return tiling_of(shaped, costs, TilingEstimate(shaped, key.form, costs), key);
}

std::vector<ConvTiling> tiling_candidates(const ConvProblem& problem, const TilingCosts& costs) {
    std::vector<ConvTiling> candidates;
    for (const ConvForm& form : forms_of(problem, costs.npu)) {
        const ConvProblem shaped = in_form(problem, form);
        const TilingEstimate estimate(shaped, form, costs);
        const ConvOperands& operands = estimate.operands();
        for (const std::uint32_t count : tile_counts(shaped)) {
            const BufferNeed need = need_of(operands, costs.npu, cut_rows(shaped, count));
            for (const std::uint32_t data : data_bank_choices(need, operands.banks)) {
                for (const bool resident : {false, true}) {
                    if (auto tiling =
                            tiling_of(shaped, costs, estimate, {form, count, data, resident})) {
                        candidates.push_back(std::move(*tiling));
                    }
                }
            }
        }
    }
    std::ranges::stable_sort(candidates, {}, &ConvTiling::estimate);
    return candidates;
}

namespace {

/// Keeps those whose tiles `parts` NPUs share evenly; if none do, those with a tile for each.
void keep_whole_parts(std::vector<ConvTiling>& candidates, std::uint32_t parts) {
    const auto keep = [&](auto&& suits) {
        if (std::ranges::any_of(candidates, suits)) {
            std::erase_if(candidates, [&](const ConvTiling& one) { return !suits(one); });
        }
    };
    keep([&](const ConvTiling& one) { return one.tiles.size() >= parts; });
    keep([&](const ConvTiling& one) { return one.tiles.size() % parts == 0; });
}

}  // namespace

std::variant<ConvTiling, Diagnostic> choose_tiling(const ConvProblem& problem,
                                                   const TilingCosts& costs) {
    if (costs.forced) {
        if (auto forced = tiling_with(problem, costs, *costs.forced)) {
            return *std::move(forced);
        }
    }
    std::vector<ConvTiling> candidates = tiling_candidates(problem, costs);
    if (candidates.empty()) {
        return Diagnostic{.sentence =
                              "the convolution buffer cannot hold the input rows of one output row "
                              "together with one kernel group",
                          .remedy = "choose a preset with a larger convolution buffer",
                          .field = buffer_depth};
    }
    keep_whole_parts(candidates, costs.parts);
    const std::uint64_t least = candidates.front().estimate.value;
    const auto nearly = std::ranges::find_if(candidates, [&](const ConvTiling& tiling) {
        return tiling.estimate.value > least + least / 500;
    });
    return *std::min_element(candidates.begin(), nearly,
                             [](const ConvTiling& one, const ConvTiling& other) {
                                 return std::pair(one.tiles.size(), one.beats) <
                                        std::pair(other.tiles.size(), other.beats);
                             });
}

std::string words_of(const ConvTiling& tiling) {
    const std::size_t tiles = tiling.tiles.size();
    const std::string form = form_words(tiling.form, tiling.problem);
    return fmt::format(
        "{}{}{}{} tile{}, banks {} + {}{}{}, bound by {}", form, form.empty() ? "" : ", ",
        tiling.problem.slices > 1 ? fmt::format("{} slices of channels, ", tiling.problem.slices)
                                  : "",
        tiles, tiles == 1 ? "" : "s", tiling.banks.data, tiling.banks.weight,
        tiling.resident ? ", weights kept" : "", tiling.overlapped ? ", next tile prefetched" : "",
        tiling.bound_by);
}

}  // namespace npuscope
