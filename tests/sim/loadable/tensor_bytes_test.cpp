// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/tensor_bytes.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/refusal.h"
#include "tests/support/sample_loadable.h"

namespace npuscope::tensor_bytes_test {
namespace {

BoundTensor tensor(LoadableType type, std::uint8_t format, std::int32_t c, std::int32_t h,
                   std::int32_t w) {
    BoundTensor bound;
    bound.name = "x";
    bound.memory_atom = Bytes(32);
    bound.tensor.type = type;
    bound.tensor.pixel_format = format;
    bound.tensor.c = c;
    bound.tensor.h = h;
    bound.tensor.w = w;
    return bound;
}

GraphValue counted(const BoundTensor& bound) {
    GraphValue value{tensor_type(bound.tensor), {}};
    value.numbers.resize(count_elements(value.type.sizes));
    std::iota(value.numbers.begin(), value.numbers.end(), 1.0);
    return value;
}

TEST(TensorBytes, FeatureMapsLieInAtoms) {
    BoundTensor bound = tensor(LoadableType::Int8, loadable_feature_x8, 10, 2, 3);
    bound.tensor.strides = {1, 24, 64};
    bound.tensor.size = 128;
    const GraphValue value = counted(bound);
    const auto bytes = tensor_bytes(bound, value);
    EXPECT_EQ(bytes[0], 1);                       // channel 0
    EXPECT_EQ(bytes[1], 7);                       // channel 1: 6 pixels later
    EXPECT_EQ(bytes[24 + 2 * 8 + 7], 7 * 6 + 6);  // channel 7, row 1, column 2
    EXPECT_EQ(bytes[64 + 24 + 16 + 1], 60);       // channel 9
    EXPECT_EQ(bytes[64 + 2], 0);                  // of no channel
    EXPECT_EQ(tensor_value(bound, bytes), value);
}

TEST(TensorBytes, LinesOfAtomsEndWithTheirLastElement) {
    BoundTensor bound = tensor(LoadableType::Int8, loadable_feature_x8, 10, 2, 3);
    bound.tensor.strides = {1, 32, 64};
    bound.tensor.size = 128;
    bound.address = Address(0x1000);
    EXPECT_EQ(bytes_of_elements(bound), (std::vector<ByteRun>{{Address(0x1000), Bytes(24)},
                                                              {Address(0x1020), Bytes(24)},
                                                              {Address(0x1040), Bytes(18)},
                                                              {Address(0x1060), Bytes(18)}}));
    bound.tensor.pixel_format = 12;
    bound.tensor.c = 4;
    EXPECT_EQ(bytes_of_elements(bound),
              (std::vector<ByteRun>{{Address(0x1000), Bytes(12)}, {Address(0x1020), Bytes(12)}}));
    EXPECT_TRUE(has_elements(bound.tensor));
    bound.tensor.type = LoadableType::Unknown;
    EXPECT_FALSE(has_elements(bound.tensor));
}

TEST(TensorBytes, BoundTensorsOfOneNameAreToldApart) {
    Loadable loadable = test::sdp_chain();
    LoadableMemory output = loadable.memories.back();
    output.bind_id = 1;
    loadable.memories.push_back(output);
    const auto outputs = bound_tensors(loadable, false, Bytes(8));
    ASSERT_EQ(outputs.size(), 2U);
    EXPECT_EQ(outputs[0].name, "out");
    EXPECT_EQ(outputs[1].name, "out_1");
}

TEST(TensorBytes, HalvesLieInAtomsOfSixteen) {
    BoundTensor bound = tensor(LoadableType::Half, loadable_feature, 17, 1, 2);
    bound.tensor.strides = {2, 64, 64};
    bound.tensor.size = 128;
    const GraphValue value = counted(bound);
    const auto bytes = tensor_bytes(bound, value);
    EXPECT_EQ(bytes[64 + 32] | bytes[64 + 33] << 8, to_float16(34));
    EXPECT_EQ(tensor_value(bound, bytes), value);
    EXPECT_EQ(tensor_layout_text(bound.tensor, Bytes(32)), "N C/16:64 H:64 W:32 C%16");
}

TEST(TensorBytes, PixelsHaveTheirComponentsInTheFormatsOrder) {
    BoundTensor bound = tensor(LoadableType::Int8, 12, 4, 1, 2);  // A8B8G8R8: red is lowest
    bound.tensor.strides = {1, 32, 0};
    bound.tensor.size = 32;
    EXPECT_EQ(tensor_bytes(bound, counted(bound))[0], 1);
    EXPECT_EQ(tensor_bytes(bound, counted(bound))[1], 3);
    bound.tensor.pixel_format = 14;  // B8G8R8A8: alpha is lowest
    EXPECT_EQ(tensor_bytes(bound, counted(bound))[0], 7);
    EXPECT_EQ(tensor_bytes(bound, counted(bound))[3], 5);
}

TEST(TensorBytes, WhatDoesNotFitIsRefused) {
    BoundTensor bound = tensor(LoadableType::Int8, loadable_feature_x8, 10, 2, 3);
    bound.tensor.strides = {1, 24, 64};
    bound.tensor.size = 100;
    EXPECT_EQ(refusal_of([&] { tensor_bytes(bound, counted(bound)); }),
              "the elements of tensor 'x' end at byte 106 of its 100");
    bound.tensor.size = 128;
    GraphValue value = counted(bound);
    value.numbers[3] = 200;
    EXPECT_EQ(refusal_of([&] { tensor_bytes(bound, value); }),
              "tensor 'x' holds 200, which is not an integer from -128 to 127");
    bound.tensor.pixel_format = 20;  // ten bits a component
    EXPECT_EQ(
        refusal_of([&] { tensor_bytes(bound, counted(bound)); }),
        "tensor 'x' has pixel format 20, whose components are not whole bytes of a single plane");
}

TEST(TensorBytes, DumpsSayWhereTheirElementsLie) {
    std::vector<std::uint8_t> file{'D', 'I', 'M', 'G'};
    for (const std::uint32_t word : {0U, 40U, 2U, 1U, 33U, 64U, 64U, 128U}) {
        for (unsigned i = 0; i < 4; ++i) {
            file.push_back(static_cast<std::uint8_t>(word >> (8 * i) & 0xff));
        }
    }
    file.resize(36 + 66, 5);
    const DumpedBytes dump = parse_tensor_dump(file, "x.dimg");
    EXPECT_EQ(dump.element, 1U);
    EXPECT_EQ(dump.places[1], 32U);
    EXPECT_EQ(dump.places[65], 96U);
    file.pop_back();
    EXPECT_EQ(refusal_of([&] { parse_tensor_dump(file, "x.dimg"); }),
              "format 40 with 65 bytes for 66 elements is not the dump of a feature map");
}

}  // namespace
}  // namespace npuscope::tensor_bytes_test
