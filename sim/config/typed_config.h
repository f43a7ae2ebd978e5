// SPDX-License-Identifier: Apache-2.0
// Reading, overriding, writing and listing the configuration of a family's NPUs, instantiated for
// its type. Included only where a family is defined, because it takes long to compile.
#pragma once

#include <memory>
#include <utility>

#include "sim/config/json_writer.h"
#include "sim/config/npu_family.h"
#include "sim/config/yaml_reader.h"
#include "sim/config/yaml_writer.h"

namespace npuscope {

template <class T>
struct AnyConfig::Typed final : AnyConfig::Held {
    explicit Typed(T the_value) : held(std::move(the_value)) {}
    std::unique_ptr<Held> clone() const override { return std::make_unique<Typed>(held); }
    const std::type_info& type() const override { return typeid(T); }
    void* value() override { return &held; }
    void visit(StructReader& visitor) override { change(visitor); }
    void visit(detail::OverrideVisitor& visitor) override { change(visitor); }
    void visit(YamlWriter& visitor) const override { T::describe(visitor, held); }
    void visit(JsonWriter& visitor) const override { T::describe(visitor, held); }
    void visit(FieldLister& visitor) const override { T::describe(visitor, held); }

    /// What the visitor changes affects derived values; values that it sets itself stay.
    template <class Visitor>
    void change(Visitor& visitor) {
        if constexpr (Deriving<T>) {
            T before = held;
            T::describe(visitor, held);
            follow(held, std::move(before));
        }
        T::describe(visitor, held);
    }

    T held;
};

template <Described T>
requires(!std::same_as<T, AnyConfig>) AnyConfig::AnyConfig(T value)
    : held_(std::make_unique<Typed<T>>(std::move(value))) {}

template <Described Config>
AnyConfig TypedFamily<Config>::defaults() const {
    return AnyConfig(Config{});
}

}  // namespace npuscope
