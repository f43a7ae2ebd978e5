// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/spirit/home/x3.hpp>
#include <cmath>
#include <set>
#include <string_view>

#include "models/base/error.h"
#include "sim/config/field_types.h"
#include "sim/config/nearest_name.h"

namespace npuscope {

/// A constant, a name, a call, or an operator with its operands.
struct Expression::Node {
    enum class Kind { Constant, Name, Call };
    Kind kind = Kind::Constant;
    FormulaValue value;             ///< of a constant
    std::string name;               ///< of a name, an operator (`<=`, `-`, `?`) or a function
    std::vector<Node> arguments{};  ///< of an operator or a function
};

namespace {

namespace x3 = boost::spirit::x3;
using Node = Expression::Node;

constexpr std::size_t longest_formula = 1000;
/// Nesting of parentheses, calls, choices and powers: the parser uses a stack frame for each.
constexpr std::size_t deepest_formula = 50;

// --- Grammar: each rule produces a Node. ---

/// Neither `inf` nor `nan` is a number.
struct PlainNumber : x3::ureal_policies<double> {
    template <typename Iterator, typename Attribute>
    static bool parse_nan(Iterator& /*first*/, const Iterator& /*last*/, Attribute& /*value*/) {
        return false;
    }
    template <typename Iterator, typename Attribute>
    static bool parse_inf(Iterator& /*first*/, const Iterator& /*last*/, Attribute& /*value*/) {
        return false;
    }
};

constexpr auto set_constant = [](auto& context) {
    x3::_val(context) = Node{Node::Kind::Constant, FormulaValue(x3::_attr(context)), {}, {}};
};
constexpr auto set_name = [](auto& context) {
    const std::string& name = x3::_attr(context);
    x3::_val(context) = name == "true" || name == "false"
                            ? Node{Node::Kind::Constant, FormulaValue(name == "true"), {}, {}}
                            : Node{Node::Kind::Name, {}, name, {}};
};
constexpr auto set_function = [](auto& context) {
    x3::_val(context) = Node{Node::Kind::Call, {}, x3::_attr(context), {}};
};
constexpr auto add_argument = [](auto& context) {
    x3::_val(context).arguments.push_back(std::move(x3::_attr(context)));
};
constexpr auto set_node = [](auto& context) { x3::_val(context) = std::move(x3::_attr(context)); };
constexpr auto begin_operator = [](auto& context) {
    Node first = std::move(x3::_val(context));
    x3::_val(context) = Node{Node::Kind::Call, {}, x3::_attr(context), {}};
    x3::_val(context).arguments.push_back(std::move(first));
};
/// `--x`: the signs before an operand, the innermost one last.
constexpr auto set_signs = [](auto& context) {
    using boost::fusion::at_c;
    Node operand = std::move(at_c<1>(x3::_attr(context)));
    const std::string& signs = at_c<0>(x3::_attr(context));
    for (auto sign = signs.rbegin(); sign != signs.rend(); ++sign) {
        Node node{Node::Kind::Call, {}, *sign == '!' ? "!" : fmt::format("{}x", *sign), {}};
        node.arguments.push_back(std::move(operand));
        operand = std::move(node);
    }
    x3::_val(context) = std::move(operand);
};

/// One of these strings, the longest match.
struct Operators : x3::symbols<std::string> {
    Operators(std::initializer_list<const char*> all) {
        for (const char* symbol : all) {
            add(symbol, symbol);
        }
    }
};

const x3::rule<class Choice, Node> choice = "a value";
const x3::rule<class Either, Node> either = "a value";
const x3::rule<class Both, Node> both = "a value";
const x3::rule<class Equality, Node> equality = "a value";
const x3::rule<class Order, Node> order = "a value";
const x3::rule<class Sum, Node> sum = "a value";
const x3::rule<class Product, Node> product = "a value";
const x3::rule<class Signed, Node> signed_value = "a value";
const x3::rule<class Power, Node> power = "a value";
const x3::rule<class Exponent, Node> exponent = "a value";
const x3::rule<class Primary, Node> primary = "a value";
const x3::rule<class Call, Node> call = "a function";
const x3::rule<class Name, std::string> word = "a name";

const auto list_index = x3::char_('[') >> +x3::digit >> x3::char_(']');
const auto word_def = x3::lexeme[x3::raw[(x3::alpha | x3::char_('_')) >>
                                         *(x3::alnum | x3::char_("_.") | list_index)]];
const auto call_def = (word >> &x3::lit('('))[set_function] >> '(' >> choice[add_argument] >>
                      *(',' > choice[add_argument]) > ')';
const auto primary_def = x3::real_parser<double, PlainNumber>()[set_constant] |
                         x3::lexeme['"' >> *(x3::char_ - '"') > '"'][set_constant] |
                         call[set_node] | word[set_name] | ('(' >> choice[set_node] > ')');
const auto signs = *x3::char_("-+!");
const auto exponent_def = (signs >> power)[set_signs];
const auto power_def = primary[set_node] >>
                       -(Operators{"^"}[begin_operator] > exponent[add_argument]);
const auto signed_value_def = (signs >> power)[set_signs];
const auto product_def = signed_value[set_node] >>
                         *(Operators{"*", "/", "%"}[begin_operator] > signed_value[add_argument]);
const auto sum_def = product[set_node] >>
                     *(Operators{"+", "-"}[begin_operator] > product[add_argument]);
const auto order_def = sum[set_node] >>
                       *(Operators{"<=", ">=", "<", ">"}[begin_operator] > sum[add_argument]);
const auto equality_def = order[set_node] >>
                          *(Operators{"==", "!="}[begin_operator] > order[add_argument]);
const auto both_def = equality[set_node] >>
                      *(Operators{"&&"}[begin_operator] > equality[add_argument]);
const auto either_def = both[set_node] >> *(Operators{"||"}[begin_operator] > both[add_argument]);
const auto choice_def = either[set_node] >> -(Operators{"?"}[begin_operator] >
                                              choice[add_argument] > ':' > choice[add_argument]);

BOOST_SPIRIT_DEFINE(word, call, primary, exponent, power, signed_value, product, sum, order,
                    equality, both, either, choice)

/// The remaining text that fits nothing.
std::string rest_of(const std::string& text, std::string::const_iterator at) {
    at = std::find_if(at, text.end(), [](char letter) { return letter != ' '; });
    return at == text.end() ? std::string("its end")
                            : fmt::format("'{}'", std::string(at, text.end()));
}

std::size_t depth_of(const std::string& text) {
    std::size_t open = 0;
    std::size_t deepest = 0;
    for (const char letter : text) {
        open += letter == '(' || letter == '?' || letter == '^' ? 1 : 0;
        open -= letter == ')' && open > 0 ? 1 : 0;
        deepest = std::max(deepest, open);
    }
    return deepest;
}

// --- Functions and operators of numbers ---

struct Function {
    std::string_view name;
    std::size_t least;  ///< arguments
    std::size_t most;
    double (*value)(const std::vector<double>&);
};

using Numbers = const std::vector<double>&;
constexpr std::size_t most_arguments = 100;

constexpr Function functions[] = {
    {"min", 1, most_arguments, [](Numbers x) { return *std::ranges::min_element(x); }},
    {"max", 1, most_arguments, [](Numbers x) { return *std::ranges::max_element(x); }},
    {"abs", 1, 1, [](Numbers x) { return std::abs(x[0]); }},
    {"sqrt", 1, 1, [](Numbers x) { return std::sqrt(x[0]); }},
    {"exp", 1, 1, [](Numbers x) { return std::exp(x[0]); }},
    {"ln", 1, 1, [](Numbers x) { return std::log(x[0]); }},
    {"log2", 1, 1, [](Numbers x) { return std::log2(x[0]); }},
    {"log10", 1, 1, [](Numbers x) { return std::log10(x[0]); }},
    {"floor", 1, 1, [](Numbers x) { return std::floor(x[0]); }},
    {"ceil", 1, 1, [](Numbers x) { return std::ceil(x[0]); }},
    {"round", 1, 1, [](Numbers x) { return std::round(x[0]); }},
    {"-x", 1, 1, [](Numbers x) { return -x[0]; }},
    {"+x", 1, 1, [](Numbers x) { return x[0]; }},
    {"+", 2, 2, [](Numbers x) { return x[0] + x[1]; }},
    {"-", 2, 2, [](Numbers x) { return x[0] - x[1]; }},
    {"*", 2, 2, [](Numbers x) { return x[0] * x[1]; }},
    {"/", 2, 2, [](Numbers x) { return x[0] / x[1]; }},
    {"%", 2, 2, [](Numbers x) { return std::fmod(x[0], x[1]); }},
    {"^", 2, 2, [](Numbers x) { return std::pow(x[0], x[1]); }},
};

const Function* find_function(const std::string& name) {
    const auto* found = std::ranges::find(functions, name, &Function::name);
    return found == std::end(functions) ? nullptr : found;
}

/// Thrown by `Evaluation`, reported by the expression that it belongs to.
struct Misfit {
    std::string sentence;
    std::string remedy;
};

/// Why an operator or a function of finite numbers has no finite result.
Misfit not_finite(const std::string& name, Numbers x) {
    const bool divides = name == "/" || name == "%";
    if ((divides && x[1] == 0) || (name == "^" && x[0] == 0)) {
        return {"divides by 0",
                "compute it only where the divisor is not 0: `x > 0 && y / x > 1`, `x > 0 ? y / x "
                ": 0`"};
    }
    if (name.starts_with("l") && x[0] <= 0) {
        return {fmt::format("takes the logarithm of {}", x[0]),
                "a logarithm exists only of numbers above 0"};
    }
    if (name == "sqrt") {
        return {fmt::format("takes the square root of {}", x[0]),
                "a square root exists only of 0 and more"};
    }
    if (name == "^" && x[0] < 0 && x[1] != std::round(x[1])) {
        return {fmt::format("raises {} to the power {}", x[0], x[1]),
                "a negative number has only powers of integers"};
    }
    return {fmt::format("exceeds the range of its numbers: '{}' has a result beyond 1.8e308", name),
            "scale it down"};
}

std::string_view kind_of(const FormulaValue& value) {
    return std::holds_alternative<bool>(value)          ? "a boolean"
           : std::holds_alternative<std::string>(value) ? "a string"
                                                        : "a number";
}

class Evaluation {
 public:
    /// `finite`: Misfit where a result is not.
    Evaluation(const Expression::Lookup& lookup, bool finite) : lookup_(lookup), finite_(finite) {}

