// SPDX-License-Identifier: Apache-2.0
// ncnn: repacking from one elempack to another, sizes and channel steps included.
#include <fmt/format.h>

#include "models/layout/layout_catalog.h"
#include "tests/vectors/vector_case.h"

namespace npuscope::vectors {

namespace {

LogicalShape shape_of(const VectorCase& test) {
    const Json& logical = test.fields.at("logical");
    const auto extent = [&](const char* name) { return logical.at(name).get<std::uint64_t>(); };
    switch (test.number("dims")) {
        case 1:
            return {{{'W', extent("w")}}};
        case 2:
            return {{{'H', extent("h")}, {'W', extent("w")}}};
        case 3:
            return {{{'C', extent("c")}, {'H', extent("h")}, {'W', extent("w")}}};
        default:
            return {
                {{'C', extent("c")}, {'D', extent("d")}, {'H', extent("h")}, {'W', extent("w")}}};
    }
}

struct Blob {
    Layout layout;
    ByteVector bytes;
};

/// The layout by ncnn's rule; a blob that shares its source's buffer may have another channel step.
Blob blob_of(const VectorCase& test, const Json& mat, bool shared) {
    LayoutRequest request{
        shape_of(test), static_cast<std::uint32_t>(test.number("lane_bytes")), {}};
    request.parameters["elempack"] = mat.at("elempack");
    request.parameters["padding"] = 1;
    const LayoutRow& row = *find_layout("ncnn");
    Layout layout = make_layout(row, request);
    const std::uint64_t bytes = mat.at("bytes");
    const bool agrees = layout.bytes == bytes;
    if (!agrees && shared && request.shape.axes.size() == 1) {
        request.parameters["cstep"] = mat.at("cstep");
        layout = make_layout(row, request);
    }
    if (layout.bytes > bytes || bytes >= layout.bytes + 4) {
        throw Mismatch(fmt::format("{} bytes by rule, expected {}", layout.bytes, bytes));
    }
    return {layout, read_bytes(test.folder / mat.at("file").get<std::string>())};
}

}  // namespace

void check_ncnn(const VectorCase& test) {
    const Json& source = test.fields.at("src");
    const Json& target = test.fields.at("dst");
    const bool padding = test.number("use_padding") != 0;
    const std::uint64_t wanted = ncnn_elempack(
        shape_of(test),
        {source.at("elempack").get<std::uint64_t>(), test.number("req_elempack"), padding});
    if (wanted != target.at("elempack").get<std::uint64_t>()) {
        throw Mismatch(
            fmt::format("elempack {} by rule, expected {}", wanted, target.at("elempack").dump()));
    }
    const Blob from = blob_of(test, source, false);
    const Blob to = blob_of(test, target, test.fields.at("aliases_source").get<bool>());
    const Layout plain = plain_layout(from.layout.shape, from.layout.element);
    ByteVector values(plain.bytes, 0);
    relayout(from.layout, from.bytes, plain, values);
    expect_both_ways(from.layout, from.bytes, plain, values);
    expect_both_ways(to.layout, to.bytes, plain, values);
    ByteVector direct(to.layout.bytes, 0x11), through(to.layout.bytes, 0x22);
    relayout(from.layout, from.bytes, to.layout, direct);
    relayout_plain(plain, values, to.layout, through);
    expect_equal("repacked", direct, through);
}

}  // namespace npuscope::vectors
