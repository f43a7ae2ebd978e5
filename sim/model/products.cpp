// SPDX-License-Identifier: Apache-2.0
// Products and sums: Conv, ConvInteger, ConvTranspose; batched MatMul, MatMulInteger, Gemm.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

/// Outputs 0 <= o < axis.out whose tap `r` lies inside the input: first and one past the last.
struct TapRange {
    std::int64_t first;
    std::int64_t end;
    std::int64_t offset;  ///< of the input for output 0
};
TapRange range_of_tap(const WindowAxis& axis, std::int64_t tap) {
    const std::int64_t offset = tap * axis.dilation - axis.pad_begin;
    const std::int64_t first = offset >= 0 ? 0 : (-offset + axis.stride - 1) / axis.stride;
    const std::int64_t last = axis.in - 1 - offset;  // largest o * stride
    const std::int64_t end = last < 0 ? 0 : std::min(axis.out, last / axis.stride + 1);
    return {first, std::max(first, end), offset};
}

/// Adds one plane of data times one tap's weight to one plane of sums, for all taps.
class PlaneConvolver {
 public:
    explicit PlaneConvolver(const Window& window)
        : height_(window.height()), width_(window.width()) {}

    void add(const double* data, double data_zero, const double* weights, double weight_zero,
             double* sums) const {
        for (std::int64_t r = 0; r < height_.kernel; ++r) {
            for (std::int64_t s = 0; s < width_.kernel; ++s) {
                const double weight = weights[r * width_.kernel + s] - weight_zero;
                if (weight != 0) {
                    add_tap({range_of_tap(height_, r), range_of_tap(width_, s)}, data, data_zero,
                            weight, sums);
                }
            }
        }
    }

 private:
    struct Tap {
        TapRange y;
        TapRange x;
    };
    void add_tap(const Tap& tap, const double* data, double data_zero, double weight,
                 double* sums) const {
        for (std::int64_t y = tap.y.first; y < tap.y.end; ++y) {
            const double* row = data + (y * height_.stride + tap.y.offset) * width_.in;
            double* out = sums + y * width_.out;
            for (std::int64_t x = tap.x.first; x < tap.x.end; ++x) {
                out[x] += (row[x * width_.stride + tap.x.offset] - data_zero) * weight;
            }
        }
    }

    WindowAxis height_;
    WindowAxis width_;
};

/// The same for volumes: each plane of taps is applied to the planes of data that it overlaps.
class VolumeConvolver {
 public:
    explicit VolumeConvolver(const Window& window) : window_(window), plane_(window) {}

    void add(const double* data, double data_zero, const double* weights, double weight_zero,
             double* sums) const {
        const WindowAxis depth = window_.depth();
        for (std::int64_t r = 0; r < depth.kernel; ++r) {
            const TapRange range = range_of_tap(depth, r);
            for (std::int64_t z = range.first; z < range.end; ++z) {
                plane_.add(data + (z * depth.stride + range.offset) * window_.in_area(), data_zero,
                           weights + r * window_.kernel_area(), weight_zero,
                           sums + z * window_.out_area());
            }
        }
    }

 private:
    const Window& window_;
    PlaneConvolver plane_;
};

}  // namespace

Window checked_window(const GraphNode& node, const Sizes& data, const Sizes& weights) {
    require(weights.size() == data.size() && weights.size() >= 3,
            fmt::format("weights of {} do not fit an input of {}", sizes_text(weights),
                        sizes_text(data)),
            "inputs must be NC.., weights KC..");
    const std::int64_t groups = node.integer("group", 1);
    require(groups >= 1, fmt::format("{} groups", groups), "attribute 'group' must be 1 or more");
    require(data[1] % groups == 0 && data[1] / groups == weights[1],
            fmt::format("weights of {} do not fit an input of {} with group = {}",
                        sizes_text(weights), sizes_text(data), groups),
            "the channels of the weights must be those of the input divided by group");
    require(weights[0] >= 1 && weights[0] % groups == 0,
            fmt::format("the number of kernels is {}, that of groups {}", weights[0], groups),
            "the number of kernels must be a multiple of the groups");
    return conv_window(node, data, Sizes(weights.begin() + 2, weights.end()));
}

