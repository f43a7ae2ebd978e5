// SPDX-License-Identifier: Apache-2.0
#include "sim/model/candidate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "models/base/rule_ids.h"
#include "sim/model/operator_parts.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/sequence_reader.h"

namespace npuscope {
namespace {

class CandidateReader {
 public:
    CandidateReader(const GraphView& view, std::size_t anchor, bool with_residual)
        : view_(view), with_residual_(with_residual) {
        candidate_.anchor = anchor;
        candidate_.nodes.push_back(anchor);
    }

    /// Nothing if no pattern starts with such an operator.
    std::optional<Candidate> read() {
        using Read = void (CandidateReader::*)();
        static const std::map<std::string, Read> readers{
            {"Conv", &CandidateReader::read_conv},
            {"ConvInteger", &CandidateReader::read_conv},
            {"QLinearConv", &CandidateReader::read_conv},
            {"ConvTranspose", &CandidateReader::read_transposed},
            {"MatMul", &CandidateReader::read_fc},
            {"Gemm", &CandidateReader::read_fc},
            {"MatMulInteger", &CandidateReader::read_fc},
            {"QLinearMatMul", &CandidateReader::read_fc},
            {"MaxPool", &CandidateReader::read_max_pool},
            {"AveragePool", &CandidateReader::read_average_pool},
            {"ReduceSum", &CandidateReader::read_global_pool},
            {"ReduceMean", &CandidateReader::read_global_pool},
            {"GlobalAveragePool", &CandidateReader::read_global_pool}};
        const auto reader = readers.find(node().op);
        if (reader == readers.end() || node().outputs.size() != 1) {  // a MaxPool with indices
            return std::nullopt;
        }
        take_ends();
        (this->*reader->second)();
        const bool covered = std::ranges::all_of(
            candidate_.window.axes, [](const WindowAxis& axis) { return axis.pad_end >= 0; });
        return covered ? std::optional(std::move(candidate_)) : std::nullopt;
    }

 private:
    const GraphNode& node() const { return view_.node(candidate_.anchor); }
    const Sizes& sizes(const std::string& tensor) const { return view_.sizes(tensor); }
    const GraphValue* constant(const std::string& tensor) const {
        return view_.graph().constant(tensor);
    }

    void complain(const char* rule, std::string value, const std::string& allowed,
                  std::string sentence) {
        complain_at(candidate_.anchor, rule, std::move(value), allowed, std::move(sentence));
    }
    /// The same for a node other than the anchor.
    void complain_at(std::size_t node, const char* rule, std::string value,
                     const std::string& allowed, std::string sentence) {
        candidate_.problems.push_back(
            broken_rule(view_.node(node), rule, std::move(value), allowed, std::move(sentence)));
    }

    /// Input and output of the anchor, as cubes.
    void take_ends() {
        candidate_.input = node().inputs.front();
        candidate_.output = node().outputs.front();
        candidate_.in = as_cube(sizes(candidate_.input));
        candidate_.out = as_cube(sizes(candidate_.output));
    }

    /// The steps after the anchor as the layer's sequence.
    void take_sequence(std::span<const RawStep> steps) {
        ParsedSequence parsed = parse_sequence(view_, candidate_.anchor, steps, with_residual_);
        candidate_.norm = std::move(parsed.norm);
        candidate_.nodes.insert(candidate_.nodes.end(), parsed.nodes.begin(), parsed.nodes.end());
        candidate_.problems.insert(candidate_.problems.end(), parsed.problems.begin(),
                                   parsed.problems.end());
        if (!parsed.output.empty()) {
            candidate_.output = parsed.output;
        }
        take_cast();
    }

    /// A cast after the sequence that only stores its values in a narrower type belongs to it.
    void take_cast() {
        const auto reader = view_.only_reader(candidate_.output);
        if (!reader || view_.node(*reader).op != "Cast" || !candidate_.norm.clip) {
            return;
        }
        const std::string& stored = view_.node(*reader).outputs.front();
        const NumberRange range = range_of(view_.graph().types.at(stored).element);
        if (candidate_.norm.clip->low >= range.low && candidate_.norm.clip->high <= range.high) {
            candidate_.nodes.push_back(*reader);
            candidate_.output = stored;
        }
    }

    /// A bias in the anchor itself comes before those of the sequence.
    void take_own_bias(const std::string& tensor) {
        if (tensor.empty()) {
            return;
        }
        const GraphValue* bias = constant(tensor);
        if (bias == nullptr) {
            complain("bias_constant", tensor, "a constant", "the bias is not constant");
            return;
        }
        candidate_.norm.add_bias({candidate_.anchor, bias->numbers});
    }

    /// The first step belongs to the operator, not to the sequence.
    void take_first(std::vector<RawStep>& steps) {
        candidate_.nodes.insert(candidate_.nodes.end(), steps[0].nodes.begin(),
                                steps[0].nodes.end());
        candidate_.output = steps[0].output;
        steps.erase(steps.begin());
    }

