// SPDX-License-Identifier: Apache-2.0
// Hexadecimal files of other tools:
//
//     Intel HEX    :10 0000 00 <16 bytes> checksum      types 00 data, 01 end, 02 and 04 upper
//                                                       address; 03 and 05 (start) are ignored
//     readmemh     @80  00 1f // comment                one byte a word, @ sets its address
#pragma once

#include <string>
#include <string_view>

#include "sim/program/memory_image.h"

namespace npuscope {

/// ConfigError with line and column of what is no such file; checksums must be right.
MemoryImage parse_intel_hex(std::string_view text, const std::string& file);
MemoryImage parse_readmemh(std::string_view text, const std::string& file);

}  // namespace npuscope
