// SPDX-License-Identifier: Apache-2.0
// Arguments of the C functions, checked: sizes, ranges, null pointers; and their results. Refusals
// name the member as the header does.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "include/npuscope/units.h"
#include "models/arith/fixed_point.h"
#include "models/layout/tensor.h"
#include "sim/embed/c_call.h"

namespace npuscope {

[[noreturn]] inline void bad(std::string text) {
    throw CallRefusal(NPUSCOPE_BAD_ARGUMENT, std::move(text));
}

template <class T>
const T& present(const T* pointer, const char* name) {
    if (pointer == nullptr) {
        bad(fmt::format("{} is null", name));
    }
    return *pointer;
}

/// A structure whose size the caller has set.
template <class T>
const T& sized(const T* given, const char* name) {
    if (present(given, name).size != sizeof(T)) {
        bad(fmt::format("{}->size is {}, but this library expects {}: set it to sizeof", name,
                        given->size, sizeof(T)));
    }
    return *given;
}

template <class Number>
Number within(std::string_view name, Number value, std::int64_t low, std::int64_t high) {
    if (static_cast<std::int64_t>(value) < low || static_cast<std::int64_t>(value) > high) {
        bad(fmt::format("{} is {}, not {} to {}", name, value, low, high));
    }
    return value;
}

/// A signed value that fits this many bits.
template <class To>
To fitting(std::string_view name, std::int64_t value, unsigned bits) {
    return static_cast<To>(
        within(name, value, min_of_bits<std::int64_t>(bits), max_of_bits<std::int64_t>(bits)));
}

inline void exact(std::string_view name, std::size_t bytes, std::size_t needed) {
    if (bytes != needed) {
        bad(fmt::format("{}: {} bytes are given, but the elements need {}", name, bytes, needed));
    }
}

inline constexpr std::int64_t kMostElements = 8192;  // source: NVDLA_SDP.rdl, WIDTH, 13 bits

template <class T>
Tensor<T> values_of(const npuscope_tensor& tensor) {
    const Shape shape{tensor.channels, tensor.height, tensor.width};
    exact("the tensor", tensor.bytes, shape.elements() * sizeof(T));
    Tensor<T> values(shape);
    std::memcpy(values.values.data(), tensor.data, tensor.bytes);
    return values;
}

/// `last`: the last type that is accepted.
inline const npuscope_tensor& checked(const npuscope_tensor* given, std::int32_t last) {
    const npuscope_tensor& tensor = present(given, "the tensor");
    if (tensor.data == nullptr) {
        bad("the tensor's data is null");
    }
    within("the tensor's type", tensor.type, NPUSCOPE_INT8, last);
    within("the tensor's channels", tensor.channels, 1, kMostElements);
    within("the tensor's height", tensor.height, 1, kMostElements);
    within("the tensor's width", tensor.width, 1, kMostElements);
    return tensor;
}

inline ElementTensor elements_of(const npuscope_tensor& tensor) {
    if (tensor.type == NPUSCOPE_INT8) {
        return values_of<std::int8_t>(tensor);
    }
    return values_of<std::int16_t>(tensor);
}

/// Writes results, for which the caller has given the size in bytes.
struct Output {
    void* data;
    std::size_t bytes;

    void expect(std::size_t elements, std::size_t element_bytes) const {
        if (data == nullptr) {
            bad("the output is null");
        }
        exact("the output", bytes, elements * element_bytes);
    }
    template <class T>
    void write(const Tensor<T>& tensor) const {
        std::memcpy(data, tensor.values.data(), bytes);
    }
    void write(const ElementTensor& tensor) const {
        std::visit([this](const auto& values) { write(values); }, tensor);
    }
};

inline npuscope_counters zero_counters() {
    npuscope_counters counters{};
    counters.size = sizeof counters;
    return counters;
}

inline void check(const npuscope_counters* counters) {
    if (counters != nullptr) {
        sized(counters, "counters");
    }
}

inline void tell(const npuscope_counters& counted, npuscope_counters* counters) {
    if (counters != nullptr) {
        *counters = counted;
    }
}

}  // namespace npuscope
