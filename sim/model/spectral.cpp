// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of signals, their windows, and the mel scale.
// source: ONNX operator definitions, opset 17 to 24
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

using Complex = std::complex<double>;

/// e^(2 pi i part / all)
Complex root_of_one(std::size_t part, std::size_t all) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(part % all) / static_cast<double>(all);
    return {std::cos(angle), std::sin(angle)};
}

std::size_t smallest_factor(std::size_t size) {
    for (std::size_t factor = 2; factor * factor <= size; ++factor) {
        if (size % factor == 0) {
            return factor;
        }
    }
    return size;
}

/// Checks the work of `count` transforms: each element takes as many steps as the length's prime
/// factors add up to.
void require_transforms(std::size_t count, std::size_t length) {
    std::size_t factors = 1;
    for (std::size_t rest = length; rest > 1;) {
        const std::size_t factor = smallest_factor(rest);
        factors += factor;
        rest /= factor;
    }
    require_work({count, length, factors});
}

/// Sums of x[k] * e^(-2 pi i j k / n) for all j, split by the factors of n.
std::vector<Complex> transformed(const std::vector<Complex>& signal) {
    const std::size_t size = signal.size();
    if (size <= 1) {
        return signal;
    }
    const std::size_t parts = smallest_factor(size);
    const std::size_t length = size / parts;
    std::vector<std::vector<Complex>> part(parts);
    for (std::size_t i = 0; i < size; ++i) {
        part[i % parts].push_back(signal[i]);
    }
    for (std::size_t p = 0; p < parts && length > 1; ++p) {
        part[p] = transformed(part[p]);
    }
    std::vector<Complex> roots(size);
    for (std::size_t i = 0; i < size; ++i) {
        roots[i] = std::conj(root_of_one(i, size));
    }
    std::vector<Complex> sums(size);
    for (std::size_t j = 0; j < size; ++j) {
        for (std::size_t p = 0; p < parts; ++p) {
            sums[j] += roots[j * p % size] * part[p][j % length];
        }
    }
    return sums;
}

constexpr std::int64_t longest_transform = std::int64_t{1} << 22U;

std::int64_t checked_length(std::int64_t length) {
    require(length >= 1 && length <= longest_transform,
            fmt::format("a transform of {} elements is not supported", length),
            fmt::format("lengths are 1 to {}", longest_transform));
    return length;
}

/// Frequencies of a transform: all, or only those that a real signal determines.
std::int64_t frequencies_of(std::int64_t length, bool one_sided) {
    return one_sided ? length / 2 + 1 : length;
}

// operands: signal with 1 or 2 numbers per element, length, axis (an attribute before opset 20)
struct Transform {
    explicit Transform(const Operands& operands)
        : one_sided(operands.node.integer("onesided", 0) != 0),
          inverse(operands.node.integer("inverse", 0) != 0) {
        const Sizes& in = operands.sizes(0);
        require(in.size() >= 2 && (in.back() == 1 || in.back() == 2),
                fmt::format("its signal is {}", sizes_text(in)),
                "its last dimension must be 1 (real) or 2 (complex)");
        const std::int64_t given =
            operands.has(2) ? to_integer(scalar_of(operands.at(2), "axis"))
                            : operands.node.integer("axis", operands.opset < 20 ? 1 : -2);
        axis = axis_index(given, in.size());
        require(axis + 1 < in.size(), "its axis is the one of real and imaginary parts",
                "choose another axis");
        length = checked_length(
            operands.has(1) ? to_integer(scalar_of(operands.at(1), "dft_length")) : in[axis]);
        require(!one_sided || (in.back() == 1 && !inverse),
                "a one-sided transform of complex numbers does not exist",
                "set attribute 'onesided' to 0");
    }

    bool one_sided;
    bool inverse;
    std::size_t axis = 0;
    std::int64_t length = 0;
};

Types transform_types(const Operands& operands) {
    require_float(operands, 0);
    const Transform transform(operands);
    Sizes out = operands.sizes(0);
    out[transform.axis] = frequencies_of(transform.length, transform.one_sided);
    out.back() = 2;
    return {{operands.element(0), out}};
}