Sizes conv_sizes(const GraphNode& node, const Sizes& data, const Sizes& weights) {
    const Window window = checked_window(node, data, weights);
    Sizes sizes{data[0], weights[0]};
    for (const WindowAxis& axis : window.axes) {
        sizes.push_back(axis.out);
    }
    return sizes;
}

std::vector<double> conv_sums(const GraphNode& node, const GraphValue& data,
                              const GraphValue& weights, const std::vector<double>& bias,
                              const ZeroPoints& zero) {
    const Sizes& in = data.type.sizes;
    const Window window = checked_window(node, in, weights.type.sizes);
    const VolumeConvolver volume(window);
    const std::size_t in_volume = unsigned_of(window.in_volume());
    const std::size_t out_volume = unsigned_of(window.out_volume());
    const std::size_t taps = unsigned_of(window.kernel_volume());
    const std::size_t kernels = unsigned_of(weights.type.sizes[0]);
    const std::size_t channels = unsigned_of(weights.type.sizes[1]);  // per group
    const std::size_t per_group = kernels / unsigned_of(node.integer("group", 1));
    const std::size_t all_channels = unsigned_of(in[1]);
    std::vector<double> sums(unsigned_of(in[0]) * kernels * out_volume, 0.0);
    for (std::size_t n = 0; n < unsigned_of(in[0]); ++n) {
        for (std::size_t k = 0; k < kernels; ++k) {
            double* out = sums.data() + (n * kernels + k) * out_volume;
            std::fill_n(out, out_volume, bias.empty() ? 0.0 : bias[k]);
            const double weight_zero = zero.weight[zero.weight.size() == 1 ? 0 : k];
            for (std::size_t c = 0; c < channels; ++c) {
                const std::size_t channel = k / per_group * channels + c;
                volume.add(data.numbers.data() + (n * all_channels + channel) * in_volume,
                           zero.data, weights.numbers.data() + (k * channels + c) * taps,
                           weight_zero, out);
            }
        }
    }
    return sums;
}

namespace {

void check_bias(const Operands& operands, std::size_t index, std::int64_t kernels) {
    require(!operands.has(index) || operands.sizes(index) == Sizes{kernels},
            fmt::format("its bias does not have one number per kernel, {} in all", kernels),
            "give one per kernel");
}

std::vector<double> numbers_or_none(const Operands& operands, std::size_t index) {
    return operands.has(index) ? operands.at(index).numbers : std::vector<double>{};
}

/// Groups and channels of a transposed convolution, whose weights are [C K/groups space].
Window checked_transposed(const Operands& operands) {
    const Sizes& data = operands.sizes(0);
    const Sizes& weights = operands.sizes(1);
    require(weights.size() == data.size() && weights.size() >= 3,
            fmt::format("weights of {} do not fit an input of {}", sizes_text(weights),
                        sizes_text(data)),
            "inputs must be NC.., weights CK..");
    const std::int64_t groups = operands.node.integer("group", 1);
    require(groups >= 1 && data[1] % groups == 0 && weights[0] == data[1] && weights[1] >= 1,
            fmt::format("weights of {} do not fit an input of {} with group = {}",
                        sizes_text(weights), sizes_text(data), groups),
            "both must have the same channels, a multiple of group");
    check_bias(operands, 2, weights[1] * groups);
    return transposed_window(operands.node, data, Sizes(weights.begin() + 2, weights.end()));
}

/// Every input element adds its kernel-sized products around its own position.
class Scatter {
 public:
    explicit Scatter(const Window& window)
        : window_(window), height_(window.height()), width_(window.width()) {}

