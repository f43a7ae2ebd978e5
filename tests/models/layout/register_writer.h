// SPDX-License-Identifier: Apache-2.0
// Registers of one unit for tests of what decodes them: all at reset, then field by field.
#pragma once

#include <string_view>

#include "models/base/register_map.h"
#include "tests/support/registers.h"

namespace npuscope {

class RegisterWriter {
 public:
    explicit RegisterWriter(const RegisterBlock& block) : values_(block) {}

    RegisterWriter& raw(std::string_view name, std::uint32_t value) {
        values_.set(find_register(values_.block(), name)->offset, value);
        return *this;
    }
    RegisterWriter& field(std::string_view name, std::string_view field_name, std::uint32_t value) {
        write_field(values_, name, field_name, value);
        return *this;
    }
    /// Both precisions int8, which is not their reset value.
    RegisterWriter& int8() { return raw("D_MISC_CFG", 0); }
    const RegisterValues& values() const { return values_; }

 private:
    RegisterValues values_;
};

}  // namespace npuscope
