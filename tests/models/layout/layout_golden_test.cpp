// SPDX-License-Identifier: Apache-2.0
// Memory images of known contents: logical values and bytes, both directions. Made with an
// independent implementation of the format and NVIDIA's compiler, checked against trace CRCs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/arith/float16.h"
#include "models/arith/winograd.h"
#include "models/conv/csc_math.h"
#include "models/layout/feature_cube.h"
#include "models/layout/weight_layout.h"
#include "tests/support/reference_data.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Case {
    fs::path folder;
    Json fields;

    std::uint32_t number(const char* name) const { return fields.at(name).get<std::uint32_t>(); }
    std::vector<std::uint8_t> file(const char* name) const {
        std::ifstream stream(folder / fields.at(name).get<std::string>(), std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    }
    bool two_bytes() const { return fields.at("dtype").get<std::string>() != "int8"; }
    std::string name() const { return fields.at("id").get<std::string>(); }
};

/// The cases of every manifest there is: the repository's own, and the reference data's.
std::vector<Case> cases_of(const std::string& kind) {
    std::vector<fs::path> folders{fs::path(NPUSCOPE_SOURCE) / "tests/golden/layout"};
    if (const fs::path reference = reference_data(NPUSCOPE_SOURCE); !reference.empty()) {
        folders.push_back(reference / "layout" / "nvdla");
    }
    std::vector<Case> cases;
    for (const fs::path& folder : folders) {
        for (const Json& fields : Json::parse(std::ifstream(folder / "manifest.json"))) {
            if (fields.at("kind").get<std::string>() == kind) {
                cases.push_back({folder, fields});
            }
        }
    }
    return cases;
}

template <class T>
std::vector<T> as_elements(const std::vector<std::uint8_t>& bytes) {
    std::vector<T> elements(bytes.size() / sizeof(T));
    std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
}

template <class T>
void check_feature(const Case& test) {
    const FeatureCube cube{Address(0x1000),
                           Bytes(test.number("line_stride")),
                           Bytes(test.number("surface_stride")),
                           {test.number("C"), test.number("H"), test.number("W")},
                           Bytes(test.number("atom_bytes")),
                           Bytes(sizeof(T))};
    const std::vector<std::uint8_t> memory = test.file("memory");
    const Tensor<T> tensor = unpack_cube<T>(cube, memory);
    EXPECT_EQ(tensor.values, as_elements<T>(test.file("logical"))) << test.name();
    std::vector<std::uint8_t> packed(memory.size(), 0);
    pack_cube(cube, tensor, packed);
    EXPECT_EQ(packed, memory) << test.name();
}

/// `logical` is K C R S before any extension of channels.
template <class T>
void check_weights(const Case& test, bool extended) {
    Kernels<T> logical({test.number("K"), test.number("C"), test.number("R"), test.number("S")});
    logical.values = as_elements<T>(test.file("logical"));
    const Kernels<T> stored = extended ? extend_channels(logical) : logical;
    const WeightLayout layout{
        stored.shape,     test.number("kernels_per_group"),        test.number("channels_per_cube"),
        Bytes(sizeof(T)), test.fields.value("post_extension", 1U), false};
    const std::vector<std::uint8_t> memory = test.file("memory");
    ASSERT_EQ(layout.stored_bytes().value, memory.size()) << test.name();
    EXPECT_EQ(decode_weights<T>(layout, memory).values, stored.values) << test.name();
    std::vector<std::uint8_t> encoded(memory.size(), 0xAA);
    encode_weights(layout, stored, encoded);
    EXPECT_EQ(encoded, memory) << test.name();
    if (extended) {
        EXPECT_EQ(restore_columns(stored, test.number("C")).values, logical.values);
    }
}

void check_weights_of(const std::string& kind, bool extended) {
    const std::vector<Case> cases = cases_of(kind);
    ASSERT_FALSE(cases.empty());
    for (const Case& test : cases) {
        test.two_bytes() ? check_weights<std::int16_t>(test, extended)
                         : check_weights<std::int8_t>(test, extended);
    }
}

/// A number as an element of type T: integers are truncated, fp16 is rounded.
template <class T>
T stored_element(double value, bool floating) {
    return floating ? static_cast<T>(narrow(static_cast<float>(value))) : static_cast<T>(value);
}

/// Kernels as numbers: fp16 widened.
template <class T>
Kernels<double> numbers_of(const Kernels<T>& kernels, bool floating) {
    Kernels<double> numbers(kernels.shape);
    for (std::size_t i = 0; i < numbers.values.size(); ++i) {
        const T value = kernels.values[i];
        numbers.values[i] =
            floating ? double{widen(static_cast<Fp16>(value))} : static_cast<double>(value);
    }
    return numbers;
}

