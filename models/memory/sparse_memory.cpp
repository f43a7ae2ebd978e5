// SPDX-License-Identifier: Apache-2.0
#include "models/memory/sparse_memory.h"

#include <algorithm>
#include <cstring>

namespace npuscope {
namespace {

/// Calls `part(page number, offset in the page, offset in the range, bytes)` for each page of a
/// range.
template <class Part>
void for_each_page(Address address, std::uint64_t bytes, std::uint64_t page_bytes, Part part) {
    std::uint64_t done = 0;
    while (done < bytes) {
        const std::uint64_t at = address.value + done;
        const std::uint64_t offset = at % page_bytes;
        const std::uint64_t length = std::min(bytes - done, page_bytes - offset);
        part(at / page_bytes, offset, done, length);
        done += length;
    }
}

bool all_zero(std::span<const std::uint8_t> bytes) {
    return bytes.front() == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace

std::uint8_t* SparseMemory::find_page(std::uint64_t number) const {
    if (last_.page == nullptr || last_.number != number) {
        const auto page = pages_.find(number);
        if (page == pages_.end()) {
            return nullptr;
        }
        last_ = Last(page->second.get(), number);
    }
    return last_.page;
}

std::uint8_t* SparseMemory::make_page(std::uint64_t number, std::uint64_t offset,
                                      std::uint64_t bytes) {
    Page page = std::make_unique_for_overwrite<std::uint8_t[]>(page_bytes);
    std::memset(page.get(), 0, offset);
    std::memset(page.get() + offset + bytes, 0, page_bytes - offset - bytes);
    return (pages_[number] = std::move(page)).get();
}

void SparseMemory::write(Address address, std::span<const std::uint8_t> bytes) {
    if (bytes.empty()) {
        return;
    }
    const auto store = [&](std::uint64_t number, std::uint64_t offset, std::uint64_t done,
                           std::uint64_t length) {
        const auto part = bytes.subspan(done, length);
        std::uint8_t* page = find_page(number);
        if (page == nullptr && all_zero(part)) {
            return;  // it reads as zeros already
        }
        page = page == nullptr ? make_page(number, offset, length) : page;
        std::memcpy(page + offset, part.data(), length);
    };
    for_each_page(address, bytes.size(), page_bytes, store);
}

void SparseMemory::zero(Address address, Bytes bytes) {
    if (bytes == Bytes(0)) {
        return;
    }
    const std::uint64_t last_byte = address.value + (bytes.value - 1);
    const std::uint64_t first = address.value / page_bytes;
    const std::uint64_t last = last_byte / page_bytes;
    const auto clear = [&](std::uint64_t number, std::uint8_t* page) {
        const std::uint64_t begin = number == first ? address.value % page_bytes : 0;
        const std::uint64_t end = number == last ? last_byte % page_bytes + 1 : page_bytes;
        std::memset(page + begin, 0, end - begin);
    };
    if (last - first > pages_.size()) {  // a terabyte may have few pages
        for (const auto& [number, page] : pages_) {
            if (first <= number && number <= last) {
                clear(number, page.get());
            }
        }
        return;
    }
    for (std::uint64_t number = first; number <= last; ++number) {
        if (std::uint8_t* page = find_page(number)) {
            clear(number, page);
        }
    }
}

void SparseMemory::read(Address address, std::span<std::uint8_t> bytes) const {
    const auto load = [&](std::uint64_t number, std::uint64_t offset, std::uint64_t done,
                          std::uint64_t length) {
        if (const std::uint8_t* page = find_page(number)) {
            std::memcpy(bytes.data() + done, page + offset, length);
        } else {
            std::memset(bytes.data() + done, 0, length);
        }
    };
    for_each_page(address, bytes.size(), page_bytes, load);
}

SparseMemory::DirectPage SparseMemory::direct_page(Address address) {
    const std::uint64_t number = address.value / page_bytes;
    std::uint8_t* const page = find_page(number);
    return {Address(number * page_bytes),
            {page == nullptr ? make_page(number, 0, 0) : page, page_bytes}};
}

}  // namespace npuscope
