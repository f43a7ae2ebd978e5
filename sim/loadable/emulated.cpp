// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/emulated.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "models/base/error.h"
#include "sim/config/element_type.h"

namespace npuscope {
namespace {

// source: NVDLA sw, emu_interface.h: sizes of a network, a pair of buffers and an operation
constexpr std::size_t network_bytes = 256;
constexpr std::size_t buffer_bytes = 256;
constexpr std::size_t first_operation_bytes = 16;
constexpr std::size_t operation_bytes = 24;

template <class Number>
Number number_at(std::span<const std::uint8_t> bytes, std::size_t place) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
        value |= std::uint64_t{bytes[place + i]} << (8 * i);
    }
    if constexpr (std::is_same_v<Number, float>) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(value));
    } else {
        return static_cast<Number>(value);
    }
}

std::uint64_t element_bytes(EmulatedFormat format) {
    return format == EmulatedFormat::Fp16 ? 2 : 1;
}
/// Bytes of a surface's atom: determined by the format, not the NPU.
std::uint64_t atom_bytes(EmulatedFormat format) {
    return format == EmulatedFormat::Int8Narrow ? 8 : 32;
}

class Reader {
 public:
    Reader(const EmulatedList& list, const LoadableVersion& newest, std::string who,
           std::string file)
        : list_(list), newest_(newest), who_(std::move(who)), file_(std::move(file)) {}

    std::vector<EmulatedOperation> read() {
        const auto network = list_(0, "network");
        require(network.size() >= network_bytes,
                fmt::format("its network has {} bytes, not {}", network.size(), network_bytes));
        const auto operations = list_(number_at<std::int16_t>(network, 0), "list of operations");
        const auto buffers = list_(number_at<std::int16_t>(network, 2), "list of buffers");
        const std::size_t count = number_at<std::uint16_t>(network, 4);
        has_scales_ = operations.size() == first_operation_bytes * count ? false
                      : operations.size() == operation_bytes * count
                          ? true
                          : newest_ >= LoadableVersion{0, 12, 0};
        const std::size_t size = has_scales_ ? operation_bytes : first_operation_bytes;
        require(operations.size() >= size * count,
                fmt::format("{} operations of {} bytes exceed the {} bytes of their list", count,
                            size, operations.size()));
        require(buffers.size() >= 2 * buffer_bytes * count,
                fmt::format("the buffers of {} operations do not fit the {} bytes of their list",
                            count, buffers.size()));
        std::vector<EmulatedOperation> all;
        for (std::size_t i = 0; i < count; ++i) {
            index_ = i;
            all.push_back(read_operation(operations.subspan(size * i, size)));
            all.back().source = read_buffer(buffers.subspan(2 * buffer_bytes * i, buffer_bytes));
            all.back().destination =
                read_buffer(buffers.subspan((2 * i + 1) * buffer_bytes, buffer_bytes));
            check(all.back());
        }
        return all;
    }

 private:
    void require(bool condition, const std::string& sentence) const {
        if (!condition) {
            throw ConfigError(Place{file_}, who_ + ": " + sentence,
                              "compile the loadable again, or copy it again");
        }
    }
    void require_operation(bool condition, const std::string& sentence) const {
        require(condition, fmt::format("operation {}: {}", index_, sentence));
    }

    EmulatedOperation read_operation(std::span<const std::uint8_t> bytes) const {
        EmulatedOperation operation;
        require_operation(bytes[0] <= 1,
                          fmt::format("kind {} is neither power (0) nor softmax (1)", bytes[0]));
        operation.kind = static_cast<EmulatedKind>(bytes[0]);
        if (has_scales_) {
            operation.input_scale = number_at<float>(bytes, 4);
            operation.output_scale = number_at<float>(bytes, 8);
        }
        if (operation.kind == EmulatedKind::Power) {
            const std::size_t first = has_scales_ ? 12 : 1;
            operation.power = number_at<float>(bytes, first);
            operation.scale = number_at<float>(bytes, first + 4);
            operation.shift = number_at<float>(bytes, first + 8);
        }
        return operation;
    }

    EmulatedFormat read_format(std::uint16_t code) const {
        const std::uint16_t fp16 = has_scales_ ? 3 : 2;
        if (code == fp16) {
            return EmulatedFormat::Fp16;
        }
        const bool narrow = has_scales_ && code == 1;
        require_operation(
            code == 0 || narrow,
            fmt::format("buffer format {} is not supported by the emulator: use int8 or fp16",
                        code));
        return narrow ? EmulatedFormat::Int8Narrow : EmulatedFormat::Int8;
    }

    EmulatedBuffer read_buffer(std::span<const std::uint8_t> bytes) const {
        EmulatedBuffer buffer;
        buffer.address = number_at<std::int16_t>(bytes, 0);
        std::size_t place = 2;
        if (has_scales_) {
            buffer.offset = number_at<std::uint32_t>(bytes, place);
            place += 4;
        }
        buffer.size = number_at<std::uint32_t>(bytes, place);
        buffer.format = read_format(number_at<std::uint16_t>(bytes, place + 4));
        buffer.width = number_at<std::uint16_t>(bytes, place + 6);
        buffer.height = number_at<std::uint16_t>(bytes, place + 8);
        buffer.channel = number_at<std::uint16_t>(bytes, place + 10);
        buffer.line_stride = number_at<std::uint32_t>(bytes, place + 12);
        buffer.surface_stride = number_at<std::uint32_t>(bytes, place + 16);
        return buffer;
    }