    void add(const double* data, const double* weights, double* sums) const {
        const WindowAxis depth = window_.depth();
        for (std::int64_t i = 0; i < depth.in * depth.kernel; ++i) {
            const std::int64_t tap = i % depth.kernel;
            const std::int64_t out = place(depth, i / depth.kernel, tap);
            if (out >= 0 && out < depth.out) {
                add_plane(data + i / depth.kernel * window_.in_area(),
                          weights + tap * window_.kernel_area(), sums + out * window_.out_area());
            }
        }
    }

 private:
    static std::int64_t place(const WindowAxis& axis, std::int64_t in, std::int64_t tap) {
        return in * axis.stride + tap * axis.dilation - axis.pad_begin;
    }
    void add_plane(const double* data, const double* weights, double* sums) const {
        for (std::int64_t y = 0; y < height_.in; ++y) {
            for (std::int64_t x = 0; x < width_.in; ++x) {
                add_element(y, x, data[y * width_.in + x], weights, sums);
            }
        }
    }
    void add_element(std::int64_t y, std::int64_t x, double value, const double* weights,
                     double* sums) const {
        for (std::int64_t r = 0; r < height_.kernel; ++r) {
            const std::int64_t row = place(height_, y, r);
            for (std::int64_t s = 0; s < width_.kernel; ++s) {
                const std::int64_t column = place(width_, x, s);
                if (row >= 0 && row < height_.out && column >= 0 && column < width_.out) {
                    sums[row * width_.out + column] += value * weights[r * width_.kernel + s];
                }
            }
        }
    }