/// `logical` is K C R S; strides become channels, kernels are transformed.
template <class T>
void check_winograd(const Case& test) {
    const bool floating = test.fields.at("dtype").get<std::string>().substr(0, 3) != "int";
    Kernels<T> logical({test.number("K"), test.number("C"), test.number("R"), test.number("S")});
    logical.values = as_elements<T>(test.file("logical"));
    const auto channels =
        static_cast<std::uint32_t>(round_up(logical.shape.channels, 32 / sizeof(T)));
    const std::uint32_t stride = test.number("conv_stride");
    const Kernels<double> transformed =
        to_winograd(extend_for_winograd(numbers_of(logical, floating), {stride, stride, channels}));
    Kernels<T> stored(transformed.shape);
    for (std::size_t i = 0; i < stored.values.size(); ++i) {
        stored.values[i] = stored_element<T>(transformed.values[i], floating);
    }
    ASSERT_EQ(stored.shape.channels, test.number("extended_channels")) << test.name();
    const WeightLayout layout = winograd_weights(
        stored.shape, {.atomic_c = 64, .atomic_k = 32, .memory_atom = Bytes(32)}, Bytes(sizeof(T)));
    const std::vector<std::uint8_t> memory = test.file("memory");
    ASSERT_EQ(layout.stored_bytes().value, memory.size()) << test.name();
    EXPECT_EQ(decode_weights<T>(layout, memory).values, stored.values) << test.name();
    std::vector<std::uint8_t> encoded(memory.size(), 0xAA);
    encode_weights(layout, stored, encoded);
    EXPECT_EQ(encoded, memory) << test.name();
}

template <class T>
void check_compressed(const Case& test) {
    Kernels<T> logical({test.number("K"), test.number("C"), test.number("R"), test.number("S")});
    logical.values = as_elements<T>(test.file("logical"));
    const WeightLayout layout{logical.shape,
                              test.number("kernels_per_group"),
                              test.number("channels_per_cube"),
                              Bytes(sizeof(T)),
                              1,
                              false};
    std::vector<std::uint8_t> stored(layout.stored_bytes().value);
    encode_weights(layout, logical, stored);
    const CompressedWeights compressed = compress_weights(layout, stored);
    EXPECT_EQ(compressed.mask, test.file("wmb")) << test.name();
    EXPECT_EQ(compressed.weights, test.file("weights")) << test.name();
    EXPECT_EQ(compressed.sizes, test.fields.at("wgs_values").get<std::vector<std::uint32_t>>())
        << test.name();
    const std::vector<std::uint8_t> weights = test.file("weights");
    const std::vector<std::uint8_t> mask = test.file("wmb");
    const std::vector<std::uint32_t> sizes = as_elements<std::uint32_t>(test.file("wgs"));
    const DecompressedWeights back = decompress_weights(layout, {weights, mask, sizes});
    EXPECT_TRUE(back.faults.empty()) << test.name();
    EXPECT_EQ(decode_weights<T>(layout, back.stored).values, logical.values) << test.name();
}

void check_operand(const Case& test) {
    const bool per_element = test.fields.at("per_element").get<bool>();
    OperandSurface surface;
    surface.shape = {test.number("C"), test.number("H"), test.number("W")};
    surface.spread = per_element ? OperandSpread::PerElement : OperandSpread::PerChannel;
    surface.elements_per_atom = test.number("elements_per_atom");
    surface.components = test.number("components");
    surface.component = Bytes(test.number("bytes_per_component"));
    surface.line_stride = surface.atom() * surface.shape.width;
    surface.surface_stride = surface.line_stride * surface.shape.height;
    const std::vector<std::uint8_t> memory = test.file("memory");
    const std::vector<std::uint8_t> logical = test.file("logical");
    ASSERT_EQ(surface.extent().value, memory.size()) << test.name();
    std::vector<std::uint8_t> packed(memory.size(), 0);
    const std::size_t size = surface.operand_shape().elements();
    for (std::uint32_t component = 0; component < surface.components; ++component) {
        const Tensor<std::int16_t> values = unpack_operand(surface, component, memory);
        pack_operand(surface, component, values, packed);
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t at = component * size + i;
            const int expected = surface.component.value == 1
                                     ? as_elements<std::int8_t>(logical)[at]
                                     : as_elements<std::int16_t>(logical)[at];
            ASSERT_EQ(values.values[i], expected) << test.name() << " element " << at;
        }
    }
    EXPECT_EQ(packed, memory) << test.name();
}

TEST(LayoutGolden, FeatureCubesAgreeWithTheirImages) {
    for (const Case& test : cases_of("feature")) {
        test.two_bytes() ? check_feature<std::int16_t>(test) : check_feature<std::int8_t>(test);
    }
}

TEST(LayoutGolden, DirectWeightsAgreeWithTheirImages) { check_weights_of("weight_dc", false); }

TEST(LayoutGolden, PreExtendedImageWeightsAgreeWithTheirImages) {
    check_weights_of("weight_image_pre_ext", true);
}

TEST(LayoutGolden, PostExtendedImageWeightsAgreeWithTheirImages) {
    check_weights_of("weight_image_post_ext", true);
}

TEST(LayoutGolden, WinogradWeightsAgreeWithTheirImages) {
    for (const Case& test : cases_of("weight_winograd")) {
        test.two_bytes() ? check_winograd<std::int16_t>(test) : check_winograd<std::int8_t>(test);
    }
}

TEST(LayoutGolden, CompressedWeightsAgreeWithTheirImages) {
    for (const Case& test : cases_of("weight_compressed")) {
        test.two_bytes() ? check_compressed<std::int16_t>(test)
                         : check_compressed<std::int8_t>(test);
    }
}

TEST(LayoutGolden, OperandsAgreeWithTheirImages) {
    for (const Case& test : cases_of("sdp_operand")) {
        check_operand(test);
    }
}

TEST(LayoutGolden, ReferenceDataWasUsed) {
    if (reference_data(NPUSCOPE_SOURCE).empty()) {
        GTEST_SKIP() << "no reference data (NPUSCOPE_REFERENCE_DATA): only the repository's own "
                        "vectors ran";
    }
    EXPECT_GT(cases_of("weight_dc").size(), 4U);
}

}  // namespace
}  // namespace npuscope
