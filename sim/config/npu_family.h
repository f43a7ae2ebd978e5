// SPDX-License-Identifier: Apache-2.0
// What a family of NPUs is to the program: the configuration that its presets hold, the machine
// that is built from one, and its registers. One object per family; main.cpp and sim/embed pass the
// list of them, and no other code knows which there are.
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
#include "models/base/statistics.h"
#include "models/base/unit_job.h"
#include "sim/config/field_types.h"
#include "sim/config/limit.h"

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

/// A described struct whose type only its owner knows: an NPU's configuration, which is read,
/// overridden, written and listed without knowing which family it belongs to.
class AnyConfig {
 public:
    AnyConfig() = default;
    /// Defined in typed_config.h, for the definition of a family.
    template <Described T>
    requires(!std::same_as<T, AnyConfig>) explicit AnyConfig(T value);
    AnyConfig(const AnyConfig& other) : held_(other.held_ ? other.held_->clone() : nullptr) {}
    AnyConfig(AnyConfig&&) noexcept = default;
    AnyConfig& operator=(AnyConfig other) noexcept {
        held_.swap(other.held_);
        return *this;
    }
    ~AnyConfig() = default;

    /// Null if it is of another type.
    template <class T>
    T* find() {
        return held_ && held_->type() == typeid(T) ? static_cast<T*>(held_->value()) : nullptr;
    }
    template <class T>
    const T* find() const {
        return held_ && held_->type() == typeid(T) ? static_cast<T*>(held_->value()) : nullptr;
    }

    /// Does nothing if it holds no struct.
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

/// Registers of an NPU, for listing them or writing programs.
struct FamilyRegisters {
    std::span<const RegisterBlock> blocks{};
    std::string_view suffix{};  ///< after every name, as published
    std::string_view note{};    ///< of what kind they are, if that needs explaining
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

    // For a configuration of this family.
    virtual std::string npu_name(const AnyConfig& npu) const = 0;
    virtual Hertz clock(const AnyConfig& npu) const = 0;
    /// Legal values of the family's own fields, `npu.*`; every command checks them before it builds,
    /// plans or checks. A number or latency without a row has a wide range by its type.
    virtual LimitRows limits() const { return {}; }
    /// A line for lists of presets.
    virtual std::string summary(const AnyConfig& npu) const {
        return format_quantity(clock(npu).value, UnitKind::Frequency);
    }
    /// Preset of the memory if the command line names none; empty: a simple memory.
    virtual std::string memory_preset(const AnyConfig& npu) const = 0;
    /// ConfigError if such an NPU could not work for a reason that `limits` cannot state.
    virtual std::unique_ptr<Machine> build(const AnyConfig& npu, DiagnosticLog& log) const = 0;
    /// Plans models for such an NPU and this memory; without `values` for their timing only.
    virtual std::shared_ptr<const Target> target(const AnyConfig& npu, const MemoryConfig& memory,
                                                 bool values) const = 0;
    virtual FamilyRegisters registers(const AnyConfig& /*npu*/) const { return {}; }
    /// Fields that change the cycles of a cause most, with commas between them; empty: none.
    virtual std::string_view fields_of(Cause /*cause*/) const { return {}; }

    /// Reads a job from the bytes of its descriptor, trailing zeros left out, as in a program's
    /// file, and writes one. ConfigError if they describe none.
    virtual std::shared_ptr<UnitJob> read_job(std::span<const std::uint8_t> /*descriptor*/) const {
        throw ConfigError(
            "the NPU does not support launch_job",
            "it runs register programs; choose a TINPU for jobs, e.g. --npu tinpu_f28p55");
    }
    virtual std::vector<std::uint8_t> write_job(const UnitJob& job) const {
        throw ConfigError("'" + job.name + "' has no descriptor");
    }
};

/// A family whose presets are a described struct with `name` and `clock`, and optionally `memory`.
/// Its source includes typed_config.h.
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