    /// Spatial sizes of a convolution's weights.
    Sizes kernel_sizes(std::size_t operand) const {
        const Sizes& weights = sizes(node().inputs[operand]);
        return {weights.begin() + 2, weights.end()};
    }

    /// The weights as integers in the operator's own order, a matrix as [C K], with zero points
    /// subtracted; whatever prevents that becomes a violation.
    void take_weights() {
        if (node().op.starts_with("QLinear")) {
            complain(quantised_exact_rule, "round half to even", "Floor",
                     node().text(not_exact_attribute, "the operator rounds to nearest"));
            return;
        }
        const GraphValue* weights = constant(node().inputs[1]);
        if (weights == nullptr) {
            const std::string reason = node().text(not_exact_attribute, "");
            complain(reason.empty() ? weight_constant_rule : quantised_exact_rule, node().inputs[1],
                     "a constant", reason.empty() ? "the weights are not constant" : reason);
            return;
        }
        if (candidate_.pattern == Pattern::Fc && weights->type.sizes.size() != 2) {
            complain(weight_constant_rule, sizes_text(weights->type.sizes), "a matrix",
                     "the weights are not a matrix");
            return;
        }
        const bool turned = node().op == "Gemm" && node().integer("transB", 0) != 0;
        candidate_.weights = turned ? transposed(*weights) : *weights;
        if (node().op == "ConvInteger" || node().op == "MatMulInteger") {
            take_off_zero_points();
        }
    }

    /// Weight zero points are subtracted from the weights; the input may have one.
    void take_off_zero_points() {
        const GraphValue* data_zero = constant(node().input(2));
        if (data_zero != nullptr && data_zero->numbers.size() == 1) {
            candidate_.input_zero = data_zero->numbers.front();
        } else if (!node().input(2).empty()) {
            complain(rule_ids::input_zero_point, "", "0",
                     "the zero point of the input is not one constant");
        }
        const GraphValue* weight_zero = constant(node().input(3));
        if (!node().input(3).empty() && weight_zero == nullptr) {
            complain("weight_zero_point", "", "a constant",
                     "the zero point of the weights is not constant");
        } else if (weight_zero != nullptr && !weight_zero->numbers.empty()) {
            subtract_zeros(candidate_.weights, weight_zero->numbers, node().op == "ConvInteger");
        }
    }

    void read_conv() {
        const bool quantised = node().op == "QLinearConv";
        candidate_.groups = node().integer("group", 1);
        candidate_.window =
            conv_window(node(), sizes(candidate_.input), kernel_sizes(quantised ? 3 : 1));
        take_weights();
        take_sequence(quantised ? std::vector<RawStep>{} : read_steps(view_, candidate_.output));
        if (node().op == "Conv") {
            take_own_bias(node().input(2));
        }
        candidate_.pattern = conv_pattern();
    }

    Pattern conv_pattern() const {
        const std::int64_t channels = candidate_.in[1];
        if (candidate_.groups > 1 && candidate_.groups == channels &&
            candidate_.out[1] == channels) {
            return Pattern::Dwconv;
        }
        if (candidate_.window.kernel_area() == 1) {
            return candidate_.norm.residual.empty() ? Pattern::Pwconv : Pattern::Pwconvres;
        }
        return channels == 1 ? Pattern::Fconv : Pattern::Gconv;
    }

    void read_transposed() {
        candidate_.pattern = Pattern::Tconv;
        candidate_.groups = node().integer("group", 1);
        candidate_.window = transposed_window(node(), sizes(candidate_.input), kernel_sizes(1));
        take_weights();
        take_sequence(read_steps(view_, candidate_.output));
        take_own_bias(node().input(2));
    }

    void read_fc() {
        candidate_.pattern = Pattern::Fc;
        candidate_.window.axes = {WindowAxis{}, WindowAxis{}};
        const Sizes& in = sizes(candidate_.input);
        const Sizes& out = sizes(candidate_.output);
        const std::int64_t inner = in.empty() ? 1 : in.back();
        const auto rows =
            static_cast<std::int64_t>(count_elements(in)) / std::max<std::int64_t>(inner, 1);
        candidate_.in = {rows, inner, 1, 1};
        candidate_.out = {rows, out.empty() ? 1 : out.back(), 1, 1};
        take_weights();
        const bool quantised = node().op == "QLinearMatMul";
        take_sequence(quantised || out.empty()
                          ? std::vector<RawStep>{}
                          : read_steps(view_, candidate_.output, out.size() - 1));
        if (node().op == "Gemm") {
            take_own_bias(node().input(2));
            const bool plain = node().number("alpha", 1) == 1 &&
                               (node().number("beta", 1) == 1 || node().input(2).empty()) &&
                               node().integer("transA", 0) == 0;
            if (!plain) {
                complain("gemm_plain", "", "alpha 1, beta 1, transA 0",
                         "the product is scaled or an input is transposed");
            }
        }
        CubeRead read = flattened_cube(view_, {candidate_.input, candidate_.in});
        candidate_.input = std::move(read.tensor);
        candidate_.in = std::move(read.cube);
    }