    /// Never an integer: those are doubles here.
    FormulaValue value(const Node& node) const {
        if (node.kind == Node::Kind::Constant) {
            return node.value;
        }
        if (node.kind == Node::Kind::Name) {
            return value_of(node.name);
        }
        const auto argument = [&](std::size_t index) -> const Node& {
            return node.arguments[index];
        };
        if (node.name == "?") {
            return value(argument(truth(node, 0) ? 1 : 2));
        }
        if (node.name == "!") {
            return !truth(node, 0);
        }
        if (node.name == "&&") {
            return truth(node, 0) && truth(node, 1);
        }
        if (node.name == "||") {
            return truth(node, 0) || truth(node, 1);
        }
        if (node.name == "==" || node.name == "!=") {
            const FormulaValue first = value(argument(0));
            const FormulaValue second = value(argument(1));
            if (first.index() != second.index()) {
                throw Misfit{fmt::format("compares {} with {}", kind_of(first), kind_of(second)),
                             "compare values of one kind"};
            }
            return (first == second) == (node.name == "==");
        }
        std::vector<double> numbers;
        for (std::size_t index = 0; index < node.arguments.size(); ++index) {
            numbers.push_back(number(node, index));
        }
        if (node.name == "<") {
            return numbers[0] < numbers[1];
        }
        if (node.name == "<=") {
            return numbers[0] <= numbers[1];
        }
        if (node.name == ">") {
            return numbers[0] > numbers[1];
        }
        if (node.name == ">=") {
            return numbers[0] >= numbers[1];
        }
        const double result = find_function(node.name)->value(numbers);
        if (finite_ && !std::isfinite(result)) {
            throw not_finite(node.name, numbers);
        }
        return result;
    }

