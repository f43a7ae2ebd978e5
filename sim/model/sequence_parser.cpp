// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "sim/model/step_reader.h"

namespace npuscope {
namespace {

constexpr const char* wanted_order = "Add, Mul, Div, Floor, Clip";

bool is_rounding(StepKind kind) {
    return kind == StepKind::Floor || kind == StepKind::Round || kind == StepKind::Ceil;
}

/// Position in the sequence. A multiplication can stand for the scale or, by 2^-n, for the shift.
int rank_of(StepKind kind) {
    switch (kind) {
        case StepKind::Bias:
            return 0;
        case StepKind::Multiply:
            return 1;
        case StepKind::Divide:
            return 2;
        case StepKind::Floor:
        case StepKind::Round:
        case StepKind::Ceil:
            return 3;
        case StepKind::Clip:
            return 4;
        case StepKind::Join:
            return 5;
    }
    return 5;
}

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
            if (rank_of(before.kind) > rank_of(after.kind) || twice || shift_by_multiplication) {
                complain("sequence_order", before.nodes.front(), "", wanted_order,
                         fmt::format("{} stands before {}; the order is {}",
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
            if (step.kind == StepKind::Bias) {
                add_bias(step);
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
            complain("floor_required", last, "", "Floor", "BNORM needs Floor after the shift");
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

    /// Biases follow each other without rounding, so they are one.
    void add_bias(const RawStep& step) {
        if (!parsed_.norm.bias) {
            parsed_.norm.bias = Step{step.nodes.front(), step.numbers};
            return;
        }
        Step& bias = *parsed_.norm.bias;
        const std::size_t count = std::max(bias.numbers.size(), step.numbers.size());
        std::vector<double> sum(count);
        for (std::size_t i = 0; i < count; ++i) {
            sum[i] = bias.at(i) + step.numbers[step.numbers.size() == 1 ? 0 : i];
        }
        bias = {step.nodes.front(), std::move(sum)};
    }

    void check_floor(const RawStep& step) {
        if (step.kind != StepKind::Floor) {
            const std::size_t node = step.nodes.front();
            complain("floor_required", node, view_.node(node).op, "Floor",
                     "BNORM needs Floor after the shift");
        }
    }

    /// One factor is the shift where it divides or is a fraction, else the scale; of two the last
    /// is the shift.
    void take_factors(const std::vector<const RawStep*>& factors) {
        if (factors.empty()) {
            return;
        }
        if (factors.size() > 2) {
            complain("sequence_order", factors[2]->nodes.front(), "", wanted_order,
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
                complain("sequence_order", factors[0]->nodes.front(), "", wanted_order,
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
                     "the residual is joined by Add");
        }
        if (steps.size() == 2 && steps[1].kind == StepKind::Clip) {
            parsed_.norm.clip = ClipStep{steps[1].nodes.front(), steps[1].low, steps[1].high};
        } else if (steps.size() == 1) {
            complain("clip_required", join.nodes.front(), "", "Clip",
                     "BNORMRES ends with Clip after the residual");
        } else {
            complain("sequence_order", steps[1].nodes.front(), "", "Add, Clip",
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
