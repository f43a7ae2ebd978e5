// SPDX-License-Identifier: Apache-2.0
#include "sim/model/fused_nodes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

#include "sim/model/graph_edit.h"

namespace npuscope {
namespace {

/// The weights of a MatMulNBits [kernels inner] in blocks along `inner`, each with a scale and a zero
/// point. Two codes of 4 bits share a byte, the first in its low half:
///
///     codes   [kernels, blocks, block * bits / 8]
///     scales  [kernels, blocks]
///     points  [kernels, blocks], or packed as the codes: [kernels, bytes of all blocks]
struct BlockCodes {
    std::int64_t inner;
    std::int64_t kernels;
    std::int64_t block;  ///< weights that have a scale in common
    std::int64_t bits;
    std::span<const double> codes;
    std::span<const double> scales;
    std::span<const double> points;  ///< empty: the middle of the codes
    bool packed;                     ///< the zero points are codes

    bool fits() const {
        const auto is_size = [](std::int64_t size) { return size > 0 && size <= most_elements; };
        if ((bits != 4 && bits != 8) || !is_size(inner) || !is_size(kernels) || !is_size(block) ||
            block % 2 != 0) {
            return false;
        }
        const std::int64_t rows = kernels * blocks();
        return std::ssize(scales) == rows && std::ssize(codes) == rows * bytes_of(block) &&
               (points.empty() ||
                std::ssize(points) == (packed ? kernels * bytes_of(blocks()) : rows));
    }
    double weight(std::int64_t i, std::int64_t kernel) const {
        const std::int64_t row = kernel * blocks() + i / block;
        const auto at = static_cast<std::size_t>(row);
        const double middle = bits == 4 ? 8 : 128;
        const double zero = points.empty() ? middle
                            : packed       ? code(points, kernel * bytes_of(blocks()), i / block)
                                           : points[at];
        return (code(codes, row * bytes_of(block), i % block) - zero) * scales[at];
    }

 private:
    std::int64_t blocks() const { return (inner + block - 1) / block; }
    std::int64_t bytes_of(std::int64_t count) const { return (count * bits + 7) / 8; }
    /// Code `i` of those that begin at the byte `first`.
    double code(std::span<const double> bytes, std::int64_t first, std::int64_t i) const {
        const auto byte =
            static_cast<std::uint32_t>(bytes[static_cast<std::size_t>(first + i * bits / 8)]);
        return bits == 8 ? byte : i % 2 == 0 ? byte & 15U : byte >> 4U;
    }
};

class Unfusing {
 public:
    Unfusing(const GraphNode& node, const FusedSurroundings& around)
        : node_(node), around_(around) {}

    /// Map, weights, bias, and a map that is added before the activation.
    FusedParts conv() {
        std::string result = add("Conv", {node_.input(0), node_.input(1), node_.input(2)}, "conv",
                                 without_activation());
        if (!node_.input(3).empty()) {
            result = add("Add", {result, node_.input(3)}, "sum");
        }
        return activated(result, node_.numbers("activation_params"));
    }

    FusedParts gemm() {
        const std::string result = add("Gemm", {node_.input(0), node_.input(1), node_.input(2)},
                                       "gemm", without_activation());
        std::vector<double> params;
        for (const char* name : {"activation_alpha", "activation_beta"}) {
            if (node_.has(name)) {
                params.push_back(node_.number(name, 0));
            }
        }
        return activated(result, params);
    }

    /// The factor goes to a constant operand if there is one, which is then folded.
    FusedParts matmul() {
        std::string a = turned(node_.input(0), "A");
        std::string b = turned(node_.input(1), "B");
        const double alpha = node_.number("alpha", 1);
        if (alpha == 1) {
            add("MatMul", {a, b}, "product");
            return finished();
        }
        const std::string factor = constant("alpha", alpha);
        if (around_.constant(node_.input(1)) != nullptr) {
            add("MatMul", {a, add("Mul", {b, factor}, "scaled")}, "product");
        } else if (around_.constant(node_.input(0)) != nullptr) {
            add("MatMul", {add("Mul", {a, factor}, "scaled"), b}, "product");
        } else {
            add("Mul", {add("MatMul", {a, b}, "product"), factor}, "scaled");
        }
        return finished();
    }

    /// Map, codes, scales, zero points, order of the groups, bias. The weights become a constant, as
    /// those of a DequantizeLinear would.
    FusedParts block_matmul() {
        const std::optional<BlockCodes> codes = block_codes();
        if (!codes) {
            return {};
        }
        GraphValue weights{{around_.type(node_.input(0)).element, {codes->inner, codes->kernels}},
                           {}};
        weights.numbers.resize(count_elements(weights.type.sizes));
        for (std::int64_t i = 0; i < std::ssize(weights.numbers); ++i) {
            weights.numbers[static_cast<std::size_t>(i)] =
                codes->weight(i / codes->kernels, i % codes->kernels);
        }
        settle(weights);
        std::string name = around_.new_name(node_.outputs.front() + "/weights");
        parts_.constants.emplace_back(name, std::move(weights));
        const std::string product = add("MatMul", {node_.input(0), name}, "product");
        if (!node_.input(block_bias).empty()) {
            add("Add", {product, node_.input(block_bias)}, "biased");
        }
        return finished();
    }

