// SPDX-License-Identifier: Apache-2.0
// Operators on matrices: Einsum, triangles, identities, determinants.
// source: ONNX operator definitions, opset 9 to 24
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

/// The subscripts of an Einsum: a letter per dimension. Dimensions of an ellipsis have letters
/// beyond those of text, the last dimension the lowest one.
class Subscripts {
 public:
    using Letters = std::vector<int>;

    explicit Subscripts(const Operands& operands) {
        std::string text = operands.node.text("equation", "");
        std::erase_if(text, [](unsigned char x) { return std::isspace(x) != 0; });
        const std::size_t arrow = text.find("->");
        std::string terms = text.substr(0, arrow);
        for (std::size_t i = 0; i < operands.values.size(); ++i) {
            const std::size_t comma = terms.find(',');
            require(
                (comma == std::string::npos) == (i + 1 == operands.values.size()),
                fmt::format("equation '{}' does not have {} terms", text, operands.values.size()),
                "give one term per input, separated by commas");
            read_term(terms.substr(0, comma), operands.sizes(i));
            terms = comma == std::string::npos ? std::string() : terms.substr(comma + 1);
        }
        if (arrow == std::string::npos) {
            take_single_letters();
        } else {
            out_ = letters_of(text.substr(arrow + 2), broadcast_);
            check_result();
        }
    }

    /// Sizes of the result, and of what is summed.
    Sizes result() const { return sizes_of(out_); }
    Sizes summed() const { return sizes_of(summed_letters()); }
    /// Strides of an operand along those.
    std::vector<std::size_t> result_steps(std::size_t term, const Sizes& own) const {
        return steps_along(out_, term, own);
    }
    std::vector<std::size_t> summed_steps(std::size_t term, const Sizes& own) const {
        return steps_along(summed_letters(), term, own);
    }

 private:
    static constexpr int ellipsis = 256;  ///< letter of its last dimension

    static Letters letters_of(const std::string& term, std::size_t dimensions) {
        Letters letters;
        bool open = false;
        for (std::size_t i = 0; i < term.size(); ++i) {
            if (term.compare(i, 3, "...") == 0 && !open) {
                for (std::size_t k = dimensions; k-- > 0;) {
                    letters.push_back(ellipsis + static_cast<int>(k));
                }
                open = true;
                i += 2;
                continue;
            }
            require(std::isalpha(static_cast<unsigned char>(term[i])) != 0,
                    fmt::format("'{}' is not a term of an equation", term),
                    "use letters, and at most one ellipsis per term");
            letters.push_back(static_cast<unsigned char>(term[i]));
        }
        return letters;
    }

    void read_term(const std::string& term, const Sizes& own) {
        const bool open = term.find("...") != std::string::npos;
        const std::size_t named = term.size() - (open ? 3 : 0);
        require(open ? named <= own.size() : named == own.size(),
                fmt::format("term '{}' does not fit an input of {}", term, sizes_text(own)),
                "give one letter per dimension");
        const std::size_t dimensions = open ? own.size() - named : 0;
        broadcast_ = std::max(broadcast_, dimensions);
        const Letters letters = letters_of(term, dimensions);
        for (std::size_t i = 0; i < letters.size(); ++i) {
            std::int64_t& size = sizes_.try_emplace(letters[i], own[i]).first->second;
            require(size == own[i] || size == 1 || own[i] == 1,
                    fmt::format("a dimension of term '{}' is {} here and {} elsewhere", term,
                                own[i], size),
                    "dimensions of the same letter must have the same size");
            size = size == 1 ? own[i] : size;
        }
        terms_.push_back(letters);
    }

    /// Without an arrow: those that occur once, in alphabetical order, after the ellipsis.
    void take_single_letters() {
        std::map<int, int> counts;
        for (const Letters& term : terms_) {
            for (const int letter : term) {
                ++counts[letter];
            }
        }
        for (std::size_t k = broadcast_; k-- > 0;) {
            out_.push_back(ellipsis + static_cast<int>(k));
        }
        for (const auto& [letter, count] : counts) {
            if (count == 1 && letter < ellipsis) {
                out_.push_back(letter);
            }
        }
    }

    void check_result() const {
        for (const int letter : out_) {
            require(sizes_.contains(letter), "its result has a dimension that no input has",
                    "use letters of the inputs");
            require(std::ranges::count(out_, letter) == 1,
                    "its result has the same dimension twice", "use every letter once");
        }
    }

