// SPDX-License-Identifier: Apache-2.0
// Convolutions beyond the registers of a convolution unit, as ones within them on a map that the
// host rearranges. Results are the same:
//
//    padding       is stored as rows and columns of the map
//    a stride s    s x s places become channels: kernels of size / s, rounded up, and a stride of 1
//    a long kernel of stride s: p s places become channels, and p neighbouring results kernels, each
//                  with the taps that its own window has; the host puts the results in a row again
//    a dilation d  of one row, whose every d-th position becomes a column of its own: one of 1
//    1 x 1         over more channels than a map has: a product
#include <algorithm>

#include "sim/model/graph_edit.h"
#include "sim/model/layer_sequence.h"
#include "sim/model/window.h"

namespace npuscope {
namespace {

// source: NVDLA_CSC.rdl, D_CONV_STRIDE_EXT, D_DILATION_EXT, D_WEIGHT_SIZE_EXT_0, D_ZERO_PADDING,
// D_DATAIN_SIZE_EXT_1
constexpr std::int64_t largest_stride = 8;
constexpr std::int64_t largest_dilation = 32;
constexpr std::int64_t largest_kernel = 32;
constexpr std::int64_t largest_padding = 31;
constexpr std::int64_t most_channels = 8192;

/// How a map's rows or columns are rearranged.
struct AxisFit {
    WindowAxis axis;
    std::int64_t fold = 1;     ///< places that become channels
    std::int64_t results = 1;  ///< neighbouring ones that become kernels
    std::int64_t size = 0;     ///< of the map that is stored, before they do

    explicit AxisFit(const WindowAxis& window) : axis(window), size(window.in) {
        if (axis.dilation == 1 && (axis.stride > largest_stride || axis.kernel > largest_kernel)) {
            fold = axis.stride;
            while (taps() > largest_kernel) {
                fold = ++results * axis.stride;
            }
            size = fold * (out() - 1 + taps());
        } else if (pads()) {
            size = axis.in + axis.pad_begin + axis.pad_end;
        }
    }
    /// A window may not lie in the padding altogether.
    bool pads() const {
        return fold > 1 ||
               std::max(axis.pad_begin, axis.pad_end) > std::min(largest_padding, axis.span() - 1);
    }
    std::int64_t taps() const {
        return (axis.kernel + (results - 1) * axis.stride + fold - 1) / fold;
    }
    std::int64_t out() const { return (axis.out + results - 1) / results; }
    std::int64_t stride() const { return fold > 1 ? 1 : axis.stride; }
    std::int64_t pad_begin() const { return pads() ? 0 : axis.pad_begin; }
    std::int64_t pad_end() const { return pads() ? 0 : axis.pad_end; }
};

class RegisterFitting {
 public:
    explicit RegisterFitting(ConvolvedLayer& form) : form_(form), layer_(form.layer) {}

    void fit() {
        if (!layer_.is_conv || layer_.is_transposed) {
            return;
        }
        const bool line = form_.input.sizes.size() == 3;
        if (!line && form_.input.sizes.size() != 4) {
            return;
        }
        if ((line && !beyond(window())) || grows_too_large(window())) {
            return;
        }
        if (line) {
            convolve_row(form_);
        }
        if (is_wide_product()) {
            multiply();
            return;
        }
        split_dilation();
        store_map();
    }

 private:
    Sizes& weight_sizes() { return layer_.weights.type.sizes; }
    Window window() {
        return conv_window(layer_.anchor, form_.input.sizes,
                           {weight_sizes().begin() + 2, weight_sizes().end()});
    }
    static bool beyond(const Window& window) {
        return std::ranges::any_of(window.axes, [](const WindowAxis& axis) {
            const AxisFit fit(axis);
            return fit.fold > 1 || fit.pads() || axis.dilation > largest_dilation;
        });
    }

    /// Channels or kernels that no map has, or more weights than are worth it.
    bool grows_too_large(const Window& window) {
        constexpr std::int64_t most_weights = std::int64_t{1} << 24U;
        std::int64_t channels = form_.input.sizes[1];
        std::int64_t kernels = weight_sizes()[0];
        std::int64_t taps = weight_sizes()[1];
        bool folds = false;
        for (const WindowAxis& axis : window.axes) {
            const AxisFit fit(axis);
            channels *= fit.fold;
            kernels *= fit.results;
            taps *= fit.fold * fit.taps();
            folds = folds || fit.fold > 1;
        }
        return folds &&
               (std::max(channels, kernels) > most_channels || kernels * taps > most_weights);
    }

