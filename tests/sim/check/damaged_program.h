// SPDX-License-Identifier: Apache-2.0
// Programs with one mistake, made from good ones.
#pragma once

#include <algorithm>
#include <functional>
#include <string>

#include "sim/check/check_report.h"
#include "sim/program/program.h"

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

}  // namespace npuscope::sample
