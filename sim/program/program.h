// SPDX-License-Identifier: Apache-2.0
// What the host does, in order: fill memory, write registers, wait for interrupts, and what is
// expected afterwards. Every front end makes a Program; the machine does not know where it came
// from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/base/error.h"
#include "models/base/quantity.h"
#include "sim/program/memory_image.h"

namespace npuscope {

/// The port that a statement speaks of.
enum class MemoryPort { Primary, Secondary };

/// What `mem_init` fills a region with; names in nv_small's trace files: ALL_ZERO, ONES, AFIVE,
/// FIVEA, ADDR.
enum class FillPattern { AllZero, Ones, AFive, FiveA, LowAddress };

/// Byte at an address under a pattern; LowAddress is the address modulo 256.
std::uint8_t fill_byte(FillPattern pattern, Address address);

struct InitMemory {
    MemoryPort memory = MemoryPort::Primary;
    Address address;
    Bytes bytes;
    FillPattern fill = FillPattern::AllZero;
};

struct LoadMemory {
    MemoryPort memory = MemoryPort::Primary;
    Address address;
    MemoryImage image;
    std::string file;  ///< as the program names it
};

struct WriteRegister {
    std::string name;  ///< `NVDLA_CDMA.D_OP_ENABLE_0`
    std::uint32_t address = 0;
    std::uint32_t value = 0;
};

/// How a value that was read is held against the expected one, both unsigned.
enum class Comparison { Equal, AtMost, AtLeast };

/// Reads `attempts` times at most; one value under the mask must be as expected.
struct ReadRegister {
    std::string name;
    std::uint32_t address = 0;
    std::uint32_t mask = 0xffffffff;
    std::uint32_t expected = 0;
    Comparison comparison = Comparison::Equal;
    unsigned attempts = 1;

    bool holds(std::uint32_t value) const;
};

/// Reads until the value under the mask is as expected.
struct PollRegister {
    std::string name;
    std::uint32_t address = 0;
    std::uint32_t mask = 0xffffffff;
    std::uint32_t expected = 0;
};

/// Waits for an interrupt of a unit's shadow group, `SDP_0`, clears it and raises `sync`. An empty
/// unit is any interrupt.
struct NotifyOnInterrupt {
    std::string unit;
    std::string sync;
};

/// Waits until the NPU raises its interrupt line. Interrupts that one write cleared together
/// satisfy as many waits.
struct WaitForInterrupt {};

/// The word in memory under the mask must be as expected, now.
struct ReadMemory {
    MemoryPort memory = MemoryPort::Primary;
    Address address;
    std::uint32_t mask = 0xffffffff;
    std::uint32_t expected = 0;
};

struct SyncNotify {
    std::string unit;
    std::string sync;
};

struct SyncWait {
    std::string unit;
    std::string sync;
};

/// After `sync`, zlib's CRC-32 over the region must be `crc`.
struct CheckCrc {
    std::string sync;
    MemoryPort memory = MemoryPort::Primary;
    Address address;
    Bytes bytes;
    std::uint32_t crc = 0;
};

/// After `sync`, or now where it is empty, memory must hold the first `bytes` of the image.
struct CheckImage {
    std::string sync;
    MemoryPort memory = MemoryPort::Primary;
    Address address;
    Bytes bytes;
    MemoryImage image;
    std::string file;
};

/// `sync` ends a layer of which nothing is expected.
struct CheckNothing {
    std::string sync;
};

using Action = std::variant<InitMemory, LoadMemory, WriteRegister, ReadRegister, PollRegister,
                            NotifyOnInterrupt, WaitForInterrupt, ReadMemory, SyncNotify, SyncWait,
                            CheckCrc, CheckImage, CheckNothing>;

struct Statement {
    Place place;
    Action action;
};

struct Program {
    std::string name;  ///< the stem of its file, or its folder
    std::vector<Statement> statements;
    bool zeroed_memory = false;  ///< memory that nobody wrote is 0, and may be read
};

std::string_view memory_port_name(MemoryPort port);

}  // namespace npuscope
