// SPDX-License-Identifier: Apache-2.0
// What the host does, in order: fill memory, write registers or launch jobs, compute what the NPU
// does not support, wait for interrupts, and what is expected afterwards. Every front end makes a
// Program; the machine does not know where it came from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/base/check.h"
#include "models/base/error.h"
#include "models/base/quantity.h"
#include "models/base/unit_job.h"
#include "models/layout/feature_cube.h"
#include "sim/program/memory_image.h"

namespace npuscope {

/// The port that a statement refers to.
enum class MemoryPort { Primary, Secondary };

/// Fill patterns of `mem_init`; names in nv_small's trace files: ALL_ZERO, ONES, AFIVE, FIVEA,
/// ADDR.
enum class FillPattern { AllZero, Ones, AFive, FiveA, LowAddress };

/// Byte at an address under a pattern; LowAddress is the address modulo 256.
inline std::uint8_t fill_byte(FillPattern pattern, Address address) {
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

struct InitMemory {
    MemoryPort memory = MemoryPort::Primary;
    Address address;
    Bytes bytes;
    FillPattern fill = FillPattern::AllZero;
};

/// Calls `write` with addresses and pieces of a region that `byte_at` fills.
template <class ByteAt, class Write>
void in_pieces(Address address, std::uint64_t size, const ByteAt& byte_at, const Write& write) {
    std::vector<std::uint8_t> bytes;
    for (std::uint64_t done = 0; done < size; done += bytes.size()) {
        const Address at = address + Bytes(done);
        bytes.resize(std::min(size - done, std::uint64_t{64} * 1024));
        for (std::uint64_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = byte_at(at + Bytes(i));
        }
        write(at, std::span<const std::uint8_t>(bytes));
    }
}

template <class Write>
void fill_in_pieces(const InitMemory& init, const Write& write) {
    in_pieces(
        init.address, init.bytes.value, [&](Address at) { return fill_byte(init.fill, at); },
        write);
}

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

/// How a value that was read is compared with the expected one, both unsigned.
enum class Comparison { Equal, AtMost, AtLeast };

/// Reads `attempts` times at most; one value under the mask must be as expected.
struct ReadRegister {
    std::string name;
    std::uint32_t address = 0;
    std::uint32_t mask = 0xffffffff;
    std::uint32_t expected = 0;
    Comparison comparison = Comparison::Equal;
    unsigned attempts = 1;

    /// Without a mask nothing is compared.
    bool compares() const { return mask != 0 || expected != 0; }
    bool holds(std::uint32_t value) const {
        const std::uint32_t seen = value & mask;
        switch (comparison) {
            case Comparison::Equal:
                return seen == expected;
            case Comparison::AtMost:
                return seen <= expected;
            case Comparison::AtLeast:
                return seen >= expected;
        }
        NPU_CHECK(false, "unknown comparison");
        return false;
    }
};

/// Reads until the value under the mask is as expected.
struct PollRegister {
    std::string name;
    std::uint32_t address = 0;
    std::uint32_t mask = 0xffffffff;
    std::uint32_t expected = 0;
};

/// Waits for an interrupt of a unit's shadow group, `SDP_0`, clears it and raises `sync`. An empty
/// unit means any interrupt.
struct NotifyOnInterrupt {
    std::string unit;
    std::string sync;
};

/// Waits until the NPU raises its interrupt line. Interrupts that were cleared together by one
/// write satisfy as many waits.
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

/// After `sync`, or now if it is empty, memory must hold the first `bytes` of the image.
struct CheckImage {
    std::string sync;
    MemoryPort memory = MemoryPort::Primary;
    Address address;
    Bytes bytes;
    MemoryImage image;
    std::string file;
};

/// `sync` ends a layer without expectations.
struct CheckNothing {
    std::string sync;
};

/// The NPU's memory as the host sees it while a program runs: no time passes. A range outside every
/// region is a ConfigError.
class HostMemory {
 public:
    virtual ~HostMemory() = default;
    virtual void load(Address address, std::span<const std::uint8_t> bytes) = 0;
    virtual void read(Address address, std::span<std::uint8_t> bytes) const = 0;
};

/// What the host does with values; called only if they are simulated. May be empty.
using HostWork = std::function<void(HostMemory&)>;

/// A job as in a file: the words of its descriptor. The NPU's family makes its own job of it.
struct WrittenJob : UnitJob {
    std::vector<std::uint8_t> descriptor;
};

/// Launches a job on an NPU without public registers. Waits first while its queue is full.
struct LaunchJob {
    std::shared_ptr<const UnitJob> job;
    HostWork before{};       ///< right before the launch: stores what the job reads
    HostWork on_end{};       ///< when it has ended: reads what it wrote
    std::uint64_t macs = 0;  ///< useful ones; 0: all of the job's
};

/// Waits until all launched jobs have ended and all interrupts that are to raise an id have come.
struct WaitForJobs {};

/// Waits until every NPU of the run has got this far: the n-th of one program for the n-th of all
/// others. No effect if one runs alone.
struct MeetInstances {};

/// A part of a model on an NPU and a memory as after reset, with its own cycle count.
struct BeginSegment {
    std::string name;
    std::vector<std::string> inputs{};   ///< tensors that it reads
    std::vector<std::string> outputs{};  ///< tensors that it leaves
};

/// The next operations compute a layer of a network; a name for results, without effect.
struct BeginLayer {
    std::string name;
    std::string kind{};          ///< `conv`, a pattern, an operator
    std::uint64_t macs = 0;      ///< useful ones
    std::size_t operations = 1;  ///< of the result, in the order of their start
};

/// The host computes a node of a model. It is an operation of the result if `op` is not empty.
struct RunNode {
    std::string name;
    std::string op{};  ///< the operator
    Cycles cycles{};
    std::uint64_t macs = 0;
    HostWork work{};
    std::vector<ByteRun> reads{};  ///< of the NPU's memory, if they are known before
    std::vector<ByteRun> writes{};
};

using Action = std::variant<InitMemory, LoadMemory, WriteRegister, ReadRegister, PollRegister,
                            NotifyOnInterrupt, WaitForInterrupt, ReadMemory, SyncNotify, SyncWait,
                            CheckCrc, CheckImage, CheckNothing, LaunchJob, WaitForJobs, RunNode,
                            MeetInstances, BeginSegment, BeginLayer>;

struct Statement {
    Place place;
    Action action;
};

/// A surface named by the program's generator. Without effect: it tells people what is where.
struct NamedSurface {
    std::string name;
    std::string spec{};  ///< `ADDRESS:SHAPE:TYPE:LAYOUT`, see sim/convert/surface_spec.h
    std::string
        after{};  ///< id, or launched job, after which its bytes are in memory; empty: always
    bool is_result = false;   ///< of the layer with its name
    std::size_t segment = 0;  ///< of the program, counted from 1; 0 if it has none
    Place place{};            ///< of the comment that names it
};

struct Program {
    std::string name;  ///< the stem of its file, or its folder
    std::vector<Statement> statements;
    bool zeroed_memory = false;  ///< uninitialised memory is 0, and may be read
    std::vector<NamedSurface> surfaces{};
};

/// Statements that run on one machine: a segment, or what precedes the first.
struct ProgramPart {
    std::span<const Statement> statements;  ///< of the program, which must outlive this
    const BeginSegment* segment = nullptr;
};

/// At least one, which may be empty.
std::vector<ProgramPart> parts_of(const Program& program);
/// A copy of its statements.
Program program_of(const ProgramPart& part);

inline std::string_view memory_port_name(MemoryPort port) {
    return port == MemoryPort::Primary ? "pri_mem" : "sec_mem";
}

}  // namespace npuscope
