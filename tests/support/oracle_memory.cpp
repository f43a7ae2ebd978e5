// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_memory.h"

#include <algorithm>

namespace npuscope::oracle {

namespace {

constexpr std::uint64_t page_bytes = 4096;

}  // namespace

std::uint8_t Memory::read(std::uint64_t address) const {
    const auto page = pages_.find(address / page_bytes);
    return page == pages_.end() ? std::uint8_t{0} : page->second[address % page_bytes];
}

void Memory::write(std::uint64_t address, std::uint8_t value) {
    std::vector<std::uint8_t>& page = pages_[address / page_bytes];
    page.resize(page_bytes);
    page[address % page_bytes] = value;
}

std::vector<std::uint8_t> Memory::bytes(std::uint64_t address, std::uint64_t count) const {
    std::vector<std::uint8_t> result(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        result[i] = read(address + i);
    }
    return result;
}

std::int64_t Memory::read_signed(std::uint64_t address, std::uint32_t count) const {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        value |= std::uint64_t{read(address + i)} << (8 * i);
    }
    return static_cast<std::int64_t>(sign_extend(value, 8 * count));
}

std::uint32_t crc32(const std::vector<std::uint8_t>& bytes) {
    std::uint32_t crc = 0xffffffffU;
    for (const std::uint8_t byte : bytes) {
        crc ^= byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc & 1U) != 0 ? crc >> 1U ^ 0xedb88320U : crc >> 1U;  // source: zlib, reversed
        }
    }
    return ~crc;
}

std::uint64_t Surface::bytes() const {
    return address(lanes() - 1, height - 1, width - 1) + 1 - base;
}

Cube read_cube(const Surface& surface, const Memory& memory) {
    Cube cube(surface.lanes(), surface.height, surface.width);
    for_each_element(cube, [&](std::uint32_t c, std::uint32_t y, std::uint32_t x) {
        cube.at(c, y, x) = memory.read_signed(surface.address(c, y, x), 1);
    });
    return cube;
}

void write_cube(const Surface& surface, const Cube& cube, Memory& memory) {
    for_each_element(cube, [&](std::uint32_t c, std::uint32_t y, std::uint32_t x) {
        memory.write(surface.address(c, y, x), static_cast<std::uint8_t>(cube.at(c, y, x)));
    });
}

}  // namespace npuscope::oracle
