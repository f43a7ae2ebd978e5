// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/wide_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/model/quantised_form.h"

namespace npuscope {
namespace {

constexpr int most_sum_shift = 31;   // source: NVDLA_CACC.rdl, CLIP_TRUNCATE
constexpr int most_shift = 40;       // of 48-bit products
constexpr double most_error = 1024;  // of a result, by a multiplier's rounding: 3 % of the largest

class WideLowering {
 public:
    WideLowering(const GraphView& model, const NodeGroup& group, Precision precision)
        : model_(model),
          group_(group),
          wide_(std::any_cast<const WideGroup&>(group.lowered)),
          precision_(precision) {}

    Layer lower(Diagnostics& problems) {
        if (!wide_.problem.empty()) {
            complain(wide_.problem, "change its quantisation, or leave it on the host");
        } else if (group_.cube[0] != 1) {
            complain(fmt::format("its batch is {}", group_.cube[0]), "a batch is 1");
        } else {
            take_shape();
            if (wide_.kind == LayerKind::Add) {
                take_sum();
            } else if (wide_.kind != LayerKind::MaxPool) {
                take_product();
            }
            take_macs(model_.node(group_.anchor), layer_);
        }
        problems.insert(problems.end(), problems_.begin(), problems_.end());
        return std::move(layer_);
    }

 private:
    bool is_half() const { return precision_ == Precision::Fp16; }
    void complain(std::string sentence, std::string remedy) {
        problems_.push_back({.sentence = std::move(sentence),
                             .remedy = std::move(remedy),
                             .operation = node_name(model_.node(group_.anchor))});
    }

    void take_shape() {
        layer_.kind = wide_.kind;
        layer_.relu = wide_.relu;
        const bool product = wide_.kind == LayerKind::Conv || wide_.kind == LayerKind::Fc;
        layer_.kernels = product ? static_cast<std::uint32_t>(group_.cube[1]) : 0;
        layer_.groups = static_cast<std::uint32_t>(wide_.groups);
        layer_.bias = !wide_.bias.empty() || !is_half();
        if (wide_.kind == LayerKind::Add || wide_.kind == LayerKind::Fc) {
            return;
        }
        const Window window = plane_window(wide_.window);
        if (window.axes.size() != 2) {
            return complain("its windows have three dimensions", "use one or two");
        }
        if (auto problem = set_window(window, wide_.kind == LayerKind::Conv, layer_)) {
            complain(problem->sentence, problem->remedy);
        }
    }

    void take_product() {
        numbers_.factor = {1};
        if (!is_half()) {
            return take_integers();
        }
        for (const double weight : wide_.weights) {
            numbers_.wide_weights.push_back(bits_of(weight));
        }
        for (const double bias : wide_.bias) {
            numbers_.bias.push_back(bits_of(bias));
        }
        if (wide_.most) {
            numbers_.most = bits_of(*wide_.most);
        }
    }
    static std::int16_t bits_of(double real) { return static_cast<std::int16_t>(to_float16(real)); }

    /// Largest magnitude that a kernel's sum and its bias may reach.
    double reach_of(std::size_t kernel) const {
        const std::size_t inner = wide_.weights.size() / static_cast<std::size_t>(group_.cube[1]);
        double sum = std::abs(bias_of(kernel));
        for (std::size_t i = 0; i < inner; ++i) {
            sum += std::abs(wide_.weights[kernel * inner + i]) * (largest_wide + 1);
        }
        return sum;
    }
    double reach() const {
        double most = 0;
        for (std::size_t k = 0; k < static_cast<std::size_t>(group_.cube[1]); ++k) {
            most = std::max(most, reach_of(k));
        }
        return most;
    }
    double bias_of(std::size_t kernel) const {
        return wide_.bias.empty() ? 0 : wide_.bias[kernel % wide_.bias.size()];
    }

