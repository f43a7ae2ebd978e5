// SPDX-License-Identifier: Apache-2.0
// PDP: maximum, minimum, average; fp16 averages are summed in fp17, along a line and then over the
// lines. source: nv_full C model, compared by running; NVDLA precision page
#include <algorithm>
#include <array>
#include <cmath>

#include "tests/support/random_full.h"

namespace npuscope::full {

namespace {

enum class Method : std::uint8_t { Average = 0, Max = 1, Min = 2 };

/// One direction of a window.
struct Axis {
    std::uint32_t in = 1;
    std::uint32_t kernel = 1;
    std::uint32_t stride = 1;
    std::uint32_t before = 0;  ///< padding
    std::uint32_t behind = 0;

    std::uint32_t out() const { return (in + before + behind - kernel) / stride + 1; }
    std::uint32_t first(std::uint32_t at) const {
        return at * stride < before ? 0 : at * stride - before;
    }
    /// One past the last element.
    std::uint32_t end(std::uint32_t at) const {
        return std::min(at * stride + kernel - before, in);
    }
    std::uint32_t missing(std::uint32_t at) const { return kernel - (end(at) - first(at)); }
};

Axis random_axis(Random& random) {
    Axis axis;
    axis.kernel = random.size(1, 8);
    axis.stride = random.size(1, 4);
    axis.before = random.size(0, axis.kernel - 1);
    axis.behind = random.size(0, axis.kernel - 1);
    const std::uint32_t padding = axis.before + axis.behind;
    const std::uint32_t least = axis.kernel > padding ? axis.kernel - padding : 1;
    axis.in = random.size(least, least + 9);
    // padding that no window covers makes the PDP end other windows than there are
    const std::uint32_t rest = (axis.in + padding - axis.kernel) % axis.stride;
    axis.behind -= std::min(axis.behind, rest);
    return axis;
}

class Pooling {
 public:
    Pooling(Builder& builder, Type type)
        : builder_(builder),
          type_(type),
          method_(builder.random.one_of({Method::Average, Method::Max, Method::Min})),
          x_(random_axis(builder.random)),
          y_(random_axis(builder.random)) {
        const std::uint32_t channels = builder.random.size(1, 70);
        in_ = builder.place(type, channels, y_.in, x_.in);
        out_ = builder.place(type, channels, y_.out(), x_.out());
        for (std::size_t i = 1; i < pads_.size(); ++i) {
            // No average exceeds int8: beyond it, the RTL and the C model differ.
            const std::int64_t most = 120 * static_cast<std::int64_t>(i);
            pads_[i] = type == Type::Fp16
                           ? fp16_value(builder.random.size(9 << 10, 20 << 10))
                           : static_cast<double>(builder.random.between(-most, most));
        }
        recip_x_ = reciprocal(x_.kernel);
        recip_y_ = reciprocal(y_.kernel);
    }

    void program() {
        source_ = builder_.random_elements(type_, in_.extent());
        builder_.load(in_.base, source_);
        write_reader();
        write_shape();
        write_window();
        builder_.write("PDP_RDMA.D_OP_ENABLE", 1);
        builder_.write("PDP.D_OP_ENABLE", 1);
        builder_.wait();
        ByteVector result(out_.extent());
        for_each_element(out_, [&](std::uint32_t c, std::uint32_t y, std::uint32_t x) {
            const double value = method_ == Method::Average ? average(c, y, x) : choose(c, y, x);
            write_element(result, out_.offset(c, y, x), type_, wrapped(value));
        });
        builder_.expect(out_.base, std::move(result));
    }

 private:
    bool floats() const { return type_ == Type::Fp16; }
    /// As the registers hold it: an fp17, or in units of 2^-16.
    double reciprocal(std::uint32_t kernel) const {
        return floats() ? fp17(1.0 / kernel) : std::floor(65536.0 / kernel);
    }
    std::uint32_t code(double value) const {
        return floats() ? fp17_code(value)
                        : static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    }
    /// A sum of zero has the first operand's sign.
    double add(double first, double second) const {
        const double sum = first + second;
        return floats() ? std::copysign(fp17(sum), sum == 0.0 ? first : sum) : sum;
    }
    double wrapped(double value) const {
        if (floats()) {
            return value;
        }
        const double range = std::ldexp(1.0, static_cast<int>(8 * size_of(type_)));
        return value - range * std::floor(value / range + 0.5);
    }
    double element(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
        return read_element(source_, in_.offset(c, y, x), type_);
    }

    double choose(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
        double best = element(c, y_.first(y), x_.first(x));
        for (std::uint32_t j = y_.first(y); j < y_.end(y); ++j) {
            for (std::uint32_t i = x_.first(x); i < x_.end(x); ++i) {
                best = method_ == Method::Max ? std::max(best, element(c, j, i))
                                              : std::min(best, element(c, j, i));
            }
        }
        return best;
    }

