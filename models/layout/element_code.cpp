// SPDX-License-Identifier: Apache-2.0
#include "models/layout/element_code.h"

#include "models/base/check.h"

namespace npuscope {

namespace {

constexpr std::uint64_t entry_bytes = 16;  // source: Kneron pages, 128-bit entries

std::uint64_t read_little(const std::uint8_t* from, std::uint32_t bytes) {
    std::uint64_t bits = 0;
    for (std::uint32_t i = 0; i < bytes; ++i) {
        bits |= std::uint64_t{from[i]} << (8U * i);
    }
    return bits;
}

void write_little(std::uint8_t* to, std::uint32_t bytes, std::uint64_t bits) {
    for (std::uint32_t i = 0; i < bytes; ++i) {
        to[i] = static_cast<std::uint8_t>(bits >> (8U * i));
    }
}

/// Fields narrower than an element are in its upper bits. source: NVDLA format page, table 33
std::uint64_t read_field(const std::uint8_t* from, BitField field, std::uint32_t element) {
    const std::uint64_t mask = (std::uint64_t{1} << field.width) - 1;
    return (read_little(from, 4) >> field.lsb & mask) << (8U * element - field.width);
}

void write_field(std::uint8_t* to, BitField field, std::uint32_t element, std::uint64_t bits) {
    const std::uint64_t mask = ((std::uint64_t{1} << field.width) - 1) << field.lsb;
    const std::uint64_t value = bits >> (8U * element - field.width) << field.lsb;
    write_little(to, 4, (read_little(to, 4) & ~mask) | (value & mask));
}

}  // namespace

std::uint64_t stored_bits(ElementCode code, std::uint64_t bits) {
    return code == ElementCode::Plain ? bits : bits & ~std::uint64_t{1};
}

std::uint64_t read_element(const Layout& layout, std::span<const std::uint8_t> memory,
                           std::span<const std::uint64_t> index) {
    NPU_CHECK(memory.size() >= layout.used, "the memory covers the surface");
    const std::uint64_t address = layout.address(index);
    const std::uint8_t* from = memory.data() + address;
    const BitField field = layout.part_of(index).field;
    if (field.width != 0) {
        return read_field(from, field, layout.element);
    }
    switch (layout.code) {
        case ElementCode::Plain:
            return read_little(from, layout.element);
        case ElementCode::Even:
            return read_little(from, 2) & 0xFFFEU;
        case ElementCode::SwappedEven:
            return (std::uint64_t{from[0]} << 8U) | (from[1] & 0xFEU);
        case ElementCode::HighLow:
            return (from[0] & 0x7FU) << 1U | std::uint64_t{from[entry_bytes]} << 8U;
    }
    fail_check("code", "every code is read", __FILE__, __LINE__);
}

void write_element(const Layout& layout, std::span<std::uint8_t> memory,
                   std::span<const std::uint64_t> index, std::uint64_t bits) {
    NPU_CHECK(memory.size() >= layout.used, "the memory covers the surface");
    const std::uint64_t address = layout.address(index);
    std::uint8_t* to = memory.data() + address;
    const BitField field = layout.part_of(index).field;
    if (field.width != 0) {
        write_field(to, field, layout.element, bits);
        return;
    }
    switch (layout.code) {
        case ElementCode::Plain:
            write_little(to, layout.element, bits);
            return;
        case ElementCode::Even:
            write_little(to, 2, bits & 0xFFFEU);
            return;
        case ElementCode::SwappedEven:
            to[0] = static_cast<std::uint8_t>(bits >> 8U);
            to[1] = static_cast<std::uint8_t>(bits & 0xFEU);
            return;
        case ElementCode::HighLow:
            to[0] = static_cast<std::uint8_t>(bits >> 1U & 0x7FU);
            to[entry_bytes] = static_cast<std::uint8_t>(bits >> 8U);
            return;
    }
}

}  // namespace npuscope