Values transform_signal(const Operands& operands) {
    const Transform transform(operands);
    const GraphValue& input = operands.at(0);
    const Sizes& in = input.type.sizes;
    GraphValue result = zeros(transform_types(operands).front());
    const std::size_t parts = unsigned_of(in.back());
    const std::size_t step = steps_of(in)[transform.axis] / parts;  // in numbers of the signal
    const std::size_t from = unsigned_of(in[transform.axis]);
    const std::size_t to = unsigned_of(result.type.sizes[transform.axis]);
    const std::size_t used = std::min(from, unsigned_of(transform.length));
    const std::size_t rows = result.numbers.size() / (2 * to);
    require_transforms(rows, unsigned_of(transform.length));
    for (std::size_t row = 0; row < rows; ++row) {
        std::vector<Complex> signal(unsigned_of(transform.length));
        for (std::size_t k = 0; k < used; ++k) {
            const double* number =
                input.numbers.data() + ((row / step * from + k) * step + row % step) * parts;
            const Complex value{number[0], parts == 2 ? number[1] : 0.0};
            signal[k] = transform.inverse ? std::conj(value) : value;
        }
        const std::vector<Complex> sums = transformed(signal);
        for (std::size_t k = 0; k < to; ++k) {
            double* number =
                result.numbers.data() + ((row / step * to + k) * step + row % step) * 2;
            const Complex sum = transform.inverse
                                    ? std::conj(sums[k]) / static_cast<double>(signal.size())
                                    : sums[k];
            number[0] = sum.real();
            number[1] = sum.imag();
        }
    }
    return {std::move(result)};
}

// operands: signal [N L] or [N L 1 or 2], step, window, length of a frame
struct Frames {
    explicit Frames(const Operands& operands)
        : one_sided(operands.node.integer("onesided", 1) != 0),
          step(to_integer(scalar_of(operands.at(1), "frame_step"))) {
        const Sizes& in = operands.sizes(0);
        require(in.size() == 2 || (in.size() == 3 && (in[2] == 1 || in[2] == 2)),
                fmt::format("its signal is {}", sizes_text(in)),
                "it must be batch, length, and 1 (real) or 2 (complex)");
        parts = in.size() == 3 ? unsigned_of(in[2]) : 1;
        require(operands.has(2) || operands.has(3), "it has neither a window nor a frame length",
                "give one of them");
        require(!operands.has(2) || operands.sizes(2).size() == 1, "its window is not a vector",
                "give one number per element of a frame");
        length =
            checked_length(operands.has(3) ? to_integer(scalar_of(operands.at(3), "frame_length"))
                                           : operands.sizes(2)[0]);
        require(!operands.has(2) || operands.sizes(2)[0] == length,
                fmt::format("its window does not fit frames of {}", length),
                "give both the same length");
        require(step >= 1 && length <= in[1],
                fmt::format("frames of {} every {} elements do not fit a signal of {}", length,
                            step, in[1]),
                "the step is 1 or more, a frame is not longer than the signal");
        require(!one_sided || parts == 1, "a one-sided transform of complex numbers does not exist",
                "set attribute 'onesided' to 0");
        count = (in[1] - length) / step + 1;
    }

    bool one_sided;
    std::int64_t step;
    std::size_t parts = 1;  ///< numbers per element of the signal
    std::int64_t length = 0;
    std::int64_t count = 0;
};

Types frame_types(const Operands& operands) {
    require_float(operands, 0);
    const Frames frames(operands);
    return {
        {operands.element(0),
         {operands.sizes(0)[0], frames.count, frequencies_of(frames.length, frames.one_sided), 2}}};
}

Values transform_frames(const Operands& operands) {
    const Frames frames(operands);
    GraphValue result = zeros(frame_types(operands).front());
    const auto length = unsigned_of(operands.sizes(0)[1]);
    const auto kept = unsigned_of(result.type.sizes[2]);
    const std::size_t all = unsigned_of(operands.sizes(0)[0] * frames.count);
    require_transforms(all, unsigned_of(frames.length));
    for (std::size_t frame = 0; frame < all; ++frame) {
        const std::size_t batch = frame / unsigned_of(frames.count);
        const std::size_t first =
            batch * length + frame % unsigned_of(frames.count) * unsigned_of(frames.step);
        std::vector<Complex> signal(unsigned_of(frames.length));
        for (std::size_t k = 0; k < signal.size(); ++k) {
            const double* number = operands.at(0).numbers.data() + (first + k) * frames.parts;
            const double weight = operands.has(2) ? operands.at(2).numbers[k] : 1.0;
            signal[k] = Complex{number[0], frames.parts == 2 ? number[1] : 0.0} * weight;
        }
        const std::vector<Complex> sums = transformed(signal);
        for (std::size_t k = 0; k < kept; ++k) {
            result.numbers[(frame * kept + k) * 2] = sums[k].real();
            result.numbers[(frame * kept + k) * 2 + 1] = sums[k].imag();
        }
    }
    return {std::move(result)};
}

