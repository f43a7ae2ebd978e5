// SPDX-License-Identifier: Apache-2.0
#include "sim/model/fused_nodes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

#include "sim/model/node_parts.h"

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

class Unfusing : NodeParts {
 public:
    using NodeParts::NodeParts;

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
        const std::string factor = number("alpha", alpha);
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
        const std::string name = constant("weights", std::move(weights));
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

    static constexpr double default_skip_epsilon = 1e-12;

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
            give(output);
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
        const std::string offset = number("epsilon", epsilon);
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
        return transposed(operand, std::move(order), "turned" + letter);
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
        add("Clip", {map, number("min", limits[0]), number("max", limits[1])}, "Clip");
    }
};

struct FusedRow {
    std::string_view op;
    std::size_t least_inputs;
    FusedParts (*parts)(const GraphNode&, const FusedSurroundings&);
};

template <FusedParts (Unfusing::*Parts)()>
FusedParts by(const GraphNode& node, const FusedSurroundings& around) {
    return (Unfusing(node, around).*Parts)();
}

constexpr std::array rows{
    FusedRow{"Attention", 3, &parts_of_attention},
    FusedRow{"RotaryEmbedding", 3, &parts_of_rotation},
    FusedRow{"com.microsoft.Attention", 2, &parts_of_runtime_attention},
    FusedRow{"com.microsoft.FusedConv", 2, &by<&Unfusing::conv>},
    FusedRow{"com.microsoft.FusedGemm", 2, &by<&Unfusing::gemm>},
    FusedRow{"com.microsoft.FusedMatMul", 2, &by<&Unfusing::matmul>},
    FusedRow{"com.microsoft.MatMulNBits", 3, &by<&Unfusing::block_matmul>},
    FusedRow{"com.microsoft.SkipLayerNormalization", 3, &by<&Unfusing::skip_norm>},
    FusedRow{"com.microsoft.SkipSimplifiedLayerNormalization", 3, &by<&Unfusing::skip_root_norm>},
    FusedRow{"SimplifiedLayerNormalization", 2, &by<&Unfusing::root_norm_alone>}};

const FusedRow* row_of(std::string_view op) {
    const auto found = std::ranges::find(rows, op, &FusedRow::op);
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

bool is_fused(std::string_view op) { return row_of(op) != nullptr; }

FusedParts parts_of_fused(const GraphNode& node, const FusedSurroundings& around) {
    const FusedRow* row = row_of(node.op);
    for (std::size_t i = 0; row != nullptr && i < row->least_inputs; ++i) {
        if (node.input(i).empty()) {
            return {};
        }
    }
    return row == nullptr ? FusedParts{} : row->parts(node, around);
}

}  // namespace npuscope