    Letters summed_letters() const {
        Letters letters;
        for (const auto& [letter, size] : sizes_) {
            if (std::ranges::find(out_, letter) == out_.end()) {
                letters.push_back(letter);
            }
        }
        return letters;
    }
    Sizes sizes_of(const Letters& letters) const {
        Sizes sizes;
        for (const int letter : letters) {
            sizes.push_back(sizes_.at(letter));
        }
        return sizes;
    }
    /// 0 where the operand does not have the dimension, or repeats along it.
    std::vector<std::size_t> steps_along(const Letters& letters, std::size_t term,
                                         const Sizes& own) const {
        const std::vector<std::size_t> steps = steps_of(own);
        std::vector<std::size_t> along(letters.size(), 0);
        for (std::size_t i = 0; i < letters.size(); ++i) {
            for (std::size_t k = 0; k < own.size(); ++k) {
                along[i] += terms_[term][k] == letters[i] && own[k] != 1 ? steps[k] : 0;
            }
        }
        return along;
    }

    std::vector<Letters> terms_;
    Letters out_;
    std::map<int, std::int64_t> sizes_;
    std::size_t broadcast_ = 0;  ///< dimensions of the longest ellipsis
};

/// Multiplications of each sum's terms; one operand is only added up.
std::uint64_t products_of_each(const Operands& operands) {
    return std::max<std::uint64_t>(operands.values.size(), 2) - 1;
}

Types einsum_types(const Operands& operands) {
    const Subscripts subscripts(operands);
    std::vector<std::uint64_t> factors{products_of_each(operands)};
    for (const Sizes& sizes : {subscripts.result(), subscripts.summed()}) {
        for (const std::int64_t size : sizes) {
            factors.push_back(unsigned_of(size));
        }
    }
    require_work(factors);
    return {{operands.element(0), subscripts.result()}};
}

/// Counts through `sizes`, last dimension fastest, with the position that is reached in each
/// operand. After the last one it begins again.
class Positions {
 public:
    Positions(Sizes sizes, std::vector<std::vector<std::size_t>> steps)
        : sizes_(std::move(sizes)),
          steps_(std::move(steps)),
          at_(sizes_.size(), 0),
          reached_(steps_.size(), 0) {}

    std::size_t of(std::size_t operand) const { return reached_[operand]; }
    void next() {
        for (std::size_t axis = at_.size(); axis-- > 0;) {
            const bool ends = ++at_[axis] == sizes_[axis];
            for (std::size_t i = 0; i < steps_.size(); ++i) {
                reached_[i] += steps_[i][axis];
                reached_[i] -= ends ? steps_[i][axis] * unsigned_of(sizes_[axis]) : 0;
            }
            if (!ends) {
                return;
            }
            at_[axis] = 0;
        }
    }

 private:
    Sizes sizes_;
    std::vector<std::vector<std::size_t>> steps_;  ///< of each operand along each axis
    Sizes at_;
    std::vector<std::size_t> reached_;
};

std::uint64_t product_of(const Sizes& sizes) {
    std::uint64_t product = 1;
    for (const std::int64_t size : sizes) {
        product *= unsigned_of(size);
    }
    return product;
}

Values einsum(const Operands& operands) {
    const Subscripts subscripts(operands);
    GraphValue result = zeros(einsum_types(operands).front());
    std::vector<std::vector<std::size_t>> along_result;
    std::vector<std::vector<std::size_t>> along_sums;
    for (std::size_t term = 0; term < operands.values.size(); ++term) {
        along_result.push_back(subscripts.result_steps(term, operands.sizes(term)));
        along_sums.push_back(subscripts.summed_steps(term, operands.sizes(term)));
    }
    Positions base(subscripts.result(), along_result);
    Positions offset(subscripts.summed(), along_sums);
    const std::uint64_t products = product_of(subscripts.summed());
    for (double& sum : result.numbers) {
        for (std::uint64_t k = 0; k < products; ++k) {
            double product = 1;
            for (std::size_t term = 0; term < operands.values.size(); ++term) {
                product *= operands.at(term).numbers[base.of(term) + offset.of(term)];
            }
            sum += product;
            offset.next();
        }
        base.next();
    }
    return {std::move(result)};
}