    bool is_wide_product() {
        const Sizes& in = form_.input.sizes;
        return in[1] > most_channels && in[2] == 1 && in[3] == 1 && weight_sizes()[2] == 1 &&
               weight_sizes()[3] == 1 && layer_.anchor.integer("group", 1) == 1 &&
               form_.output.sizes[2] == 1 && form_.output.sizes[3] == 1;
    }

    /// Of the channels, as if they had been flattened.
    void multiply() {
        const TensorType result = form_.output;
        const std::string rows = node_name(layer_.anchor) + "/rows";
        form_.input.sizes.resize(2);
        form_.before.reshape(layer_.input, "flat", form_.input);
        form_.fit.reshape(rows, "stored", result);
        form_.fit.end_as(layer_.output);
        form_.output.sizes.resize(2);
        layer_.input = form_.before.last();
        layer_.output = rows;
        weight_sizes().resize(2);
        layer_.weights = transposed(layer_.weights);
        layer_.is_conv = false;
        layer_.anchor.attributes = {};
    }

    /// The map as `sizes`, its further rows and columns at the end with the value of padding.
    void pad(const std::vector<std::int64_t>& begin, const Sizes& sizes) {
        const Sizes in = form_.input.sizes;
        std::vector<std::int64_t> pads(8, 0);
        Sizes kept = in;
        for (std::size_t i = 0; i < 2; ++i) {
            kept[2 + i] = std::min(in[2 + i], sizes[2 + i] - begin[i]);
            pads[2 + i] = begin[i];
            pads[6 + i] = sizes[2 + i] - begin[i] - kept[2 + i];
        }
        if (kept != in) {
            form_.input.sizes = kept;
            form_.before.add("Slice", layer_.input, "cut", form_.input);
            form_.before.with("begin", {0, 0}).with("end", {kept[2], kept[3]}).with("axes", {2, 3});
            layer_.input = form_.before.last();
        }
        if (kept == sizes) {
            return;
        }
        form_.input.sizes = sizes;
        form_.before.add("Pad", layer_.input, "pad", form_.input);
        form_.before.with("pads", pads)
            .with("value", scalar_value(form_.input.element, layer_.input_zero));
        layer_.input = form_.before.last();
    }

    /// Every position of a step of the dilation gets a column, whose rows are then dense.
    void split_dilation() {
        const WindowAxis row = window().width();
        const Sizes in = form_.input.sizes;
        if (row.dilation <= largest_dilation || row.stride != 1 || in[2] != 1 ||
            weight_sizes()[2] != 1) {
            return;
        }
        const std::int64_t steps =
            (row.in + row.pad_begin + row.pad_end + row.dilation - 1) / row.dilation;
        pad({0, row.pad_begin}, {in[0], in[1], 1, steps * row.dilation});
        form_.input.sizes = {in[0], in[1], steps, row.dilation};
        form_.before.reshape(layer_.input, "columns", form_.input);
        layer_.input = form_.before.last();

        const TensorType result = form_.output;
        const std::string columns = node_name(layer_.anchor) + "/columns";
        const std::int64_t rows = steps - row.kernel + 1;
        NodeChain after(node_name(layer_.anchor));
        after.reshape(columns, "row_of_columns",
                      {result.element, {in[0], result.sizes[1], 1, rows * row.dilation}});
        if (rows * row.dilation != result.sizes[3]) {
            after.add("Slice", after.last(), "crop", result);
            after.with("begin", {0}).with("end", {result.sizes[3]}).with("axes", {3});
        }
        after.end_as(layer_.output);
        form_.fit = std::move(after);
        form_.output.sizes = {in[0], result.sizes[1], rows, row.dilation};
        layer_.output = columns;
        std::swap(weight_sizes()[2], weight_sizes()[3]);
        set_window({1, 1}, {0, 0, 0, 0});
    }

    void set_window(const std::vector<std::int64_t>& strides,
                    const std::vector<std::int64_t>& pads) {
        layer_.anchor.attributes.erase("auto_pad");
        layer_.anchor.attributes.erase("dilations");
        layer_.anchor.attributes["kernel_shape"] = Sizes{weight_sizes()[2], weight_sizes()[3]};
        layer_.anchor.attributes["strides"] = strides;
        layer_.anchor.attributes["pads"] = pads;
    }

