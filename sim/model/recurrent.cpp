// SPDX-License-Identifier: Apache-2.0
// RNN, LSTM and GRU: forward, reverse or both, with all of ONNX's activations, sequence lengths,
// peepholes, and steps or batch first.
// source: ONNX operator definitions, opset 7 to 24
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <span>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

std::int64_t signed_of(std::size_t number) { return static_cast<std::int64_t>(number); }

/// A function of a gate, with its parameters.
struct Activation {
    double (*function)(double x, double alpha, double beta);
    double alpha = 0;
    double beta = 0;

    double operator()(double x) const { return function(x, alpha, beta); }
};

/// Parameters are those that are used if a node gives none.
struct ActivationRow {
    std::string_view name;
    Activation activation;
    std::size_t parameters = 0;  ///< alpha, and beta
};

constexpr std::array activation_rows{
    ActivationRow{"Sigmoid", {[](double x, double, double) { return 1 / (1 + std::exp(-x)); }}},
    ActivationRow{"Tanh", {[](double x, double, double) { return std::tanh(x); }}},
    ActivationRow{"Relu", {[](double x, double, double) { return std::max(x, 0.0); }}},
    ActivationRow{"Softsign", {[](double x, double, double) { return x / (1 + std::abs(x)); }}},
    ActivationRow{"Softplus", {[](double x, double, double) {
                      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
                  }}},
    ActivationRow{
        "LeakyRelu", {[](double x, double a, double) { return x < 0 ? a * x : x; }, 0.01}, 1},
    ActivationRow{
        "ThresholdedRelu", {[](double x, double a, double) { return x > a ? x : 0.0; }, 1.0}, 1},
    ActivationRow{
        "Elu", {[](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; }, 1.0}, 1},
    ActivationRow{"Affine", {[](double x, double a, double b) { return a * x + b; }, 1.0}, 2},
    ActivationRow{"ScaledTanh",
                  {[](double x, double a, double b) { return a * std::tanh(b * x); }, 1.0, 1.0},
                  2},
    ActivationRow{
        "HardSigmoid",
        {[](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); }, 0.2, 0.5},
        2}};

const ActivationRow& activation_row(const std::string& name) {
    const auto found = std::ranges::find_if(activation_rows, [&](const ActivationRow& row) {
        return std::ranges::equal(row.name, name, [](unsigned char a, unsigned char b) {
            return std::tolower(a) == std::tolower(b);
        });
    });
    require(found != activation_rows.end(), fmt::format("activation '{}' is not known", name),
            "use one that the operator's definition lists");
    return *found;
}

/// What distinguishes the three operators.
struct Cells {
    std::size_t gates;
    std::size_t states;  ///< results beside all steps: the last state, and memory
    std::array<std::string_view, 3> activations;
    std::size_t functions;  ///< of a direction
};
constexpr Cells rnn_cells{1, 1, {"Tanh", "", ""}, 1};
constexpr Cells gru_cells{3, 1, {"Sigmoid", "Tanh", ""}, 2};
constexpr Cells lstm_cells{4, 2, {"Sigmoid", "Tanh", "Tanh"}, 3};

std::size_t directions_of(const GraphNode& node) {
    const std::string direction = node.text("direction", "forward");
    require(direction == "forward" || direction == "reverse" || direction == "bidirectional",
            fmt::format("direction '{}' is not known", direction),
            "forward, reverse or bidirectional");
    return direction == "bidirectional" ? 2 : 1;
}

/// The activations of all directions, in order.
std::vector<Activation> activations_of(const GraphNode& node, const Cells& cells) {
    const std::size_t count = directions_of(node) * cells.functions;
    std::vector<std::string> names = node.texts("activations");
    for (std::size_t i = 0; names.size() < count && !node.has("activations"); ++i) {
        names.emplace_back(cells.activations[i % cells.functions]);
    }
    require(names.size() == count,
            fmt::format("it has {} activations instead of {}", names.size(), count),
            "give those of every direction");
    const std::vector<double> alphas = node.numbers("activation_alpha");
    const std::vector<double> betas = node.numbers("activation_beta");
    std::size_t alpha = 0;
    std::size_t beta = 0;
    std::vector<Activation> activations;
    for (const std::string& name : names) {
        const ActivationRow& row = activation_row(name);
        Activation activation = row.activation;
        if (row.parameters >= 1 && alpha < alphas.size()) {
            activation.alpha = alphas[alpha++];
        }
        if (row.parameters >= 2 && beta < betas.size()) {
            activation.beta = betas[beta++];
        }
        activations.push_back(activation);
    }
    return activations;
}

