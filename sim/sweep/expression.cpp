// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/expression.h"

#include <fmt/format.h>
#include <muparserx/mpParser.h>

#include <algorithm>
#include <cmath>
#include <list>

#include "models/base/error.h"
#include "sim/config/field_types.h"
#include "sim/config/nearest_name.h"

namespace npuscope {
namespace {

constexpr std::size_t longest_formula = 1000;

struct ToParser {
    mup::Value operator()(std::int64_t value) const { return {mup::int_type(value)}; }
    mup::Value operator()(double value) const { return {mup::float_type(value)}; }
    mup::Value operator()(bool value) const { return {mup::bool_type(value)}; }
    mup::Value operator()(const std::string& value) const { return {mup::string_type(value)}; }
};

}  // namespace

FormulaValue formula_value(const std::string& text) {
    if (text == "true" || text == "false") {
        return text == "true";
    }
    for (const UnitKind kind :
         {UnitKind::Plain, UnitKind::ByteCount, UnitKind::Frequency, UnitKind::CycleCount}) {
        const auto parsed = parse_quantity(text, kind);
        const auto* number = std::get_if<std::uint64_t>(&parsed);
        if (number != nullptr && *number <= std::uint64_t{1} << 53U) {
            return static_cast<std::int64_t>(*number);
        }
    }
    return text;
}

struct Expression::Parser {
    mup::ParserX parser{mup::pckCOMMON | mup::pckNON_COMPLEX | mup::pckSTRING};
    std::list<mup::Value> values;  ///< one for each name; the parser points at them
};

Expression::Expression(std::string text, Place place, const std::vector<std::string>& known)
    : text_(std::move(text)), place_(std::move(place)), parser_(std::make_unique<Parser>()) {
    if (text_.empty() || text_.size() > longest_formula) {
        refuse("is no formula", fmt::format("write 1 to {} characters", longest_formula));
    }
    mup::ParserX& parser = parser_->parser;
    try {
        parser.DefineNameChars("0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        parser.SetExpr(text_);
        for (const auto& [name, token] : parser.GetExprVar()) {
            names_.push_back(name);
        }
        for (const std::string& name : names_) {
            parser_->values.emplace_back(mup::float_type(0));
            parser.DefineVar(name, mup::Variable(&parser_->values.back()));
        }
    } catch (const mup::ParserError& error) {
        refuse("is no formula: " + error.GetMsg(), "operators are those of C, texts stand in \"\"");
    }
    for (const std::string& name : names_) {
        if (!known.empty() && std::ranges::find(known, name) == known.end()) {
            refuse(fmt::format("names '{}', which is none of this space's axes", name),
                   name_remedy(name, known));
        }
    }
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

void Expression::refuse(const std::string& sentence, const std::string& remedy) const {
    throw ConfigError(place_, fmt::format("'{}' {}", text_, sentence), remedy);
}

void Expression::give_values(const Lookup& lookup) const {
    auto value = parser_->values.begin();
    for (const std::string& name : names_) {
        const std::optional<FormulaValue> given = lookup(name);
        if (!given) {
            refuse(fmt::format("names '{}', which has no value", name),
                   "name an axis, a number of the result, or a field of the configuration");
        }
        *value++ = std::visit(ToParser{}, *given);
    }
}

bool Expression::holds(const Lookup& lookup) const {
    give_values(lookup);
    try {
        const mup::IValue& result = parser_->parser.Eval();
        if (result.GetType() == 'b') {
            return result.GetBool();
        }
    } catch (const mup::ParserError& error) {
        refuse("cannot be computed: " + error.GetMsg(), "compare numbers with numbers");
    }
    refuse("is neither true nor false", "compare it with something: >, <=, ==");
}

double Expression::number(const Lookup& lookup) const {
    give_values(lookup);
    try {
        const mup::IValue& result = parser_->parser.Eval();
        if (result.IsScalar() && result.GetType() != 'b' && std::isfinite(result.GetFloat())) {
            return static_cast<double>(result.GetFloat());
        }
    } catch (const mup::ParserError& error) {
        refuse("cannot be computed: " + error.GetMsg(), "take numbers only");
    }
    refuse("is no number", "take numbers, and divide by none that is 0");
}

}  // namespace npuscope
