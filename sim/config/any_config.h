// SPDX-License-Identifier: Apache-2.0
// A described struct whose type is known to its owner alone: an NPU's configuration, which is read,
// overridden, written and listed without a word on which family it belongs to.
#pragma once

#include <memory>

#include "sim/config/field_list.h"
#include "sim/config/json_writer.h"
#include "sim/config/override_field.h"
#include "sim/config/yaml_reader.h"
#include "sim/config/yaml_writer.h"

namespace npuscope {

class AnyConfig {
 public:
    AnyConfig() = default;
    template <Described T>
    requires(!std::same_as<T, AnyConfig>) explicit AnyConfig(T value)
        : held_(std::make_unique<Typed<T>>(std::move(value))) {}
    AnyConfig(const AnyConfig& other) : held_(other.held_ ? other.held_->clone() : nullptr) {}
    AnyConfig(AnyConfig&&) noexcept = default;
    AnyConfig& operator=(AnyConfig other) noexcept {
        held_.swap(other.held_);
        return *this;
    }
    ~AnyConfig() = default;

    /// Null where it is of another type.
    template <class T>
    T* find() {
        auto* typed = dynamic_cast<Typed<T>*>(held_.get());
        return typed == nullptr ? nullptr : &typed->value;
    }
    template <class T>
    const T* find() const {
        const auto* typed = dynamic_cast<const Typed<T>*>(held_.get());
        return typed == nullptr ? nullptr : &typed->value;
    }

    /// Nothing where it holds no struct.
    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        if (self.held_) {
            self.held_->visit(visit);
        }
    }

 private:
    struct Held {
        Held() = default;
        Held(const Held&) = default;
        Held& operator=(const Held&) = delete;
        virtual ~Held() = default;
        virtual std::unique_ptr<Held> clone() const = 0;
        virtual void visit(StructReader& visitor) = 0;
        virtual void visit(detail::OverrideVisitor& visitor) = 0;
        virtual void visit(YamlWriter& visitor) const = 0;
        virtual void visit(JsonWriter& visitor) const = 0;
        virtual void visit(FieldLister& visitor) const = 0;
    };
    template <class T>
    struct Typed final : Held {
        explicit Typed(T the_value) : value(std::move(the_value)) {}
        std::unique_ptr<Held> clone() const override { return std::make_unique<Typed>(value); }
        void visit(StructReader& visitor) override { T::describe(visitor, value); }
        void visit(detail::OverrideVisitor& visitor) override { T::describe(visitor, value); }
        void visit(YamlWriter& visitor) const override { T::describe(visitor, value); }
        void visit(JsonWriter& visitor) const override { T::describe(visitor, value); }
        void visit(FieldLister& visitor) const override { T::describe(visitor, value); }

        T value;
    };

    std::unique_ptr<Held> held_;
};

}  // namespace npuscope
