// SPDX-License-Identifier: Apache-2.0
// Kneron: float -> fixed -> NPU bytes by the catalogue and by stride descriptors, and back.
#include <fmt/format.h>

#include <array>

#include "models/arith/quantise.h"
#include "models/layout/layout_catalog.h"
#include "models/layout/stride_descriptor.h"
#include "tests/vectors/vector_case.h"

namespace npuscope::vectors {

namespace {

std::uint32_t kneron_element_bytes(const VectorCase& test) {
    const std::string type = test.text("scalar_type");
    return type == "int8" ? 1 : type == "int16" ? 2 : 4;
}

LogicalShape shape_of(const VectorCase& test, const char* field) {
    const std::vector<std::uint64_t> extents = test.fields.at(field);
    constexpr std::string_view letters = "NCHW";
    LogicalShape shape;
    for (std::size_t i = 0; i < extents.size(); ++i) {
        shape.axes.push_back({letters.at(i), extents[i]});
    }
    return shape;
}

/// The factor of every element.
std::vector<float> factors_of(const VectorCase& test, const LogicalShape& shape) {
    const std::vector<float> each =
        quantise_factors(test.fields.at("scale").get<std::vector<float>>(),
                         test.fields.at("radix").get<std::vector<int>>());
    const std::size_t axis = test.fields.value("quantized_axis", std::size_t{1});
    std::vector<float> factors;
    std::vector<std::uint64_t> index(shape.axes.size(), 0);
    do {
        factors.push_back(each.at(each.size() == 1 ? 0 : index.at(axis)));
    } while (next_index(index, shape.box()));
    return factors;
}

template <class T>
ByteVector quantised_bytes(const std::vector<float>& values, const std::vector<float>& factors) {
    std::vector<T> fixed(values.size());
    if (!quantise_each<T>(values, factors, QuantiseMath::Float32, fixed.data())) {
        throw Mismatch("a value is not a number");
    }
    ByteVector bytes(fixed.size() * sizeof(T));
    std::memcpy(bytes.data(), fixed.data(), bytes.size());
    return bytes;
}

template <class T>
ByteVector dequantised_bytes(const ByteVector& fixed, const std::vector<float>& factors) {
    std::vector<float> values(factors.size());
    dequantise_each<T>(as_elements<T>(fixed), factors, values.data());
    ByteVector bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

template <class T>
void check_values(const VectorCase& test, const LogicalShape& shape) {
    const std::vector<float> factors = factors_of(test, shape);
    const std::vector<float> values = as_elements<float>(test.file("input_f32"));
    expect_equal("quantised", quantised_bytes<T>(values, factors), test.file("quantized"));
    expect_equal("dequantised", dequantised_bytes<T>(test.file("fixed_back"), factors),
                 test.file("dequantized_f32"));
}

void check_bytes(const VectorCase& test, const Layout& stored) {
    const Layout plain = plain_layout(stored.shape, stored.element);
    const ByteVector memory = test.file("npu");
    if (stored.bytes != test.number("npu_bytes")) {
        throw Mismatch(fmt::format("{}: {} bytes, expected {}", stored.name, stored.bytes,
                                   test.number("npu_bytes")));
    }
    expect_both_ways(stored, memory, plain, test.file("fixed_back"));
    ByteVector image(stored.bytes, 0xCC);
    relayout(plain, test.file("quantized"), stored, image);
    expect_equal(stored.name + " bytes", image, memory);
}

}  // namespace

void check_kneron(const VectorCase& test) {
    const LogicalShape shape = shape_of(test, "shape_nchw");
    const std::uint32_t element = kneron_element_bytes(test);
    element == 1   ? check_values<std::int8_t>(test, shape)
    : element == 2 ? check_values<std::int16_t>(test, shape)
                   : check_values<float>(test, shape);
    const LayoutRow* row = find_layout(test.text("layout"));
    if (row == nullptr) {
        throw Mismatch("unknown layout " + test.text("layout"));
    }
    const Layout named = make_layout(*row, {shape, element, {}});
    check_bytes(test, named);
    const std::vector<std::uint64_t> strides = test.fields.at("stride_npu_scalars");
    const StrideDescriptor descriptor{
        std::string(row->name),           shape, strides, element, named.code,
        row->sentence.starts_with("C/16")};
    check_bytes(test, bind_descriptor(descriptor).layout);
}

void check_kneron_raw(const VectorCase& test) {
    const LogicalShape shape = shape_of(test, "shape_npu");
    const std::uint32_t element = kneron_element_bytes(test);
    const LayoutRow* row = find_layout(test.text("layout"));
    if (row == nullptr) {
        throw Mismatch("unknown layout " + test.text("layout"));
    }
    const std::uint64_t chip = std::stoull(test.text("chip").substr(2));
    const Layout stored = make_layout(*row, {shape, element, {{"chip", chip}}});
    const ByteVector memory = test.file("raw");
    constexpr std::array orders{std::pair{"chw", "NCHW"}, std::pair{"hcw", "NHCW"},
                                std::pair{"hwc", "NHWC"}};
    for (const auto& [field, order] : orders) {
        expect_both_ways(stored, memory, plain_layout(shape, element, order), test.file(field));
    }
    ByteVector image(stored.bytes, 0xCC);
    relayout(plain_layout(shape, element), test.file("chw"), stored, image);
    image.resize(memory.size());
    expect_equal("raw", image, memory);
}

void check_kneron_ties(const VectorCase& test) {
    const std::vector<float> values = as_elements<float>(test.file("input_f32"));
    const std::array<float, 1> scale{test.fields.at("scale").get<float>()};
    const std::array<int, 1> radix{test.fields.at("radix").get<int>()};
    const float factor = quantise_factors(scale, radix).front();
    const auto fixed_by = [&](QuantiseMath math) {
        ByteVector bytes(values.size());
        std::vector<std::int8_t> fixed(values.size());
        quantise<std::int8_t>(values, factor, math, fixed.data());
        std::memcpy(bytes.data(), fixed.data(), bytes.size());
        return bytes;
    };
    expect_equal("float32 math", fixed_by(QuantiseMath::Float32), test.file("q_float32_math"));
    expect_equal("float64 math", fixed_by(QuantiseMath::Float64), test.file("q_float64_math"));
}

}  // namespace npuscope::vectors
