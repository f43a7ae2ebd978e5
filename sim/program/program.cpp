// SPDX-License-Identifier: Apache-2.0
#include "sim/program/program.h"

#include "models/base/check.h"

namespace npuscope {

std::uint8_t fill_byte(FillPattern pattern, Address address) {
    switch (pattern) {
        case FillPattern::AllZero:
            return 0x00;
        case FillPattern::Ones:
            return 0xff;
        case FillPattern::AFive:
            return 0xa5;
        case FillPattern::FiveA:
            return 0x5a;
        case FillPattern::LowAddress:
            return static_cast<std::uint8_t>(address.value & 0xff);
    }
    NPU_CHECK(false, "unknown fill pattern");
    return 0;
}

bool ReadRegister::holds(std::uint32_t value) const {
    const std::uint32_t seen = value & mask;
    const std::uint32_t wanted = expected & mask;
    switch (comparison) {
        case Comparison::Equal:
            return seen == wanted;
        case Comparison::AtMost:
            return seen <= wanted;
        case Comparison::AtLeast:
            return seen >= wanted;
    }
    NPU_CHECK(false, "unknown comparison");
    return false;
}

std::string_view memory_port_name(MemoryPort port) {
    return port == MemoryPort::Primary ? "pri_mem" : "sec_mem";
}

}  // namespace npuscope