    void store_map() {
        const Window whole = window();
        const AxisFit y(whole.height());
        const AxisFit x(whole.width());
        if (!y.pads() && !x.pads()) {
            return;
        }
        const Sizes in = form_.input.sizes;
        pad({y.pads() ? y.axis.pad_begin : 0, x.pads() ? x.axis.pad_begin : 0},
            {in[0], in[1], y.size, x.size});
        const std::vector<std::int64_t> dilations = per_axis(layer_.anchor, "dilations", 2, 1);
        if (y.fold > 1 || x.fold > 1) {
            fold(y, x);
        }
        set_window({y.stride(), x.stride()},
                   {y.pad_begin(), x.pad_begin(), y.pad_end(), x.pad_end()});
        layer_.anchor.attributes["dilations"] = dilations;
    }

    /// Channel c, place (a, b) becomes channel (c * rows + a) * columns + b.
    void fold(const AxisFit& y, const AxisFit& x) {
        const Sizes in = form_.input.sizes;
        const std::int64_t rows = in[2] / y.fold;
        const std::int64_t columns = in[3] / x.fold;
        const ElementType element = form_.input.element;
        form_.before.reshape(layer_.input, "places",
                             {element, {in[0] * in[1], rows, y.fold, columns, x.fold}});
        form_.before.transpose(form_.before.last(), "channels",
                               {element, {in[0] * in[1], y.fold, x.fold, rows, columns}},
                               {0, 2, 4, 1, 3});
        form_.input.sizes = {in[0], in[1] * y.fold * x.fold, rows, columns};
        form_.before.reshape(form_.before.last(), "folded", form_.input);
        layer_.input = form_.before.last();
        fold_weights(y, x);
        if (y.results * x.results > 1) {
            layer_.bias = repeated(layer_.bias, y.results * x.results);
            layer_.factors = repeated_scales(layer_.factors, y.results * x.results);
            unfold_results(y, x);
        }
    }

    /// Result (a, b) of kernel k is that of kernel (k * rows + a) * columns + b.
    void fold_weights(const AxisFit& y, const AxisFit& x) {
        const Sizes old = weight_sizes();
        const Sizes sizes{old[0] * y.results * x.results, old[1] * y.fold * x.fold, y.taps(),
                          x.taps()};
        GraphValue folded = zeros({layer_.weights.type.element, sizes});
        const auto place = [&](std::int64_t kernel, std::int64_t channel, std::int64_t row,
                               std::int64_t column) {
            const std::int64_t map =
                ((kernel * old[1] + channel) * y.fold + row % y.fold) * x.fold + column % x.fold;
            const std::int64_t at = (map * sizes[2] + row / y.fold) * sizes[3] + column / x.fold;
            return static_cast<std::size_t>(at);
        };
        for (std::int64_t kernel = 0; kernel < sizes[0]; ++kernel) {
            const std::int64_t top = kernel / x.results % y.results * y.axis.stride;
            const std::int64_t left = kernel % x.results * x.axis.stride;
            auto number = layer_.weights.numbers.begin() +
                          kernel / (y.results * x.results) * old[1] * old[2] * old[3];
            for (std::int64_t channel = 0; channel < old[1]; ++channel) {
                for (std::int64_t r = 0; r < old[2]; ++r) {
                    for (std::int64_t s = 0; s < old[3]; ++s, ++number) {
                        folded.numbers[place(kernel, channel, top + r, left + s)] = *number;
                    }
                }
            }
        }
        layer_.weights = std::move(folded);
    }

    /// From kernels back to rows and columns.
    void unfold_results(const AxisFit& y, const AxisFit& x) {
        const TensorType result = form_.output;
        const Sizes& out = result.sizes;
        const std::string folded = node_name(layer_.anchor) + "/folded_results";
        const auto blocks = [](const AxisFit& axis) {
            return BlockAxis{axis.results, axis.out() * axis.results, 0, axis.axis.out};
        };
        form_.output.sizes = {out[0], out[1] * y.results * x.results, y.out(), x.out()};
        spread_blocks(form_.order, folded, result, blocks(y), blocks(x));
        form_.order.end_as(layer_.output);
        layer_.output = folded;
    }

    ConvolvedLayer& form_;
    QuantisedLayer& layer_;
};

}  // namespace

void fit_registers(ConvolvedLayer& form) {
    if (form.layer.obstacle.empty() && !form.layer.is_pool) {
        RegisterFitting(form).fit();
    }
}

}  // namespace npuscope