    void take_integers() {
        for (const double weight : wide_.weights) {
            numbers_.wide_weights.push_back(static_cast<std::int16_t>(weight));
        }
        const double room = static_cast<double>(largest_sum) / 2;
        numbers_.sum_shift =
            static_cast<unsigned>(std::max(0.0, std::ceil(std::log2(reach() / room))));
        if (numbers_.sum_shift > most_sum_shift) {
            return complain(fmt::format("its sums may reach {:g}", reach()),
                            "take smaller weights");
        }
        const double unit = std::ldexp(1.0, static_cast<int>(numbers_.sum_shift));
        set_bias(unit);
        set_factors(unit);
    }
    /// The first stage adds the upper bits; where there are lower ones, the second adds them.
    void set_bias(double unit) {
        constexpr unsigned lower = 16;
        const auto kernels = static_cast<std::size_t>(group_.cube[1]);
        std::vector<std::int64_t> biases;
        for (std::size_t k = 0; k < kernels; ++k) {
            biases.push_back(to_integer(std::nearbyint(bias_of(k) / unit)));
        }
        const bool small = std::ranges::all_of(
            biases, [](std::int64_t bias) { return std::abs(bias) <= largest_operand; });
        numbers_.bias_shift = small ? 0 : lower;
        for (const std::int64_t bias : biases) {
            const std::int64_t upper = small ? bias : (bias + (1 << (lower - 1))) >> lower;
            numbers_.bias.push_back(static_cast<std::int16_t>(upper));
            if (!small) {
                numbers_.rest.push_back(
                    static_cast<std::int16_t>(bias - upper * (std::int64_t{1} << lower)));
            }
        }
    }
    void set_factors(double unit) {
        const double largest = *std::ranges::max_element(wide_.factors) * unit;
        const double least = *std::ranges::min_element(wide_.factors);
        const int shift = largest > 0 ? std::min(shift_before(largest), most_shift) : 0;
        if (!(least >= 0) || shift < 0 || !std::isfinite(largest)) {
            return complain(fmt::format("its scale is {:g}", largest), "scale it below 1");
        }
        numbers_.factor.clear();
        numbers_.factor_shift = static_cast<unsigned>(shift);
        for (std::size_t k = 0; k < static_cast<std::size_t>(group_.cube[1]); ++k) {
            const double factor = wide_.factors[wide_.factors.size() == 1 ? 0 : k] * unit;
            const double exact = std::ldexp(factor, shift);
            const double multiplier = std::nearbyint(exact);
            numbers_.factor.push_back(static_cast<std::int16_t>(multiplier));
            const double largest_result = std::min(largest_wide, reach_of(k) * factor / unit);
            if (std::abs(multiplier - exact) * largest_result > most_error * exact) {
                return complain(fmt::format("kernel {} has a scale of {:g}, too small beside the "
                                            "largest of {:g}",
                                            k, factor / unit, largest / unit),
                                "quantise its weights with a larger scale");
            }
        }
    }

    void take_sum() {
        if (is_half()) {
            return;
        }
        constexpr int factor_bits = 13;  // both shifted maps then fit 31 bits together
        const double ratio = wide_.first / wide_.second;
        const int left = factor_bits - std::ilogb(ratio);
        const double step = std::ldexp(wide_.second, -left);
        const int shift = std::min(shift_before(step), most_shift);
        if (!std::isfinite(ratio) || left < 0 || shift < 0) {
            return complain(
                fmt::format("it adds maps whose scales differ by a factor of {:g}", ratio),
                "leave out the smaller one");
        }
        numbers_.factor = {static_cast<std::int16_t>(std::nearbyint(std::ldexp(ratio, left)))};
        numbers_.residual_shift = static_cast<unsigned>(left);
        numbers_.convertor = {
            .offset = 0,
            .scale = static_cast<std::int16_t>(std::nearbyint(std::ldexp(step, shift))),
            .shift = static_cast<unsigned>(shift)};
    }

    const GraphView& model_;
    const NodeGroup& group_;
    const WideGroup& wide_;
    Precision precision_;
    Layer layer_;
    LayerNumbers& numbers_ = layer_.numbers.emplace();
    Diagnostics problems_;
};

}  // namespace

Layer lower_wide_group(const GraphView& model, const NodeGroup& group, Precision precision,
                       Diagnostics& problems) {
    return WideLowering(model, group, precision).lower(problems);
}

}  // namespace npuscope
