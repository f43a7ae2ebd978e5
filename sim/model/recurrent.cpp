// SPDX-License-Identifier: Apache-2.0
// LSTM and GRU with their usual activations, forward, reverse or both. Not here: peepholes, other
// activations, per-sequence lengths, batch-first layout.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

constexpr std::size_t lstm_gates = 4;  // input, output, forget, cell
constexpr std::size_t gru_gates = 3;   // update, reset, hidden

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

/// Sizes of a recurrent operator, from its operands.
struct RecurrentSizes {
    std::size_t steps = 0;
    std::size_t batch = 0;
    std::size_t inputs = 0;
    std::size_t hidden = 0;
    std::size_t directions = 1;
};

// operands: X, W, R, B, lengths, initial H, initial C, P
RecurrentSizes sizes_of(const Operands& operands, std::size_t gates) {
    const Sizes& x = operands.sizes(0);
    const Sizes& r = operands.sizes(2);
    require(x.size() == 3 && r.size() == 3, "its input or its weights do not have three dimensions",
            "X must be steps, batch, inputs; R must be directions, gates, hidden");
    const std::string direction = operands.node.text("direction", "forward");
    require(direction == "forward" || direction == "reverse" || direction == "bidirectional",
            fmt::format("direction '{}' is not known", direction),
            "forward, reverse or bidirectional");
    require(operands.node.integer("layout", 0) == 0 && !operands.has(4) && !operands.has(7),
            "it uses sequence lengths, peepholes or batch-first layout", "leave them out");
    const RecurrentSizes sizes{unsigned_of(x[0]), unsigned_of(x[1]), unsigned_of(x[2]),
                               unsigned_of(r[2]), direction == "bidirectional" ? 2U : 1U};
    const auto size = [](std::size_t number) { return static_cast<std::int64_t>(number); };
    const std::int64_t all = size(gates * sizes.hidden);
    const Sizes state{size(sizes.directions), x[1], r[2]};
    require(operands.sizes(1) == Sizes{size(sizes.directions), all, x[2]} &&
                r == Sizes{size(sizes.directions), all, r[2]} &&
                (!operands.has(3) || operands.sizes(3) == Sizes{size(sizes.directions), 2 * all}) &&
                (!operands.has(5) || operands.sizes(5) == state) &&
                (!operands.has(6) || operands.sizes(6) == state),
            "its weights, biases or states do not fit each other",
            fmt::format("it must have {} gates of size {}", gates, sizes.hidden));
    return sizes;
}

Types types_of(const Operands& operands, std::size_t gates, std::size_t outputs) {
    const RecurrentSizes sizes = sizes_of(operands, gates);
    const auto size = [](std::size_t number) { return static_cast<std::int64_t>(number); };
    const Sizes state{size(sizes.directions), size(sizes.batch), size(sizes.hidden)};
    Types types{
        {operands.element(0),
         {size(sizes.steps), size(sizes.directions), size(sizes.batch), size(sizes.hidden)}}};
    types.resize(outputs, {operands.element(0), state});
    return types;
}

/// One direction of one sequence of the batch.
class Cell {
 public:
    Cell(const Operands& operands, const RecurrentSizes& sizes, std::size_t gates,
         std::size_t direction)
        : operands_(operands), sizes_(sizes), gates_(gates), direction_(direction) {}

    /// W x plus its bias for every gate; R h accordingly.
    std::vector<double> of_input(std::size_t step, std::size_t sequence) const {
        const double* x =
            operands_.at(0).numbers.data() + (step * sizes_.batch + sequence) * sizes_.inputs;
        return products(1, {x, sizes_.inputs}, 0);
    }
    std::vector<double> of_state(std::span<const double> state) const {
        return products(2, state, 1);
    }
    std::vector<double> initial(std::size_t operand, std::size_t sequence) const {
        std::vector<double> state(sizes_.hidden, 0.0);
        if (operands_.has(operand)) {
            const double* from = operands_.at(operand).numbers.data() +
                                 (direction_ * sizes_.batch + sequence) * sizes_.hidden;
            std::copy_n(from, sizes_.hidden, state.begin());
        }
        return state;
    }

 private:
    std::vector<double> products(std::size_t weights, std::span<const double> vector,
                                 std::size_t half) const {
        const std::size_t rows = gates_ * sizes_.hidden;
        const double* row =
            operands_.at(weights).numbers.data() + direction_ * rows * vector.size();
        std::vector<double> sums(rows, 0.0);
        for (std::size_t i = 0; i < rows; ++i, row += vector.size()) {
            sums[i] = operands_.has(3) ? operands_.at(3).numbers[(2 * direction_ + half) * rows + i]
                                       : 0.0;
            for (std::size_t k = 0; k < vector.size(); ++k) {
                sums[i] += row[k] * vector[k];
            }
        }
        return sums;
    }

