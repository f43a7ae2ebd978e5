// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_memory.h"

#include <algorithm>

namespace npuscope::oracle {

namespace {

constexpr std::uint64_t kPage = 4096;

}  // namespace

std::uint8_t Memory::read(std::uint64_t address) const {
    const auto page = pages_.find(address / kPage);
    return page == pages_.end() ? std::uint8_t{0} : page->second[address % kPage];
}

void Memory::write(std::uint64_t address, std::uint8_t value) {
    std::vector<std::uint8_t>& page = pages_[address / kPage];
    page.resize(kPage);
    page[address % kPage] = value;
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
    for (std::uint32_t c = 0; c < cube.channels; ++c) {
        for (std::uint32_t y = 0; y < cube.height; ++y) {
            for (std::uint32_t x = 0; x < cube.width; ++x) {
                cube.at(c, y, x) = memory.read_signed(surface.address(c, y, x), 1);
            }
        }
    }
    return cube;
}

void write_cube(const Surface& surface, const Cube& cube, Memory& memory) {
    for (std::uint32_t c = 0; c < surface.lanes(); ++c) {
        for (std::uint32_t y = 0; y < surface.height; ++y) {
            for (std::uint32_t x = 0; x < surface.width; ++x) {
                memory.write(surface.address(c, y, x), static_cast<std::uint8_t>(cube.at(c, y, x)));
            }
        }
    }
}

}  // namespace npuscope::oracle
