// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/tensor_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "models/base/error.h"
#include "models/layout/pixel_format.h"
#include "sim/config/element_type.h"

namespace npuscope {
namespace {

bool is_feature(std::uint8_t format) {
    return format == loadable_feature || format == loadable_feature_x8;
}

/// A format of one plane of whole bytes; null for others.
const PixelFormat* byte_pixels(std::uint8_t format) {
    const PixelFormat* row =
        is_feature(format) ? nullptr : find_pixel_format(std::uint32_t{format});
    return row != nullptr && row->planes == 1 && !row->packed_word ? row : nullptr;
}

struct Element {
    std::uint64_t n = 0, c = 0, h = 0, w = 0;
};

/// Offsets of the elements of a tensor in its buffer.
class Places {
 public:
    explicit Places(const BoundTensor& bound)
        : tensor_(bound.tensor),
          atom_(tensor_.pixel_format == loadable_feature_x8 ? 8 : bound.memory_atom.value),
          element_(element_row(tensor_type(tensor_).element).bytes),
          pixels_(byte_pixels(tensor_.pixel_format)) {
        if (!is_feature(tensor_.pixel_format) && pixels_ == nullptr) {
            throw ConfigError(fmt::format("tensor '{}' has pixel format {}, whose components are "
                                          "not whole bytes of a single plane",
                                          bound.name, tensor_.pixel_format),
                              "give its buffer as raw bytes: a .bin file");
        }
        if (pixels_ != nullptr && unsigned_of(tensor_.c) > pixels_->channels) {
            throw ConfigError(
                fmt::format("tensor '{}' has {} channels, but its pixel format {} has {}",
                            bound.name, tensor_.c, pixels_->name, pixels_->channels),
                "compile the loadable again");
        }
        const std::uint64_t end = largest();
        if (end > tensor_.size) {
            throw ConfigError(fmt::format("the elements of tensor '{}' end at byte {} of its {}",
                                          bound.name, end, tensor_.size),
                              "compile the loadable again, or copy it again");
        }
    }

    std::uint64_t of(const Element& at) const {
        const std::uint64_t image =
            tensor_.n > 1 ? at.n * (tensor_.size / unsigned_of(tensor_.n)) : 0;
        if (pixels_ != nullptr) {
            const auto place = std::ranges::find(pixels_->order, at.c) - pixels_->order.begin();
            return image + at.h * tensor_.strides[1] +
                   (at.w * pixels_->channels + static_cast<std::uint64_t>(place)) * element_;
        }
        const std::uint64_t channels = atom_ / element_;
        return image + at.c / channels * tensor_.strides[2] + at.h * tensor_.strides[1] +
               at.w * atom_ + at.c % channels * element_;
    }

    /// Calls `use(place)` for all elements, N C H W.
    template <class Use>
    void each(const Use& use) const {
        const auto [n, c, h, w] = sizes();
        Element at;
        for (at.n = 0; at.n < n; ++at.n) {
            for (at.c = 0; at.c < c; ++at.c) {
                for (at.h = 0; at.h < h; ++at.h) {
                    for (at.w = 0; at.w < w; ++at.w) {
                        use(of(at));
                    }
                }
            }
        }
    }
    std::uint64_t element() const { return element_; }

    /// Calls `use(begin, end)` for all lines of atoms, up to their last element, or of pixels.
    template <class Use>
    void each_line(const Use& use) const {
        const auto [n, c, h, w] = sizes();
        const std::uint64_t step =
            pixels_ != nullptr ? std::max<std::uint64_t>(c, 1) : atom_ / element_;
        for (std::uint64_t image = 0; image < n; ++image) {
            for (std::uint64_t channel = 0; channel < c && w > 0; channel += step) {
                const std::uint64_t line =
                    pixels_ != nullptr ? w * pixels_->channels * element_
                                       : (w - 1) * atom_ + std::min(step, c - channel) * element_;
                for (std::uint64_t row = 0; row < h; ++row) {
                    const std::uint64_t begin =
                        of({image, pixels_ != nullptr ? pixels_->order.front() : channel, row, 0});
                    use(begin, std::min(begin + line, tensor_.size));
                }
            }
        }
    }

