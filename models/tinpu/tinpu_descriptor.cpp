// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_descriptor.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "models/base/check.h"
#include "models/base/error.h"
#include "models/tinpu/tinpu_job.h"

namespace npuscope {
namespace {

constexpr std::uint32_t version = 1;
constexpr std::size_t word_count = descriptor_bytes / 4;
using Words = std::array<std::uint32_t, word_count>;

/// Words of the descriptor, and flags of the first.
enum Word : std::size_t {
    Head = 0,
    Input = 1,
    Output = 3,
    Residual = 5,
    Weights = 7,
    Constants = 9,
    InputShape = 11,
    OutputShape = 14,
    Window = 17,
    Strides = 18,
    Dilations = 19,
    PadBegin = 20,
    PadEnd = 21,
    Clip = 22,
    Rest = 23
};
enum Flag : unsigned {
    InputSigned = 16,
    OutputSigned = 17,
    HasResidual = 18,
    ResidualSigned = 19,
    HasConstants = 20,
    CountPadding = 21,
    RoundUp = 22,
    Reserved = 23
};

void require(bool holds, std::size_t word, const std::string& sentence) {
    if (!holds) {
        throw ConfigError(fmt::format("word {} of the descriptor: {}", word, sentence),
                          "docs/tinpu.md has the format");
    }
}

std::uint32_t pair_of(std::uint32_t high, std::uint32_t low) {
    NPU_CHECK(high <= 0xffff && low <= 0xffff, "a descriptor's numbers have 16 bits");
    return high << 16U | low;
}

std::uint32_t low_half(std::uint32_t word) { return word & 0xffffU; }
std::uint32_t high_half(std::uint32_t word) { return word >> 16U; }
std::int32_t sign_extended(std::uint32_t half) {
    return static_cast<std::int16_t>(static_cast<std::uint16_t>(half));
}

void put_address(Words& words, Word at, Address address) {
    words[at] = static_cast<std::uint32_t>(address.value);
    words[at + 1] = static_cast<std::uint32_t>(address.value >> 32U);
}

Address address_at(const Words& words, Word at) {
    return Address(std::uint64_t{words[at + 1]} << 32U | words[at]);
}

void put_shape(Words& words, Word at, const Shape& shape) {
    words[at] = shape.channels;
    words[at + 1] = shape.height;
    words[at + 2] = shape.width;
}

Shape shape_at(const Words& words, Word at) { return {words[at], words[at + 1], words[at + 2]}; }

bool flag(const Words& words, Flag bit) { return (words[Head] >> bit & 1U) != 0; }

std::uint32_t head_of(const TinpuJob& job) {
    std::uint32_t head = version << 24U;
    const auto raise = [&](Flag bit, bool set) { head |= (set ? 1U : 0U) << bit; };
    raise(InputSigned, job.input.is_signed);
    raise(OutputSigned, job.output.is_signed);
    raise(HasResidual, job.residual.has_value());
    raise(ResidualSigned, job.residual && job.residual->is_signed);
    raise(HasConstants, job.constants.has_value());
    raise(CountPadding, job.count_padding);
    raise(RoundUp, job.rounding == HalfRounding::Up);
    return head | (job.weights ? job.weights->bits : 0U) << 8U |
           static_cast<std::uint32_t>(job.work);
}

bool multiplies(TinpuWork work) {
    return work == TinpuWork::Convolution || work == TinpuWork::Depthwise ||
           work == TinpuWork::Transposed;
}

/// The flags of the first word must fit its kind of work.
void check_head(const Words& words) {
    require(words[Head] >> 24U == version, Head,
            fmt::format("version is {}, must be {}", words[Head] >> 24U, version));
    require(!flag(words, Reserved), Head, "bit 23 is reserved, but it is 1");
    const std::uint32_t work = words[Head] & 0xffU;
    require(
        work < EnumNames<TinpuWork>::names.size(), Head,
        fmt::format("work is {}, must be 0 to {}", work, EnumNames<TinpuWork>::names.size() - 1));
    const std::uint32_t bits = words[Head] >> 8U & 0xffU;
    const bool wanted = multiplies(static_cast<TinpuWork>(work));
    require(wanted ? bits == 8 || bits == 4 || bits == 2 : bits == 0, Head,
            fmt::format("weight bits are {}; {}", bits,
                        wanted ? "must be 8, 4 or 2" : "must be 0 for a pool"));
    const bool is_max = static_cast<TinpuWork>(work) == TinpuWork::MaxPool;
    require(flag(words, HasConstants) != is_max, Head,
            is_max ? "constants are set, but a max pool has none"
                   : "constants are not set, but only a max pool has none");
    require(!flag(words, HasResidual) || !is_max, Head,
            "a residual is set, but a max pool has none");
    require(!is_max || flag(words, InputSigned) == flag(words, OutputSigned), Head,
            "input and output of a max pool must both be signed or both unsigned");
    for (std::size_t i = Rest; i < word_count; ++i) {
        require(words[i] == 0, i, "it is reserved, but it is not 0");
    }
}

void load_window(const Words& words, TinpuJob& job) {
    Convolution& g = job.geometry;
    job.rows = low_half(words[Window]);
    job.columns = high_half(words[Window]);
    g.out_height = job.output.shape.height;
    g.out_width = job.output.shape.width;
    g.stride_y = low_half(words[Strides]);
    g.stride_x = high_half(words[Strides]);
    g.dilation_y = low_half(words[Dilations]);
    g.dilation_x = high_half(words[Dilations]);
    g.pad_top = low_half(words[PadBegin]);
    g.pad_left = high_half(words[PadBegin]);
    job.pad_bottom = low_half(words[PadEnd]);
    job.pad_right = high_half(words[PadEnd]);
}

WeightSurface weights_of(const Words& words, const TinpuJob& job) {
    const bool by_channel = job.work == TinpuWork::Depthwise;
    return {address_at(words, Weights),
            {by_channel ? 1 : job.output.shape.channels, job.input.shape.channels, job.rows,
             job.columns},
            words[Head] >> 8U & 0xffU};
}

}  // namespace

std::vector<std::uint8_t> store_descriptor(const TinpuJob& job) {
    Words words{};
    words[Head] = head_of(job);
    put_address(words, Input, job.input.base);
    put_address(words, Output, job.output.base);
    put_address(words, Residual, job.residual ? job.residual->base : Address(0));
    put_address(words, Weights, job.weights ? job.weights->base : Address(0));
    put_address(words, Constants, job.constants.value_or(Address(0)));
    put_shape(words, InputShape, job.input.shape);
    put_shape(words, OutputShape, job.output.shape);
    words[Window] = pair_of(job.columns, job.rows);
    words[Strides] = pair_of(job.geometry.stride_x, job.geometry.stride_y);
    words[Dilations] = pair_of(job.geometry.dilation_x, job.geometry.dilation_y);
    words[PadBegin] = pair_of(job.geometry.pad_left, job.geometry.pad_top);
    words[PadEnd] = pair_of(job.pad_right, job.pad_bottom);
    if (job.work != TinpuWork::MaxPool) {
        words[Clip] = pair_of(static_cast<std::uint16_t>(job.clip.high),
                              static_cast<std::uint16_t>(job.clip.low));
    }
    std::vector<std::uint8_t> bytes;
    for (const std::uint32_t word : words) {
        for (unsigned shift = 0; shift < 32; shift += 8) {
            bytes.push_back(static_cast<std::uint8_t>(word >> shift));
        }
    }
    return bytes;
}

TinpuJob load_descriptor(std::span<const std::uint8_t, descriptor_bytes> bytes) {
    Words words{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        words[i / 4] |= std::uint32_t{bytes[i]} << 8U * (i % 4);
    }
    check_head(words);
    TinpuJob job;
    job.work = static_cast<TinpuWork>(words[Head] & 0xffU);
    job.input = {address_at(words, Input), shape_at(words, InputShape), flag(words, InputSigned)};
    job.output = {address_at(words, Output), shape_at(words, OutputShape),
                  flag(words, OutputSigned)};
    if (flag(words, HasResidual)) {
        job.residual =
            MapSurface{address_at(words, Residual), job.output.shape, flag(words, ResidualSigned)};
    }
    job.count_padding = flag(words, CountPadding);
    job.rounding = flag(words, RoundUp) ? HalfRounding::Up : HalfRounding::Even;
    if (flag(words, HasConstants)) {
        job.constants = address_at(words, Constants);
    }
    load_window(words, job);
    if (multiplies(job.work)) {
        job.weights = weights_of(words, job);
    }
    if (job.work != TinpuWork::MaxPool) {
        job.clip = {sign_extended(low_half(words[Clip])), sign_extended(high_half(words[Clip]))};
    }
    check_layer(job);
    return job;
}

std::vector<SurfaceUse> surfaces_of(const TinpuJob& job) {
    std::vector<SurfaceUse> uses;
    const auto add = [&](const char* surface, Word word, Address base, Bytes bytes) {
        SurfaceUse use;
        use.surface = surface;
        use.unit = "tinpu";
        use.address_register = fmt::format("words {} and {} ({})", static_cast<unsigned>(word),
                                           static_cast<unsigned>(word) + 1, surface);
        use.constant = word == Weights || word == Constants;
        use.base = base;
        uses.push_back(with_runs(std::move(use), {{base, bytes}}));
    };
    add("input", Input, job.input.base, job.input.bytes());
    if (job.residual) {
        add("residual", Residual, job.residual->base, job.residual->bytes());
    }
    if (job.weights) {
        add("weights", Weights, job.weights->base, job.weights->bytes());
    }
    if (job.constants) {
        add("constants", Constants, *job.constants, job.constant_bytes());
    }
    add("output", Output, job.output.base, job.output.bytes());
    uses.back().writes = true;
    return uses;
}

}  // namespace npuscope
