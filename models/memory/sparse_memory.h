// SPDX-License-Identifier: Apache-2.0
// Bytes of a 64-bit space, held in pages that exist once they are touched. No time, no
// transactions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

#include "models/base/quantity.h"

namespace npuscope {

class SparseMemory {
 public:
    void write(Address address, std::span<const std::uint8_t> bytes);
    /// Pages that do not exist yet are not created.
    void zero(Address address, Bytes bytes);
    /// Uninitialised bytes read as zero.
    void read(Address address, std::span<std::uint8_t> bytes) const;

    struct DirectPage {
        Address address;
        std::span<std::uint8_t> bytes;
    };
    /// The whole page around an address, for direct access.
    DirectPage direct_page(Address address);

 private:
    static constexpr std::uint64_t page_bytes = 64ULL * 1024;
    using Page = std::unique_ptr<std::uint8_t[]>;
    /// Null if it does not exist.
    std::uint8_t* find_page(std::uint64_t number) const;
    /// Creates a page, zero except for `bytes` bytes from `offset` on, which will be written.
    std::uint8_t* make_page(std::uint64_t number, std::uint64_t offset, std::uint64_t bytes);

    std::unordered_map<std::uint64_t, Page> pages_;
    /// The page that was found last: neighbours follow each other. A moved-from memory forgets it.
    struct Last {
        Last() = default;
        Last(Last&& other) noexcept : Last(std::exchange(other.page, nullptr), other.number) {}
        Last& operator=(Last&& other) noexcept {
            page = std::exchange(other.page, nullptr);
            number = other.number;
            return *this;
        }
        Last(std::uint8_t* found, std::uint64_t at) : page(found), number(at) {}
        std::uint8_t* page = nullptr;
        std::uint64_t number = 0;
    };
    mutable Last last_;
};

}  // namespace npuscope