    double line_sum(std::uint32_t c, std::uint32_t j, std::uint32_t x) const {
        double sum = element(c, j, x_.first(x));
        for (std::uint32_t i = x_.first(x) + 1; i < x_.end(x); ++i) {
            sum = add(sum, element(c, j, i));
        }
        return add(sum, pads_.at(x_.missing(x)));
    }

    double average(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
        double sum = line_sum(c, y_.first(y), x);
        for (std::uint32_t j = y_.first(y) + 1; j < y_.end(y); ++j) {
            sum = add(line_sum(c, j, x), sum);
        }
        const double pad = pads_.at(y_.missing(y)) * x_.kernel;
        sum = add(sum, floats() ? fp17(pad) : pad);
        if (floats()) {
            return fp17(fp17(sum * recip_x_) * recip_y_);
        }
        return std::round(std::round(sum * recip_x_ / 65536.0) * recip_y_ / 65536.0);
    }

    void write_reader() {
        builder_.write("PDP.S_POINTER", 0);
        builder_.write("PDP_RDMA.S_POINTER", 0);
        builder_.write("PDP_RDMA.D_DATA_CUBE_IN_WIDTH", in_.width - 1);
        builder_.write("PDP_RDMA.D_DATA_CUBE_IN_HEIGHT", in_.height - 1);
        builder_.write("PDP_RDMA.D_DATA_CUBE_IN_CHANNEL", in_.channels - 1);
        builder_.write("PDP_RDMA.D_SRC_BASE_ADDR_LOW", low_word(in_.base));
        builder_.write("PDP_RDMA.D_SRC_LINE_STRIDE", low_word(in_.line));
        builder_.write("PDP_RDMA.D_SRC_SURFACE_STRIDE", low_word(in_.surface));
        builder_.write("PDP_RDMA.D_SRC_RAM_CFG", ram_type(in_.base));
        builder_.write("PDP_RDMA.D_DATA_FORMAT", code_of(type_));
        builder_.write("PDP_RDMA.D_POOLING_KERNEL_CFG", (x_.kernel - 1) | (x_.stride - 1) << 4U);
        builder_.write("PDP_RDMA.D_POOLING_PADDING_CFG", x_.before);
    }

    void write_shape() {
        builder_.write("PDP.D_DATA_CUBE_IN_WIDTH", in_.width - 1);
        builder_.write("PDP.D_DATA_CUBE_IN_HEIGHT", in_.height - 1);
        builder_.write("PDP.D_DATA_CUBE_IN_CHANNEL", in_.channels - 1);
        builder_.write("PDP.D_DATA_CUBE_OUT_WIDTH", out_.width - 1);
        builder_.write("PDP.D_DATA_CUBE_OUT_HEIGHT", out_.height - 1);
        builder_.write("PDP.D_DATA_CUBE_OUT_CHANNEL", out_.channels - 1);
        builder_.write("PDP.D_SRC_LINE_STRIDE", low_word(in_.line));
        builder_.write("PDP.D_SRC_SURFACE_STRIDE", low_word(in_.surface));
        builder_.write("PDP.D_DST_BASE_ADDR_LOW", low_word(out_.base));
        builder_.write("PDP.D_DST_LINE_STRIDE", low_word(out_.line));
        builder_.write("PDP.D_DST_SURFACE_STRIDE", low_word(out_.surface));
        builder_.write("PDP.D_DST_RAM_CFG", ram_type(out_.base));
        builder_.write("PDP.D_DATA_FORMAT", code_of(type_));
    }

    void write_window() {
        builder_.write("PDP.D_OPERATION_MODE_CFG", static_cast<std::uint32_t>(method_) | 1U << 4U);
        builder_.write("PDP.D_POOLING_KERNEL_CFG", (x_.kernel - 1) | (y_.kernel - 1) << 8U |
                                                       (x_.stride - 1) << 16U |
                                                       (y_.stride - 1) << 20U);
        builder_.write("PDP.D_RECIP_KERNEL_WIDTH", code(recip_x_));
        builder_.write("PDP.D_RECIP_KERNEL_HEIGHT", code(recip_y_));
        builder_.write("PDP.D_POOLING_PADDING_CFG",
                       x_.before | y_.before << 4U | x_.behind << 8U | y_.behind << 12U);
        for (std::size_t i = 1; i < pads_.size(); ++i) {
            builder_.write("PDP.D_POOLING_PADDING_VALUE_" + std::to_string(i) + "_CFG",
                           code(pads_[i]) & 0x7ffffU);
        }
    }

    Builder& builder_;
    Type type_;
    Method method_;
    Axis x_;
    Axis y_;
    PlacedCube in_;
    PlacedCube out_;
    ByteVector source_;
    std::array<double, 8> pads_{};  // what this many missing columns or lines add
    double recip_x_ = 1;
    double recip_y_ = 1;
};

}  // namespace

Program random_pdp(Type type, std::uint64_t seed) {
    Builder builder(seed);
    Pooling(builder, type).program();
    return builder.finish("random_pdp");
}

}  // namespace npuscope::full
