// SPDX-License-Identifier: Apache-2.0
// Arithmetic on described structs of counters, such as UnitStatistics, member by member: a counter
// that is in the list of `describe` is in every sum, difference and column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "models/base/describe.h"

namespace npuscope {

/// One counter of a struct.
template <class Number>
struct Counter {
    std::string_view name;
    Number* number;
};

namespace detail {

template <class Number>
struct CounterList {
    template <class T>
    void field(std::string_view name, T& value, std::string_view /*sentence*/) {
        if constexpr (requires { value.value; }) {
            all.push_back({name, &value.value});
        } else {
            all.push_back({name, &value});
        }
    }

    std::vector<Counter<Number>> all;
};

}  // namespace detail

/// In the order of the struct's list.
template <Described T>
auto counters_of(T& counted) {
    using Number = std::conditional_t<std::is_const_v<T>, const std::uint64_t, std::uint64_t>;
    detail::CounterList<Number> list;
    std::remove_const_t<T>::describe(list, counted);
    return list.all;
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