 private:
    FormulaValue value_of(const std::string& name) const {
        const std::optional<FormulaValue> given = lookup_(name);
        if (!given) {
            throw Misfit{fmt::format("uses '{}', which has no value", name),
                         "name an axis, a number of the result, or a field of the configuration"};
        }
        const auto* whole = std::get_if<std::int64_t>(&*given);
        return whole == nullptr ? *given : FormulaValue(static_cast<double>(*whole));
    }

    template <typename T>
    T operand(const Node& node, std::size_t index, std::string_view wanted) const {
        const FormulaValue given = value(node.arguments[index]);
        if (!std::holds_alternative<T>(given)) {
            throw Misfit{
                fmt::format("cannot be computed: '{}' takes {}, not {}",
                            node.name.substr(0, node.name.ends_with('x') ? 1 : std::string::npos),
                            wanted, kind_of(given)),
                "compare numbers with numbers, strings with strings (== and != only)"};
        }
        return std::get<T>(given);
    }
    bool truth(const Node& node, std::size_t index) const {
        return operand<bool>(node, index, "booleans");
    }
    double number(const Node& node, std::size_t index) const {
        return operand<double>(node, index, "numbers");
    }

    const Expression::Lookup& lookup_;
    bool finite_;
};

/// Collects every name; Misfit if a function is unknown or has too few or too many arguments.
void collect_names(const Node& node, std::set<std::string>& names) {
    if (node.kind == Node::Kind::Name) {
        names.insert(node.name);
    }
    const bool is_function = node.kind == Node::Kind::Call && std::isalpha(node.name[0]) != 0;
    if (is_function) {
        const Function* function = find_function(node.name);
        if (function == nullptr) {
            throw Misfit{
                fmt::format("calls '{}', which is not a function", node.name),
                "min, max, abs, sqrt, exp, ln, log2, log10, floor, ceil and round are known"};
        }
        const std::size_t given = node.arguments.size();
        if (given < function->least || given > function->most) {
            throw Misfit{fmt::format("gives '{}' {} values", node.name, given),
                         fmt::format("give it {}", function->most == 1 ? "one" : "one to 100")};
        }
    }
    for (const Node& argument : node.arguments) {
        collect_names(argument, names);
    }
}

}  // namespace

FormulaValue formula_value(const std::string& text) {
    if (text == "true" || text == "false") {
        return text == "true";
    }
    for (const UnitKind kind : {UnitKind::Plain, UnitKind::ByteCount, UnitKind::Frequency,
                                UnitKind::Bandwidth, UnitKind::CycleCount}) {
        const auto parsed = parse_quantity(text, kind);
        const auto* number = std::get_if<std::uint64_t>(&parsed);
        if (number != nullptr && *number > std::uint64_t{1} << 53U) {
            return static_cast<double>(*number);
        }
        if (number != nullptr) {
            return static_cast<std::int64_t>(*number);
        }
    }
    return text;
}

Expression::Expression(std::string text, Place place, const std::vector<std::string>& known)
    : text_(std::move(text)), place_(std::move(place)), root_(std::make_unique<Node>()) {
    if (text_.empty() || text_.size() > longest_formula || depth_of(text_) > deepest_formula) {
        refuse("is not a formula",
               fmt::format(
                   "write 1 to {} characters, with at most {} nested parentheses and conditionals",
                   longest_formula, deepest_formula));
    }
    const bool is_plain = std::ranges::all_of(text_, [](char letter) {
        return (letter >= ' ' && letter <= '~') || letter == '\t' || letter == '\n';
    });
    if (!is_plain) {
        refuse("is not a formula", "write it in ASCII, without control characters");
    }
    const std::string remedy =
        "operators are + - * / % ^ < <= > >= == != && || ! ?:, strings are quoted with \"\"";
    auto at = text_.cbegin();
    try {
        const bool fits = x3::phrase_parse(at, text_.cend(), choice, x3::ascii::space, *root_);
        if (!fits || at != text_.cend()) {
            refuse(fmt::format("is not a formula: unexpected {}", rest_of(text_, at)), remedy);
        }
    } catch (const x3::expectation_failure<std::string::const_iterator>& failure) {
        // all rules of the grammar are values; expected letters are shown as they are
        constexpr std::size_t longest_letter = 3;
        refuse(fmt::format("is not a formula: expected {}, not {}",
                           failure.which().size() <= longest_letter ? failure.which() : "a value",
                           rest_of(text_, failure.where())),
               remedy);
    }
    try {
        std::set<std::string> names;
        collect_names(*root_, names);
        names_.assign(names.begin(), names.end());
    } catch (const Misfit& misfit) {
        refuse(misfit.sentence, misfit.remedy);
    }
    if (!known.empty()) {
        expect_names(known, "is not an axis of this space",
                     fmt::format("known: {}", fmt::join(known, ", ")));
    }
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

void Expression::refuse(const std::string& sentence, const std::string& remedy) const {
    throw ConfigError(place_, fmt::format("'{}' {}", text_, sentence), remedy);
}

void Expression::expect_names(const std::vector<std::string>& known, const std::string& what,
                              const std::string& remedy) const {
    for (const std::string& name : names_) {
        if (std::ranges::find(known, name) == known.end()) {
            const auto nearest = nearest_name(name, known);
            refuse(fmt::format("uses '{}', which {}", name, what),
                   nearest ? fmt::format("did you mean '{}'?", *nearest) : remedy);
        }
    }
}

bool Expression::holds(const Lookup& lookup) const {
    try {
        const FormulaValue result = Evaluation(lookup, true).value(*root_);
        if (const bool* truth = std::get_if<bool>(&result)) {
            return *truth;
        }
    } catch (const Misfit& misfit) {
        refuse(misfit.sentence, misfit.remedy);
    }
    refuse("is not a boolean", "compare it with something: >, <=, ==");
}

double Expression::number_of(const Lookup& lookup, bool finite) const {
    std::string_view kind;
    try {
        const FormulaValue result = Evaluation(lookup, finite).value(*root_);
        if (const double* number = std::get_if<double>(&result)) {
            return *number;
        }
        kind = kind_of(result);
    } catch (const Misfit& misfit) {
        refuse(misfit.sentence, misfit.remedy);
    }
    refuse(fmt::format("is {}, not a number", kind), "use numbers, such as cycles");
}

}  // namespace npuscope
