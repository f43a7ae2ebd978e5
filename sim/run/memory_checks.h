// SPDX-License-Identifier: Apache-2.0
// What a program does to memory, apart from the NPU: fill, load, and compare with what it expects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/error.h"
#include "models/memory/memory.h"
#include "sim/program/program.h"
#include "sim/run/result.h"

namespace npuscope {

/// ConfigError with the statement's place if a range is outside every region.
void init_memory(Memory& memory, const InitMemory& init, const Place& place);
void load_memory(Memory& memory, const LoadMemory& load, const Place& place);

/// `0x0c467827`: eight digits.
std::string crc_text(std::uint32_t crc);

CheckResult check_crc(Memory& memory, const CheckCrc& check, const Place& place);
CheckResult check_image(Memory& memory, const CheckImage& check, const Place& place);
CheckResult check_word(Memory& memory, const ReadMemory& read, const Place& place);
CheckResult register_check(const ReadRegister& read, std::uint32_t value, const Place& place);

/// For bytes that are compared with an expectation, though some of them were never written.
std::optional<Diagnostic> unwritten_finding(const Memory& memory, const ByteRun& region,
                                            const Place& place);
/// Which operations wrote the bytes, and when: a line for each of the first writers.
std::vector<std::string> writers_of(const Memory& memory, const ByteRun& run);

}  // namespace npuscope