/// Sizes of a recurrent operator, from its operands.
struct RecurrentSizes {
    std::size_t steps = 0;
    std::size_t batch = 0;
    std::size_t inputs = 0;
    std::size_t hidden = 0;
    std::size_t directions = 1;
    bool batch_first = false;

    /// Of a state: directions and batch, in the order of the layout.
    std::size_t state(std::size_t direction, std::size_t sequence) const {
        return (batch_first ? sequence * directions + direction : direction * batch + sequence) *
               hidden;
    }
    std::size_t input(std::size_t step, std::size_t sequence) const {
        return (batch_first ? sequence * steps + step : step * batch + sequence) * inputs;
    }
    std::size_t output(std::size_t step, std::size_t direction, std::size_t sequence) const {
        return (batch_first ? (sequence * steps + step) * directions + direction
                            : (step * directions + direction) * batch + sequence) *
               hidden;
    }
    Sizes state_sizes() const {
        return batch_first ? Sizes{signed_of(batch), signed_of(directions), signed_of(hidden)}
                           : Sizes{signed_of(directions), signed_of(batch), signed_of(hidden)};
    }
};

// operands: X, W, R, B, lengths, initial H, initial C, P
RecurrentSizes sizes_of(const Operands& operands, const Cells& cells) {
    const Sizes& x = operands.sizes(0);
    const Sizes& r = operands.sizes(2);
    require(x.size() == 3 && r.size() == 3, "its input or its weights do not have three dimensions",
            "X must be steps, batch, inputs; R must be directions, gates, hidden");
    const std::int64_t layout = operands.node.integer("layout", 0);
    require(layout == 0 || layout == 1, fmt::format("layout is {}", layout), "it must be 0 or 1");
    const bool batch_first = layout == 1;
    const RecurrentSizes sizes{.steps = unsigned_of(x[batch_first ? 1 : 0]),
                               .batch = unsigned_of(x[batch_first ? 0 : 1]),
                               .inputs = unsigned_of(x[2]),
                               .hidden = unsigned_of(r[2]),
                               .directions = directions_of(operands.node),
                               .batch_first = batch_first};
    const std::int64_t directions = signed_of(sizes.directions);
    const std::int64_t all = signed_of(cells.gates) * r[2];
    const auto fits = [&](std::size_t operand, const Sizes& wanted) {
        return !operands.has(operand) || operands.sizes(operand) == wanted;
    };
    require(fits(1, {directions, all, x[2]}) && fits(2, {directions, all, r[2]}) &&
                fits(3, {directions, 2 * all}) && fits(4, {signed_of(sizes.batch)}) &&
                fits(5, sizes.state_sizes()) && fits(6, sizes.state_sizes()) &&
                fits(7, {directions, 3 * r[2]}),
            "its weights, biases, lengths or states do not fit each other",
            fmt::format("it must have {} gates of size {}", cells.gates, sizes.hidden));
    const std::int64_t given = operands.node.integer("hidden_size", r[2]);
    require(given == r[2], fmt::format("hidden_size is {}, but its weights are of {}", given, r[2]),
            "leave the attribute out");
    return sizes;
}

Types types_of(const Operands& operands, const Cells& cells) {
    const RecurrentSizes sizes = sizes_of(operands, cells);
    activations_of(operands.node, cells);
    const Sizes all = sizes.batch_first
                          ? Sizes{signed_of(sizes.batch), signed_of(sizes.steps),
                                  signed_of(sizes.directions), signed_of(sizes.hidden)}
                          : Sizes{signed_of(sizes.steps), signed_of(sizes.directions),
                                  signed_of(sizes.batch), signed_of(sizes.hidden)};
    Types types{{operands.element(0), all}};
    types.resize(1 + cells.states, {operands.element(0), sizes.state_sizes()});
    return types;
}

