// SPDX-License-Identifier: Apache-2.0
// MatMul with batches, MatMulInteger, Gemm.
#include <fmt/format.h>

#include <array>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

std::size_t unsigned_of(std::int64_t value) { return static_cast<std::size_t>(value); }

/// Rows x inner times inner x columns, for every batch; a batch of 1 serves all.
struct MatMulShape {
    Sizes result;
    std::size_t rows = 1;
    std::size_t inner = 1;
    std::size_t columns = 1;
    std::size_t batches = 1;
    bool a_batched = false;
    bool b_batched = false;
};

MatMulShape matmul_shape(const Sizes& a, const Sizes& b) {
    require(!a.empty() && !b.empty(), "one of its operands is a scalar", "use Mul");
    const bool row_vector = a.size() == 1;
    const bool column_vector = b.size() == 1;
    MatMulShape shape;
    shape.rows = row_vector ? 1 : unsigned_of(a[a.size() - 2]);
    shape.inner = unsigned_of(a.back());
    shape.columns = column_vector ? 1 : unsigned_of(b.back());
    const std::int64_t b_inner = column_vector ? b[0] : b[b.size() - 2];
    require(a.back() == b_inner,
            fmt::format("matrices of {} and {} do not go together", sizes_text(a), sizes_text(b)),
            "columns of the first are rows of the second");
    const Sizes a_batch(a.begin(), row_vector ? a.end() - 1 : a.end() - 2);
    const Sizes b_batch(b.begin(), column_vector ? b.end() - 1 : b.end() - 2);
    shape.a_batched = count_elements(a_batch) > 1;
    shape.b_batched = count_elements(b_batch) > 1;
    require(!shape.a_batched || !shape.b_batched || a_batch == b_batch,
            fmt::format("batches of {} and {} do not go together", sizes_text(a), sizes_text(b)),
            "give both the same batches, or one of them none");
    shape.result = a_batch.size() >= b_batch.size() && !shape.b_batched ? a_batch : b_batch;
    shape.batches = count_elements(shape.result);
    if (!row_vector) {
        shape.result.push_back(a[a.size() - 2]);
    }
    if (!column_vector) {
        shape.result.push_back(b.back());
    }
    return shape;
}

GraphValue product(const GraphValue& a, const GraphValue& b, ElementType element) {
    const MatMulShape shape = matmul_shape(a.type.sizes, b.type.sizes);
    GraphValue result = zeros({element, shape.result});
    for (std::size_t n = 0; n < shape.batches; ++n) {
        const double* left =
            a.numbers.data() + (shape.a_batched ? n * shape.rows * shape.inner : 0);
        const double* right =
            b.numbers.data() + (shape.b_batched ? n * shape.inner * shape.columns : 0);
        double* sums = result.numbers.data() + n * shape.rows * shape.columns;
        for (std::size_t i = 0; i < shape.rows; ++i) {
            for (std::size_t k = 0; k < shape.inner; ++k) {
                const double value = left[i * shape.inner + k];
                for (std::size_t j = 0; j < shape.columns; ++j) {
                    sums[i * shape.columns + j] += value * right[k * shape.columns + j];
                }
            }
        }
    }
    return result;
}

GraphValue transposed(const GraphValue& matrix) {
    const std::size_t rows = unsigned_of(matrix.type.sizes[0]);
    const std::size_t columns = unsigned_of(matrix.type.sizes[1]);
    return fill({matrix.type.element, {matrix.type.sizes[1], matrix.type.sizes[0]}},
                [&](std::size_t i) { return matrix.numbers[i % rows * columns + i / rows]; });
}

/// The operand with its zero point taken off: one number, or one per row or column.
GraphValue without_zero(const Operands& operands, std::size_t index, std::size_t zero,
                        bool by_column) {
    GraphValue value = operands.at(index);
    if (!operands.has(zero)) {
        return value;
    }
    const std::vector<double>& zeros_of = operands.at(zero).numbers;
    const std::size_t columns = unsigned_of(value.type.sizes.back());
    const std::size_t rows = value.numbers.size() / std::max<std::size_t>(columns, 1);
    require(zeros_of.size() == 1 || zeros_of.size() == (by_column ? columns : rows),
            "its zero points are neither one nor one per row or column", "give one");
    for (std::size_t i = 0; i < value.numbers.size(); ++i) {
        const std::size_t own = by_column ? i % columns : i / columns;
        value.numbers[i] -= zeros_of[zeros_of.size() == 1 ? 0 : own];
    }
    return value;
}

}  // namespace

