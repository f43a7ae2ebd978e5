// SPDX-License-Identifier: Apache-2.0
// The registers of one block as one operation wants them, built field by field from their reset
// values: the reverse of RegisterValues, which jobs are decoded from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/quantity.h"
#include "models/base/register_map.h"

namespace npuscope {

class RegisterImage {
 public:
    /// `NVDLA_CDMA`.
    explicit RegisterImage(std::string_view block);

    const RegisterBlock& block() const { return *block_; }
    /// In the order of the block's rows.
    const std::vector<std::uint32_t>& values() const { return values_; }
    /// As a job is decoded from.
    RegisterValues decoded() const;

    /// A value that does not fit its field, or no such field, is a bug of ours.
    RegisterImage& field(std::string_view register_name, std::string_view field_name,
                         std::uint64_t value);
    RegisterImage& flag(std::string_view register_name, std::string_view field_name, bool value) {
        return field(register_name, field_name, value ? 1 : 0);
    }
    /// Two's complement.
    RegisterImage& signed_field(std::string_view register_name, std::string_view field_name,
                                std::int64_t value);
    /// A field that counts from zero.
    RegisterImage& size(std::string_view register_name, std::string_view field_name,
                        std::uint64_t value);
    /// A register that is one field of its own name: `D_` + the field's name.
    RegisterImage& only(const std::string& field_name, std::uint64_t value) {
        return field("D_" + field_name, field_name, value);
    }
    /// D_<stem>_LOW and D_<stem>_HIGH, fields <stem>_LOW and <stem>_HIGH.
    RegisterImage& address(const std::string& stem, Address address);
    /// A register whose fields are all written at once.
    RegisterImage& whole(std::string_view register_name, std::uint32_t value);

 private:
    std::uint32_t& value_of(std::string_view register_name, const RegisterRow*& row);

    const RegisterBlock* block_;
    std::vector<std::uint32_t> values_;
};

}  // namespace npuscope
