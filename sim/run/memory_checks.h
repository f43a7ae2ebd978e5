// SPDX-License-Identifier: Apache-2.0
// What a program does to memory, apart from the NPU: fill, load, and compare with what it expects.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
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

/// Reads memory from an address on, in zero time.
using ReadBytes = std::function<void(Address, std::span<std::uint8_t>)>;

CheckResult check_crc(const ReadBytes& read, const CheckCrc& check, const Place& place);
CheckResult check_image(const ReadBytes& read, const CheckImage& check, const Place& place);
CheckResult check_word(const ReadBytes& read, const ReadMemory& expected, const Place& place);
CheckResult register_check(const ReadRegister& read, std::uint32_t value, const Place& place);

/// For bytes that are compared with an expectation, though some of them were never written.
std::optional<Diagnostic> unwritten_finding(const Memory& memory, const ByteRun& region,
                                            const Place& place);
/// Which operations wrote the bytes, and when: a line for each of the first writers.
std::vector<std::string> writers_of(const Memory& memory, const ByteRun& run);

}  // namespace npuscope
