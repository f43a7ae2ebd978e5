// SPDX-License-Identifier: Apache-2.0
// A formula of a sweep's space: `npu.datapath.atomic_c * npu.datapath.atomic_k <= 1024`,
// `npu == "nv_full" || memory.read_latency < 100`. Numbers are doubles, so integers are exact up to
// 2^53; names are numbers, strings or booleans; operators are + - * / % < <= > >= == != && || ! ?:,
// which bind as in C, and `^` for powers, with a^b^c = a^(b^c); functions are such as `min`, `max`,
// `sqrt` and `log2`. A name may have indices: `memory.regions[0].bandwidth`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/base/diagnostic.h"

namespace npuscope {

/// The value of a name.
using FormulaValue = std::variant<std::int64_t, double, bool, std::string>;

/// A scalar as written in configurations: `512`, `128 KiB` and `1 GHz` are integers, in bytes and
/// hertz, or the nearest double beyond 2^53; `true` is a boolean; anything else is a string.
FormulaValue formula_value(const std::string& text);

class Expression {
 public:
    /// The value of a name; nothing if it has none.
    using Lookup = std::function<std::optional<FormulaValue>(const std::string& name)>;

    /// ConfigError at `place` if the text is not a formula. `known`: the allowed names; empty: any.
    Expression(std::string text, Place place, const std::vector<std::string>& known = {});
    ~Expression();
    Expression(Expression&&) noexcept;
    Expression& operator=(Expression&&) noexcept;

    const std::string& text() const { return text_; }
    const std::vector<std::string>& names() const { return names_; }
    const Place& place() const { return place_; }
    /// ConfigError if it uses a name that is not known: `'a + b' uses 'b', which <what>`. `remedy`
    /// is for a name without a similar one.
    void expect_names(const std::vector<std::string>& known, const std::string& what,
                      const std::string& remedy) const;
    /// ConfigError at its place if the result is not a boolean, or a name that it needs has no
    /// value of a fitting type, or it divides by 0, takes the logarithm of 0 and the like. As in C,
    /// `a && b` does not need b if a is false.
    bool holds(const Lookup& lookup) const;
    /// The same for a number, which is finite.
    double number(const Lookup& lookup) const { return number_of(lookup, true); }
    /// The same where values stand for others of their kind, so that it need not be finite.
    void expect_number(const Lookup& lookup) const { number_of(lookup, false); }

    struct Node;

 private:
    [[noreturn]] void refuse(const std::string& sentence, const std::string& remedy) const;
    double number_of(const Lookup& lookup, bool finite) const;

    std::string text_;
    Place place_;
    std::vector<std::string> names_;  ///< sorted, without duplicates
    std::unique_ptr<Node> root_;
};

}  // namespace npuscope
