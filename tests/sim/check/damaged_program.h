// SPDX-License-Identifier: Apache-2.0
// Programs with one mistake, made from good ones.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "models/npu/register_blocks.h"
#include "sim/check/check_report.h"
#include "sim/config/preset.h"
#include "sim/program/program.h"
#include "sim/program/read_program.h"

namespace npuscope::sample {

/// The writes of one register get other values; returns how many changed.
inline int change_writes(Program& program, const std::string& register_name,
                         const std::function<std::uint32_t(std::uint32_t)>& changed) {
    int count = 0;
    for (Statement& statement : program.statements) {
        auto* write = std::get_if<WriteRegister>(&statement.action);
        if (write != nullptr && write->name == register_name + "_0") {
            const std::uint32_t value = changed(write->value);
            count += value != write->value ? 1 : 0;
            write->value = value;
        }
    }
    return count;
}

inline std::uint32_t written(const Program& program, const std::string& register_name) {
    std::uint32_t value = 0;
    for (const Statement& statement : program.statements) {
        const auto* write = std::get_if<WriteRegister>(&statement.action);
        if (write != nullptr && write->name == register_name + "_0") {
            value = write->value;
        }
    }
    return value;
}

/// Without the statements of one kind, except the first few.
template <class Action>
int leave_out(Program& program, int keep = 0) {
    return static_cast<int>(std::erase_if(program.statements, [&](const Statement& statement) {
        return std::holds_alternative<Action>(statement.action) && keep-- <= 0;
    }));
}

inline bool finds(const CheckReport& report, const std::string& kind,
                  const std::string& register_name = {}) {
    return std::ranges::any_of(report.findings, [&](const Diagnostic& found) {
        return found.id == kind &&
               (register_name.empty() || found.register_name == register_name + "_0");
    });
}

inline std::string kinds_of(const CheckReport& report) {
    std::string text;
    for (const Diagnostic& found : report.findings) {
        if (found.severity == Severity::Note) {
            continue;
        }
        text += found.id + " " + found.register_name + ": " + found.sentence + "\n";
    }
    return text;
}

/// A program of tests/golden, and the machine that it is for.
class Damaged {
 public:
    Damaged(const std::string& folder, const std::string& npu)
        : npu_(read_preset<NpuConfig>(
              find_preset(std::filesystem::path(NPUSCOPE_SOURCE) / "configs", "npu", npu))),
          memory_(read_preset<MemoryConfig>(find_preset(
              std::filesystem::path(NPUSCOPE_SOURCE) / "configs", "memory", "dram_50"))),
          program(read_program(std::filesystem::path(NPUSCOPE_SOURCE) / "tests/golden" / folder,
                               RegisterNames(nvdla_register_blocks(npu_.csb.address_map)))) {}

    CheckTarget target() const { return {npu_, memory_}; }
    CheckReport checked() const { return check_program(program, target()); }
    void change(const std::string& name, const std::function<std::uint32_t(std::uint32_t)>& by) {
        ASSERT_GT(sample::change_writes(program, name, by), 0) << name;
    }
    template <class Action>
    Action& first() {
        for (Statement& statement : program.statements) {
            if (auto* action = std::get_if<Action>(&statement.action)) {
                return *action;
            }
        }
        throw std::logic_error("no such statement");
    }

 private:
    NpuConfig npu_;
    MemoryConfig memory_;

 public:
    Program program;
};

}  // namespace npuscope::sample
