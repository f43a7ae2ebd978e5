// SPDX-License-Identifier: Apache-2.0
// MAXPOOL and both forms of AVGPOOL.
#include <fmt/format.h>

#include <algorithm>

#include "sim/model/candidate.h"
#include "sim/model/candidate_builder.h"

namespace npuscope {
namespace {

class PoolReader : private CandidateBuilder {
 public:
    using CandidateBuilder::CandidateBuilder;

    Candidate read() {
        if (node().op == "MaxPool") {
            return read_max_pool();
        }
        return node().op == "AveragePool" ? read_average_pool() : read_global_pool();
    }

 private:
    Candidate read_max_pool() {
        take_ends();
        candidate_.pattern = Pattern::Maxpool;
        candidate_.window = pool_window(node(), sizes(candidate_.input));
        candidate_.groups = candidate_.in[1];
        return std::move(candidate_);
    }

    Candidate read_average_pool() {
        take_ends();
        candidate_.pattern = Pattern::Avgpool;
        candidate_.window = pool_window(node(), sizes(candidate_.input));
        candidate_.groups = candidate_.in[1];
        candidate_.count_padding = node().integer("count_include_pad", 0) != 0;
        std::vector<RawStep> steps = read_steps(view_, {candidate_.output, 1});
        const auto area = static_cast<double>(candidate_.window.kernel_area());
        candidate_.area = 0;
        if (!steps.empty() && steps[0].kind == StepKind::Multiply && steps[0].numbers.size() == 1) {
            candidate_.area = steps[0].numbers.front();
            take_first(steps);
        }
        if (candidate_.area != area) {
            complain_at(candidate_.nodes.back(), "pool_area",
                        candidate_.area == 0 ? "" : fmt::format("{:g}", candidate_.area),
                        fmt::format("{:g}", area), "AVGPOOL multiplies by the total pool size");
        }
        take_round(steps);
        take_sequence(steps);
        return std::move(candidate_);
    }

    Candidate read_global_pool() {
        take_ends();
        candidate_.pattern = Pattern::AvgpoolGlobal;
        candidate_.groups = candidate_.in[1];
        const Sizes& in = sizes(candidate_.input);
        const std::vector<std::int64_t> axes = reduced_axes(in.size());
        Candidate& it = candidate_;
        it.window.axes = {WindowAxis{it.in[2], 1, it.in[2]}, WindowAxis{it.in[3], 1, it.in[3]}};
        it.out = {it.in[0], it.in[1], 1, 1};
        if (in.size() != 4 || axes != std::vector<std::int64_t>{2, 3}) {
            complain("avgpool_reduce", fmt::format("[{}]", sizes_list(axes)), "[2, 3]",
                     "global AVGPOOL is ReduceSum over height and width");
        }
        std::vector<RawStep> steps = read_steps(view_, {candidate_.output, 1});
        if (node().op != "ReduceSum") {
            const auto area = static_cast<double>(it.window.kernel_area());
            const bool scaled = !steps.empty() && steps[0].kind == StepKind::Multiply &&
                                steps[0].numbers == std::vector<double>{area};
            if (scaled) {
                take_first(steps);
            } else {
                complain("avgpool_reduce", node().op, "ReduceSum",
                         "global AVGPOOL sums and does not divide");
            }
        }
        take_round(steps);
        take_sequence(steps);
        return std::move(candidate_);
    }

    static std::string sizes_list(const Sizes& sizes) {
        std::string text;
        for (const std::int64_t size : sizes) {
            text += (text.empty() ? "" : ", ") + std::to_string(size);
        }
        return text;
    }

    /// Sorted; those of a mean or a pool over the plane are 2 and 3.
    std::vector<std::int64_t> reduced_axes(std::size_t rank) const {
        if (node().op == "GlobalAveragePool") {
            return {2, 3};
        }
        std::vector<std::int64_t> axes = node().integers("axes");
        if (const GraphValue* operand = view_.graph().constant(node().input(1))) {
            for (const double number : operand->numbers) {
                axes.push_back(to_integer(number));
            }
        }
        for (std::int64_t& axis : axes) {
            axis += axis < 0 ? static_cast<std::int64_t>(rank) : 0;
        }
        std::sort(axes.begin(), axes.end());
        return axes;
    }

    static bool is_other_rounding(StepKind kind) {
        return kind == StepKind::Floor || kind == StepKind::Ceil;
    }

    /// Round, or Floor(x + 0.5) where the opset has no Round.
    void take_round(std::vector<RawStep>& steps) {
        if (!steps.empty() && steps[0].kind == StepKind::Round) {
            take_first(steps);
            return;
        }
        const bool half_up = steps.size() >= 2 && steps[0].kind == StepKind::Bias &&
                             steps[0].numbers == std::vector<double>{0.5} &&
                             steps[1].kind == StepKind::Floor;
        if (half_up) {
            candidate_.rounding = PoolRounding::HalfUp;
            take_first(steps);
            take_first(steps);
            return;
        }
        // another rounding where Round belongs, with Floor to come
        const bool other = !steps.empty() && is_other_rounding(steps[0].kind) &&
                           std::any_of(steps.begin() + 1, steps.end(), [](const RawStep& step) {
                               return is_other_rounding(step.kind);
                           });
        const std::size_t blamed = other ? steps[0].nodes.front() : candidate_.nodes.back();
        complain_at(blamed, "round_required", other ? view_.node(blamed).op : "", "Round",
                    "AVGPOOL rounds before BNORM");
        if (other) {
            take_first(steps);
        }
    }
};

}  // namespace

Candidate read_pool(const GraphView& view, std::size_t anchor, bool with_residual) {
    return PoolReader(view, anchor, with_residual).read();
}

}  // namespace npuscope
