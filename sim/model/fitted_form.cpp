// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/model/graph_edit.h"
#include "sim/model/layer_sequence.h"
#include "sim/model/window.h"

namespace npuscope {
namespace {

constexpr std::int64_t channel_step = 4;  // source: TI NNC for MCUs, User's Guide v2.1.0, 4.3.1

std::int64_t in_steps(std::int64_t channels) {
    return (channels + channel_step - 1) / channel_step * channel_step;
}

class Fitting {
 public:
    Fitting(const GraphView& view, ConvolvedLayer& form)
        : view_(view), form_(form), layer_(form.layer) {}

    void fit() {
        if (layer_.is_conv && form_.input.sizes.size() == 3) {
            convolve_row(form_);
        }
        const bool convolves = layer_.is_conv && form_.input.sizes.size() == 4;
        if (convolves) {
            join_groups();
            pad_kernels();
            pad_input();
        }
        crop_and_clip();
    }

 private:
    Sizes& weight_sizes() { return layer_.weights.type.sizes; }
    std::int64_t groups() const { return layer_.anchor.integer("group", 1); }
    bool is_depthwise() {
        return groups() > 1 && groups() == form_.input.sizes[1] && groups() == weight_sizes()[0];
    }

    /// Moves the weights into other sizes: `place` maps old kernel and channel to the new channel.
    template <class Place>
    void move_weights(const Sizes& sizes, Place place) {
        GraphValue moved = zeros({layer_.weights.type.element, sizes});
        const std::int64_t taps = sizes[2] * sizes[3];
        const Sizes old = weight_sizes();
        auto number = layer_.weights.numbers.begin();
        for (std::int64_t k = 0; k < old[0]; ++k) {
            for (std::int64_t c = 0; c < old[1]; ++c) {
                const std::int64_t at = (k * sizes[1] + place(k, c)) * taps;
                std::copy_n(number, taps, moved.numbers.begin() + at);
                number += taps;
            }
        }
        layer_.weights = std::move(moved);
    }

    /// Kernels of a group become kernels over all channels.
    void join_groups() {
        if (groups() == 1 || is_depthwise()) {
            return;
        }
        const Sizes old = weight_sizes();
        const std::int64_t per_group = old[0] / groups();
        move_weights({old[0], form_.input.sizes[1], old[2], old[3]},
                     [&](std::int64_t k, std::int64_t c) { return k / per_group * old[1] + c; });
        layer_.anchor.attributes.erase("group");
    }

    /// Adds kernels without weights up to a multiple of four.
    void pad_kernels() {
        const Sizes old = weight_sizes();
        kernels_ = old[0];
        const std::int64_t channels = form_.input.sizes[1];
        const bool one = channels == 1 && old[2] * old[3] > 1;  // FCONV
        channels_ = one ? 1 : in_steps(channels);
        const std::int64_t wanted = in_steps(kernels_);
        if (is_depthwise()) {
            layer_.anchor.attributes["group"] = wanted;
        }
        move_weights({wanted, old[1] == channels ? channels_ : old[1], old[2], old[3]},
                     [](std::int64_t, std::int64_t c) { return c; });
        for (auto* numbers : {&layer_.bias, &layer_.factors}) {
            if (numbers->size() > 1) {
                numbers->resize(static_cast<std::size_t>(wanted),
                                numbers == &layer_.bias ? 0 : numbers->front());
            }
        }
        form_.output.sizes[1] = wanted;
    }

    /// Pads channels to a multiple of four; rows and columns if padding is not 0.
    void pad_input() {
        const Sizes in = form_.input.sizes;
        std::vector<std::int64_t> pads(8, 0);
        const Window window =
            conv_window(layer_.anchor, in, {weight_sizes()[2], weight_sizes()[3]});
        note_cut(window);
        if (layer_.input_zero != 0 && has_padding(layer_.anchor)) {
            pads = {0, 0, window.height().pad_begin, window.width().pad_begin,
                    0, 0, window.height().pad_end,   window.width().pad_end};
            layer_.anchor.attributes.erase("auto_pad");
            layer_.anchor.attributes["pads"] = std::vector<std::int64_t>(4, 0);
        }
        pads[5] = channels_ - in[1];
        if (std::ranges::count(pads, 0) == std::ssize(pads)) {
            return;
        }
        for (std::size_t i = 0; i < in.size(); ++i) {
            form_.input.sizes[i] += pads[i] + pads[i + in.size()];
        }
        form_.before.add("Pad", layer_.input, "pad", form_.input);
        form_.before.with("pads", pads)
            .with("value", scalar_value(form_.input.element, layer_.input_zero));
        layer_.input = form_.before.last();
    }

    void note_cut(const Window& window) {
        const auto lost = [](const WindowAxis& axis, std::int64_t pad) {
            return std::min((pad + axis.dilation - 1) / axis.dilation, axis.kernel);
        };
        const WindowAxis height = window.height();
        const WindowAxis width = window.width();
        form_.cut = {lost(height, height.pad_begin), lost(width, width.pad_begin),
                     lost(height, height.pad_end), lost(width, width.pad_end)};
    }

    void crop_and_clip() {
        const std::string result = layer_.output;
        const std::string own = node_name(layer_.anchor) + "/fit";
        const NumberRange all = range_of(layer_.output_type);
        std::string at = own;
        if (kernels_ != 0 && kernels_ != form_.output.sizes[1]) {
            form_.output.sizes[1] = kernels_;
            form_.fit.add("Slice", at, "cut", form_.output);
            form_.fit.with("begin", {0}).with("end", {kernels_}).with("axes", {1});
            at = form_.fit.last();
        }
        if (layer_.low > all.low || layer_.high < all.high) {
            GraphNode& clip = form_.fit.add("Clip", at, "limit", form_.output);
            if (view_.graph().opset < 11) {
                clip.attributes["min"] = layer_.low;
                clip.attributes["max"] = layer_.high;
            } else {
                form_.fit.with("low", scalar_value(form_.output.element, layer_.low))
                    .with("high", scalar_value(form_.output.element, layer_.high));
            }
            layer_.low = all.low;
            layer_.high = all.high;
        }
        if (!form_.fit.empty()) {
            form_.fit.end_as(result);
            layer_.output = own;
        }
    }

    const GraphView& view_;
    ConvolvedLayer& form_;
    QuantisedLayer& layer_;
    std::int64_t kernels_ = 0;  ///< of the layer itself; 0: not a convolution
    std::int64_t channels_ = 0;
};

}  // namespace

void fit_patterns(const GraphView& view, ConvolvedLayer& form) {
    if (form.layer.obstacle.empty() && !form.layer.is_pool) {
        Fitting(view, form).fit();
    }
}

}  // namespace npuscope
