// SPDX-License-Identifier: Apache-2.0
// Units as C functions: sums of products against plain loops, weights there and back, and misuse.
#include <gmock/gmock-matchers.h>

#include <array>

#include "include/npuscope/units.h"
#include "models/arith/convolve.h"
#include "tests/support/generate_random.h"
#include "tests/support/oracle_number.h"

namespace npuscope {
namespace {

using testing::HasSubstr;

// --- Convolution ---------------------------------------------------------------------------------

struct ConvCase {
    npuscope_conv_parameters p{};
    Shape data{5, 9, 7};

    ConvCase() {
        p.size = sizeof p;
        p.kernels = 6;
        p.rows = 3;
        p.columns = 2;
        p.out_height = 4;
        p.out_width = 4;
        p.stride_y = 2;
        p.stride_x = 2;
        p.dilation_y = 1;
        p.dilation_x = 2;
        p.pad_top = 1;
        p.pad_left = 2;
        p.pad_value = 3;
        p.truncate = 2;
    }
    std::size_t weights() const {
        return std::size_t{p.kernels} * data.channels * p.rows * p.columns;
    }
    std::size_t sums() const { return std::size_t{p.kernels} * p.out_height * p.out_width; }
};

template <class T>
std::vector<T> random_values(Random& random, std::size_t count) {
    std::vector<T> values(count);
    for (T& value : values) {
        value = static_cast<T>(random.word());
    }
    return values;
}

template <class T>
std::int64_t plain_sum(const ConvCase& c, const std::vector<T>& data, const std::vector<T>& weights,
                       std::array<std::uint32_t, 3> at) {
    std::int64_t sum = 0;
    for (std::uint32_t channel = 0; channel < c.data.channels; ++channel) {
        for (std::uint32_t r = 0; r < c.p.rows; ++r) {
            for (std::uint32_t s = 0; s < c.p.columns; ++s) {
                const auto y =
                    static_cast<std::int64_t>(at[1] * c.p.stride_y + r * c.p.dilation_y) -
                    c.p.pad_top;
                const auto x =
                    static_cast<std::int64_t>(at[2] * c.p.stride_x + s * c.p.dilation_x) -
                    c.p.pad_left;
                const bool inside = y >= 0 && x >= 0 && y < c.data.height && x < c.data.width;
                const std::size_t place =
                    (channel * c.data.height + static_cast<std::size_t>(y)) * c.data.width +
                    static_cast<std::size_t>(x);
                const std::int64_t value = inside ? data[place] : c.p.pad_value;
                sum +=
                    value *
                    weights[((at[0] * c.data.channels + channel) * c.p.rows + r) * c.p.columns + s];
            }
        }
    }
    return sum;
}

template <class T>
void expect_plain_sums(npuscope_type type) {
    Random random(7);
    const ConvCase c;
    const auto data = random_values<T>(random, c.data.elements());
    const auto weights = random_values<T>(random, c.weights());
    const npuscope_tensor tensor{data.data(),     data.size() * sizeof(T), type,
                                 c.data.channels, c.data.height,           c.data.width};
    std::vector<std::int32_t> sums(c.sums());
    npuscope_counters counters{};
    counters.size = sizeof counters;
    ASSERT_EQ(npuscope_conv(&c.p, &tensor, weights.data(), weights.size() * sizeof(T), sums.data(),
                            sums.size() * 4, &counters),
              NPUSCOPE_OK)
        << npuscope_error();
    std::uint64_t saturated = 0;
    for (std::uint32_t k = 0; k < c.p.kernels; ++k) {
        for (std::uint32_t y = 0; y < c.p.out_height; ++y) {
            for (std::uint32_t x = 0; x < c.p.out_width; ++x) {
                const oracle::Wide shifted =
                    oracle::round_shift(plain_sum(c, data, weights, {k, y, x}), c.p.truncate);
                const oracle::Wide wanted = oracle::saturate(shifted, 32);
                saturated += wanted == shifted ? 0 : 1;
                ASSERT_EQ(sums[(k * c.p.out_height + y) * c.p.out_width + x],
                          static_cast<std::int32_t>(wanted));
            }
        }
    }
    EXPECT_EQ(counters.saturated, saturated);
}

TEST(UnitsOfCConvolution, sumsProductsOfIntegers) {
    expect_plain_sums<std::int8_t>(NPUSCOPE_INT8);
    expect_plain_sums<std::int16_t>(NPUSCOPE_INT16);
}

TEST(UnitsOfCConvolution, sumsProductsOfFp16) {
    Random random(9);
    const ConvCase c;
    Tensor<std::int16_t> data(c.data);
    Kernels<std::int16_t> kernels({c.p.kernels, c.data.channels, c.p.rows, c.p.columns});
    for (auto* values : {&data.values, &kernels.values}) {
        for (std::int16_t& value : *values) {
            value =
                static_cast<std::int16_t>(random.size(0, 1) << 15 | random.size(0x2000, 0x5000));
        }
    }
    const npuscope_tensor tensor{data.values.data(), data.values.size() * 2, NPUSCOPE_FP16,
                                 c.data.channels,    c.data.height,          c.data.width};
    std::vector<std::int32_t> sums(c.sums());
    ASSERT_EQ(npuscope_conv(&c.p, &tensor, kernels.values.data(), kernels.values.size() * 2,
                            sums.data(), sums.size() * 4, nullptr),
              NPUSCOPE_OK);
    const Convolution geometry{.out_height = 4,
                               .out_width = 4,
                               .stride_y = 2,
                               .stride_x = 2,
                               .dilation_x = 2,
                               .pad_top = 1,
                               .pad_left = 2,
                               .pad_value = 3};
    EXPECT_EQ(sums, convolve_fp16_plain(data, kernels, geometry, {.block_channels = 8}).values);
}

// --- Compressed weights --------------------------------------------------------------------------

TEST(UnitsOfCWeights, areCompressedAndBack) {
    Random random(3);
    npuscope_weights layout{sizeof layout, 20, 9, 3, 2, 8, 1};
    std::vector<std::int8_t> stored(20 * 9 * 3 * 2);
    std::size_t others = 0;
    for (std::int8_t& value : stored) {
        value = random.chance(40) ? static_cast<std::int8_t>(random.word()) : std::int8_t{0};
        others += value != 0 ? 1 : 0;
    }
    npuscope_compressed sizes{};
    sizes.size = sizeof sizes;
    ASSERT_EQ(npuscope_compress(&layout, stored.data(), stored.size(), &sizes), NPUSCOPE_OK);
    EXPECT_EQ(sizes.weight_bytes, (others + 127) / 128 * 128);
    EXPECT_EQ(sizes.mask_bytes, (stored.size() / 8 + 127) / 128 * 128);
    EXPECT_EQ(sizes.sizes_bytes, 3U * 4);
    std::vector<std::uint8_t> weights(sizes.weight_bytes);
    std::vector<std::uint8_t> mask(sizes.mask_bytes);
    std::vector<std::uint32_t> groups(3);
    npuscope_compressed compressed = sizes;
    compressed.weights = weights.data();
    compressed.mask = mask.data();
    compressed.sizes = groups.data();
    ASSERT_EQ(npuscope_compress(&layout, stored.data(), stored.size(), &compressed), NPUSCOPE_OK);
    EXPECT_EQ(groups[0] + groups[1] + groups[2], others);
    std::vector<std::int8_t> back(stored.size());
    ASSERT_EQ(npuscope_decompress(&layout, &compressed, back.data(), back.size()), NPUSCOPE_OK);
    EXPECT_EQ(back, stored);
    EXPECT_EQ(npuscope_decompress(&layout, &compressed, back.data(), back.size() - 1),
              NPUSCOPE_BAD_ARGUMENT);
    ++groups[1];
    EXPECT_EQ(npuscope_decompress(&layout, &compressed, back.data(), back.size()),
              NPUSCOPE_WRONG_INPUT);
    EXPECT_THAT(npuscope_error(), HasSubstr("kernel group 1: its size is"));
    compressed.mask_bytes = 10;
    EXPECT_EQ(npuscope_compress(&layout, stored.data(), stored.size(), &compressed),
              NPUSCOPE_BAD_ARGUMENT);
    EXPECT_THAT(npuscope_error(), HasSubstr("mask: 10 bytes are given, but 256 are needed"));
}

// --- Misuse --------------------------------------------------------------------------------------

struct Sdp {
    Sdp() { p.size = sizeof p; }
    npuscope_status run() { return npuscope_sdp(&p, &in, out.data(), out.size(), nullptr); }
    std::array<std::int8_t, 8> values{1, -2, 3, -4, 5, -6, 7, -8};
    std::array<std::uint8_t, 8> out{};
    npuscope_tensor in{values.data(), values.size(), NPUSCOPE_INT8, 2, 2, 2};
    npuscope_sdp_parameters p{};
};

TEST(UnitsOfCMisuse, isRefusedByName) {
    const auto refused = [](auto change, const char* text) {
        Sdp sdp;
        change(sdp);
        EXPECT_EQ(sdp.run(), NPUSCOPE_BAD_ARGUMENT);
        EXPECT_THAT(npuscope_error(), HasSubstr(text));
        EXPECT_EQ(sdp.out, (std::array<std::uint8_t, 8>{}));
    };
    const std::array<std::int16_t, 3> operands{};
    EXPECT_EQ(Sdp().run(), NPUSCOPE_OK);
    refused([](Sdp& s) { s.p.size = 8; }, "parameters->size is 8");
    refused([](Sdp& s) { s.in.bytes = 7; },
            "the tensor: 7 bytes are given, but the elements need 8");
    refused([](Sdp& s) { s.in.data = nullptr; }, "data is null");
    refused([](Sdp& s) { s.in.width = 0; }, "width is 0, not 1 to 8192");
    refused([](Sdp& s) { s.in.type = 9; }, "type is 9");
    refused([](Sdp& s) { s.p.bs.enabled = 1, s.p.bs.shift = 64; }, "bs.shift is 64, not 0 to 63");
    refused([](Sdp& s) { s.p.bn.enabled = 1, s.p.bn.alu = NPUSCOPE_ALU_EQUAL; }, "bn.alu is 4");
    refused(
        [](Sdp& s) {
            s.p.convertor = {1, 0, 40000, 0};
        },
        "convertor.scale is 40000, not -32768 to 32767");
    refused(
        [&](Sdp& s) {
            s.p.bs.enabled = 1;
            s.p.bs.alu = NPUSCOPE_ALU_SUM;
            s.p.bs.alu_operand = {operands.data(), 3, 0};
        },
        "bs.alu_operand.count is 3, not 2 (one per channel) or 8 (one per element)");
    refused([](Sdp& s) { s.p.output = -1; }, "output is -1");
}

npuscope_conv_parameters one_tap() {
    npuscope_conv_parameters p{};
    p.size = sizeof p;
    p.kernels = p.rows = p.columns = p.out_height = p.out_width = 1;
    p.stride_y = p.stride_x = p.dilation_y = p.dilation_x = 1;
    return p;
}

TEST(UnitsOfCMisuse, ofSizesIsRefusedBeforeAnythingIsAllocated) {
    npuscope_conv_parameters p = one_tap();
    p.kernels = 8192;
    p.rows = p.columns = 32;
    const std::vector<std::int8_t> data(8192);
    const std::array<std::int8_t, 128> weights{};
    std::vector<std::int32_t> sums(8192);
    npuscope_tensor in{data.data(), data.size(), NPUSCOPE_INT8, 8192, 1, 1};
    EXPECT_EQ(npuscope_conv(&p, &in, weights.data(), weights.size(), sums.data(),
                            sums.size() * sizeof(std::int32_t), nullptr),
              NPUSCOPE_BAD_ARGUMENT);
    EXPECT_THAT(npuscope_error(),
                HasSubstr("weights: 128 bytes are given, but the elements need 68719476736"));
    in.height = in.width = 8192;
    EXPECT_EQ(npuscope_conv(&p, &in, weights.data(), weights.size(), sums.data(),
                            sums.size() * sizeof(std::int32_t), nullptr),
              NPUSCOPE_BAD_ARGUMENT);
}

TEST(UnitsOfCMisuse, ofPaddingValuesIsRefusedByType) {
    struct Row {
        npuscope_type type;
        std::int32_t least, most;
    };
    for (const Row& row : {Row{NPUSCOPE_INT8, -128, 127}, Row{NPUSCOPE_INT16, -32768, 32767},
                           Row{NPUSCOPE_FP16, -32768, 65535}}) {
        const std::int16_t one = 1;
        std::int32_t sum = 0;
        const std::size_t bytes = row.type == NPUSCOPE_INT8 ? 1 : 2;
        const npuscope_tensor in{&one, bytes, row.type, 1, 1, 1};
        npuscope_conv_parameters p = one_tap();
        for (const auto& [value, expected] :
             {std::pair{row.least, NPUSCOPE_OK}, std::pair{row.most, NPUSCOPE_OK},
              std::pair{row.least - 1, NPUSCOPE_BAD_ARGUMENT},
              std::pair{row.most + 1, NPUSCOPE_BAD_ARGUMENT}}) {
            p.pad_value = value;
            EXPECT_EQ(npuscope_conv(&p, &in, &one, bytes, &sum, sizeof sum, nullptr), expected)
                << row.type << " " << value << " " << npuscope_error();
        }
        EXPECT_THAT(npuscope_error(), HasSubstr("pad_value is"));
    }
}

TEST(UnitsOfCMisuse, ofTypesAndPointersIsRefused) {
    Sdp sdp;
    sdp.p.output = NPUSCOPE_FP16;
    EXPECT_EQ(sdp.run(), NPUSCOPE_WRONG_INPUT);
    EXPECT_THAT(npuscope_error(), HasSubstr("does not process int8 as int8 to fp16"));
    EXPECT_EQ(npuscope_sdp(nullptr, &sdp.in, sdp.out.data(), 8, nullptr), NPUSCOPE_BAD_ARGUMENT);
    sdp.p.output = NPUSCOPE_INT8;
    EXPECT_EQ(npuscope_sdp(&sdp.p, nullptr, sdp.out.data(), 8, nullptr), NPUSCOPE_BAD_ARGUMENT);
    EXPECT_EQ(npuscope_sdp(&sdp.p, &sdp.in, nullptr, 8, nullptr), NPUSCOPE_BAD_ARGUMENT);
    EXPECT_EQ(npuscope_sdp(&sdp.p, &sdp.in, sdp.out.data(), 9, nullptr), NPUSCOPE_BAD_ARGUMENT);
    npuscope_counters unset{};
    EXPECT_EQ(npuscope_sdp(&sdp.p, &sdp.in, sdp.out.data(), 8, &unset), NPUSCOPE_BAD_ARGUMENT);
    npuscope_pdp_parameters pdp{};
    pdp.size = sizeof pdp;
    pdp.kernel_height = pdp.kernel_width = pdp.stride_y = pdp.stride_x = 2;
    pdp.out_height = pdp.out_width = 1;
    EXPECT_EQ(npuscope_pdp(&pdp, &sdp.in, sdp.out.data(), 2), NPUSCOPE_OK) << npuscope_error();
    pdp.out_width = 2;
    EXPECT_EQ(npuscope_pdp(&pdp, &sdp.in, sdp.out.data(), 4), NPUSCOPE_BAD_ARGUMENT);
    EXPECT_THAT(npuscope_error(),
                HasSubstr("out_width is 2: its last window lies entirely in the padding"));
    pdp.pad_left = 2;
    EXPECT_EQ(npuscope_pdp(&pdp, &sdp.in, sdp.out.data(), 4), NPUSCOPE_BAD_ARGUMENT);
    npuscope_cdp_parameters cdp{};
    cdp.size = sizeof cdp;
    cdp.local_size = 4;
    EXPECT_EQ(npuscope_cdp(&cdp, &sdp.in, sdp.out.data(), 8, nullptr), NPUSCOPE_BAD_ARGUMENT);
    EXPECT_THAT(npuscope_error(), HasSubstr("local_size is 4"));
    ConvCase c;
    c.p.stride_x = 0;
    EXPECT_EQ(npuscope_conv(&c.p, &sdp.in, sdp.values.data(), 8, sdp.out.data(), 8, nullptr),
              NPUSCOPE_BAD_ARGUMENT);
    EXPECT_THAT(npuscope_error(), HasSubstr("stride_x is 0, not 1 to 8"));
    EXPECT_EQ(npuscope_compress(nullptr, nullptr, 0, nullptr), NPUSCOPE_BAD_ARGUMENT);
}

}  // namespace
}  // namespace npuscope
