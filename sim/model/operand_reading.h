// SPDX-License-Identifier: Apache-2.0
// What several families of operators need to read their operands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/error.h"
#include "sim/model/operators.h"

namespace npuscope::host {

/// The user's model is wrong unless `good`.
void require(bool good, const std::string& sentence, const std::string& remedy);

/// `axis` of ONNX (negative counts from the end) as an index below `rank`.
std::size_t axis_index(std::int64_t axis, std::size_t rank);
/// Steps from element to element in every direction.
std::vector<std::size_t> steps_of(const Sizes& sizes);
/// A constant operand's numbers as integers.
std::vector<std::int64_t> integers_of(const GraphValue& value);
/// One number of an operand with one element.
double scalar_of(const GraphValue& value, const char* what);

/// Counts through `sizes` as an odometer, last size fastest.
class Odometer {
 public:
    explicit Odometer(const Sizes& sizes) : sizes_(sizes), at_(sizes.size(), 0) {}
    const std::vector<std::int64_t>& at() const { return at_; }
    void next() {
        for (std::size_t i = at_.size(); i-- > 0;) {
            if (++at_[i] < sizes_[i]) {
                return;
            }
            at_[i] = 0;
        }
    }

 private:
    const Sizes& sizes_;
    std::vector<std::int64_t> at_;
};

/// Result of the given type from a number for every element, called in order.
template <class Number>
GraphValue fill(const TensorType& type, Number number) {
    GraphValue value = zeros(type);
    for (std::size_t i = 0; i < value.numbers.size(); ++i) {
        value.numbers[i] = number(i);
    }
    return value;
}

}  // namespace npuscope::host
