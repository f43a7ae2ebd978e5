// SPDX-License-Identifier: Apache-2.0
// Attention and rotary embedding as the operators that they stand for:
//
//     queries ─────────────► MatMul ─► Mul ─► Add ─► Softmax ─► MatMul
//     keys ────► Transpose ───┘       scale   mask                ▲
//     values ─────────────────────────────────────────────────────┘
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/model/node_parts.h"

namespace npuscope {
namespace {

/// Map [N S C], weights of queries, keys and values side by side, their bias, mask [N S].
class RuntimeAttention : NodeParts {
 public:
    using NodeParts::NodeParts;

    FusedParts parts() {
        const Sizes map = sizes_of(0);
        const std::int64_t heads = node_.integer("num_heads", 0);
        const Sizes weights = sizes_of(1);
        const bool fits = map.size() == 3 && weights.size() == 2 && heads > 0 &&
                          weights[1] == 3 * map[2] && map[2] % heads == 0;
        const bool masks = !node_.input(3).empty();
        if (!fits || has_other_form() || (masks && sizes_of(3) != Sizes{map[0], map[1]})) {
            return {};
        }
        std::string all = add("MatMul", {node_.input(0), node_.input(1)}, "product");
        if (!node_.input(2).empty()) {
            all = add("Add", {all, node_.input(2)}, "biased");
        }
        const std::vector<std::string> thirds = split_thirds(all);
        const std::int64_t width = map[2] / heads;
        const auto headed = [&](std::size_t part, std::vector<std::int64_t> order) {
            const std::string name = "part" + std::to_string(part);
            const std::string split =
                reshaped(thirds[part], {map[0], map[1], heads, width}, name + "_heads");
            return transposed(split, std::move(order), name + "_turned");
        };
        const std::string products =
            add("MatMul", {headed(0, {0, 2, 1, 3}), headed(1, {0, 2, 3, 1})}, "scores");
        const double scale = node_.number("scale", 1 / std::sqrt(static_cast<double>(width)));
        std::string scores = add("Mul", {products, number("scale", scale)}, "scaled");
        if (masks) {
            scores = add("Add", {scores, penalties({map[0], 1, 1, map[1]})}, "masked");
        }
        const std::string shares = add("Softmax", {scores}, "shares", {{"axis", std::int64_t{-1}}});
        const std::string mixed = add("MatMul", {shares, headed(2, {0, 2, 1, 3})}, "mixed");
        reshaped(transposed(mixed, {0, 2, 1, 3}, "turned"), map, "result");
        return finished();
    }

 private:
    /// Forms with state, with other masks or without weights.
    bool has_other_form() const {
        constexpr std::size_t plain_inputs = 4;
        const bool more_inputs =
            node_.inputs.size() > plain_inputs &&
            std::ranges::any_of(node_.inputs.begin() + plain_inputs, node_.inputs.end(),
                                [](const std::string& input) { return !input.empty(); });
        return more_inputs || is_read(1) || node_.has("qkv_hidden_sizes") ||
               node_.integer("unidirectional", 0) != 0 || node_.integer("do_rotary", 0) != 0;
    }

    std::vector<std::string> split_thirds(const std::string& all) {
        constexpr std::uint32_t count_as_attribute = 18;
        std::map<std::string, Attribute> attributes{{"axis", std::int64_t{-1}}};
        if (around_.opset >= count_as_attribute) {
            attributes["num_outputs"] = std::int64_t{3};
        }
        add("Split", {all}, "queries", std::move(attributes));
        return {last_result(), another_result("keys"), another_result("values")};
    }

    /// 0 where the mask is 1, else a large negative number.
    std::string penalties(const Sizes& sizes) {
        const std::int64_t floats = element_row(around_.type(node_.input(0)).element).onnx;
        const std::string mask = add("Cast", {node_.input(3)}, "mask", {{"to", floats}});
        const std::string off = add("Sub", {number("one", 1), mask}, "unmasked");
        const std::string filter = number("filter", node_.number("mask_filter_value", -10000));
        return reshaped(add("Mul", {off, filter}, "penalties"), sizes, "penalty_map");
    }
};

/// Queries, keys and values, each [N heads S width] or [N S heads*width]; mask; past keys and values.
/// Several heads of the queries may share one of the keys and values: their rows follow each other.
class Attention : NodeParts {
 public:
    using NodeParts::NodeParts;