 private:
    static std::uint64_t unsigned_of(std::int32_t number) {
        return static_cast<std::uint64_t>(number);
    }
    std::array<std::uint64_t, 4> sizes() const {
        return {unsigned_of(tensor_.n), unsigned_of(tensor_.c), unsigned_of(tensor_.h),
                unsigned_of(tensor_.w)};
    }
    std::uint64_t largest() const {
        const auto [n, c, h, w] = sizes();
        if (n * c * h * w == 0) {
            return 0;
        }
        std::uint64_t end = 0;
        for (std::uint64_t channel = c; channel > 0 && channel + 32 > c; --channel) {
            end = std::max(end, of({n - 1, channel - 1, h - 1, w - 1}) + element_);
        }
        return end;
    }

    const LoadableTensor& tensor_;
    std::uint64_t atom_;
    std::uint64_t element_;
    const PixelFormat* pixels_;
};

ElementType element_type(const LoadableTensor& tensor) {
    switch (tensor.type) {
        case LoadableType::Half:
            return ElementType::Float16;
        case LoadableType::Int16:
            return ElementType::Int16;
        case LoadableType::Int8:
            return ElementType::Int8;
        case LoadableType::Float:
            return ElementType::Float32;
        case LoadableType::Unknown:
            break;
    }
    throw ConfigError(fmt::format("tensor '{}' has data type {}, which is not known", tensor.name,
                                  static_cast<unsigned>(tensor.type)),
                      "float is 1, half 2, int16 3, int8 4");
}

}  // namespace

std::vector<BoundTensor> bound_tensors(const Loadable& loadable, bool inputs, Bytes memory_atom) {
    std::vector<BoundTensor> all;
    for (const LoadableMemory& memory : loadable.memories) {
        if (inputs ? !memory.is_input() : !memory.is_output()) {
            continue;
        }
        BoundTensor one{.tensor = loadable.tensors[memory.tensor],
                        .bind_id = memory.bind_id,
                        .address = {},
                        .memory_atom = memory_atom,
                        .name = {}};
        one.name = one.tensor.name.empty()
                       ? fmt::format("{}_{}", inputs ? "input" : "output", memory.bind_id)
                       : one.tensor.name;
        all.push_back(std::move(one));
    }
    std::ranges::sort(all, {}, &BoundTensor::bind_id);
    std::set<std::string> names;
    for (BoundTensor& one : all) {
        while (!names.insert(one.name).second) {
            one.name += fmt::format("_{}", one.bind_id);
        }
    }
    return all;
}

bool has_elements(const LoadableTensor& tensor) {
    return tensor.type != LoadableType::Unknown &&
           (is_feature(tensor.pixel_format) || byte_pixels(tensor.pixel_format) != nullptr);
}

void check_elements(const BoundTensor& bound) { const Places checked(bound); }

std::vector<ByteRun> bytes_of_elements(const BoundTensor& bound) {
    std::vector<ByteRun> runs;
    Places(bound).each_line([&](std::uint64_t begin, std::uint64_t end) {
        runs.push_back({bound.address + Bytes(begin), Bytes(end - begin)});
    });
    return runs;
}

TensorType tensor_type(const LoadableTensor& tensor) {
    TensorType type{element_type(tensor), {tensor.n, tensor.c, tensor.h, tensor.w}};
    count_elements(type.sizes);
    return type;
}

std::string tensor_layout_text(const LoadableTensor& tensor, Bytes memory_atom) {
    if (!is_feature(tensor.pixel_format) || tensor.n != 1 || tensor.type == LoadableType::Unknown) {
        return "";
    }
    const std::uint64_t atom = tensor.pixel_format == loadable_feature_x8 ? 8 : memory_atom.value;
    const std::uint64_t element = element_row(element_type(tensor)).bytes;
    const std::uint64_t channels = std::max<std::uint64_t>(atom / element, 1);
    const auto c = static_cast<std::uint64_t>(std::max(tensor.c, 0));
    const auto h = static_cast<std::uint64_t>(std::max(tensor.h, 0));
    const std::uint64_t line = atom * static_cast<std::uint64_t>(std::max(tensor.w, 0));
    // with one line, or one surface, no stride is given
    const std::uint64_t lines = std::max<std::uint64_t>(tensor.strides[1], line);
    const std::uint64_t surfaces = std::max<std::uint64_t>(tensor.strides[2], lines * h);
    const bool told =
        (h <= 1 || tensor.strides[1] == lines) && (c <= channels || tensor.strides[2] == surfaces);
    return told ? fmt::format("N C/{0}:{1} H:{2} W:{3} C%{0}", channels, surfaces, lines, atom)
                : "";
}

std::vector<std::uint8_t> tensor_bytes(const BoundTensor& bound, const GraphValue& value) {
    const Places places(bound);
    const ElementType type = tensor_type(bound.tensor).element;
    const bool pixels = byte_pixels(bound.tensor.pixel_format) != nullptr;
    NumberRange range = range_of(type);
    if (pixels && !is_float(type)) {
        range.high = 2 * range.high + 1;  // pixels are unsigned
    }
    std::vector<std::uint8_t> bytes(bound.tensor.size);
    std::size_t index = 0;
    places.each([&](std::uint64_t place) {
        const double number = value.numbers[index++];
        if (!is_float(type) &&
            (number != std::trunc(number) || number < range.low || number > range.high)) {
            throw ConfigError(fmt::format("tensor '{}' holds {}, which is not an integer from {} "
                                          "to {}",
                                          bound.name, number, range.low, range.high),
                              "give values in the range the loadable was compiled for");
        }
        std::string element;
        const double stored =
            is_float(type) || number <= range_of(type).high ? number : number - (range.high + 1);
        append_elements(type, std::span(&stored, 1), element);
        std::ranges::copy(element, bytes.begin() + static_cast<std::ptrdiff_t>(place));
    });
    return bytes;
}

GraphValue tensor_value(const BoundTensor& bound, std::span<const std::uint8_t> bytes) {
    const Places places(bound);
    GraphValue value{tensor_type(bound.tensor), {}};
    places.each([&](std::uint64_t place) {
        value.numbers.push_back(
            read_elements(value.type.element, bytes.subspan(place, places.element())).front());
    });
    return value;
}

DumpedBytes parse_tensor_dump(std::span<const std::uint8_t> file, const std::string& name) {
    constexpr std::size_t header = 36;
    const auto fail = [&](const std::string& sentence) {
        throw ConfigError(Place{name}, sentence, "dump the tensor again with nvdla_runtime");
    };
    if (file.size() < header) {
        fail(fmt::format("the file has {} byte{}, but a dump's header alone has {}", file.size(),
                         file.size() == 1 ? "" : "s", header));
    }
    const auto word = [&](std::size_t index) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            value |= std::uint64_t{file[4 * index + i]} << (8 * i);
        }
        return value;
    };
    const std::uint64_t format = word(2), width = word(3), height = word(4), channels = word(5);
    const std::uint64_t line = word(6), surface = word(7);
    DumpedBytes dump;
    dump.sizes = {static_cast<std::int64_t>(channels), static_cast<std::int64_t>(height),
                  static_cast<std::int64_t>(width)};
    const std::uint64_t elements = count_elements(dump.sizes);
    const std::uint64_t held = file.size() - header;
    // format numbers moved by one when 8-byte atoms were added: bytes tell them apart
    // source: NVDLA sw, DlaImage.h: 40, 41 int8 in atoms of 32 and 8 bytes, 42 int16, 43 fp16
    const bool is_known = format >= 40 && format <= 43;
    dump.element = held == elements ? 1 : 2;
    if (!is_known || held != elements * dump.element || elements == 0) {
        fail(fmt::format("format {} with {} bytes for {} elements is not the dump of a feature map",
                         format, held, elements));
    }
    const std::uint64_t atom = format == 41 && dump.element == 1 ? 8 : 32;
    const std::uint64_t per_atom = atom / dump.element;
    for (std::uint64_t c = 0; c < channels; ++c) {
        for (std::uint64_t h = 0; h < height; ++h) {
            for (std::uint64_t w = 0; w < width; ++w) {
                dump.places.push_back(c / per_atom * surface + h * line + w * atom +
                                      c % per_atom * dump.element);
            }
        }
    }
    dump.elements.assign(file.begin() + header, file.end());
    return dump;
}

}  // namespace npuscope