    void read_max_pool() {
        candidate_.pattern = Pattern::Maxpool;
        candidate_.window = pool_window(node(), sizes(candidate_.input));
        candidate_.groups = candidate_.in[1];
    }

    void read_average_pool() {
        candidate_.pattern = Pattern::Avgpool;
        candidate_.window = pool_window(node(), sizes(candidate_.input));
        candidate_.groups = candidate_.in[1];
        candidate_.count_padding = node().integer("count_include_pad", 0) != 0;
        std::vector<RawStep> steps = read_steps(view_, candidate_.output);
        const auto area = static_cast<double>(candidate_.window.kernel_area());
        candidate_.area = 0;
        if (!steps.empty() && steps[0].kind == StepKind::Multiply && steps[0].numbers.size() == 1) {
            candidate_.area = steps[0].numbers.front();
            take_first(steps);
        }
        if (candidate_.area != area) {
            complain_at(candidate_.nodes.back(), "pool_area",
                        candidate_.area == 0 ? "" : fmt::format("{:g}", candidate_.area),
                        fmt::format("{:g}", area), "AVGPOOL must multiply by the total pool size");
        }
        take_round(steps);
        take_sequence(steps);
    }

    void read_global_pool() {
        candidate_.pattern = Pattern::AvgpoolGlobal;
        candidate_.groups = candidate_.in[1];
        const Sizes& in = sizes(candidate_.input);
        const std::vector<std::int64_t> axes = node().op == "GlobalAveragePool"
                                                   ? Sizes{2, 3}
                                                   : host::reduced_axes(view_.graph(), node());
        Candidate& it = candidate_;
        it.window.axes = {WindowAxis{it.in[2], 1, it.in[2]}, WindowAxis{it.in[3], 1, it.in[3]}};
        it.out = {it.in[0], it.in[1], 1, 1};
        if (in.size() != 4 || axes != Sizes{2, 3}) {
            complain("avgpool_reduce", fmt::format("[{}]", fmt::join(axes, ", ")), "[2, 3]",
                     "global AVGPOOL is ReduceSum over height and width");
        }
        std::vector<RawStep> steps = read_steps(view_, candidate_.output);
        if (node().op != "ReduceSum") {
            const auto area = static_cast<double>(it.window.kernel_area());
            const bool scaled = !steps.empty() && steps[0].kind == StepKind::Multiply &&
                                steps[0].numbers == std::vector<double>{area};
            if (scaled) {
                take_first(steps);
            } else {
                complain("avgpool_reduce", node().op, "ReduceSum",
                         "a global AVGPOOL must be a sum, not an average");
            }
        }
        take_round(steps);
        take_sequence(steps);
    }

    static bool is_other_rounding(StepKind kind) {
        return kind == StepKind::Floor || kind == StepKind::Ceil;
    }

    /// Round, or Floor(x + 0.5) if the opset has no Round.
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
        // a different rounding in place of Round, with a Floor later
        const bool other = !steps.empty() && is_other_rounding(steps[0].kind) &&
                           std::any_of(steps.begin() + 1, steps.end(), [](const RawStep& step) {
                               return is_other_rounding(step.kind);
                           });
        const std::size_t blamed = other ? steps[0].nodes.front() : candidate_.nodes.back();
        complain_at(blamed, "round_required", other ? view_.node(blamed).op : "", "Round",
                    "AVGPOOL must round before BNORM");
        if (other) {
            take_first(steps);
        }
    }

    const GraphView& view_;
    bool with_residual_;
    Candidate candidate_;
};

}  // namespace

std::optional<Candidate> read_candidate(const GraphView& view, std::size_t anchor,
                                        bool with_residual) {
    return CandidateReader(view, anchor, with_residual).read();
}

const std::string& joined_result(const GraphView& view, const NormSequence& norm) {
    const GraphNode& join = view.node(norm.residual_node);
    return join.inputs[0] == norm.residual ? join.inputs[1] : join.inputs[0];
}

namespace {

bool is_flattening(const std::string& op) {
    return op == "Flatten" || op == "Reshape" || op == "Squeeze" || op == "Unsqueeze" ||
           op == "Identity";
}

}  // namespace

CubeRead flattened_cube(const GraphView& view, CubeRead read) {
    if (read.cube[0] != 1) {
        return read;
    }
    std::string tensor = read.tensor;
    while (const auto producer = view.producer(tensor)) {
        const GraphNode& node = view.node(*producer);
        if (!is_flattening(node.op) || view.graph().constant(node.inputs.front()) != nullptr) {
            break;
        }
        tensor = node.inputs.front();
        const Sizes& sizes = view.sizes(tensor);
        if (sizes.size() == 4 && sizes[0] == 1) {
            read = {tensor, sizes};
        }
    }
    return read;
}

}  // namespace npuscope
