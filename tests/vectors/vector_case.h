// SPDX-License-Identifier: Apache-2.0
// One case of a folder of vectors: its fields in the manifest and the files next to it.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/layout/relayout.h"

namespace npuscope::vectors {

using Json = nlohmann::json;
using ByteVector = std::vector<std::uint8_t>;

/// What a case found wrong.
class Mismatch : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

struct VectorCase {
    std::filesystem::path folder;
    Json fields;

    std::uint64_t number(const char* name) const { return fields.at(name).get<std::uint64_t>(); }
    std::string text(const char* name) const { return fields.at(name).get<std::string>(); }
    ByteVector file(const char* name) const;
    /// The case's id, a number or a string.
    std::string id() const;
};

ByteVector read_bytes(const std::filesystem::path& path);

template <class T>
std::vector<T> as_elements(const ByteVector& bytes) {
    std::vector<T> elements(bytes.size() / sizeof(T));
    std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(T));
    return elements;
}

/// Throws Mismatch with the first byte that differs.
void expect_equal(const std::string& what, const ByteVector& actual, const ByteVector& expected);

/// `memory` in layout `stored` and `plain` in row-major layout `logical` are the same tensor: read
/// back, written with gaps kept and (where its gaps are zero) written anew.
void expect_both_ways(const Layout& stored, const ByteVector& memory, const Layout& logical,
                      const ByteVector& plain);

void check_kneron(const VectorCase& test);
void check_kneron_raw(const VectorCase& test);
void check_kneron_ties(const VectorCase& test);
void check_ncnn(const VectorCase& test);
void check_nvdla(const VectorCase& test);

}  // namespace npuscope::vectors
