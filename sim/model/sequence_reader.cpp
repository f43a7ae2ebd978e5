// SPDX-License-Identifier: Apache-2.0
#include "sim/model/sequence_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "models/base/rule_ids.h"

namespace npuscope {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// One value, or one per channel along `axis` of a result of `sizes`; nothing if the constant
/// varies along other axes.
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

bool is_rounding(StepKind kind) {
    return kind == StepKind::Floor || kind == StepKind::Round || kind == StepKind::Ceil;
}

class StepReader {
 public:
    StepReader(const GraphView& view, const std::string& tensor, std::size_t axis)
        : view_(view), axis_(axis), tensor_(tensor) {}

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
    /// Merges two clips into one.
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

    /// Casts to floats, and to integers that hold a running sum, change no value of the sequence.
    bool is_looked_through(const GraphNode& node) const {
        if (node.op == "Identity" || node.op == "Dropout") {
            return node.outputs.size() == 1;
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
        static const std::map<std::string, StepKind> roundings{
            {"Floor", StepKind::Floor}, {"Round", StepKind::Round}, {"Ceil", StepKind::Ceil}};
        if (const auto rounding = roundings.find(node.op); rounding != roundings.end()) {
            step.kind = rounding->second;
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

    /// The constant operand paired with `tensor`, per channel.
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

std::vector<RawStep> read_steps(const GraphView& view, const std::string& tensor,
                                std::size_t axis) {
    return StepReader(view, tensor, axis).read();
}

namespace {

constexpr const char* wanted_order = "Add, Mul, Div, Floor, Clip";

/// Position in the sequence. A multiplication can be the scale or, by 2^-n, the shift.
int rank_of(StepKind kind) { return static_cast<int>(is_rounding(kind) ? StepKind::Floor : kind); }

bool is_fraction(const RawStep& step) {
    return std::all_of(step.numbers.begin(), step.numbers.end(),
                       [](double number) { return number <= 1 && number != 0; });
}

class SequenceParser {
 public:
    SequenceParser(const GraphView& view, std::size_t anchor, std::span<const RawStep> steps)
        : view_(view), anchor_(anchor), steps_(steps) {}

    ParsedSequence parse(bool with_residual) {
        const auto join = std::find_if(steps_.begin(), steps_.end(), [](const RawStep& step) {
            return step.kind == StepKind::Join;
        });
        const auto head = steps_.subspan(0, static_cast<std::size_t>(join - steps_.begin()));
        take_nodes(head);
        if (in_order(head)) {
            parse_head(head);
        }
        if (join != steps_.end() && with_residual) {
            parse_residual(steps_.subspan(head.size()));
        }
        return std::move(parsed_);
    }

 private:
    void take_nodes(std::span<const RawStep> steps) {
        for (const RawStep& step : steps) {
            parsed_.nodes.insert(parsed_.nodes.end(), step.nodes.begin(), step.nodes.end());
            parsed_.output = step.output;
        }
    }

    void complain(const char* rule, std::size_t node, std::string value, const std::string& allowed,
                  std::string sentence) {
        parsed_.problems.push_back(
            broken_rule(view_.node(node), rule, std::move(value), allowed, std::move(sentence)));
    }

    bool in_order(std::span<const RawStep> steps) {
        for (std::size_t i = 1; i < steps.size(); ++i) {
            const RawStep& before = steps[i - 1];
            const RawStep& after = steps[i];
            const bool twice =
                rank_of(before.kind) == rank_of(after.kind) && is_rounding(after.kind);
            const bool shift_by_multiplication =
                before.kind == StepKind::Divide && after.kind == StepKind::Multiply;
            const bool offset = before.kind == StepKind::Multiply && after.kind == StepKind::Bias;
            const bool backwards = rank_of(before.kind) > rank_of(after.kind) && !offset;
            if (backwards || twice || shift_by_multiplication) {
                complain(rule_ids::sequence_order, before.nodes.front(), "", wanted_order,
                         fmt::format("{} comes before {}; the order is {}",
                                     node_text(view_.node(before.nodes.front())),
                                     node_text(view_.node(after.nodes.front())), wanted_order));
                return false;
            }
        }
        return true;
    }

    void parse_head(std::span<const RawStep> steps) {
        std::size_t at = 0;
        std::vector<const RawStep*> factors;
        bool rounded = false;
        for (; at < steps.size(); ++at) {
            const RawStep& step = steps[at];
            if (step.kind == StepKind::Bias && !factors.empty()) {
                parsed_.norm.offset = Step{step.nodes.front(), step.numbers};
            } else if (step.kind == StepKind::Bias) {
                parsed_.norm.add_bias({step.nodes.front(), step.numbers});
                parsed_.norm.bias->node = step.nodes.front();
            } else if (step.kind == StepKind::Multiply || step.kind == StepKind::Divide) {
                factors.push_back(&step);
            } else if (is_rounding(step.kind)) {
                rounded = true;
                check_floor(step);
            } else {
                parsed_.norm.clip = ClipStep{step.nodes.front(), step.low, step.high};
            }
        }
        take_factors(factors);
        const std::size_t last = steps.empty() ? anchor_ : steps.back().nodes.front();
        if (!rounded) {
            complain(rule_ids::floor_required, last, "", "Floor",
                     "BNORM needs Floor after the shift");
        }
        if (!parsed_.norm.clip) {
            const auto next =
                steps_.size() > steps.size() ? steps_[steps.size()].nodes.front() : last;
            const bool joins = steps_.size() > steps.size();
            complain(joins ? "preclip_required" : "clip_required", next, "", "Clip",
                     joins ? "BNORMRES clips to a range (preclip_range) before the residual"
                           : "BNORM ends with Clip");
        }
    }

    void check_floor(const RawStep& step) {
        const std::size_t node = step.nodes.front();
        if (step.kind == StepKind::Round) {
            parsed_.norm.to_even = node;
        } else if (step.kind == StepKind::Ceil) {
            complain(rule_ids::floor_required, node, view_.node(node).op, "Floor",
                     "BNORM needs Floor after the shift");
        }
    }

    /// A single factor is the shift if it divides or is a fraction, otherwise the scale; of two,
    /// the last is the shift.
    void take_factors(const std::vector<const RawStep*>& factors) {
        if (factors.empty()) {
            return;
        }
        if (factors.size() > 2) {
            complain(rule_ids::sequence_order, factors[2]->nodes.front(), "", wanted_order,
                     "there is more than one scale and one shift");
            return;
        }
        const RawStep& last = *factors.back();
        if (factors.size() == 1 && last.kind == StepKind::Multiply && !is_fraction(last)) {
            parsed_.norm.scale = Step{last.nodes.front(), last.numbers};
            return;
        }
        if (factors.size() == 2) {
            parsed_.norm.scale = Step{factors[0]->nodes.front(), factors[0]->numbers};
            if (factors[0]->kind == StepKind::Divide) {
                complain(rule_ids::sequence_order, factors[0]->nodes.front(), "", wanted_order,
                         "there are two divisions");
                return;
            }
        }
        Step divisor{last.nodes.front(), last.numbers};
        if (last.kind == StepKind::Multiply) {
            for (double& number : divisor.numbers) {
                number = 1 / number;
            }
        }
        parsed_.norm.divisor = std::move(divisor);
    }

    void parse_residual(std::span<const RawStep> steps) {
        take_nodes(steps);
        const RawStep& join = steps.front();
        const GraphNode& node = view_.node(join.nodes.front());
        parsed_.norm.residual = join.joined;
        parsed_.norm.residual_node = join.nodes.front();
        if (parsed_.norm.clip) {
            parsed_.norm.preclip = parsed_.norm.clip;
            parsed_.norm.clip.reset();
        }
        if (node.op != "Add") {
            complain("residual_add", join.nodes.front(), node.op, "Add",
                     "the residual must be joined by Add");
        }
        if (steps.size() == 2 && steps[1].kind == StepKind::Clip) {
            parsed_.norm.clip = ClipStep{steps[1].nodes.front(), steps[1].low, steps[1].high};
        } else if (steps.size() == 1) {
            complain("clip_required", join.nodes.front(), "", "Clip",
                     "BNORMRES must end with Clip after the residual");
        } else {
            complain(rule_ids::sequence_order, steps[1].nodes.front(), "", "Add, Clip",
                     "after the residual there is more than a Clip");
        }
    }

    const GraphView& view_;
    std::size_t anchor_;
    std::span<const RawStep> steps_;
    ParsedSequence parsed_;
};

}  // namespace

ParsedSequence parse_sequence(const GraphView& view, std::size_t anchor,
                              std::span<const RawStep> steps, bool with_residual) {
    return SequenceParser(view, anchor, steps).parse(with_residual);
}

}  // namespace npuscope
