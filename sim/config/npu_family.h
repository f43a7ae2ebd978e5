// SPDX-License-Identifier: Apache-2.0
// What a family of NPUs is to the program: the configuration that its presets hold, the machine that
// is built from one, and its registers. One object a family; main passes the list of those that
// there are, and nothing else knows which.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "models/base/check.h"
#include "models/base/describe.h"
#include "models/base/error.h"
#include "models/base/quantity.h"
#include "models/base/register_map.h"
#include "models/base/unit_job.h"
#include "sim/config/field_types.h"

namespace npuscope {

class DiagnosticLog;
class FieldLister;
class JsonWriter;
class Machine;
class StructReader;
class Target;
class YamlWriter;
struct MemoryConfig;
namespace detail {
class OverrideVisitor;
}

/// A described struct whose type is known to its owner alone: an NPU's configuration, which is read,
/// overridden, written and listed without a word on which family it belongs to.
class AnyConfig {
 public:
    AnyConfig() = default;
    /// typed_config.h has it, for those who define a family.
    template <Described T>
    requires(!std::same_as<T, AnyConfig>) explicit AnyConfig(T value);
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
        return held_ && held_->type() == typeid(T) ? static_cast<T*>(held_->value()) : nullptr;
    }
    template <class T>
    const T* find() const {
        return held_ && held_->type() == typeid(T) ? static_cast<T*>(held_->value()) : nullptr;
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
        virtual const std::type_info& type() const = 0;
        virtual void* value() = 0;
        virtual void visit(StructReader& visitor) = 0;
        virtual void visit(detail::OverrideVisitor& visitor) = 0;
        virtual void visit(YamlWriter& visitor) const = 0;
        virtual void visit(JsonWriter& visitor) const = 0;
        virtual void visit(FieldLister& visitor) const = 0;
    };
    template <class T>
    struct Typed;

    std::unique_ptr<Held> held_;
};

/// Registers of an NPU, for those who list them or write programs.
struct FamilyRegisters {
    std::span<const RegisterBlock> blocks{};
    std::string_view suffix{};  ///< after every name, as published
    std::string_view note{};    ///< of what kind they are, where that needs a word
    bool programs = false;      ///< register programs may be run
};

class NpuFamily {
 public:
    NpuFamily() = default;
    NpuFamily(const NpuFamily&) = delete;
    NpuFamily& operator=(const NpuFamily&) = delete;
    virtual ~NpuFamily() = default;

    /// `family:` of its presets.
    virtual std::string_view name() const = 0;
    virtual AnyConfig defaults() const = 0;

    // Of a configuration of this family.
    virtual std::string npu_name(const AnyConfig& npu) const = 0;
    virtual Hertz clock(const AnyConfig& npu) const = 0;
    /// A line for lists of presets.
    virtual std::string summary(const AnyConfig& npu) const {
        return format_quantity(clock(npu).value, UnitKind::Frequency);
    }
    /// Preset of the memory where the command line names none; empty: a plain memory.
    virtual std::string memory_preset(const AnyConfig& npu) const = 0;
    /// ConfigError where such an NPU could not work.
    virtual std::unique_ptr<Machine> build(const AnyConfig& npu, DiagnosticLog& log) const = 0;
    /// What plans models for such an NPU and this memory; without `values` for their time alone.
    virtual std::shared_ptr<const Target> target(const AnyConfig& npu, const MemoryConfig& memory,
                                                 bool values) const = 0;
    virtual FamilyRegisters registers(const AnyConfig& /*npu*/) const { return {}; }

    /// A job from the bytes of its descriptor, zeros at the end left out, as a program's file has
    /// them, and the way back. ConfigError where they describe none.
    virtual std::shared_ptr<UnitJob> read_job(std::span<const std::uint8_t> /*descriptor*/) const {
        throw ConfigError("the NPU does not support launch_job", "it runs register programs");
    }
    virtual std::vector<std::uint8_t> write_job(const UnitJob& job) const {
        throw ConfigError("'" + job.name + "' has no descriptor");
    }
};

/// A family whose presets are a described struct with `name` and `clock`, and perhaps `memory`. Its
/// source includes typed_config.h.
template <Described Config>
class TypedFamily : public NpuFamily {
 public:
    AnyConfig defaults() const override;
    std::string npu_name(const AnyConfig& npu) const override { return typed(npu).name; }
    Hertz clock(const AnyConfig& npu) const override { return typed(npu).clock; }
    std::string memory_preset(const AnyConfig& npu) const override {
        if constexpr (requires { typed(npu).memory; }) {
            return typed(npu).memory;
        }
        return {};
    }

 protected:
    static const Config& typed(const AnyConfig& npu) {
        const Config* config = npu.find<Config>();
        NPU_CHECK(config != nullptr, "a family meets its own configurations");
        return *config;
    }
};

}  // namespace npuscope
