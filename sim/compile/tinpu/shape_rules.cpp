// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/compile/tinpu/restriction_check.h"

namespace npuscope {
namespace {

class ShapeRules {
 public:
    ShapeRules(const RestrictionCheck& check, const Candidate& candidate, Diagnostics& problems)
        : restrictions_(check.restrictions),
          view_(check.model.view),
          candidate_(candidate),
          problems_(problems) {}

    void run() {
        check_directions();
        check_batch();
        check_groups();
        check_channels();
        check_strides();
        check_kernel();
        check_residual();
    }

 private:
    void complain(std::string rule, std::string value, std::string allowed, std::string nearest,
                  std::string sentence) {
        problems_.push_back({.id = std::move(rule),
                             .sentence = std::move(sentence),
                             .operation = node_name(view_.node(candidate_.anchor)),
                             .value = std::move(value),
                             .allowed = std::move(allowed),
                             .nearest = std::move(nearest)});
    }

    const Sizes& given_sizes() const {
        return view_.sizes(view_.node(candidate_.anchor).inputs.front());
    }

    void check_directions() {
        const bool flat = candidate_.pattern == Pattern::Fc;
        if (!flat && given_sizes().size() != 4) {
            complain("conv_2d", fmt::format("{}-d", given_sizes().size() - 2), "2-d",
                     "2-d, with a height of 1", "convolutions and pools are 2-d");
        }
    }

    void check_batch() {
        if (candidate_.in[0] != restrictions_.batch) {
            const std::string batch = std::to_string(restrictions_.batch);
            complain(fmt::format("batch_{}", batch), std::to_string(candidate_.in[0]), batch, batch,
                     fmt::format("batch size is {}", batch));
        }
    }

    void check_groups() {
        const bool grouped =
            candidate_.pattern == Pattern::Fconv || candidate_.pattern == Pattern::Gconv ||
            candidate_.pattern == Pattern::Pwconv || candidate_.pattern == Pattern::Pwconvres ||
            candidate_.pattern == Pattern::Tconv;
        if (grouped && candidate_.groups != 1) {
            complain("groups_1", std::to_string(candidate_.groups), "1",
                     fmt::format("1, or {} (depth-wise)", candidate_.in[1]),
                     "groups is 1 except for depth-wise, which has as many kernels as channels");
        }
    }

    void check_multiple(std::int64_t channels, std::uint32_t multiple, const char* which) {
        if (multiple <= 1 || channels % multiple == 0) {
            return;
        }
        const std::int64_t step = multiple;
        const std::int64_t above = (channels + step - 1) / step * step;
        complain(fmt::format("channels_multiple_of_{}", multiple), std::to_string(channels),
                 fmt::format("multiple of {}", multiple), std::to_string(above),
                 fmt::format("{} channels are multiples of {}", which, multiple));
    }

    void check_channels() {
        const PatternLimits* limits =
            Restrictions::find(restrictions_.patterns, candidate_.pattern);
        if (limits == nullptr) {
            return;
        }
        const bool padded =
            candidate_.pattern == Pattern::Gconv && restrictions_.padded_channels == Verdict::Allow;
        const bool same = candidate_.in[1] == candidate_.out[1] &&
                          limits->input_channels == limits->output_channels;
        if (same && !padded) {
            check_multiple(candidate_.in[1], limits->input_channels, "input and output");
            return;
        }
        if (!padded) {
            check_multiple(candidate_.in[1], limits->input_channels, "input");
        }
        check_multiple(candidate_.out[1], limits->output_channels, "output");
    }

    static std::string pair(std::int64_t rows, std::int64_t columns) {
        return fmt::format("{}x{}", rows, columns);
    }

    void check_strides() {
        const WindowAxis height = candidate_.window.height();
        const WindowAxis width = candidate_.window.width();
        if (candidate_.pattern == Pattern::Tconv &&
            (height.stride != height.kernel || width.stride != width.kernel)) {
            complain("tconv_stride_eq_kernel",
                     fmt::format("kernel {}, strides {}", pair(height.kernel, width.kernel),
                                 pair(height.stride, width.stride)),
                     "stride = kernel",
                     fmt::format("strides {}", pair(height.kernel, width.kernel)),
                     "TCONV stride equals its kernel");
        }
        const bool dilated = height.dilation != 1 || width.dilation != 1;
        if (dilated && restrictions_.dilation == Verdict::Refuse) {
            complain("dilation_1", pair(height.dilation, width.dilation), "1x1", "1x1",
                     "kernels are not dilated");
        }
    }

