// SPDX-License-Identifier: Apache-2.0
// One convolution in any precision and mode, as plain numbers: geometry, integers as data and
// weights (fp16 ones are small enough that every sum is exact), and the sums that they must
// produce. Six nested loops over padded input; shares no code with models/.
// source: NVDLA format page; NVDLA doc v1/ias/precision.rst
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace npuscope::oracle {

enum class Type : std::uint8_t { Int8, Int16, Fp16 };
enum class Mode : std::uint8_t { Direct, Image, Winograd };

/// A pixel format of NVDLA that the oracle knows.
struct PixelKind {
    std::uint32_t code;
    std::uint32_t channels;
    bool semi_planar;
    std::uint32_t bytes;  ///< of a component; 0: three of 10 bits and one of 2
    bool floating;
    std::array<std::uint32_t, 4> order;  ///< component that holds R/Y, G/U, B/V, A/X
};
const std::vector<PixelKind>& pixel_kinds();

struct FullLayer {
    Mode mode = Mode::Direct;
    Type type = Type::Int8;        ///< of processing
    Type input_type = Type::Int8;  ///< differs for converted images
    PixelKind pixels{};
    std::uint32_t channels = 1, height = 1, width = 1, batches = 1;
    std::uint32_t kernels = 1, rows = 1, columns = 1;
    std::uint32_t stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
    std::uint32_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
    std::uint32_t out_height = 1, out_width = 1;
    std::int64_t pad_value = 0;
    std::uint32_t row_group = 1;  ///< channel post-extension
    std::uint32_t x_offset = 0;
    bool convert = false;
    bool use_mean = false;
    std::array<std::int64_t, 4> mean{};
    std::int64_t offset = 0, scale = 1;
    std::uint32_t truncate = 0;
    bool is_signed = true;
    std::uint32_t clip = 0;  ///< truncation in the accumulator
    std::int64_t out_offset = 0, out_scale = 1;
    std::uint32_t out_shift = 0;
    std::vector<std::int64_t> data;     ///< [batch][c][y][x]: numbers, or raw codes of pixels
    std::vector<std::int64_t> weights;  ///< [k][c][r][s]

    std::size_t data_index(std::uint32_t b, std::uint32_t c, std::uint32_t y,
                           std::uint32_t x) const {
        return ((std::size_t{b} * channels + c) * height + y) * width + x;
    }
    std::size_t weight_index(std::uint32_t k, std::uint32_t c, std::uint32_t r,
                             std::uint32_t s) const {
        return ((std::size_t{k} * channels + c) * rows + r) * columns + s;
    }
    std::uint32_t bytes() const { return type == Type::Int8 ? 1 : 2; }
    std::uint32_t atom() const { return 32 / bytes(); }
};

/// A pixel's code after the convertor.
std::int64_t converted(const FullLayer& layer, std::int64_t code, std::uint32_t channel);
/// Element bits of a number: two's complement, or fp16 rounded to nearest even and clamped.
std::uint16_t element_bits(std::int64_t value, Type type);
/// Output elements as bits, [batch][lane][y][x], lanes rounded up to whole atoms.
std::vector<std::uint16_t> output_bits(const FullLayer& layer);

}  // namespace npuscope::oracle
