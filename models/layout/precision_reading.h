// SPDX-License-Identifier: Apache-2.0
// Fields of registers that name an element type: 0 int8, 1 int16, 2 fp16.
// source: NVDLA register specification, PROC_PRECISION and its like
#pragma once

#include "models/layout/datapath.h"
#include "models/layout/register_reading.h"

namespace npuscope {

/// ConfigError where the field holds no type, or one that the NPU's data path lacks. `unit`: the
/// SDP, as the message names it.
inline Precision read_precision(const RegisterValues& values, const FieldName& name,
                                const DatapathConfig& datapath, std::string_view unit) {
    const std::uint32_t code = values.field(name.register_name, name.field_name);
    if (code > 2) {
        refuse(values, name, "no element type has this number", "0 int8, 1 int16, 2 fp16");
    }
    const auto precision = static_cast<Precision>(code);
    if (!datapath.supports(precision)) {
        const bool bytes_only = !datapath.int16 && !datapath.fp16;
        refuse(values, name,
               fmt::format("this NPU's {} works on int8 {}", unit,
                           bytes_only       ? "only"
                           : datapath.int16 ? "and int16 only"
                                            : "and fp16 only"),
               bytes_only ? "program 0 (int8)" : "program another precision");
    }
    return precision;
}

}  // namespace npuscope
