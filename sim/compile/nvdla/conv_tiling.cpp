// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/conv_tiling.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/compile/nvdla/tiling_estimate.h"

namespace npuscope {
namespace {

/// Banks that parts of a convolution take.
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

std::uint32_t tallest(const ConvOperands& operands, const std::vector<ConvTile>& tiles) {
    std::uint32_t rows = 0;
    for (const ConvTile& tile : tiles) {
        rows = std::max(rows, operands.buffer_rows(tile.out_rows, tile.in_rows));
    }
    return rows;
}

BufferNeed need_of(const ConvOperands& operands, const NpuConfig& npu,
                   const std::vector<ConvTile>& tiles) {
    const std::uint64_t cube = std::uint64_t{operands.row_entries} * tallest(operands, tiles);
    return {.tile_banks = banks_for(cube, npu),
            .two_tile_banks = banks_for(2 * cube, npu),
            .group_banks = banks_for(operands.group_entries, npu),
            .two_group_banks = banks_for(2 * operands.group_entries, npu),
            .weight_banks = banks_for(operands.weight_entries, npu)};
}

/// Splits of the banks at which something changes: room for one, two or three tiles of data and
/// weights in the rest; or just enough for all weights, two groups, one group.
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

/// Numbers of tiles that differ in the height of the tallest.
std::vector<std::uint32_t> tile_counts(const ConvProblem& problem) {
    std::vector<std::uint32_t> counts;
    const std::uint32_t rows = problem.geometry.out_height / problem.row_step;
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
    tiling.form = key.form;
    tiling.tiles = cut_rows(problem, key.tiles);
    const BufferNeed need = need_of(operands, costs.npu, tiling.tiles);
    const std::uint32_t banks = operands.banks;
    const bool stays =
        operands.weights_can_stay && key.tiles > 1 && key.data_banks + need.weight_banks <= banks;
    const bool fits = key.data_banks >= need.tile_banks &&
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

std::vector<ConvTile> cut_rows(const ConvProblem& problem, std::uint32_t count) {
    const Convolution& geometry = problem.geometry;
    const std::uint32_t span = dilated_span(problem.kernels.rows, geometry.dilation_y);
    std::vector<ConvTile> tiles;
    std::uint32_t begin = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t steps = geometry.out_height / problem.row_step;
        const auto end =
            static_cast<std::uint32_t>(std::uint64_t{steps} * (i + 1) / count * problem.row_step);
        ConvTile tile{.out_begin = begin, .out_rows = end - begin};
        // padding counts as rows in front of the input
        const std::uint32_t top = begin * geometry.stride_y;
        const std::uint32_t bottom = (end - 1) * geometry.stride_y + span;
        tile.pad_top = top < geometry.pad_top ? geometry.pad_top - top : 0;
        tile.in_begin = top + tile.pad_top - geometry.pad_top;
        const std::uint32_t in_end =
            std::min(problem.input.height, bottom - std::min(bottom, geometry.pad_top));
        tile.in_rows = in_end - std::min(in_end, tile.in_begin);
        tiles.push_back(tile);
        begin = end;
    }
    return tiles;
}

std::uint32_t largest_group(const ConvProblem& problem, const NpuConfig& npu) {
    const std::vector<ConvTile> tiles = cut_rows(problem, most_tiles(problem));
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
                              "the rows under one row of output and one kernel group do "
                              "not fit the convolution buffer",
                          .remedy = "choose a preset with a larger cbuf"};
    }
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

std::string words_of(const ConvTiling& tiling, const ConvProblem& problem) {
    const std::size_t tiles = tiling.tiles.size();
    const std::string form = words_of(tiling.form, problem);
    return fmt::format(
        "{}{}{}{} tile{}, banks {} + {}{}{}, bound by {}", form, form.empty() ? "" : ", ",
        problem.slices > 1 ? fmt::format("{} slices of channels, ", problem.slices) : "", tiles,
        tiles == 1 ? "" : "s", tiling.banks.data, tiling.banks.weight,
        tiling.resident ? ", weights stay" : "",
        tiling.overlapped ? ", next tile fetched meanwhile" : "", tiling.bound_by);
}

}  // namespace npuscope
