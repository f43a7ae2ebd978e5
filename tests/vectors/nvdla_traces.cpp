// SPDX-License-Identifier: Apache-2.0
// NVDLA: the surfaces of real traces.
#include <zlib.h>

#include "tests/vectors/nvdla_surfaces.h"

namespace npuscope::vectors {

namespace {

/// CRC of the output region; lanes beyond the last channel hold 0 or, saturated, 127.
void expect_region(const VectorCase& test, const LogicalShape& shape, std::uint32_t element) {
    const Layout region = catalogued("feature", shape, element,
                                     {{"atom", test.number("atom_bytes")},
                                      {"line_stride", test.number("dst_line_stride")},
                                      {"surface_stride", test.number("dst_surface_stride")}});
    const ByteVector logical = test.file("output_logical");
    ByteVector image(region.bytes);
    const Layout plain = plain_layout(shape, element);
    relayout(plain, logical, region, image);
    expect_surface(region, image, logical);
    if (!test.fields.contains("golden_crc32")) {
        return;
    }
    const std::uint64_t lanes = test.number("atom_bytes") / element;
    LogicalShape whole = shape;
    whole.axes[1].extent = (shape.axes[1].extent + lanes - 1) / lanes * lanes;
    const auto crc_with = [&](std::uint8_t lane) {
        ByteVector padded = logical;
        padded.resize(whole.elements() * element, lane);
        ByteVector filled(region.bytes);
        Layout target = region;
        target = catalogued("feature", whole, element,
                            {{"atom", test.number("atom_bytes")},
                             {"line_stride", test.number("dst_line_stride")},
                             {"surface_stride", test.number("dst_surface_stride")}});
        relayout(plain_layout(whole, element), padded, target, filled);
        return crc32(0, filled.data(), static_cast<uInt>(filled.size()));
    };
    const auto golden = std::stoull(test.text("golden_crc32"), nullptr, 16);
    if (crc_with(0) != golden && crc_with(127) != golden) {
        throw Mismatch("the output region does not have the golden CRC");
    }
}

}  // namespace

void check_trace_dc(const VectorCase& test) {
    const std::uint32_t element = element_bytes(test);
    expect_surface(catalogued("feature", cube_shape(test), element,
                              {{"atom", test.number("atom_bytes")},
                               {"line_stride", test.number("line_stride")},
                               {"surface_stride", test.number("surface_stride")}}),
                   test.file("feature_memory"), test.file("feature_logical"));
    expect_surface(catalogued("weight_dc", kernel_shape(test), element, groups_of(test)),
                   test.file("weight_memory"), test.file("weight_logical"));
    const std::vector<std::uint64_t> out = test.fields.at("out_CHW");
    expect_region(test, {{{'N', 1}, {'C', out.at(0)}, {'H', out.at(1)}, {'W', out.at(2)}}},
                  element);
}

void check_trace_sdp(const VectorCase& test) {
    const LogicalShape shape = cube_shape(test);
    expect_surface(catalogued("feature", shape, 1,
                              {{"atom", test.number("atom_bytes")},
                               {"line_stride", test.number("src_line_stride")},
                               {"surface_stride", test.number("src_surface_stride")}}),
                   test.file("source_memory"), test.file("source_logical"));
    expect_surface(catalogued("elementwise", shape, 1,
                              {{"lanes", test.number("atom_bytes")},
                               {"line_stride", test.number("operand_line_stride")},
                               {"surface_stride", test.number("operand_surface_stride")}}),
                   test.file("operand_memory"), test.file("operand_logical"));
    expect_region(test, shape, 1);
}

}  // namespace npuscope::vectors