/// One direction.
class Cell {
 public:
    Cell(const Operands& operands, const RecurrentSizes& sizes, const Cells& cells,
         std::size_t direction)
        : operands_(operands), sizes_(sizes), cells_(cells), direction_(direction) {
        const std::vector<Activation> all = activations_of(operands.node, cells);
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(direction * cells.functions);
        activations_.assign(first, first + static_cast<std::ptrdiff_t>(cells.functions));
        if (operands.node.has("clip")) {
            limit_ = operands.node.number("clip", 0);
            require(limit_ >= 0, fmt::format("its clip is {}", limit_), "it must be 0 or more");
            is_limited_ = true;
        }
    }

    /// W x plus its bias for every gate; R h accordingly.
    std::vector<double> of_input(std::size_t step, std::size_t sequence) const {
        const double* x = operands_.at(0).numbers.data() + sizes_.input(step, sequence);
        return products(1, {x, sizes_.inputs}, 0);
    }
    std::vector<double> of_state(std::span<const double> state) const {
        return products(2, state, 1);
    }
    std::vector<double> initial(std::size_t operand, std::size_t sequence) const {
        std::vector<double> state(sizes_.hidden, 0.0);
        if (operands_.has(operand)) {
            std::copy_n(operands_.at(operand).numbers.data() + sizes_.state(direction_, sequence),
                        sizes_.hidden, state.begin());
        }
        return state;
    }
    /// Activation `index` of a gate's sum.
    double gate(std::size_t index, double sum) const {
        return activations_[index](is_limited_ ? std::clamp(sum, -limit_, limit_) : sum);
    }
    double activated(std::size_t index, double number) const { return activations_[index](number); }
    /// A peephole: the weight of the memory in gate input, output or forget.
    double peephole(std::size_t gate, std::size_t i) const {
        return operands_.has(7)
                   ? operands_.at(7).numbers[(direction_ * 3 + gate) * sizes_.hidden + i]
                   : 0.0;
    }
    bool attribute(const char* name) const { return operands_.node.integer(name, 0) != 0; }

