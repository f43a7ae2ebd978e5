// SPDX-License-Identifier: Apache-2.0
// Fields whose value is derived from other fields of the same struct unless it is given. The struct
// defines how in `derive()`, which sets all of them. When a field is changed, fields that had the
// derived value get the new derived value; the others were given and stay.
#pragma once

#include <functional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "models/base/describe.h"

namespace npuscope {

/// A described struct some of whose fields are derived from others.
template <class T>
concept Deriving = Described<T> && requires(T& value) {
    value.derive();
};

namespace detail {

/// The locations of all fields that are not structs themselves, in the order of their lists.
class FieldPlaces {
 public:
    struct Place {
        void* at = nullptr;
        bool (*equal)(const void*, const void*) = nullptr;
        void (*assign)(void*, const void*) = nullptr;
    };

    template <class T>
    void field(std::string_view /*name*/, T& value, std::string_view /*sentence*/) {
        if constexpr (Described<T>) {
            T::describe(*this, value);
        } else {
            all.push_back({&value,
                           [](const void* a, const void* b) {
                               return *static_cast<const T*>(a) == *static_cast<const T*>(b);
                           },
                           [](void* to, const void* from) {
                               *static_cast<T*>(to) = *static_cast<const T*>(from);
                           }});
        }
    }
    template <class T>
    void required(std::string_view name, T& value, std::string_view sentence) {
        field(name, value, sentence);
    }

    std::vector<Place> all;
};

template <Deriving T>
std::vector<FieldPlaces::Place> places_of(T& value) {
    FieldPlaces places;
    T::describe(places, value);
    return std::move(places.all);
}

}  // namespace detail

/// `value` was `before` and has been changed: what was derived then is derived again.
template <Deriving T>
void follow(T& value, T before) {
    T after = value;
    before.derive();
    after.derive();
    const auto now = detail::places_of(value);
    const auto then = detail::places_of(before);
    const auto next = detail::places_of(after);
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (now[i].equal(now[i].at, then[i].at)) {
            now[i].assign(now[i].at, next[i].at);
        }
    }
}

}  // namespace npuscope
