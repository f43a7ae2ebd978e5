// SPDX-License-Identifier: Apache-2.0
// Bytes of a 64-bit space, held in pages that exist once they are touched, and beside them
// which bytes were ever written. No time, no transactions.
#pragma once

#include <boost/icl/interval_set.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "models/base/quantity.h"

namespace npuscope {

using AddressSet = boost::icl::interval_set<std::uint64_t, std::less,
                                            boost::icl::right_open_interval<std::uint64_t>>;

class SparseMemory {
 public:
    void write(Address address, std::span<const std::uint8_t> bytes);
    /// Marks a range as written with zeros; pages that do not exist yet stay so.
    void zero(Address address, Bytes bytes);
    /// Uninitialised bytes read as zero.
    void read(Address address, std::span<std::uint8_t> bytes) const;
    /// First uninitialised byte of the range, if any.
    std::optional<Address> first_unwritten(Address address, Bytes bytes) const;

    struct DirectPage {
        Address address;
        std::span<std::uint8_t> bytes;
    };
    /// The whole page around an address, for direct access; from now on all of it counts as
    /// written, since writes there are not seen.
    DirectPage direct_page(Address address);

 private:
    static constexpr std::uint64_t page_bytes = 64ULL * 1024;
    using Page = std::unique_ptr<std::uint8_t[]>;

    std::unordered_map<std::uint64_t, Page> pages_;
    AddressSet written_;
};

inline AddressSet::interval_type range_of(Address address, Bytes bytes) {
    return {address.value, address.value + bytes.value};
}

}  // namespace npuscope
