// SPDX-License-Identifier: Apache-2.0
// Geometry of convolutions and pools from a node's attributes: kernel, stride, dilation, padding
// and the resulting sizes. One to three spatial dimensions, the last two of which are height and
// width; 3D ones run only on the host.
// source: ONNX operator definitions of Conv, ConvTranspose, MaxPool, AveragePool
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

struct WindowAxis {
    std::int64_t in = 1;
    std::int64_t out = 1;
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t pad_begin = 0;
    std::int64_t pad_end = 0;

    std::int64_t span() const { return (kernel - 1) * dilation + 1; }
    /// The last window ends beyond the padding, as ceil_mode lets one; an average then has fewer
    /// elements there.
    bool overhangs() const { return (out - 1) * stride + span() > pad_begin + in + pad_end; }
};

struct Window {
    std::vector<WindowAxis> axes;  ///< 1 to 3, width last

    /// The axis of this dimension; a missing dimension has size 1.
    WindowAxis height() const { return axes.size() >= 2 ? axes[axes.size() - 2] : WindowAxis{}; }
    WindowAxis width() const { return axes.back(); }
    WindowAxis depth() const { return axes.size() >= 3 ? axes.front() : WindowAxis{}; }
    std::int64_t kernel_area() const { return height().kernel * width().kernel; }
    std::int64_t in_area() const { return height().in * width().in; }
    std::int64_t out_area() const { return height().out * width().out; }
    std::int64_t kernel_volume() const { return depth().kernel * kernel_area(); }
    std::int64_t in_volume() const { return depth().in * in_area(); }
    std::int64_t out_volume() const { return depth().out * out_area(); }
};

/// An attribute with one number for each of `axes` axes or paddings, or `fallback` for all of them.
std::vector<std::int64_t> per_axis(const GraphNode& node, const std::string& attribute,
                                   std::size_t axes, std::int64_t fallback);

/// For a convolution: `kernel` is the spatial size of its weights. ConfigError if attributes are
/// inconsistent, a stride is not positive, or the kernel exceeds its padded input.
Window conv_window(const GraphNode& node, const Sizes& input, const Sizes& kernel);
/// For a pool; its kernel is an attribute, and sizes may be rounded up (ceil_mode).
Window pool_window(const GraphNode& node, const Sizes& input);
/// For a transposed convolution: padding crops its output. `pad_end` is negative where the output
/// is larger than what the kernels cover.
Window transposed_window(const GraphNode& node, const Sizes& input, const Sizes& kernel);

}  // namespace npuscope