    const Window& window_;
    WindowAxis height_;
    WindowAxis width_;
};

Types conv_types(const Operands& operands) {
    check_bias(operands, 2, operands.sizes(1).empty() ? 0 : operands.sizes(1)[0]);
    return {{operands.element(0), conv_sizes(operands.node, operands.sizes(0), operands.sizes(1))}};
}

Values conv(const Operands& operands) {
    return {{conv_types(operands).front(), conv_sums(operands.node, operands.at(0), operands.at(1),
                                                     numbers_or_none(operands, 2), {})}};
}

/// Both factors are 8-bit integers.
void check_bytes(const Operands& operands) {
    for (std::size_t i = 0; i < 2; ++i) {
        const ElementType type = operands.element(i);
        require(type == ElementType::Int8 || type == ElementType::Uint8,
                fmt::format("operand {} is of {}", i, enum_name(type)), "use int8 or uint8");
    }
}

Types conv_integer_types(const Operands& operands) {
    check_bytes(operands);
    const Sizes& weights = operands.sizes(1);
    require(!operands.has(3) || operands.at(3).type.sizes.empty() ||
                count_elements(operands.sizes(3)) == 1 ||
                operands.sizes(3) == Sizes{weights.empty() ? 0 : weights[0]},
            "its weight zero points are neither one nor one per kernel", "give one per kernel");
    return {{ElementType::Int32, conv_sizes(operands.node, operands.sizes(0), weights)}};
}

Values conv_integer(const Operands& operands) {
    ZeroPoints zero;
    if (operands.has(2)) {
        zero.data = scalar_of(operands.at(2), "zero point");
    }
    if (operands.has(3)) {
        zero.weight = operands.at(3).numbers;
    }
    return {{conv_integer_types(operands).front(),
             conv_sums(operands.node, operands.at(0), operands.at(1), {}, zero)}};
}

Types conv_transpose_types(const Operands& operands) {
    const Window window = checked_transposed(operands);
    Sizes sizes{operands.sizes(0)[0], operands.sizes(1)[1] * operands.node.integer("group", 1)};
    for (const WindowAxis& axis : window.axes) {
        sizes.push_back(axis.out);
    }
    return {{operands.element(0), sizes}};
}

Values conv_transpose(const Operands& operands) {
    const Window window = checked_transposed(operands);
    const Scatter scatter(window);
    const std::size_t in_volume = unsigned_of(window.in_volume());
    const std::size_t out_volume = unsigned_of(window.out_volume());
    const std::size_t taps = unsigned_of(window.kernel_volume());
    GraphValue result = zeros(conv_transpose_types(operands).front());
    const std::size_t channels = unsigned_of(operands.sizes(0)[1]);
    const std::size_t per_group = unsigned_of(operands.sizes(1)[1]);
    const std::size_t groups = unsigned_of(operands.node.integer("group", 1));
    const std::size_t kernels = per_group * groups;
    const std::vector<double> bias = numbers_or_none(operands, 2);
    for (std::size_t n = 0; n < unsigned_of(operands.sizes(0)[0]); ++n) {
        for (std::size_t k = 0; k < kernels; ++k) {
            double* sums = result.numbers.data() + (n * kernels + k) * out_volume;
            std::fill_n(sums, out_volume, bias.empty() ? 0.0 : bias[k]);
            const std::size_t first = k / per_group * (channels / groups);
            for (std::size_t c = first; c < first + channels / groups; ++c) {
                scatter.add(operands.at(0).numbers.data() + (n * channels + c) * in_volume,
                            operands.at(1).numbers.data() + (c * per_group + k % per_group) * taps,
                            sums);
            }
        }
    }
    return {std::move(result)};
}

/// Rows x inner times inner x columns, for every batch; batches are broadcast.
struct MatMulShape {
    Sizes result;
    std::size_t rows = 1;
    std::size_t inner = 1;
    std::size_t columns = 1;
    Sizes a_batch;
    Sizes b_batch;
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
            fmt::format("matrices of {} and {} do not match", sizes_text(a), sizes_text(b)),
            "the columns of the first must equal the rows of the second");
    shape.a_batch.assign(a.begin(), row_vector ? a.end() - 1 : a.end() - 2);
    shape.b_batch.assign(b.begin(), column_vector ? b.end() - 1 : b.end() - 2);
    shape.result = common_sizes(shape.a_batch, shape.b_batch);
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
    const Sizes batches = common_sizes(shape.a_batch, shape.b_batch);
    const std::vector<std::size_t> of_a = broadcast_indices(shape.a_batch, batches);
    const std::vector<std::size_t> of_b = broadcast_indices(shape.b_batch, batches);
    for (std::size_t n = 0; n < of_a.size(); ++n) {
        const double* left = a.numbers.data() + of_a[n] * shape.rows * shape.inner;
        const double* right = b.numbers.data() + of_b[n] * shape.inner * shape.columns;
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

/// The operand minus its zero point: one value, or one per row or column.
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
    check_bytes(operands);
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
            "both must be matrices");
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
                fmt::format("it must be broadcastable to {}", sizes_text(result)));
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

}  // namespace

std::span<const OperatorRow> product_operators() {
    static constexpr std::array rows{
        row("Conv", {2, 3}, conv) | float_types | inferring(conv_types) |
            attributes(window_attributes) | macs(MacRule::OutputsByKernel),
        row("ConvInteger", {2, 4}, conv_integer) | inferring(conv_integer_types) |
            attributes(window_attributes) | macs(MacRule::OutputsByKernel),
        row("ConvTranspose", {2, 3}, conv_transpose) | float_types |
            inferring(conv_transpose_types) |
            attributes(
                "auto_pad dilations group kernel_shape pads strides output_padding output_shape") |
            macs(MacRule::InputsByKernel),
        row("MatMul", {2, 2}, matmul) | same_types | inferring(matmul_types) |
            macs(MacRule::OutputsByRows),
        row("MatMulInteger", {2, 4}, matmul_integer) | inferring(matmul_integer_types) |
            macs(MacRule::OutputsByRows),
        row("Gemm", {2, 3}, gemm) | same_types | inferring(gemm_types) |
            attributes("alpha beta transA transB") | macs(MacRule::OutputsByRows)};
    return rows;
}

}  // namespace npuscope::host
