// SPDX-License-Identifier: Apache-2.0
#include "tests/vectors/vector_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace npuscope::vectors {

namespace {

/// Every element of `stored` replaced by its complement; gaps keep what they hold.
ByteVector disturbed(const Layout& stored, const ByteVector& memory, const Layout& logical,
                     ByteVector plain) {
    for (std::uint8_t& byte : plain) {
        byte = static_cast<std::uint8_t>(~byte);
    }
    ByteVector image = memory;
    relayout_plain(logical, plain, stored, image, GapPolicy::Keep);
    return image;
}

}  // namespace

ByteVector read_bytes(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        throw Mismatch("cannot read " + path.string());
    }
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

ByteVector VectorCase::file(const char* name) const { return read_bytes(folder / text(name)); }

std::string VectorCase::id() const {
    const Json& id = fields.at("id");
    return id.is_string() ? id.get<std::string>() : id.dump();
}

void expect_equal(const std::string& what, const ByteVector& actual, const ByteVector& expected) {
    if (actual.size() != expected.size()) {
        throw Mismatch(
            fmt::format("{}: {} bytes, expected {}", what, actual.size(), expected.size()));
    }
    const auto [at, wanted] = std::ranges::mismatch(actual, expected);
    if (at != actual.end()) {
        throw Mismatch(fmt::format("{}: byte {} is 0x{:02x}, expected 0x{:02x}", what,
                                   at - actual.begin(), *at, *wanted));
    }
}

void expect_both_ways(const Layout& stored, const ByteVector& memory, const Layout& logical,
                      const ByteVector& plain) {
    if (memory.size() < stored.used) {
        throw Mismatch(fmt::format("{} needs {} bytes, the image has {}", stored.name, stored.used,
                                   memory.size()));
    }
    ByteVector whole = memory;
    whole.resize(std::max<std::size_t>(memory.size(), stored.bytes));
    ByteVector back(logical.bytes, 0xA5);
    relayout(stored, whole, logical, back);
    expect_equal(stored.name + " read", back, plain);

    ByteVector image = disturbed(stored, whole, logical, plain);
    relayout(logical, plain, stored, image, {.gaps = GapPolicy::Keep});
    expect_equal(stored.name + " written into its image", image, whole);

    ByteVector reference(whole.size(), 0);
    relayout_plain(logical, plain, stored, reference);
    ByteVector fresh(whole.size(), 0x5A);
    std::fill(fresh.begin() + static_cast<std::ptrdiff_t>(stored.bytes), fresh.end(),
              std::uint8_t{0});
    relayout(logical, plain, stored, fresh);
    expect_equal(stored.name + " written anew", fresh, reference);
}

}  // namespace npuscope::vectors