    static bool is_listed(const PatternLimits& limits, const std::string& strides) {
        return std::find(limits.strides.begin(), limits.strides.end(), strides) !=
               limits.strides.end();
    }

    void check_kernel() {
        check_limits(Restrictions::find(restrictions_.patterns, candidate_.pattern));
        if (restrictions_.beyond_guidelines == Verdict::Refuse) {
            check_limits(Restrictions::find(restrictions_.guidelines, candidate_.pattern));
        }
    }

    void check_limits(const PatternLimits* limits) {
        if (limits == nullptr) {
            return;
        }
        const WindowAxis height = candidate_.window.height();
        const WindowAxis width = candidate_.window.width();
        const bool rows = limits->most_rows == 0 || height.kernel <= limits->most_rows;
        const bool columns = limits->most_columns == 0 || width.kernel <= limits->most_columns;
        if (limits->one_side ? !rows && !columns : !rows || !columns) {
            const auto text = [](std::uint32_t most) {
                return most == 0 ? std::string("any") : std::to_string(most);
            };
            complain("kernel_limit", pair(height.kernel, width.kernel),
                     fmt::format("at most {} x {}{}", text(limits->most_rows),
                                 text(limits->most_columns),
                                 limits->one_side ? ", one side is enough" : ""),
                     fmt::format("{} x {}", text(limits->most_rows), text(limits->most_columns)),
                     "the kernel is larger than the hardware takes");
        }
        const std::string strides = pair(height.stride, width.stride);
        if (!limits->strides.empty() && !is_listed(*limits, strides)) {
            complain("stride_limit", strides, fmt::format("{}", fmt::join(limits->strides, ", ")),
                     limits->strides.back(), "strides (rows x columns) are others");
        }
        const std::int64_t area = candidate_.window.kernel_area();
        if (area < limits->least_area) {
            complain("window_area", std::to_string(area),
                     fmt::format("at least {}", limits->least_area),
                     std::to_string(limits->least_area), "the window has too few elements");
        }
    }

    void check_residual() {
        const std::string& residual = candidate_.norm.residual;
        if (residual.empty()) {
            return;
        }
        const auto blame = [&](const char* rule, std::string value, const std::string& allowed,
                               std::string sentence) {
            problems_.push_back(broken_rule(view_.node(candidate_.norm.residual_node), rule,
                                            std::move(value), allowed, std::move(sentence)));
        };
        if (candidate_.pattern != Pattern::Pwconvres) {
            blame("residual_pointwise", std::string(enum_name(candidate_.pattern)),
                  "1x1 convolution", "residual input only on the point-wise convolution");
        }
        if (view_.sizes(residual) != view_.sizes(candidate_.output)) {
            blame("residual_shape", sizes_text(view_.sizes(residual)),
                  sizes_text(view_.sizes(candidate_.output)),
                  "the residual has the sizes of the output");
        }
    }

    const Restrictions& restrictions_;
    const GraphView& view_;
    const Candidate& candidate_;
    Diagnostics& problems_;
};

}  // namespace

void check_shapes(const RestrictionCheck& check, const Candidate& candidate,
                  Diagnostics& problems) {
    ShapeRules(check, candidate, problems).run();
}

void check_fc_inputs(const RestrictionCheck& check, const Candidate& candidate,
                     const WeightWidths& widths, Diagnostics& problems) {
    const std::int64_t inputs = candidate.in[1] * candidate.in[2] * candidate.in[3];
    const bool limited =
        candidate.pattern == Pattern::Fc && check.restrictions.beyond_guidelines == Verdict::Refuse;
    if (limited && inputs < widths.least_fc_inputs) {
        const std::string least = std::to_string(widths.least_fc_inputs);
        Diagnostic problem =
            broken_rule(check.model.view.node(candidate.anchor), "fc_inputs",
                        std::to_string(inputs), "at least " + least,
                        fmt::format("FC has too few inputs for {}-bit weights", widths.bits));
        problem.nearest = least;
        problems.push_back(std::move(problem));
    }
}

}  // namespace npuscope
