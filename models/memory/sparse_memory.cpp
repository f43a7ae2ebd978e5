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

}  // namespace

void SparseMemory::write(Address address, std::span<const std::uint8_t> bytes) {
    if (bytes.empty()) {
        return;
    }
    const auto store = [&](std::uint64_t number, std::uint64_t offset, std::uint64_t done,
                           std::uint64_t length) {
        Page& page = pages_[number];
        if (!page) {
            page = std::make_unique<std::uint8_t[]>(page_bytes);
        }
        std::memcpy(page.get() + offset, bytes.data() + done, length);
    };
    for_each_page(address, bytes.size(), page_bytes, store);
    const auto range = range_of(address, Bytes(bytes.size()));
    if (!boost::icl::contains(written_, range)) {
        written_.insert(range);
    }
}

void SparseMemory::zero(Address address, Bytes bytes) {
    if (bytes == Bytes(0)) {
        return;
    }
    const auto clear = [&](std::uint64_t number, std::uint64_t offset, std::uint64_t /*done*/,
                           std::uint64_t length) {
        const auto page = pages_.find(number);
        if (page != pages_.end()) {
            std::memset(page->second.get() + offset, 0, length);
        }
    };
    for_each_page(address, bytes.value, page_bytes, clear);
    written_.insert(range_of(address, bytes));
}

void SparseMemory::read(Address address, std::span<std::uint8_t> bytes) const {
    const auto load = [&](std::uint64_t number, std::uint64_t offset, std::uint64_t done,
                          std::uint64_t length) {
        const auto page = pages_.find(number);
        if (page == pages_.end()) {
            std::memset(bytes.data() + done, 0, length);
        } else {
            std::memcpy(bytes.data() + done, page->second.get() + offset, length);
        }
    };
    for_each_page(address, bytes.size(), page_bytes, load);
}

std::optional<Address> SparseMemory::first_unwritten(Address address, Bytes bytes) const {
    const auto range = range_of(address, bytes);
    if (bytes == Bytes(0) || boost::icl::contains(written_, range)) {
        return std::nullopt;
    }
    AddressSet missing;
    missing.insert(range);
    missing -= written_;
    return Address(boost::icl::first(missing));
}

SparseMemory::DirectPage SparseMemory::direct_page(Address address) {
    const std::uint64_t number = address.value / page_bytes;
    Page& page = pages_[number];
    if (!page) {
        page = std::make_unique<std::uint8_t[]>(page_bytes);
    }
    const Address start(number * page_bytes);
    written_.insert(range_of(start, Bytes(page_bytes)));
    return {start, {page.get(), page_bytes}};
}

}  // namespace npuscope