Types matmul_types(const Operands& operands) {
    return {{operands.element(0), matmul_shape(operands.sizes(0), operands.sizes(1)).result}};
}
Values matmul(const Operands& operands) {
    return {product(operands.at(0), operands.at(1), operands.element(0))};
}

namespace {

Types matmul_integer_types(const Operands& operands) {
    for (std::size_t i = 0; i < 2; ++i) {
        const ElementType type = operands.element(i);
        require(type == ElementType::Int8 || type == ElementType::Uint8,
                fmt::format("operand {} is of {}", i, enum_name(type)), "use int8 or uint8");
    }
    return {{ElementType::Int32, matmul_shape(operands.sizes(0), operands.sizes(1)).result}};
}
}  // namespace

Values matmul_integer(const Operands& operands) {
    matmul_integer_types(operands);
    return {product(without_zero(operands, 0, 2, false), without_zero(operands, 1, 3, true),
                    ElementType::Int32)};
}

namespace {

Types gemm_types(const Operands& operands) {
    Sizes a = operands.sizes(0);
    Sizes b = operands.sizes(1);
    require(a.size() == 2 && b.size() == 2,
            fmt::format("its operands are {} and {}", sizes_text(a), sizes_text(b)),
            "both are matrices");
    if (operands.node.integer("transA", 0) != 0) {
        std::swap(a[0], a[1]);
    }
    if (operands.node.integer("transB", 0) != 0) {
        std::swap(b[0], b[1]);
    }
    const Sizes result = matmul_shape(a, b).result;
    if (operands.has(2)) {
        const Sizes& c = operands.sizes(2);
        const bool fits = c.size() <= 2 && (c.empty() || c.back() == 1 || c.back() == result[1]) &&
                          (c.size() < 2 || c[0] == 1 || c[0] == result[0]);
        require(fits, fmt::format("its third operand is {}", sizes_text(c)),
                fmt::format("it must be broadcast to {}", sizes_text(result)));
    }
    return {{operands.element(0), result}};
}

Values gemm(const Operands& operands) {
    const TensorType type = gemm_types(operands).front();
    const bool transpose_a = operands.node.integer("transA", 0) != 0;
    const bool transpose_b = operands.node.integer("transB", 0) != 0;
    GraphValue result =
        product(transpose_a ? transposed(operands.at(0)) : operands.at(0),
                transpose_b ? transposed(operands.at(1)) : operands.at(1), type.element);
    const double alpha = operands.node.number("alpha", 1.0);
    const double beta = operands.node.number("beta", 1.0);
    const std::size_t columns = unsigned_of(type.sizes[1]);
    for (std::size_t i = 0; i < result.numbers.size(); ++i) {
        double sum = alpha * result.numbers[i];
        if (operands.has(2)) {
            const GraphValue& c = operands.at(2);
            const std::size_t c_columns =
                c.type.sizes.empty() ? 1 : unsigned_of(c.type.sizes.back());
            const std::size_t c_rows = c.type.sizes.size() < 2 ? 1 : unsigned_of(c.type.sizes[0]);
            sum += beta * c.numbers[(c_rows == 1 ? 0 : i / columns) * c_columns +
                                    (c_columns == 1 ? 0 : i % columns)];
        }
        result.numbers[i] = sum;
    }
    return {std::move(result)};
}

constexpr std::array rows{OperatorRow{.op = "MatMul",
                                      .least = 2,
                                      .most = 2,
                                      .types = TypeRule::Same,
                                      .evaluate = matmul,
                                      .infer = matmul_types,
                                      .macs = MacRule::OutputsByRows},
                          OperatorRow{.op = "MatMulInteger",
                                      .least = 2,
                                      .most = 4,
                                      .evaluate = matmul_integer,
                                      .infer = matmul_integer_types,
                                      .macs = MacRule::OutputsByRows},
                          OperatorRow{.op = "Gemm",
                                      .least = 2,
                                      .most = 3,
                                      .types = TypeRule::Same,
                                      .evaluate = gemm,
                                      .infer = gemm_types,
                                      .attributes = "alpha beta transA transB",
                                      .macs = MacRule::OutputsByRows}};

}  // namespace

std::span<const OperatorRow> matrix_operators() { return rows; }

}  // namespace npuscope::host