    const Operands& operands_;
    const RecurrentSizes& sizes_;
    std::size_t gates_;
    std::size_t direction_;
};

/// Advances a state and a cell's memory by one step.
void step_lstm(const Cell& cell, const std::vector<double>& input, std::vector<double>& state,
               std::vector<double>& memory) {
    const std::vector<double> own = cell.of_state(state);
    const std::size_t hidden = state.size();
    for (std::size_t i = 0; i < hidden; ++i) {
        const auto gate = [&](std::size_t number) {
            return input[number * hidden + i] + own[number * hidden + i];
        };
        memory[i] = sigmoid_of(gate(2)) * memory[i] + sigmoid_of(gate(0)) * std::tanh(gate(3));
        state[i] = sigmoid_of(gate(1)) * std::tanh(memory[i]);
    }
}

void step_gru(const Cell& cell, const std::vector<double>& input, std::vector<double>& state,
              bool after_product) {
    const std::size_t hidden = state.size();
    const std::vector<double> own = cell.of_state(state);
    std::vector<double> reset(hidden);
    std::vector<double> cut = state;
    for (std::size_t i = 0; i < hidden; ++i) {
        reset[i] = sigmoid_of(input[hidden + i] + own[hidden + i]);
        cut[i] *= reset[i];
    }
    const std::vector<double> of_cut = after_product ? own : cell.of_state(cut);
    for (std::size_t i = 0; i < hidden; ++i) {
        const double update = sigmoid_of(input[i] + own[i]);
        const double more = of_cut[2 * hidden + i] * (after_product ? reset[i] : 1.0);
        state[i] = (1 - update) * std::tanh(input[2 * hidden + i] + more) + update * state[i];
    }
}

/// Calls `step(cell, input, state, memory)` for all steps, sequences and directions.
template <class Step>
Values run_cells(const Operands& operands, std::size_t gates, std::size_t outputs, Step step) {
    const RecurrentSizes sizes = sizes_of(operands, gates);
    Values results;
    for (const TensorType& type : types_of(operands, gates, outputs)) {
        results.push_back(zeros(type));
    }
    const bool turned = operands.node.text("direction", "forward") == "reverse";
    for (std::size_t d = 0; d < sizes.directions; ++d) {
        const Cell cell(operands, sizes, gates, d);
        for (std::size_t b = 0; b < sizes.batch; ++b) {
            std::vector<double> state = cell.initial(5, b);
            std::vector<double> memory = cell.initial(6, b);
            for (std::size_t s = 0; s < sizes.steps; ++s) {
                const std::size_t at = turned || d == 1 ? sizes.steps - 1 - s : s;
                step(cell, cell.of_input(at, b), state, memory);
                const std::size_t place = (at * sizes.directions + d) * sizes.batch + b;
                std::copy(
                    state.begin(), state.end(),
                    results[0].numbers.begin() + static_cast<std::ptrdiff_t>(place * sizes.hidden));
            }
            const auto last = static_cast<std::ptrdiff_t>((d * sizes.batch + b) * sizes.hidden);
            std::copy(state.begin(), state.end(), results[1].numbers.begin() + last);
            if (outputs > 2) {
                std::copy(memory.begin(), memory.end(), results[2].numbers.begin() + last);
            }
        }
    }
    return results;
}

Values lstm(const Operands& operands) {
    require(operands.node.integer("input_forget", 0) == 0, "its forget gate is its input gate",
            "leave attribute 'input_forget' out");
    return run_cells(operands, lstm_gates, 3, step_lstm);
}
Values gru(const Operands& operands) {
    const bool after = operands.node.integer("linear_before_reset", 0) != 0;
    return run_cells(
        operands, gru_gates, 2,
        [after](const Cell& cell, const std::vector<double>& input, std::vector<double>& state,
                std::vector<double>& /*memory*/) { step_gru(cell, input, state, after); });
}
Types lstm_types(const Operands& operands) { return types_of(operands, lstm_gates, 3); }
Types gru_types(const Operands& operands) { return types_of(operands, gru_gates, 2); }

constexpr std::array rows{
    OperatorRow{.op = "LSTM",
                .inputs = {3, 8},
                .evaluate = lstm,
                .infer = lstm_types,
                .attributes = "direction hidden_size input_forget layout",
                .macs = MacRule::StepsByWeights},
    OperatorRow{.op = "GRU",
                .inputs = {3, 6},
                .evaluate = gru,
                .infer = gru_types,
                .attributes = "direction hidden_size layout linear_before_reset",
                .macs = MacRule::StepsByWeights}};

}  // namespace

std::span<const OperatorRow> recurrent_operators() { return rows; }

}  // namespace npuscope::host