    /// Map, skipped map, scale, bias of the norm, bias of the sum.
    FusedParts skip_norm() {
        if (is_read(1) || is_read(2)) {
            return {};
        }
        add("LayerNormalization", {skip_sum(4), node_.input(2), node_.input(3)}, "norm",
            {{"epsilon", node_.number("epsilon", default_skip_epsilon)}});
        return finished();
    }

    /// Map, skipped map, scale, bias of the sum.
    FusedParts skip_root_norm() {
        if (is_read(1) || is_read(2)) {
            return {};
        }
        root_norm(skip_sum(3), node_.input(2), -1, node_.number("epsilon", default_skip_epsilon));
        return finished();
    }

    FusedParts root_norm_alone() {
        if (is_read(1)) {
            return {};
        }
        root_norm(node_.input(0), node_.input(1), node_.integer("axis", -1),
                  node_.number("epsilon", 1e-5));
        return finished();
    }

    /// Map [N S C], weights of queries, keys and values side by side, their bias, mask [N S].
    FusedParts attention() {
        const Sizes map = sizes_of(0);
        const std::int64_t heads = node_.integer("num_heads", 0);
        const Sizes weights = sizes_of(1);
        const bool fits = map.size() == 3 && weights.size() == 2 && heads > 0 &&
                          weights[1] == 3 * map[2] && map[2] % heads == 0;
        const bool masks = !node_.input(3).empty();
        if (!fits || has_other_attention() || (masks && sizes_of(3) != Sizes{map[0], map[1]})) {
            return {};
        }
        std::string all = add("MatMul", {node_.input(0), node_.input(1)}, "product");
        if (!node_.input(2).empty()) {
            all = add("Add", {all, node_.input(2)}, "biased");
        }
        const std::vector<std::string> parts = thirds(all);
        const std::int64_t width = map[2] / heads;
        const auto headed = [&](std::size_t part, std::vector<std::int64_t> order) {
            const std::string name = "part" + std::to_string(part);
            const std::string split =
                reshaped(parts[part], {map[0], map[1], heads, width}, name + "_heads");
            return add("Transpose", {split}, name + "_turned", {{"perm", std::move(order)}});
        };
        const std::string products =
            add("MatMul", {headed(0, {0, 2, 1, 3}), headed(1, {0, 2, 3, 1})}, "scores");
        const double scale = node_.number("scale", 1 / std::sqrt(static_cast<double>(width)));
        std::string scores = add("Mul", {products, constant("scale", scale)}, "scaled");
        if (masks) {
            scores = add("Add", {scores, penalties({map[0], 1, 1, map[1]})}, "masked");
        }
        const std::string shares = add("Softmax", {scores}, "shares", {{"axis", std::int64_t{-1}}});
        const std::string mixed = add("MatMul", {shares, headed(2, {0, 2, 1, 3})}, "mixed");
        const std::vector<std::int64_t> back{0, 2, 1, 3};
        reshaped(add("Transpose", {mixed}, "turned", {{"perm", back}}), map, "result");
        return finished();
    }

 private:
    static constexpr std::size_t block_bias = 5;

    /// Nothing where they are not constants of the sizes that the attributes state, where the groups
    /// have an order of their own, or for codes of another width.
    std::optional<BlockCodes> block_codes() const {
        const GraphValue* codes = around_.constant(node_.input(1));
        const GraphValue* scales = around_.constant(node_.input(2));
        const GraphValue* points = around_.constant(node_.input(3));
        if (codes == nullptr || codes->type.element != ElementType::Uint8 || scales == nullptr ||
            !node_.input(4).empty() || (points == nullptr) != node_.input(3).empty()) {
            return std::nullopt;
        }
        const BlockCodes all{
            .inner = node_.integer("K", 0),
            .kernels = node_.integer("N", 0),
            .block = node_.integer("block_size", 0),
            .bits = node_.integer("bits", 4),
            .codes = codes->numbers,
            .scales = scales->numbers,
            .points = points == nullptr ? std::span<const double>{} : std::span(points->numbers),
            .packed = points != nullptr && points->type.element == ElementType::Uint8};
        return all.fits() ? std::optional(all) : std::nullopt;
    }

    Sizes sizes_of(std::size_t input) const { return around_.type(node_.input(input)).sizes; }