 private:
    std::vector<double> products(std::size_t weights, std::span<const double> vector,
                                 std::size_t half) const {
        const std::size_t rows = cells_.gates * sizes_.hidden;
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
    const Cells& cells_;
    std::size_t direction_;
    std::vector<Activation> activations_{};
    double limit_ = 0;
    bool is_limited_ = false;
};

using Numbers = std::vector<double>;
/// Advances a state and a cell's memory by one step.
using Step = void (*)(const Cell& cell, const Numbers& input, Numbers& state, Numbers& memory);

void step_rnn(const Cell& cell, const Numbers& input, Numbers& state, Numbers& /*memory*/) {
    const Numbers own = cell.of_state(state);
    for (std::size_t i = 0; i < state.size(); ++i) {
        state[i] = cell.gate(0, input[i] + own[i]);
    }
}

// gates: input, output, forget, cell
void step_lstm(const Cell& cell, const Numbers& input, Numbers& state, Numbers& memory) {
    const Numbers own = cell.of_state(state);
    const std::size_t hidden = state.size();
    const bool coupled = cell.attribute("input_forget");
    for (std::size_t i = 0; i < hidden; ++i) {
        const auto sum = [&](std::size_t number) {
            return input[number * hidden + i] + own[number * hidden + i];
        };
        const double taken = cell.gate(0, sum(0) + cell.peephole(0, i) * memory[i]);
        const double kept =
            coupled ? 1 - taken : cell.gate(0, sum(2) + cell.peephole(2, i) * memory[i]);
        memory[i] = kept * memory[i] + taken * cell.gate(1, sum(3));
        const double shown = cell.gate(0, sum(1) + cell.peephole(1, i) * memory[i]);
        state[i] = shown * cell.activated(2, memory[i]);
    }
}

// gates: update, reset, hidden
void step_gru(const Cell& cell, const Numbers& input, Numbers& state, Numbers& /*memory*/) {
    const std::size_t hidden = state.size();
    const bool after_product = cell.attribute("linear_before_reset");
    const Numbers own = cell.of_state(state);
    Numbers reset(hidden);
    Numbers cut = state;
    for (std::size_t i = 0; i < hidden; ++i) {
        reset[i] = cell.gate(0, input[hidden + i] + own[hidden + i]);
        cut[i] *= reset[i];
    }
    const Numbers of_cut = after_product ? own : cell.of_state(cut);
    for (std::size_t i = 0; i < hidden; ++i) {
        const double update = cell.gate(0, input[i] + own[i]);
        const double more = of_cut[2 * hidden + i] * (after_product ? reset[i] : 1.0);
        state[i] = (1 - update) * cell.gate(1, input[2 * hidden + i] + more) + update * state[i];
    }
}

/// Steps of a sequence of the batch.
std::size_t length_of(const Operands& operands, const RecurrentSizes& sizes, std::size_t sequence) {
    if (!operands.has(4)) {
        return sizes.steps;
    }
    const std::int64_t length = to_integer(operands.at(4).numbers[sequence]);
    require(length >= 0 && unsigned_of(length) <= sizes.steps,
            fmt::format("a sequence has {} steps of {}", length, sizes.steps),
            "correct its lengths");
    return unsigned_of(length);
}

/// All steps, sequences and directions; results beyond the end of a sequence are 0.
Values run_cells(const Operands& operands, const Cells& cells, Step step) {
    const RecurrentSizes sizes = sizes_of(operands, cells);
    Values results;
    for (const TensorType& type : types_of(operands, cells)) {
        results.push_back(zeros(type));
    }
    const auto store = [&](const Numbers& numbers, std::size_t result, std::size_t place) {
        std::ranges::copy(numbers,
                          results[result].numbers.begin() + static_cast<std::ptrdiff_t>(place));
    };
    require_work({sizes.directions, sizes.batch, sizes.steps, cells.gates * sizes.hidden + 1,
                  sizes.inputs + sizes.hidden + 1});
    const bool turned = operands.node.text("direction", "forward") == "reverse";
    for (std::size_t i = 0; i < sizes.directions * sizes.batch; ++i) {
        const std::size_t direction = i / sizes.batch;
        const std::size_t sequence = i % sizes.batch;
        const Cell cell(operands, sizes, cells, direction);
        Numbers state = cell.initial(5, sequence);
        Numbers memory = cell.initial(6, sequence);
        const std::size_t length = length_of(operands, sizes, sequence);
        for (std::size_t s = 0; s < length; ++s) {
            const std::size_t at = turned || direction == 1 ? length - 1 - s : s;
            step(cell, cell.of_input(at, sequence), state, memory);
            store(state, 0, sizes.output(at, direction, sequence));
        }
        store(state, 1, sizes.state(direction, sequence));
        if (cells.states > 1) {
            store(memory, 2, sizes.state(direction, sequence));
        }
    }
    return results;
}

Values rnn(const Operands& operands) { return run_cells(operands, rnn_cells, step_rnn); }
Values lstm(const Operands& operands) { return run_cells(operands, lstm_cells, step_lstm); }
Values gru(const Operands& operands) { return run_cells(operands, gru_cells, step_gru); }
Types rnn_types(const Operands& operands) { return types_of(operands, rnn_cells); }
Types lstm_types(const Operands& operands) { return types_of(operands, lstm_cells); }
Types gru_types(const Operands& operands) { return types_of(operands, gru_cells); }

}  // namespace

std::span<const OperatorRow> recurrent_operators() {
    static constexpr std::array rows{
        row("RNN", {3, 6}, rnn) | inferring(rnn_types) |
            attributes(
                "activation_alpha activation_beta activations clip direction hidden_size layout") |
            macs(MacRule::StepsByWeights),
        row("LSTM", {3, 8}, lstm) | inferring(lstm_types) |
            attributes("activation_alpha activation_beta activations clip direction "
                       "hidden_size input_forget layout") |
            macs(MacRule::StepsByWeights),
        row("GRU", {3, 6}, gru) | inferring(gru_types) |
            attributes("activation_alpha activation_beta activations clip direction "
                       "hidden_size layout linear_before_reset") |
            macs(MacRule::StepsByWeights)};
    return rows;
}

}  // namespace npuscope::host