    void check(const EmulatedOperation& operation) const {
        const EmulatedBuffer& source = operation.source;
        const EmulatedBuffer& destination = operation.destination;
        require_operation(source.format == destination.format,
                          "its buffers have different formats");
        require_operation(source.width == destination.width &&
                              source.height == destination.height &&
                              source.channel == destination.channel,
                          "its buffers have different shapes");
        for (const EmulatedBuffer* buffer : {&source, &destination}) {
            const std::uint64_t line = buffer->width * atom_bytes(buffer->format);
            const std::uint64_t channels =
                atom_bytes(buffer->format) / element_bytes(buffer->format);
            require_operation((buffer->height <= 1 || buffer->line_stride >= line) &&
                                  (buffer->channel <= channels ||
                                   buffer->surface_stride >= line * buffer->height),
                              "the strides of a buffer are smaller than its lines or surfaces");
        }
    }

    const EmulatedList& list_;
    LoadableVersion newest_;
    std::string who_;
    std::string file_;
    bool has_scales_ = false;
    std::size_t index_ = 0;
};

float half_at(std::span<const std::uint8_t> bytes, std::uint64_t place) {
    return static_cast<float>(from_float16(number_at<std::uint16_t>(bytes, place)));
}
float as_half(float number) { return static_cast<float>(from_float16(to_float16(number))); }

void put_half(std::span<std::uint8_t> bytes, std::uint64_t place, float number) {
    const std::uint16_t bits = to_float16(number);
    bytes[place] = static_cast<std::uint8_t>(bits & 0xff);
    bytes[place + 1] = static_cast<std::uint8_t>(bits >> 8U);
}

/// The emulator truncates fractions. NaN has no int8: 0.
std::uint8_t as_int8(float number) {
    if (std::isnan(number)) {
        return 0;
    }
    const float held = std::clamp(number, -128.0F, 127.0F);
    return static_cast<std::uint8_t>(static_cast<std::int8_t>(held));
}

void emulate_power(const EmulatedOperation& operation, std::span<const std::uint8_t> source,
                   std::span<std::uint8_t> destination) {
    const EmulatedBuffer& in = operation.source;
    const auto result = [&](float x) {
        return std::pow(operation.shift + operation.scale * x, operation.power);
    };
    for (std::uint32_t c = 0; c < in.channel; ++c) {
        for (std::uint32_t h = 0; h < in.height; ++h) {
            for (std::uint32_t w = 0; w < in.width; ++w) {
                const std::uint64_t from = in.place(c, h, w);
                const std::uint64_t to = operation.destination.place(c, h, w);
                if (in.format == EmulatedFormat::Fp16) {
                    put_half(destination, to, result(half_at(source, from)));
                } else {
                    const auto x = static_cast<float>(static_cast<std::int8_t>(source[from]));
                    destination[to] =
                        as_int8(result(x * operation.input_scale) / operation.output_scale);
                }
            }
        }
    }
}

/// Over consecutive channels in memory, as the emulator reads them whatever the strides.
void emulate_softmax(const EmulatedOperation& operation, std::span<const std::uint8_t> source,
                     std::span<std::uint8_t> destination) {
    const bool half = operation.source.format == EmulatedFormat::Fp16;
    std::vector<float> numbers;
    for (std::uint64_t i = 0; i < operation.source.channel; ++i) {
        numbers.push_back(half ? half_at(source, 2 * i)
                               : as_half(static_cast<float>(static_cast<std::int8_t>(source[i])) *
                                         operation.input_scale));
    }
    float largest = -std::numeric_limits<float>::infinity();
    for (const float number : numbers) {
        largest = number > largest ? number : largest;
    }
    float sum = 0;
    for (const float number : numbers) {
        sum += std::exp(number - largest);
    }
    for (std::uint64_t i = 0; i < numbers.size(); ++i) {
        const float share = std::exp(numbers[i] - largest) / sum;
        if (half) {
            put_half(destination, 2 * i, share);
        } else {
            destination[i] = as_int8(as_half(share) / operation.output_scale);
        }
    }
}

}  // namespace

std::uint64_t EmulatedBuffer::place(std::uint32_t c, std::uint32_t h, std::uint32_t w) const {
    const std::uint64_t bytes = element_bytes(format);
    const std::uint64_t atom = atom_bytes(format);
    const std::uint64_t channels = atom / bytes;
    return c / channels * surface_stride + std::uint64_t{h} * line_stride + w * atom +
           c % channels * bytes;
}

std::uint64_t EmulatedBuffer::extent() const {
    if (elements() == 0) {
        return 0;
    }
    const std::uint64_t bytes = element_bytes(format);
    const std::uint64_t last = place(channel - 1U, height - 1U, width - 1U) + bytes;
    return std::max(
        {last, channel * bytes,
         place(std::min<std::uint32_t>(channel - 1U, 31), height - 1U, width - 1U) + bytes});
}

std::vector<EmulatedOperation> read_emulated(const EmulatedList& list,
                                             const LoadableVersion& newest, const std::string& who,
                                             const std::string& file) {
    return Reader(list, newest, who, file).read();
}

void emulate(const EmulatedOperation& operation, std::span<const std::uint8_t> source,
             std::span<std::uint8_t> destination) {
    if (operation.kind == EmulatedKind::Power) {
        emulate_power(operation, source, destination);
    } else {
        emulate_softmax(operation, source, destination);
    }
}

}  // namespace npuscope
