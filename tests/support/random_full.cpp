// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_full.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "models/npu/register_blocks.h"

namespace npuscope::full {

std::uint64_t Builder::allocate(std::uint64_t bytes) {
    std::uint64_t& next = random.chance(25) ? sram_ : dram_;
    next += std::uint64_t{kAtom} * random.size(0, 3);
    const std::uint64_t place = next;
    next += (bytes + 4095) / 4096 * 4096;
    return place;
}

PlacedCube Builder::place(Type type, std::uint32_t channels, std::uint32_t height,
                          std::uint32_t width) {
    PlacedCube cube{type, channels, height, width};
    const bool one_pixel = height == 1 && width == 1;
    cube.line = std::uint64_t{kAtom} * (width + (one_pixel ? 0 : random.size(0, 2)));
    cube.surface = cube.line * height + (one_pixel ? 0 : kAtom * random.size(0, 2));
    cube.base = allocate(cube.extent());
    return cube;
}

ByteVector Builder::random_elements(Type type, std::uint64_t bytes) {
    ByteVector elements(bytes);
    if (type != Type::Fp16) {
        std::ranges::generate(elements, [&] { return random.byte(); });
        return elements;
    }
    for (std::uint64_t i = 0; i + 1 < bytes; i += 2) {
        const std::uint32_t sign = random.size(0, 1);
        const std::uint32_t code = sign << 15U | random.size(9, 20) << 10U | random.size(0, 1023);
        write_element(elements, i, Type::Fp16, fp16_value(code));
    }
    return elements;
}

void Builder::load(std::uint64_t address, const ByteVector& bytes) {
    LoadMemory load{MemoryPort::Primary, Address(address), {}, "generated"};
    load.memory = in_sram(address) ? MemoryPort::Secondary : MemoryPort::Primary;
    load.image = {bytes, {{0, 0, bytes.size()}}};
    add(std::move(load));
}

void Builder::write(const std::string& name, std::uint32_t value) {
    const auto place = find_place(nvdla_register_blocks(AddressMap::NvFull), "NVDLA_" + name);
    if (!place) {
        throw std::logic_error("no register " + name);
    }
    add(WriteRegister{place->name(), place->address(), value});
}

void Builder::wait() {
    add(WaitForInterrupt{});
    write("GLB.S_INTR_STATUS", 0xffffffff);
}

void Builder::expect(std::uint64_t address, ByteVector bytes) {
    const Bytes size(bytes.size());
    CheckImage check{{}, MemoryPort::Primary, Address(address), size, {}, "oracle"};
    check.memory = in_sram(address) ? MemoryPort::Secondary : MemoryPort::Primary;
    check.image.runs.push_back({0, 0, bytes.size()});
    check.image.bytes = std::move(bytes);
    add(std::move(check));
}

Program Builder::finish(const std::string& name) {
    program_.name = name;
    program_.zeroed_memory = true;
    return std::move(program_);
}

double fp16_value(std::uint32_t code) {
    const int exponent = static_cast<int>(code >> 10U & 31U);
    const int mantissa = static_cast<int>(code & 1023U);
    const double magnitude =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    return (code & 0x8000U) != 0 ? -magnitude : magnitude;
}

std::uint16_t fp16_code(double value) {
    const std::uint32_t sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(value);
    if (magnitude == 0.0) {
        return static_cast<std::uint16_t>(sign);
    }
    const int exponent = std::max(std::ilogb(magnitude), -14);
    const double steps = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
    const double code = std::min(1024.0 * (exponent + 14) + steps, double{0x7bff});
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(code));
}

std::uint32_t fp17_code(double value) {
    if (value == 0.0) {
        return 0;
    }
    const double magnitude = std::fabs(value);
    const int exponent = std::ilogb(magnitude);
    const auto mantissa = static_cast<std::uint32_t>(std::ldexp(magnitude, 10 - exponent)) - 1024;
    return (value < 0 ? 1U << 16U : 0U) | static_cast<std::uint32_t>(exponent + 31) << 10U |
           mantissa;
}

double read_element(const ByteVector& bytes, std::uint64_t offset, Type type) {
    if (type == Type::Int8) {
        return static_cast<std::int8_t>(bytes[offset]);
    }
    const std::uint32_t code = bytes[offset] + 256U * bytes[offset + 1];
    return type == Type::Int16 ? static_cast<std::int16_t>(code) : fp16_value(code);
}

void write_element(ByteVector& bytes, std::uint64_t offset, Type type, double value) {
    const std::uint32_t code = type == Type::Fp16
                                   ? fp16_code(value)
                                   : static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    for (std::uint32_t i = 0; i < size_of(type); ++i) {
        bytes[offset + i] = static_cast<std::uint8_t>(code >> 8U * i);
    }
}

double rounded(double exact, int significant) {
    if (exact == 0.0) {
        return exact;
    }
    const int grid = std::ilogb(exact) - significant + 1;
    return std::ldexp(std::nearbyint(std::ldexp(exact, -grid)), grid);
}

double shifted(double value, std::uint32_t shift, unsigned bits) {
    const double top = std::ldexp(1.0, static_cast<int>(bits) - 1) - 1.0;
    const double quotient = std::round(std::ldexp(value, -static_cast<int>(shift)));
    return std::clamp(quotient, -top - 1.0, top) + 0.0;  // no negative zero
}

}  // namespace npuscope::full
