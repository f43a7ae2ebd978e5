// SPDX-License-Identifier: Apache-2.0
// What the kernel-mode firmware writes into the registers of one unit for one operation: its
// descriptors, field by field, in the firmware's order. What the firmware refuses is refused here,
// as a ConfigError that names the operation and its member; what it writes without a look is
// written likewise. Where it looks whether a group is idle, the program waits until it is.
// source: NVDLA sw, kmd/firmware: a file of each unit, common.c
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/quantity.h"
#include "models/base/register_map.h"
#include "models/npu/npu_config.h"
#include "sim/loadable/descriptors.h"
#include "sim/program/program.h"

namespace npuscope {

struct PipelineRow;

/// Register writes in their order, with the addresses that an NPU has for them.
class RegisterScript {
 public:
    RegisterScript(std::span<const RegisterBlock> blocks, std::string file)
        : blocks_(blocks), file_(std::move(file)) {}

    struct Field {
        std::string name;
        std::uint32_t value;
    };

    void write(std::string_view block, std::string_view name, std::uint32_t value);
    /// Fields at their bits, ORed as they are: a value that is too large spills over.
    void write(std::string_view block, std::string_view name, std::initializer_list<Field> fields);
    /// Both halves of an address, in the registers NAME_LOW and NAME_HIGH.
    void write_address(std::string_view block, const std::string& name, Address address);
    /// Reads until the bits of the mask are so.
    void poll(std::string_view block, std::string_view name, std::uint32_t mask,
              std::uint32_t expected);
    void add(Action action) { statements_.push_back({Place{file_}, std::move(action)}); }

    std::vector<Statement>& statements() { return statements_; }

 private:
    RegisterPlace place(std::string_view block, std::string_view name) const;

    std::span<const RegisterBlock> blocks_;
    std::string file_;
    std::vector<Statement> statements_;
};

/// One operation's writing.
struct OperationContext {
    RegisterScript& script;
    const NpuConfig& npu;
    std::string name;  ///< `task 1, operation 3 (sdp)`
    std::string file;
    /// The address of a task's list, the offset within it added, where so many bytes are there.
    std::function<Address(std::int16_t index, std::uint64_t offset, std::uint64_t bytes,
                          const std::string& what)>
        address;
    unsigned group = 0;  ///< of registers
    bool uses_rdma = false;
    bool counts = false;  ///< the task collects statistics

    [[noreturn]] void fail(const std::string& sentence, const std::string& remedy = {}) const;
    void require(bool condition, const std::string& sentence) const {
        if (!condition) {
            fail(sentence);
        }
    }
    std::uint64_t atom() const { return npu.datapath.memory_atom.value; }
};

/// Whether the operation's read DMA has a part in it.
bool uses_rdma(const DlaOperation& operation);
/// The table that it needs; -1: none.
std::int16_t table_of(const DlaOperation& operation);

/// The unit's row; null of the BDMA, whose registers are a queue.
const PipelineRow* row_of(DlaUnit unit);
/// S_POINTER of the unit's blocks.
void write_producer(RegisterScript& script, DlaUnit unit, unsigned group, unsigned rdma_group);
/// The operation's registers.
void write_operation(const OperationContext& context, const DlaOperation& operation);
/// Sets it off.
void write_enable(const OperationContext& context, const DlaOperation& operation, unsigned group);

/// `block`: NVDLA_SDP or NVDLA_CDP.
void write_table(RegisterScript& script, std::string_view block, const DlaLut& table,
                 DlaPrecision precision);

// What operations share.

inline std::uint32_t low_half(Address address) {
    return static_cast<std::uint32_t>(address.value & 0xffffffff);
}
inline std::uint32_t high_half(Address address) {
    return static_cast<std::uint32_t>(address.value >> 32U);
}
/// A number that registers count from zero: 0 becomes all ones, as on the firmware's processor.
constexpr std::uint32_t less_one(std::uint32_t number) { return number - 1; }

/// Of the RAM type's field: 1 main memory, 0 the SRAM. A cube on the fly has neither: the firmware
/// reads beyond its table there; the field is without effect.
std::uint32_t ram_type(const DlaCube& cube);
std::uint32_t precision_code(const OperationContext& context, DlaPrecision precision,
                             const char* member);
constexpr std::uint64_t element_bytes(DlaPrecision precision) {
    return precision == DlaPrecision::Int8 ? 1 : 2;
}

/// A cube's address, where all of it lies in its memory. `bytes`: of an element.
Address feature_address(const OperationContext& context, const DlaCube& cube, std::uint64_t bytes,
                        const std::string& what);
/// The address of `bytes` bytes of a cube.
Address bytes_address(const OperationContext& context, const DlaCube& cube, std::uint64_t bytes,
                      const std::string& what);

// How large an operation is: whether it passes its result on the fly, products that are of use, and a
// guess of its cycles, which orders operations that run side by side.

/// A BDMA operation without transfers ends as it is enabled.
bool is_empty(const DlaOperation& operation);
/// From the unit before it.
bool takes_on_the_fly(const DlaOperation& operation);
/// To the unit after it.
bool gives_on_the_fly(const DlaOperation& operation);
/// Of a convolution: kernels x pixels x weights of a kernel; 0 of others.
std::uint64_t useful_macs(const DlaOperation& operation);
/// The longest of its computing and its moves.
std::uint64_t predicted_cycles(const DlaOperation& operation, const NpuConfig& npu);

}  // namespace npuscope
