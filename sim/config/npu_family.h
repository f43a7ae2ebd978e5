// SPDX-License-Identifier: Apache-2.0
// What a family of NPUs is to the program: the configuration that its presets hold, the machine that
// is built from one, and its registers. One object a family; main passes the list of those that
// there are, and nothing else knows which.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/check.h"
#include "models/base/quantity.h"
#include "models/base/register_map.h"
#include "sim/config/any_config.h"

namespace npuscope {

class DiagnosticLog;
class Machine;
class Target;
struct MemoryConfig;

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
    /// Preset of the memory where the command line names none; empty: a plain memory.
    virtual std::string memory_preset(const AnyConfig& npu) const = 0;
    /// ConfigError where such an NPU could not work.
    virtual std::unique_ptr<Machine> build(const AnyConfig& npu, DiagnosticLog& log) const = 0;
    /// What plans models for such an NPU and this memory; without `values` for their time alone.
    virtual std::shared_ptr<const Target> target(const AnyConfig& npu, const MemoryConfig& memory,
                                                 bool values) const = 0;
    virtual FamilyRegisters registers(const AnyConfig& /*npu*/) const { return {}; }
};

/// A family whose presets are a described struct with `name` and `clock`, and perhaps `memory`.
template <Described Config>
class TypedFamily : public NpuFamily {
 public:
    AnyConfig defaults() const override { return AnyConfig(Config{}); }
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
