// SPDX-License-Identifier: Apache-2.0
#include "sim/model/step_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace npuscope {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// One number, or one per channel along `axis` of a result of `sizes`; nothing where the constant
/// changes along other directions.
std::optional<std::vector<double>> per_channel(const GraphValue& constant, const Sizes& sizes,
                                               std::size_t axis) {
    const Sizes& own = constant.type.sizes;
    if (own.size() > sizes.size()) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
        const std::size_t direction = sizes.size() - own.size() + i;
        if (own[i] != 1 && direction != axis) {
            return std::nullopt;
        }
    }
    return constant.numbers;
}

class StepReader {
 public:
    StepReader(const GraphView& view, const ChainStart& start)
        : view_(view), axis_(start.axis), tensor_(start.tensor) {}

    std::vector<RawStep> read() {
        std::vector<RawStep> steps;
        bool joined = false;
        bool rounded = false;
        while (auto step = next()) {
            const bool ends = rounded && !steps.empty() && steps.back().kind == StepKind::Clip &&
                              step->kind != StepKind::Clip && step->kind != StepKind::Join;
            if (ends || (joined && step->kind == StepKind::Join)) {
                break;
            }
            rounded = rounded || is_rounding(step->kind);
            joined = joined || step->kind == StepKind::Join;
            if (step->kind == StepKind::Clip && !steps.empty() &&
                steps.back().kind == StepKind::Clip) {
                narrow(steps.back(), *step);
            } else {
                steps.push_back(std::move(*step));
            }
            tensor_ = steps.back().output;
            if (joined && steps.back().kind == StepKind::Clip && !clip_follows()) {
                break;
            }
        }
        return steps;
    }

 private:
    static bool is_rounding(StepKind kind) {
        return kind == StepKind::Floor || kind == StepKind::Round || kind == StepKind::Ceil;
    }

    /// Two clips are one.
    static void narrow(RawStep& clip, const RawStep& by) {
        clip.low = std::min(std::max(clip.low, by.low), by.high);
        clip.high = std::min(std::max(clip.high, by.low), by.high);
        clip.nodes.insert(clip.nodes.end(), by.nodes.begin(), by.nodes.end());
        clip.output = by.output;
    }

    bool clip_follows() const {
        const auto reader = view_.only_reader(tensor_);
        if (!reader) {
            return false;
        }
        const std::string& op = view_.node(*reader).op;
        return op == "Clip" || op == "Relu" || op == "Min" || op == "Max";
    }

    std::optional<RawStep> next() {
        std::string tensor = tensor_;
        std::vector<std::size_t> passed;
        for (auto reader = view_.only_reader(tensor); reader; reader = view_.only_reader(tensor)) {
            const GraphNode& node = view_.node(*reader);
            if (!is_looked_through(node)) {
                return step_at(*reader, tensor, passed);
            }
            passed.push_back(*reader);
            tensor = node.outputs.front();
        }
        return std::nullopt;
    }

    /// Casts to floats and to integers that hold a running sum change no number of the sequence.
    bool is_looked_through(const GraphNode& node) const {
        if (node.op == "Identity" || node.op == "Dropout") {
            return true;
        }
        const auto type = view_.graph().types.find(node.outputs.front());
        return node.op == "Cast" && type != view_.graph().types.end() &&
               (is_float(type->second.element) || type->second.element == ElementType::Int32 ||
                type->second.element == ElementType::Int64);
    }

    std::optional<RawStep> step_at(std::size_t index, const std::string& tensor,
                                   const std::vector<std::size_t>& passed) const {
        const GraphNode& node = view_.node(index);
        RawStep step;
        step.nodes.push_back(index);
        step.nodes.insert(step.nodes.end(), passed.begin(), passed.end());
        step.output = node.outputs.front();
        if (node.op == "Floor" || node.op == "Round" || node.op == "Ceil") {
            step.kind = node.op == "Floor"   ? StepKind::Floor
                        : node.op == "Round" ? StepKind::Round
                                             : StepKind::Ceil;
            return step;
        }
        if (node.op == "Clip" || node.op == "Relu" || node.op == "Max" || node.op == "Min") {
            return clip_at(node, tensor, std::move(step));
        }
        if (node.op == "Add" || node.op == "Sub" || node.op == "Mul" || node.op == "Div") {
            return arithmetic_at(node, tensor, std::move(step));
        }
        return std::nullopt;
    }

    std::optional<RawStep> clip_at(const GraphNode& node, const std::string& tensor,
                                   RawStep step) const {
        step.kind = StepKind::Clip;
        step.low = -infinite;
        step.high = infinite;
        if (node.op == "Relu") {
            step.low = 0;
        } else if (node.op == "Clip") {
            const auto limit = [&](std::size_t operand, const char* attribute, double fallback) {
                const GraphValue* value = view_.graph().constant(node.input(operand));
                return value != nullptr && value->numbers.size() == 1
                           ? value->numbers.front()
                           : node.number(attribute, fallback);
            };
            step.low = limit(1, "min", -infinite);
            step.high = limit(2, "max", infinite);
        } else {
            if (node.inputs.size() != 2) {
                return std::nullopt;
            }
            const std::string& other = node.inputs[node.inputs[0] == tensor ? 1 : 0];
            if (other != tensor && !view_.graph().is_constant(other)) {
                step.kind = StepKind::Join;
                step.joined = other;
                return step;
            }
            const auto number = other_constant(node, tensor);
            if (!number || number->size() != 1) {
                return std::nullopt;
            }
            (node.op == "Max" ? step.low : step.high) = number->front();
        }
        return step;
    }

    /// The constant operand beside `tensor`, per channel.
    std::optional<std::vector<double>> other_constant(const GraphNode& node,
                                                      const std::string& tensor) const {
        if (node.inputs.size() != 2) {
            return std::nullopt;
        }
        const std::string& other = node.inputs[node.inputs[0] == tensor ? 1 : 0];
        const GraphValue* value = view_.graph().constant(other);
        return value == nullptr ? std::nullopt
                                : per_channel(*value, view_.sizes(node.outputs.front()), axis_);
    }

    std::optional<RawStep> arithmetic_at(const GraphNode& node, const std::string& tensor,
                                         RawStep step) const {
        const bool first = node.inputs[0] == tensor;
        const std::string& other = node.inputs[first ? 1 : 0];
        if (!view_.graph().is_constant(other)) {
            step.kind = StepKind::Join;
            step.joined = other;
            return other == tensor ? std::nullopt : std::optional(step);
        }
        auto numbers = other_constant(node, tensor);
        if (!numbers || (!first && (node.op == "Sub" || node.op == "Div")) ||
            view_.sizes(node.outputs.front()) != view_.sizes(tensor)) {
            return std::nullopt;
        }
        step.numbers = std::move(*numbers);
        step.kind = node.op == "Mul"   ? StepKind::Multiply
                    : node.op == "Div" ? StepKind::Divide
                                       : StepKind::Bias;
        if (node.op == "Sub") {
            std::transform(step.numbers.begin(), step.numbers.end(), step.numbers.begin(),
                           [](double number) { return -number; });
        }
        return step;
    }

    const GraphView& view_;
    std::size_t axis_;
    std::string tensor_;
};

}  // namespace

std::vector<RawStep> read_steps(const GraphView& view, const ChainStart& start) {
    return StepReader(view, start).read();
}

}  // namespace npuscope