    /// Forms with state, with other masks or without weights.
    bool has_other_attention() const {
        constexpr std::size_t plain_inputs = 4;
        const bool more_inputs =
            node_.inputs.size() > plain_inputs &&
            std::ranges::any_of(node_.inputs.begin() + plain_inputs, node_.inputs.end(),
                                [](const std::string& input) { return !input.empty(); });
        return more_inputs || is_read(1) || node_.has("qkv_hidden_sizes") ||
               node_.integer("unidirectional", 0) != 0 || node_.integer("do_rotary", 0) != 0;
    }

    std::vector<std::string> thirds(const std::string& all) {
        constexpr std::uint32_t count_as_attribute = 18;
        std::map<std::string, Attribute> attributes{{"axis", std::int64_t{-1}}};
        if (around_.opset >= count_as_attribute) {
            attributes["num_outputs"] = std::int64_t{3};
        }
        add("Split", {all}, "queries", std::move(attributes));
        GraphNode& split = parts_.nodes.back();
        for (const char* part : {"/keys", "/values"}) {
            split.outputs.push_back(around_.new_name(node_.outputs.front() + part));
        }
        return split.outputs;
    }

    std::string reshaped(const std::string& map, const Sizes& sizes, const std::string& part) {
        return add("Reshape", {map, integers(part + "_sizes", sizes)}, part);
    }

    /// 0 where the mask is 1, else a large negative number.
    std::string penalties(const Sizes& sizes) {
        const std::int64_t floats = element_row(around_.type(node_.input(0)).element).onnx;
        const std::string mask = add("Cast", {node_.input(3)}, "mask", {{"to", floats}});
        const std::string off = add("Sub", {constant("one", 1), mask}, "unmasked");
        const std::string filter = constant("filter", node_.number("mask_filter_value", -10000));
        return reshaped(add("Mul", {off, filter}, "penalties"), sizes, "penalty_map");
    }

    std::string integers(const std::string& part, const std::vector<std::int64_t>& numbers) {
        std::string name = around_.new_name(node_.outputs.front() + '/' + part);
        parts_.constants.emplace_back(name, integer_list(numbers));
        return name;
    }

    static constexpr double default_skip_epsilon = 1e-12;

    bool is_read(std::size_t output) const {
        return output < node_.outputs.size() && !node_.outputs[output].empty();
    }

    std::map<std::string, Attribute> without_activation() const {
        auto attributes = node_.attributes;
        std::erase_if(attributes,
                      [](const auto& one) { return one.first.starts_with("activation"); });
        return attributes;
    }

    /// The sum of both maps, and of a bias.
    std::string skip_sum(std::size_t bias) {
        std::string sum = add("Add", {node_.input(0), node_.input(1)}, "skip");
        if (!node_.input(bias).empty()) {
            sum = add("Add", {sum, node_.input(bias)}, "biased");
        }
        constexpr std::size_t output = 3;
        if (is_read(output)) {
            parts_.nodes.back().outputs.front() = node_.outputs[output];
            sum = node_.outputs[output];
        }
        return sum;
    }

    /// RMSNormalization, in operators that every opset has.
    void root_norm(const std::string& map, const std::string& scale, std::int64_t axis,
                   double epsilon) {
        const auto rank = static_cast<std::int64_t>(around_.type(node_.input(0)).sizes.size());
        std::vector<std::int64_t> axes(static_cast<std::size_t>(
            std::clamp<std::int64_t>(axis < 0 ? -axis : rank - axis, 1, rank)));
        std::iota(axes.begin(), axes.end(), -std::ssize(axes));
        const std::string squares = add("Mul", {map, map}, "squares");
        const std::string mean = mean_of(squares, axes);
        const std::string offset = constant("epsilon", epsilon);
        const std::string root = add("Sqrt", {add("Add", {mean, offset}, "offset")}, "root");
        add("Mul", {add("Div", {map, root}, "divided"), scale}, "norm");
    }

    /// Axes are an operand from opset 18 on.
    std::string mean_of(const std::string& map, const std::vector<std::int64_t>& axes) {
        constexpr std::uint32_t axes_as_operand = 18;
        if (around_.opset < axes_as_operand) {
            return add("ReduceMean", {map}, "mean", {{"axes", axes}});
        }
        return add("ReduceMean", {map, integers("axes", axes)}, "mean");
    }

    /// Operand A or B of a FusedMatMul, transposed as its attributes say.
    std::string turned(const std::string& operand, const std::string& letter) {
        const std::size_t rank = around_.type(operand).sizes.size();
        const bool of_batch = node_.integer("transBatch" + letter, 0) != 0;
        const bool of_matrix = node_.integer("trans" + letter, 0) != 0;
        if (rank < 2 || (!of_batch && !of_matrix)) {
            return operand;
        }
        std::vector<std::int64_t> order(rank);
        std::iota(order.begin(), order.end(), 0);
        if (of_batch) {
            std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
        }
        if (of_matrix) {
            std::swap(order[rank - 2], order[rank - 1]);
        }
        return add("Transpose", {operand}, "turned" + letter, {{"perm", order}});
    }

