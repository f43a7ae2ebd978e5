// SPDX-License-Identifier: Apache-2.0
// A formula of a sweep's space: `npu.datapath.atomic_c * npu.datapath.atomic_k <= 1024`,
// `npu == "nv_full" || memory.read_latency < 100`. Numbers are double, so whole to 2^53; names hold
// numbers, texts and booleans; operators are those of C, with `^` for powers, and `min`, `max`, `sqrt`,
// `log2` and their kind are known.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/base/diagnostic.h"

namespace npuscope {

/// What a name holds.
using FormulaValue = std::variant<std::int64_t, double, bool, std::string>;

/// A scalar as configurations write it: `512`, `128 KiB` and `1 GHz` are whole numbers of bytes and
/// hertz, `true` is a boolean, all else is text.
FormulaValue formula_value(const std::string& text);

class Expression {
 public:
    /// The value of a name; nothing where it has none.
    using Lookup = std::function<std::optional<FormulaValue>(const std::string& name)>;

    /// ConfigError at `place` where the text is no formula. `known`: its names must be among these;
    /// empty: they may be any.
    Expression(std::string text, Place place, const std::vector<std::string>& known = {});
    ~Expression();
    Expression(Expression&&) noexcept;
    Expression& operator=(Expression&&) noexcept;

    const std::string& text() const { return text_; }
    const std::vector<std::string>& names() const { return names_; }
    /// ConfigError at its place where that is not a boolean, or a name that it needs has no value of a
    /// fitting type. As in C, `a && b` does not need b where a is false.
    bool holds(const Lookup& lookup) const;
    /// Likewise of a number, which is finite.
    double number(const Lookup& lookup) const;

    struct Node;

 private:
    [[noreturn]] void refuse(const std::string& sentence, const std::string& remedy) const;

    std::string text_;
    Place place_;
    std::vector<std::string> names_;  ///< sorted, each once
    std::unique_ptr<Node> root_;
};

}  // namespace npuscope
