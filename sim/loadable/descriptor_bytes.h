// SPDX-License-Identifier: Apache-2.0
// Descriptors as bytes: little-endian numbers without gaps, in the order in which a struct lists
// its members.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/base/check.h"
#include "sim/loadable/descriptors.h"

namespace npuscope {

/// Fills members from bytes of the given version.
class DescriptorReader {
 public:
    DescriptorReader(std::span<const std::uint8_t> bytes, const LoadableVersion& version)
        : bytes_(bytes), version_(version) {}

    bool has_offsets() const { return version_ >= dla_offset_version; }

    template <class... Members>
    void operator()(Members&... members) {
        (read(members), ...);
    }

 private:
    template <class Member>
    void read(Member& member) {
        if constexpr (std::is_enum_v<Member>) {
            std::underlying_type_t<Member> value{};
            read(value);
            member = static_cast<Member>(value);
        } else if constexpr (std::is_integral_v<Member>) {
            NPU_CHECK(bytes_.size() >= sizeof member, "a descriptor ends early");
            std::uint64_t value = 0;
            for (std::size_t i = 0; i < sizeof member; ++i) {
                value |= std::uint64_t{bytes_[i]} << (8 * i);
            }
            member = static_cast<Member>(value);
            bytes_ = bytes_.subspan(sizeof member);
        } else {
            member.order(*this);
        }
    }
    template <class Member, std::size_t N>
    void read(std::array<Member, N>& all) {
        for (Member& one : all) {
            read(one);
        }
    }

    std::span<const std::uint8_t> bytes_;
    LoadableVersion version_;
};

/// Writes members in the current version's format.
class DescriptorWriter {
 public:
    explicit DescriptorWriter(std::size_t size) : bytes_(size) {}

    static bool has_offsets() { return true; }
    std::vector<std::uint8_t>& bytes() { return bytes_; }

    template <class... Members>
    void operator()(Members&... members) {
        (write(members), ...);
    }

 private:
    template <class Member>
    void write(Member& member) {
        if constexpr (std::is_enum_v<Member>) {
            auto value = static_cast<std::underlying_type_t<Member>>(member);
            write(value);
        } else if constexpr (std::is_integral_v<Member>) {
            const std::uint64_t value = static_cast<std::make_unsigned_t<Member>>(member);
            for (std::size_t i = 0; i < sizeof member; ++i) {
                NPU_CHECK(place_ < bytes_.size(), "a descriptor is larger than its entry");
                bytes_[place_++] = static_cast<std::uint8_t>(value >> (8 * i) & 0xff);
            }
        } else {
            member.order(*this);
        }
    }
    template <class Member, std::size_t N>
    void write(std::array<Member, N>& all) {
        for (Member& one : all) {
            write(one);
        }
    }

    std::vector<std::uint8_t> bytes_;
    std::size_t place_ = 0;
};

/// The struct stored in the bytes; their number must match the size of its entry.
template <class Struct>
Struct read_descriptor(std::span<const std::uint8_t> bytes, const LoadableVersion& version) {
    DescriptorReader reader(bytes, version);
    Struct value;
    value.order(reader);
    return value;
}

/// Its bytes, filled with zeros to the size of an entry.
template <class Struct>
std::vector<std::uint8_t> descriptor_bytes(Struct value, std::size_t size) {
    DescriptorWriter writer(size);
    value.order(writer);
    return std::move(writer.bytes());
}

}  // namespace npuscope