Types triangle_types(const Operands& operands) {
    require(operands.sizes(0).size() >= 2, "its input is not a matrix",
            "it must have at least two dimensions");
    return {operands.at(0).type};
}
/// Elements on one side of a diagonal; zeros on the other.
Values triangle(const Operands& operands) {
    triangle_types(operands);
    const GraphValue& input = operands.at(0);
    const bool upper = operands.node.integer("upper", 1) != 0;
    const std::int64_t diagonal =
        operands.has(1) ? to_integer(scalar_of(operands.at(1), "diagonal")) : 0;
    const Sizes& sizes = input.type.sizes;
    const std::int64_t columns = sizes.back();
    const std::int64_t rows = sizes[sizes.size() - 2];
    return {fill(input.type, [&](std::size_t i) {
        const auto at = static_cast<std::int64_t>(i);
        const std::int64_t distance = at % columns - at / columns % rows;
        const bool kept = upper ? distance >= diagonal : distance <= diagonal;
        return kept ? input.numbers[i] : 0.0;
    })};
}

Values identity_matrix(const Operands& operands) {
    const Sizes& sizes = operands.sizes(0);
    require(sizes.size() == 2, fmt::format("its input is {}", sizes_text(sizes)),
            "it must be a matrix");
    const std::int64_t diagonal = operands.node.integer("k", 0);
    return {
        fill({element_of(operands.node, "dtype", operands.element(0)), sizes}, [&](std::size_t i) {
            const auto at = static_cast<std::int64_t>(i);
            return at % sizes[1] - at / sizes[1] == diagonal ? 1.0 : 0.0;
        })};
}

Types determinant_types(const Operands& operands) {
    const Sizes& sizes = operands.sizes(0);
    require(sizes.size() >= 2 && sizes.back() == sizes[sizes.size() - 2],
            fmt::format("its input is {}", sizes_text(sizes)),
            "its last two dimensions must have the same size");
    return {{operands.element(0), {sizes.begin(), sizes.end() - 2}}};
}

/// By elimination, with the largest element of each column as its pivot.
double determinant_of(std::vector<double> matrix, std::size_t size) {
    double product = 1;
    for (std::size_t column = 0; column < size; ++column) {
        std::size_t pivot = column;
        for (std::size_t row = column + 1; row < size; ++row) {
            const double number = std::abs(matrix[row * size + column]);
            pivot = number > std::abs(matrix[pivot * size + column]) ? row : pivot;
        }
        const double divisor = matrix[pivot * size + column];
        if (divisor == 0) {
            return 0;
        }
        product *= pivot == column ? divisor : -divisor;
        for (std::size_t k = column; k < size && pivot != column; ++k) {
            std::swap(matrix[pivot * size + k], matrix[column * size + k]);
        }
        for (std::size_t row = column + 1; row < size; ++row) {
            const double factor = matrix[row * size + column] / divisor;
            for (std::size_t k = column; k < size; ++k) {
                matrix[row * size + k] -= factor * matrix[column * size + k];
            }
        }
    }
    return product;
}
Values determinant(const Operands& operands) {
    const std::size_t size = unsigned_of(operands.sizes(0).back());
    const auto& numbers = operands.at(0).numbers;
    require_work({numbers.size(), size});
    return {fill(determinant_types(operands).front(), [&](std::size_t i) {
        const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(i * size * size);
        return determinant_of({begin, begin + static_cast<std::ptrdiff_t>(size * size)}, size);
    })};
}

}  // namespace

std::uint64_t einsum_macs(const Operands& operands) {
    const Subscripts subscripts(operands);
    return product_of(subscripts.result()) * product_of(subscripts.summed()) *
           (operands.values.size() - 1);
}

std::span<const OperatorRow> matrix_operators() {
    static constexpr std::array rows{
        row("Einsum", {.least = 1}, einsum) | same_types | inferring(einsum_types) |
            attributes("equation") | macs(MacRule::Subscripts),
        row("Trilu", {1, 2}, triangle) | inferring(triangle_types) | attributes("upper") |
            ranging(range_of_first_or_zero),
        row("EyeLike", {1, 1}, identity_matrix) | attributes("dtype k") | of_sizes,
        row("Det", {1, 1}, determinant) | float_types | inferring(determinant_types)};
    return rows;
}

}  // namespace npuscope::host
