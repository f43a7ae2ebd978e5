// SPDX-License-Identifier: Apache-2.0
// The bytes that timed reads have brought to one client, by address, until its next stream begins.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>

#include "models/base/quantity.h"

namespace npuscope {

class ArrivedBytes {
 public:
    void clear() {
        pages_.clear();
        last_ = nullptr;
    }
    void put(Address address, std::span<const std::uint8_t> bytes) {
        for_each_part(address, bytes.size(),
                      [&](std::uint64_t page, std::size_t at, std::size_t from, std::size_t count) {
                          if (last_ == nullptr || last_number_ != page) {
                              std::unique_ptr<Page>& held = pages_[page];
                              if (!held) {
                                  held = std::make_unique<Page>();
                              }
                              last_ = held.get();
                              last_number_ = page;
                          }
                          std::copy_n(bytes.data() + from, count, last_->data() + at);
                      });
    }
    /// What has not arrived reads as zeros.
    void get(Address address, std::span<std::uint8_t> bytes) const {
        for_each_part(address, bytes.size(),
                      [&](std::uint64_t page, std::size_t at, std::size_t from, std::size_t count) {
                          const auto held = pages_.find(page);
                          if (held == pages_.end()) {
                              std::fill_n(bytes.data() + from, count, std::uint8_t{0});
                          } else {
                              std::copy_n(held->second->data() + at, count, bytes.data() + from);
                          }
                      });
    }

 private:
    static constexpr std::size_t page_bytes = 4096;
    using Page = std::array<std::uint8_t, page_bytes>;

    template <class Work>
    static void for_each_part(Address address, std::size_t bytes, const Work& work) {
        for (std::size_t done = 0; done < bytes;) {
            const std::uint64_t place = address.value + done;
            const std::size_t at = place % page_bytes;
            const std::size_t count = std::min(bytes - done, page_bytes - at);
            work(place / page_bytes, at, done, count);
            done += count;
        }
    }

    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    Page* last_ = nullptr;  // last filled: neighbours follow each other
    std::uint64_t last_number_ = 0;
};

}  // namespace npuscope
