// SPDX-License-Identifier: Apache-2.0
// NVDLA: feature cubes, weights of every kind, operand tables, surfaces of real traces.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "models/arith/winograd.h"
#include "models/layout/weight_layout.h"
#include "tests/vectors/half.h"
#include "tests/vectors/nvdla_surfaces.h"

namespace npuscope::vectors {

namespace {

void check_feature(const VectorCase& test) {
    const Layout stored = catalogued("feature", cube_shape(test), element_bytes(test),
                                     {{"atom", test.number("atom_bytes")},
                                      {"line_stride", test.number("line_stride")},
                                      {"surface_stride", test.number("surface_stride")}});
    const ByteVector memory = test.file("memory");
    expect_size(stored, memory);
    expect_surface(stored, memory, test.file("logical"));
}

void check_weights(const VectorCase& test, std::string_view name, const Parameters& parameters) {
    const Layout stored = catalogued(name, kernel_shape(test), element_bytes(test), parameters);
    const ByteVector memory = test.file("memory");
    expect_size(stored, memory);
    expect_surface(stored, memory, test.file("logical"));
}

/// Kernels of fewer channels than the image has: zero channels are appended.
void check_image_weights(const VectorCase& test, std::string_view name,
                         const Parameters& parameters) {
    const LogicalShape given = kernel_shape(test);
    LogicalShape shape = given;
    shape.axes[1].extent = test.number("extended_channels") / shape.axes[3].extent;
    const std::uint32_t element = element_bytes(test);
    const ByteVector logical = test.file("logical");
    const std::uint64_t kernel = given.elements() / given.axes[0].extent * element;
    const std::uint64_t extended = shape.elements() / shape.axes[0].extent * element;
    ByteVector values(shape.elements() * element, 0);
    for (std::uint64_t k = 0; k < given.axes[0].extent; ++k) {
        std::copy_n(logical.begin() + static_cast<std::ptrdiff_t>(k * kernel), kernel,
                    values.begin() + static_cast<std::ptrdiff_t>(k * extended));
    }
    const Layout stored = catalogued(name, shape, element, parameters);
    const ByteVector memory = test.file("memory");
    expect_size(stored, memory);
    expect_surface(stored, memory, values);
}

Kernels<double> as_numbers(const VectorCase& test, const ByteVector& bytes,
                           const KernelShape& shape) {
    Kernels<double> numbers(shape);
    const std::string type = test.text("dtype");
    for (std::size_t i = 0; i < numbers.values.size(); ++i) {
        std::uint16_t half = 0;
        if (type == "int8") {
            numbers.values[i] = static_cast<std::int8_t>(bytes.at(i));
            continue;
        }
        std::memcpy(&half, bytes.data() + 2 * i, 2);
        numbers.values[i] =
            type == "float16" ? half_to_double(half) : static_cast<std::int16_t>(half);
    }
    return numbers;
}

ByteVector as_bytes(const VectorCase& test, const Kernels<double>& numbers) {
    ByteVector bytes;
    const std::string type = test.text("dtype");
    for (const double number : numbers.values) {
        const auto bits = type == "float16"
                              ? double_to_half(number)
                              : static_cast<std::uint16_t>(static_cast<std::int32_t>(number));
        bytes.push_back(static_cast<std::uint8_t>(bits & 0xFFU));
        if (type != "int8") {
            bytes.push_back(static_cast<std::uint8_t>(bits >> 8U));
        }
    }
    return bytes;
}

/// fp16 rounds the transformed kernels: they come back within a few units in the last place.
void expect_close(const std::vector<double>& actual, const std::vector<double>& expected,
                  double share) {
    double largest = 0;
    for (const double value : expected) {
        largest = std::max(largest, std::fabs(value));
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (std::fabs(actual[i] - expected[i]) > share * largest) {
            throw Mismatch(fmt::format("weight {} comes back as {} in place of {}", i, actual[i],
                                       expected[i]));
        }
    }
}

void check_winograd(const VectorCase& test) {
    const auto size = [&](const char* name) {
        return static_cast<std::uint32_t>(test.number(name));
    };
    const KernelShape plain{size("K"), size("C"), size("R"), size("S")};
    const Kernels<double> kernels = as_numbers(test, test.file("logical"), plain);
    const Kernels<double> extended = extend_for_winograd(
        kernels, {size("conv_stride"), size("conv_stride"), size("padded_channels")});
    const Kernels<double> transformed = to_winograd(extended);
    const LogicalShape shape{
        {{'K', plain.kernels}, {'C', test.number("extended_channels")}, {'R', 4}, {'S', 4}}};
    const Layout stored = catalogued("weight_winograd", shape, element_bytes(test),
                                     {{"group", test.number("kernels_per_group")}});
    const ByteVector memory = test.file("memory");
    expect_size(stored, memory);
    expect_surface(stored, memory, as_bytes(test, transformed));
    ByteVector back(plain_layout(shape, stored.element).bytes);
    relayout(stored, memory, plain_layout(shape, stored.element), back);
    const KernelShape stored_shape{plain.kernels, size("extended_channels"), 4, 4};
    expect_close(from_winograd(as_numbers(test, back, stored_shape)).values, extended.values,
                 test.text("dtype") == "float16" ? 0x1p-9 : 0);
}

void check_deconvolution(const VectorCase& test) {
    Parameters parameters = groups_of(test);
    parameters["stride_y"] = test.number("stride_y");
    parameters["stride_x"] = test.number("stride_x");
    check_weights(test, "weight_deconv", parameters);
}

/// The mask and the values of the uncompressed surface, and that surface out of them.
void check_compressed(const VectorCase& test) {
    const std::uint32_t element = element_bytes(test);
    const Layout stored = catalogued("weight_dc", kernel_shape(test), element, groups_of(test));
    const Layout plain = plain_layout(stored.shape, element);
    const ByteVector logical = test.file("logical");
    ByteVector surface(stored.bytes);
    relayout(plain, logical, stored, surface);
    const auto size = [&](const char* name) {
        return static_cast<std::uint32_t>(test.number(name));
    };
    const WeightLayout layout{{size("K"), size("C"), size("R"), size("S")},
                              size("kernels_per_group"),
                              size("channels_per_cube"),
                              Bytes(element),
                              1};
    const CompressedWeights compressed = compress_weights(layout, surface);
    expect_equal("mask", compressed.mask, test.file("wmb"));
    expect_equal("values", compressed.weights, test.file("weights"));
    if (compressed.sizes != test.fields.at("wgs_values").get<std::vector<std::uint32_t>>()) {
        throw Mismatch("the sizes of the groups differ");
    }
    const ByteVector file = test.file("wgs");
    ByteVector sizes(file.size(), 0);
    std::memcpy(sizes.data(), compressed.sizes.data(),
                std::min(sizes.size(), compressed.sizes.size() * sizeof(std::uint32_t)));
    expect_equal("sizes", sizes, file);
    const ByteVector weights = test.file("weights"), mask = test.file("wmb");
    const DecompressedWeights back = decompress_weights(layout, {weights, mask, compressed.sizes});
    if (!back.faults.empty()) {
        throw Mismatch("the surfaces contradict each other");
    }
    ByteVector again = back.stored, values(plain.bytes);
    again.resize(stored.bytes, 0);
    relayout(stored, again, plain, values);
    expect_equal("kernels", values, logical);
}

void check_operand(const VectorCase& test) {
    const bool per_element = test.fields.at("per_element").get<bool>();
    const std::uint64_t components = test.number("components");
    LogicalShape shape = cube_shape(test);
    shape.axes[0].extent = components;
    const std::string_view name = per_element       ? "elementwise"
                                  : components == 2 ? "batch_norm"
                                                    : "bias";
    const Layout stored =
        catalogued(name, shape, static_cast<std::uint32_t>(test.number("bytes_per_component")),
                   {{"lanes", test.number("elements_per_atom")}});
    const ByteVector memory = test.file("memory");
    expect_size(stored, memory);
    expect_surface(stored, memory, test.file("logical"));
}

}  // namespace

void check_nvdla(const VectorCase& test) {
    const std::map<std::string, std::function<void(const VectorCase&)>, std::less<>> kinds{
        {"feature", check_feature},
        {"weight_dc", [](const VectorCase& t) { check_weights(t, "weight_dc", groups_of(t)); }},
        {"weight_image_pre_ext",
         [](const VectorCase& t) { check_image_weights(t, "weight_image", groups_of(t)); }},
        {"weight_image_post_ext",
         [](const VectorCase& t) {
             check_image_weights(
                 t, "weight_image_post",
                 {{"group", t.number("kernels_per_group")}, {"rows", t.number("post_extension")}});
         }},
        {"weight_winograd", check_winograd},
        {"weight_deconv_split", check_deconvolution},
        {"weight_compressed", check_compressed},
        {"sdp_operand", check_operand},
        {"trace_dc", check_trace_dc},
        {"trace_sdp", check_trace_sdp},
    };
    const auto found = kinds.find(test.text("kind"));
    if (found == kinds.end()) {
        throw Mismatch("unknown kind " + test.text("kind"));
    }
    found->second(test);
}

}  // namespace npuscope::vectors