    /// A number of the first input's element type.
    std::string constant(const std::string& part, double number) {
        GraphValue value{{}, {number}};
        value.type.element = around_.type(node_.input(0)).element;
        settle(value);
        std::string name = around_.new_name(node_.outputs.front() + '/' + part);
        parts_.constants.emplace_back(name, std::move(value));
        return name;
    }

    std::string add(const std::string& op, std::vector<std::string> inputs, const std::string& part,
                    std::map<std::string, Attribute> attributes = {}) {
        while (!inputs.empty() && inputs.back().empty()) {
            inputs.pop_back();
        }
        std::string result = around_.new_name(node_.outputs.front() + '/' + part);
        parts_.nodes.push_back({op,
                                node_name(node_) + '/' + part,
                                std::move(inputs),
                                {result},
                                std::move(attributes)});
        return result;
    }

    /// The last part gives the node's own result.
    FusedParts finished() {
        parts_.nodes.back().name = node_.name;
        parts_.nodes.back().outputs.front() = node_.outputs.front();
        return std::move(parts_);
    }

    FusedParts activated(const std::string& map, const std::vector<double>& params) {
        const std::string activation = node_.text("activation", "");
        const auto attribute = [&](const char* name, std::size_t i) {
            return i < params.size() ? std::map<std::string, Attribute>{{name, params[i]}}
                                     : std::map<std::string, Attribute>{};
        };
        if (activation == "Relu" || activation == "Tanh" || activation == "Sigmoid") {
            add(activation, {map}, activation);
        } else if (activation == "LeakyRelu") {
            add(activation, {map}, activation, attribute("alpha", 0));
        } else if (activation == "HardSigmoid") {
            auto attributes = attribute("alpha", 0);
            attributes.merge(attribute("beta", 1));
            add(activation, {map}, activation, std::move(attributes));
        } else if (activation == "Clip" && params.size() == 2) {
            clip(map, params);
        } else if (!activation.empty()) {
            return {};
        }
        return finished();
    }

    /// Limits are operands from opset 11 on.
    void clip(const std::string& map, const std::vector<double>& limits) {
        constexpr std::uint32_t limits_as_operands = 11;
        if (around_.opset < limits_as_operands) {
            add("Clip", {map}, "Clip", {{"min", limits[0]}, {"max", limits[1]}});
            return;
        }
        add("Clip", {map, constant("min", limits[0]), constant("max", limits[1])}, "Clip");
    }

    const GraphNode& node_;
    const FusedSurroundings& around_;
    FusedParts parts_{};
};

struct FusedRow {
    std::string_view op;
    std::size_t least_inputs;
    FusedParts (Unfusing::*parts)();
};

constexpr std::array rows{
    FusedRow{"com.microsoft.Attention", 2, &Unfusing::attention},
    FusedRow{"com.microsoft.FusedConv", 2, &Unfusing::conv},
    FusedRow{"com.microsoft.FusedGemm", 2, &Unfusing::gemm},
    FusedRow{"com.microsoft.FusedMatMul", 2, &Unfusing::matmul},
    FusedRow{"com.microsoft.MatMulNBits", 3, &Unfusing::block_matmul},
    FusedRow{"com.microsoft.SkipLayerNormalization", 3, &Unfusing::skip_norm},
    FusedRow{"com.microsoft.SkipSimplifiedLayerNormalization", 3, &Unfusing::skip_root_norm},
    FusedRow{"SimplifiedLayerNormalization", 2, &Unfusing::root_norm_alone}};

const FusedRow* row_of(const GraphNode& node) {
    const auto found = std::ranges::find(rows, node.op, &FusedRow::op);
    return found == rows.end() ? nullptr : found;
}

}  // namespace

std::vector<std::string> fused_operators() {
    std::vector<std::string> names;
    names.reserve(rows.size());
    for (const FusedRow& row : rows) {
        names.emplace_back(row.op);
    }
    return names;
}

bool is_fused(const GraphNode& node) { return row_of(node) != nullptr; }

FusedParts parts_of_fused(const GraphNode& node, const FusedSurroundings& around) {
    const FusedRow* row = row_of(node);
    for (std::size_t i = 0; row != nullptr && i < row->least_inputs; ++i) {
        if (node.input(i).empty()) {
            return {};
        }
    }
    return row == nullptr ? FusedParts{} : (Unfusing(node, around).*row->parts)();
}

}  // namespace npuscope