    FusedParts parts() {
        queries_ = heads_of(0, "q_num_heads");
        keys_ = heads_of(1, "kv_num_heads");
        values_ = heads_of(2, "kv_num_heads");
        if (!fits()) {
            return {};
        }
        const std::string keys = with_past(1, keys_, "keys");
        const std::string values = with_past(2, values_, "values");
        const std::string queries =
            grouped(headed(0, queries_, "queries"), queries_.width, "grouped_queries");
        std::string scores =
            add("MatMul", {queries, transposed(keys, {0, 1, 3, 2}, "keys_turned")}, "products");
        scores = ungrouped(scores, total_, "scores");
        const double width = static_cast<double>(queries_.width);
        scores = add("Mul", {scores, number("scale", node_.number("scale", 1 / std::sqrt(width)))},
                     "scaled");
        give_scores(scores, 0);
        scores = capped(scores);
        give_scores(scores, 1);
        scores = masked(scores);
        give_scores(scores, 2);
        std::string shares = add("Softmax", {scores}, "shares", {{"axis", std::int64_t{-1}}});
        give_scores(shares, 3);
        shares = grouped(shares, total_, "grouped_shares");
        const std::string mixed =
            ungrouped(add("MatMul", {shares, values}, "mixed"), values_.width, "of_heads");
        if (sizes_of(0).size() == 3) {
            reshaped(transposed(mixed, {0, 2, 1, 3}, "turned"),
                     {queries_.batch, queries_.rows, queries_.heads * values_.width}, "result");
        }
        return finished();
    }

 private:
    struct Heads {
        std::int64_t batch = 0;
        std::int64_t heads = 0;
        std::int64_t rows = 0;
        std::int64_t width = 0;
    };

    /// Without heads if the input has none.
    Heads heads_of(std::size_t input, const char* attribute) const {
        const Sizes sizes = sizes_of(input);
        if (sizes.size() == 4) {
            return {sizes[0], sizes[1], sizes[2], sizes[3]};
        }
        const std::int64_t heads = node_.integer(attribute, 0);
        return sizes.size() == 3 && heads > 0 && sizes[2] % heads == 0
                   ? Heads{sizes[0], heads, sizes[1], sizes[2] / heads}
                   : Heads{};
    }

    bool fits() {
        constexpr std::size_t length_input = 6;  // of keys and values without padding
        if (queries_.heads == 0 || queries_.width == 0 || keys_.heads == 0 ||
            queries_.heads % keys_.heads != 0 || keys_.heads != values_.heads ||
            queries_.batch != keys_.batch || keys_.batch != values_.batch ||
            keys_.rows != values_.rows || queries_.width != keys_.width ||
            !node_.input(length_input).empty()) {
            return false;
        }
        const bool has_past = !node_.input(4).empty();
        const Sizes past = has_past ? sizes_of(4) : Sizes{};
        past_ = past.size() == 4 ? past[2] : 0;
        total_ = past_ + keys_.rows;
        const Sizes mask = node_.input(3).empty() ? Sizes{1} : sizes_of(3);
        return (!has_past || past.size() == 4) && has_past == !node_.input(5).empty() &&
               !mask.empty() && (mask.back() == 1 || mask.back() == total_);
    }

    /// [N heads S width]
    std::string headed(std::size_t input, const Heads& of, const std::string& part) {
        const std::string& map = node_.input(input);
        return sizes_of(input).size() == 4
                   ? map
                   : transposed(
                         reshaped(map, {of.batch, of.rows, of.heads, of.width}, part + "_heads"),
                         {0, 2, 1, 3}, part);
    }

    /// After the past ones; they may be results, too.
    std::string with_past(std::size_t input, const Heads& of, const std::string& part) {
        std::string present = headed(input, of, part);
        if (const std::string& past = node_.input(input + 3); !past.empty()) {
            present = add("Concat", {past, present}, "all_" + part, {{"axis", std::int64_t{2}}});
        }
        give_copy(present, input, "present_" + part);
        return present;
    }

    void give_copy(const std::string& tensor, std::size_t output, const std::string& part) {
        if (is_read(output)) {
            add("Identity", {tensor}, part);
            give(output);
        }
    }
    void give_scores(const std::string& scores, std::int64_t mode) {
        if (node_.integer("qk_matmul_output_mode", 0) == mode) {
            give_copy(scores, 3, "given_scores");
        }
    }

    /// The rows of all heads that share one of the keys.
    std::string grouped(const std::string& map, std::int64_t width, const std::string& part) {
        const std::int64_t rows = queries_.heads / keys_.heads * queries_.rows;
        return queries_.heads == keys_.heads
                   ? map
                   : reshaped(map, {queries_.batch, keys_.heads, rows, width}, part);
    }
    std::string ungrouped(const std::string& map, std::int64_t width, const std::string& part) {
        return queries_.heads == keys_.heads
                   ? map
                   : reshaped(map, {queries_.batch, queries_.heads, queries_.rows, width}, part);
    }

    std::string capped(const std::string& scores) {
        const double cap = node_.number("softcap", 0);
        if (cap == 0) {
            return scores;
        }
        const std::string limit = number("softcap", cap);
        return add("Mul",
                   {add("Tanh", {add("Div", {scores, limit}, "shares_of_cap")}, "tanh"), limit},
                   "capped");
    }

