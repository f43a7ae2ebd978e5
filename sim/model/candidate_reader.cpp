// SPDX-License-Identifier: Apache-2.0
#include "sim/model/candidate_reader.h"

#include <algorithm>

#include "sim/model/candidate_builder.h"
#include "sim/model/weight_reader.h"

namespace npuscope {
namespace {

class WeightedReader : private CandidateBuilder {
 public:
    using CandidateBuilder::CandidateBuilder;

    Candidate read() {
        const std::string& op = node().op;
        if (op == "Conv" || op == "ConvInteger" || op == "QLinearConv") {
            return read_conv();
        }
        return op == "ConvTranspose" ? read_transposed() : read_fc();
    }

 private:
    Candidate read_conv() {
        take_ends();
        const bool quantised = node().op == "QLinearConv";
        const Sizes& weight_sizes = sizes(node().inputs[quantised ? 3 : 1]);
        candidate_.groups = node().integer("group", 1);
        candidate_.window = conv_window(node(), sizes(candidate_.input),
                                        Sizes(weight_sizes.begin() + 2, weight_sizes.end()));
        candidate_.weights = read_weights(view_, candidate_, WeightOrder::Conv);
        take_sequence(quantised ? std::vector<RawStep>{}
                                : read_steps(view_, {candidate_.output, 1}));
        if (node().op == "Conv") {
            take_own_bias(node().input(2));
        }
        candidate_.pattern = conv_pattern();
        if (candidate_.pattern == Pattern::Pwconv && !candidate_.norm.residual.empty()) {
            candidate_.pattern = Pattern::Pwconvres;
        }
        return std::move(candidate_);
    }

    Pattern conv_pattern() const {
        const std::int64_t channels = candidate_.in[1];
        if (candidate_.groups > 1 && candidate_.groups == channels &&
            candidate_.out[1] == channels) {
            return Pattern::Dwconv;
        }
        if (candidate_.window.kernel_area() == 1) {
            return Pattern::Pwconv;
        }
        return channels == 1 ? Pattern::Fconv : Pattern::Gconv;
    }

    Candidate read_transposed() {
        take_ends();
        candidate_.pattern = Pattern::Tconv;
        const Sizes& weight_sizes = sizes(node().inputs[1]);
        candidate_.groups = node().integer("group", 1);
        candidate_.window = transposed_window(node(), sizes(candidate_.input),
                                              Sizes(weight_sizes.begin() + 2, weight_sizes.end()));
        candidate_.weights = read_weights(view_, candidate_, WeightOrder::Transposed);
        take_sequence(read_steps(view_, {candidate_.output, 1}));
        take_own_bias(node().input(2));
        return std::move(candidate_);
    }

    Candidate read_fc() {
        take_ends();
        candidate_.pattern = Pattern::Fc;
        candidate_.window.axes = {WindowAxis{}, WindowAxis{}};
        const Sizes& in = sizes(candidate_.input);
        const Sizes& out = sizes(candidate_.output);
        const std::int64_t inner = in.empty() ? 1 : in.back();
        const auto rows =
            static_cast<std::int64_t>(count_elements(in)) / std::max<std::int64_t>(inner, 1);
        candidate_.in = {rows, inner, 1, 1};
        candidate_.out = {rows, out.empty() ? 1 : out.back(), 1, 1};
        candidate_.weights = read_weights(view_, candidate_, WeightOrder::Matrix);
        const bool quantised = node().op == "QLinearMatMul";
        take_sequence(quantised || out.empty()
                          ? std::vector<RawStep>{}
                          : read_steps(view_, {candidate_.output, out.size() - 1}));
        if (node().op == "Gemm") {
            take_own_bias(node().input(2));
            const bool plain = node().number("alpha", 1) == 1 &&
                               (node().number("beta", 1) == 1 || node().input(2).empty()) &&
                               node().integer("transA", 0) == 0;
            if (!plain) {
                complain("gemm_plain", "", "alpha 1, beta 1, transA 0",
                         "the product is scaled or its input turned");
            }
        }
        look_through_flatten();
        return std::move(candidate_);
    }

    /// FC reads the cube that is flattened before it: the same numbers, from where they lie.
    void look_through_flatten() {
        std::string tensor = candidate_.input;
        while (const auto producer = view_.producer(tensor)) {
            const GraphNode& node = view_.node(*producer);
            const bool view = node.op == "Flatten" || node.op == "Reshape" ||
                              node.op == "Squeeze" || node.op == "Unsqueeze" ||
                              node.op == "Identity";
            if (!view || view_.graph().is_constant(node.inputs.front())) {
                break;
            }
            tensor = node.inputs.front();
            const Sizes& in = sizes(tensor);
            if (in.size() == 4 && in[0] == 1 && candidate_.in[0] == 1) {
                candidate_.input = tensor;
                candidate_.in = in;
            }
        }
    }
};

enum class Family { None, Weighted, Pool };

Family family_of(const std::string& op) {
    for (const char* weighted : {"Conv", "ConvInteger", "QLinearConv", "ConvTranspose", "MatMul",
                                 "Gemm", "MatMulInteger", "QLinearMatMul"}) {
        if (op == weighted) {
            return Family::Weighted;
        }
    }
    for (const char* pool :
         {"MaxPool", "AveragePool", "ReduceSum", "ReduceMean", "GlobalAveragePool"}) {
        if (op == pool) {
            return Family::Pool;
        }
    }
    return Family::None;
}

}  // namespace

std::optional<Candidate> read_candidate(const GraphView& view, std::size_t anchor,
                                        bool with_residual) {
    switch (family_of(view.node(anchor).op)) {
        case Family::None:
            return std::nullopt;
        case Family::Weighted:
            return WeightedReader(view, anchor, with_residual).read();
        case Family::Pool:
            return read_pool(view, anchor, with_residual);
    }
    return std::nullopt;
}

}  // namespace npuscope
