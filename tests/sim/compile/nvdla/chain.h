// SPDX-License-Identifier: Apache-2.0
// Models of layers one after the other, in integer sequences.
#pragma once

#include <string>
#include <vector>

#include "tests/sim/compile/tinpu/layer_fixture.h"

namespace npuscope::test {

/// Steps after the last node, each named after the layer.
class Chain {
 public:
    ModelBuilder builder;

    Chain& input(const std::vector<std::int64_t>& sizes) {
        builder.input("x", sizes);
        last = "x";
        return *this;
    }
    Chain& conv(const std::string& name, const std::vector<std::int64_t>& sizes, int spread,
                std::int64_t padding = 0, std::int64_t groups = 1) {
        std::int64_t count = 1;
        for (const std::int64_t size : sizes) {
            count *= size;
        }
        builder.floats(
            name + "_w", sizes,
            test::some_numbers(static_cast<std::size_t>(count), -spread, spread, ++seed_));
        step("Conv", name, {last, name + "_w"});
        builder.ints("pads", {padding, padding, padding, padding}).integer("group", groups);
        return *this;
    }
    /// Constants of one number, or one per channel.
    Chain& scaled(const std::string& name, const std::vector<float>& bias,
                  const std::vector<float>& scale, const std::vector<float>& divisor) {
        operand("Add", name + "_bias", bias);
        operand("Mul", name + "_scale", scale);
        operand("Div", name + "_shift", divisor);
        return step("Floor", name + "_floor", {last});
    }
    Chain& clip(const std::string& name, float low, float high) {
        builder.floats(name + "_low", {}, {low}).floats(name + "_high", {}, {high});
        return step("Clip", name, {last, name + "_low", name + "_high"});
    }
    Chain& step(const std::string& op, const std::string& name,
                const std::vector<std::string>& inputs) {
        builder.node(op, name, inputs);
        last = builder.last();
        return *this;
    }
    Graph graph() {
        builder.output(last);
        return test::graph_of(builder);
    }

    std::string last;

 private:
    void operand(const std::string& op, const std::string& name,
                 const std::vector<float>& numbers) {
        const auto count = static_cast<std::int64_t>(numbers.size());
        builder.floats(name + "_c", {1, count, 1, 1}, numbers);
        step(op, name, {last, name + "_c"});
    }

    unsigned seed_ = 1;
};

}  // namespace npuscope::test