    std::string masked(std::string scores) {
        constexpr double none = -std::numeric_limits<double>::infinity();
        if (std::string mask = node_.input(3); !mask.empty()) {
            if (around_.type(mask).element == ElementType::Bool) {
                mask = add("Where", {mask, number("kept", 0), number("hidden", none)}, "mask");
            }
            scores = add("Add", {scores, mask}, "masked");
        }
        if (node_.integer("is_causal", 0) == 0) {
            return scores;
        }
        GraphValue later = zeros({around_.type(node_.input(0)).element, {queries_.rows, total_}});
        for (std::int64_t row = 0; row < queries_.rows; ++row) {
            for (std::int64_t column = row + past_ + 1; column < total_; ++column) {
                later.numbers[static_cast<std::size_t>(row * total_ + column)] = none;
            }
        }
        return add("Add", {scores, constant("later", std::move(later))}, "causal");
    }

    Heads queries_;
    Heads keys_;
    Heads values_;
    std::int64_t past_ = 0;
    std::int64_t total_ = 0;  ///< rows of keys, with the past ones
};

/// Map [N heads S width] or [N S heads*width]; cosines and sines [N S width/2], or by position.
/// The elements that are rotated with each other are halves of a row or, interleaved, neighbours.
class Rotation : NodeParts {
 public:
    using NodeParts::NodeParts;

    FusedParts parts() {
        const Sizes map = sizes_of(0);
        const std::int64_t heads = node_.integer("num_heads", 0);
        if (map.size() != 4 && (map.size() != 3 || heads <= 0 || map[2] % heads != 0)) {
            return {};
        }
        const bool heads_first = map.size() == 4;
        Sizes rows = heads_first ? map : Sizes{map[0], map[1], heads, map[2] / heads};
        const std::int64_t width = rows.back();
        const std::int64_t whole = node_.integer("rotary_embedding_dim", 0);
        const std::int64_t rotated = whole == 0 ? width : whole;
        Sizes angles{rows[0], rows[heads_first ? 2 : 1], rotated / 2};
        if (rotated <= 0 || rotated > width || rotated % 2 != 0 || !has_angles(angles)) {
            return {};
        }
        std::string turning = node_.input(0);
        std::string rest;
        if (rotated < width) {
            add("Split",
                {reshaped(turning, rows, "heads"), integers("widths", {rotated, width - rotated})},
                "turning", {{"axis", std::int64_t{-1}}});
            turning = last_result();
            rest = another_result("rest");
        }
        const bool neighbours = node_.integer("interleaved", 0) != 0;
        const std::int64_t axis = neighbours ? 4 : 3;  // of the two elements
        rows.back() = rotated / 2;
        angles.insert(angles.begin() + (heads_first ? 1 : 2), 1);
        angles.insert(angles.begin() + axis, 1);
        Sizes pairs = rows;
        pairs.insert(pairs.begin() + axis, 2);
        add("Split", {reshaped(turning, pairs, "pairs")}, "first",
            {{"axis", axis}, {"num_outputs", std::int64_t{2}}});
        const std::string first = last_result();
        const std::string second = another_result("second");
        const std::string cosines = of_rows(1, angles, "cosines");
        const std::string sines = of_rows(2, angles, "sines");
        const std::string real = add("Sub",
                                     {add("Mul", {first, cosines}, "first_cosines"),
                                      add("Mul", {second, sines}, "second_sines")},
                                     "real");
        const std::string imaginary = add("Add",
                                          {add("Mul", {first, sines}, "first_sines"),
                                           add("Mul", {second, cosines}, "second_cosines")},
                                          "imaginary");
        std::string result = add("Concat", {real, imaginary}, "joined", {{"axis", axis}});
        if (!rest.empty()) {
            rows.back() = rotated;
            result = add("Concat", {reshaped(result, rows, "turned"), rest}, "all",
                         {{"axis", std::int64_t{-1}}});
        }
        reshaped(result, map, "result");
        return finished();
    }

 private:
    bool has_positions() const { return !node_.input(3).empty(); }

    /// `angles`: N, S, and how many of them a row has.
    bool has_angles(const Sizes& angles) const {
        const Sizes cosines = sizes_of(1);
        const bool by_position = cosines.size() == 2 && cosines[1] == angles[2] &&
                                 has_positions() && sizes_of(3) == Sizes{angles[0], angles[1]};
        return sizes_of(2) == cosines && (by_position || (!has_positions() && cosines == angles));
    }

    std::string of_rows(std::size_t input, const Sizes& sizes, const std::string& part) {
        std::string rows = node_.input(input);
        if (has_positions()) {
            Sizes positions = sizes_of(3);
            positions.push_back(1);
            rows = add("GatherND", {rows, reshaped(node_.input(3), positions, part + "_positions")},
                       part + "_taken");
        }
        return reshaped(rows, sizes, part);
    }
};

}  // namespace

FusedParts parts_of_runtime_attention(const GraphNode& node, const FusedSurroundings& around) {
    return RuntimeAttention(node, around).parts();
}

FusedParts parts_of_attention(const GraphNode& node, const FusedSurroundings& around) {
    return Attention(node, around).parts();
}

FusedParts parts_of_rotation(const GraphNode& node, const FusedSurroundings& around) {
    return Rotation(node, around).parts();
}

}  // namespace npuscope
