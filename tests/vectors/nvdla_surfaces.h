// SPDX-License-Identifier: Apache-2.0
// Shapes, layouts and comparisons that NVDLA's cases have in common.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>

#include "models/layout/layout_catalog.h"
#include "tests/vectors/vector_case.h"

namespace npuscope::vectors {

using Parameters = std::map<std::string, std::uint64_t, std::less<>>;

inline std::uint32_t element_bytes(const VectorCase& test) {
    return test.text("dtype") == "int8" ? 1 : 2;
}

inline LogicalShape cube_shape(const VectorCase& test) {
    return {{{'N', 1}, {'C', test.number("C")}, {'H', test.number("H")}, {'W', test.number("W")}}};
}

inline LogicalShape kernel_shape(const VectorCase& test) {
    return {{{'K', test.number("K")},
             {'C', test.number("C")},
             {'R', test.number("R")},
             {'S', test.number("S")}}};
}

inline Layout catalogued(std::string_view name, const LogicalShape& shape, std::uint32_t element,
                         const Parameters& parameters) {
    return make_layout(*find_layout(name), {shape, element, parameters});
}

/// Surfaces whose size is not given: the image must hold all that is used.
inline void expect_surface(const Layout& stored, const ByteVector& memory,
                           const ByteVector& logical) {
    expect_both_ways(stored, memory, plain_layout(stored.shape, stored.element), logical);
}

inline void expect_size(const Layout& stored, const ByteVector& memory) {
    if (stored.bytes != memory.size()) {
        throw Mismatch(fmt::format("{}: {} bytes by rule, expected {}", stored.name, stored.bytes,
                                   memory.size()));
    }
}

inline Parameters groups_of(const VectorCase& test) {
    return {{"group", test.number("kernels_per_group")},
            {"cube", test.number("channels_per_cube")}};
}

void check_trace_dc(const VectorCase& test);
void check_trace_sdp(const VectorCase& test);

}  // namespace npuscope::vectors
