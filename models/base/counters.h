// SPDX-License-Identifier: Apache-2.0
// Arithmetic on described structs of counters, such as UnitStatistics, member by member: a counter
// that is in the list of `describe` is in every sum, difference and column.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "models/base/check.h"
#include "models/base/describe.h"

namespace npuscope {

/// One counter of a struct.
template <class Number>
struct Counter {
    std::string_view name;
    Number* number = nullptr;
};

/// The counters of a struct, in the order of its list. Sums are made often: it takes no memory from
/// the heap.
template <class Number>
class Counters {
 public:
    template <class T>
    void field(std::string_view name, T& value, std::string_view /*sentence*/) {
        NPU_CHECK(count_ < all_.size(), "a struct has few counters");
        if constexpr (requires { value.value; }) {
            all_[count_++] = {name, &value.value};
        } else {
            all_[count_++] = {name, &value};
        }
    }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.begin() + count_; }
    const Counter<Number>& operator[](std::size_t index) const { return all_[index]; }
    std::size_t size() const { return count_; }

 private:
    std::array<Counter<Number>, 16> all_{};
    std::size_t count_ = 0;
};

template <Described T>
auto counters_of(T& counted) {
    using Number = std::conditional_t<std::is_const_v<T>, const std::uint64_t, std::uint64_t>;
    Counters<Number> counters;
    std::remove_const_t<T>::describe(counters, counted);
    return counters;
}

/// `combine(number, other)` for each counter of both.
template <Described T, class Combine>
void each_counter(T& one, const std::remove_const_t<T>& other, const Combine& combine) {
    const auto numbers = counters_of(one);
    const auto others = counters_of(other);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        combine(*numbers[i].number, *others[i].number);
    }
}

template <Described T>
void add_counters(T& sum, const T& more) {
    each_counter(sum, more, [](std::uint64_t& a, std::uint64_t b) { a += b; });
}

template <Described T>
T difference(T later, const T& earlier) {
    each_counter(later, earlier, [](std::uint64_t& a, std::uint64_t b) { a -= b; });
    return later;
}

template <Described T>
T times(T one, std::uint64_t count) {
    for (const auto& counter : counters_of(one)) {
        *counter.number *= count;
    }
    return one;
}

template <Described T>
bool equal(const T& a, const T& b) {
    bool same = true;
    each_counter(a, b, [&](std::uint64_t x, std::uint64_t y) { same = same && x == y; });
    return same;
}

}  // namespace npuscope