/// a - b cos(x) + c cos(2 x), x from 0 to 2 pi.
Values window_of(const Operands& operands, double a, double b, double c) {
    const std::int64_t size = to_integer(scalar_of(operands.at(0), "size"));
    require(size >= 0 && size <= most_made_elements, fmt::format("{} is not a valid size", size),
            "give the number of elements");
    const bool periodic = operands.node.integer("periodic", 1) != 0;
    const double whole = static_cast<double>(std::max<std::int64_t>(periodic ? size : size - 1, 1));
    const ElementType element = element_of(operands.node, "output_datatype", ElementType::Float32);
    return {fill({element, {size}}, [=](std::size_t i) {
        const double x = 2 * std::numbers::pi * static_cast<double>(i) / whole;
        return a - b * std::cos(x) + c * std::cos(2 * x);
    })};
}
Values hann_window(const Operands& operands) { return window_of(operands, 0.5, 0.5, 0); }
Values hamming_window(const Operands& operands) {
    return window_of(operands, 25.0 / 46, 21.0 / 46, 0);
}
Values blackman_window(const Operands& operands) { return window_of(operands, 0.42, 0.5, 0.08); }

// operands: bins, length of the transform, sample rate, lowest and highest frequency
Types mel_types(const Operands& operands) {
    const std::int64_t bins = to_integer(scalar_of(operands.at(0), "num_mel_bins"));
    const std::int64_t length = checked_length(to_integer(scalar_of(operands.at(1), "dft_length")));
    require(bins >= 0 && bins <= longest_transform, fmt::format("{} bins", bins),
            fmt::format("num_mel_bins must be 0 to {}", longest_transform));
    return {{element_of(operands.node, "output_datatype", ElementType::Float32),
             {length / 2 + 1, bins}}};
}

/// Frequencies at which the bins begin, peak and end, as indices of the transform.
std::vector<std::int64_t> edges_of(const Operands& operands, std::int64_t bins) {
    const auto mel = [&](std::size_t operand, const char* what) {
        return 2595 * std::log10(1 + scalar_of(operands.at(operand), what) / 700);
    };
    const double low = mel(3, "lower_edge_hertz");
    const double high = mel(4, "upper_edge_hertz");
    const double step = (high - low) / static_cast<double>(bins + 2);
    const double length = scalar_of(operands.at(1), "dft_length");
    const double rate = scalar_of(operands.at(2), "sample_rate");
    std::vector<std::int64_t> edges;
    for (std::int64_t i = 0; i < bins + 2; ++i) {
        const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
        const double index = std::floor((length + 1) * hertz / rate);
        require(index >= 0 && index <= std::floor(length / 2),
                fmt::format("a frequency of {} Hz is not in the transform", hertz),
                "correct its edges, or the sample rate");
        require(edges.empty() || to_integer(index) >= edges.back(), "its edges are exchanged",
                "the upper one must be above the lower one");
        edges.push_back(to_integer(index));
    }
    return edges;
}

Values mel_matrix(const Operands& operands) {
    GraphValue result = zeros(mel_types(operands).front());
    const std::int64_t bins = result.type.sizes[1];
    const std::vector<std::int64_t> edges = edges_of(operands, bins);
    for (std::int64_t bin = 0; bin < bins; ++bin) {
        const std::int64_t low = edges[unsigned_of(bin)];
        const std::int64_t middle = edges[unsigned_of(bin) + 1];
        const std::int64_t high = edges[unsigned_of(bin) + 2];
        const auto weight = [&](std::int64_t at) -> double& {
            return result.numbers[unsigned_of(at * bins + bin)];
        };
        for (std::int64_t at = low; at <= middle; ++at) {
            weight(at) = low == middle
                             ? 1
                             : static_cast<double>(at - low) / static_cast<double>(middle - low);
        }
        for (std::int64_t at = middle; at < high; ++at) {
            weight(at) = static_cast<double>(high - at) / static_cast<double>(high - middle);
        }
    }
    return {std::move(result)};
}

constexpr OperatorRow window(std::string_view op, Evaluate evaluate) {
    return row(op, {1, 1}, evaluate) | attributes("output_datatype periodic") | sized_by(0);
}

}  // namespace

std::span<const OperatorRow> spectral_operators() {
    static constexpr std::array rows{
        row("DFT", {1, 3}, transform_signal) | inferring(transform_types) |
            attributes("axis inverse onesided") | sized_by(1, 2),
        row("STFT", {2, 4}, transform_frames) | inferring(frame_types) | attributes("onesided") |
            sized_by(1, 3),
        window("HannWindow", hann_window),
        window("HammingWindow", hamming_window),
        window("BlackmanWindow", blackman_window),
        row("MelWeightMatrix", {5, 5}, mel_matrix) | inferring(mel_types) |
            attributes("output_datatype") | sized_by(0, 1)};
    return rows;
}

}  // namespace npuscope::host
