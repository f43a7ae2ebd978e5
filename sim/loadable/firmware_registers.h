// SPDX-License-Identifier: Apache-2.0
// What the kernel-mode firmware writes to the registers of one unit for one operation: its
// descriptors, field by field, in the firmware's order. What the firmware refuses is refused here,
// as a ConfigError that names the operation and its member; what it writes unchecked is written
// unchecked here. Where it checks whether a group is idle, the program waits until it is.
// source: NVDLA sw, kmd/firmware: a file of each unit, common.c
#pragma once

#include <array>
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

// Names of the blocks that the firmware writes.
inline constexpr std::string_view cdma_name = "NVDLA_CDMA";
inline constexpr std::string_view cmac_a_name = "NVDLA_CMAC_A";
inline constexpr std::string_view cmac_b_name = "NVDLA_CMAC_B";
inline constexpr std::string_view csc_name = "NVDLA_CSC";
inline constexpr std::string_view cacc_name = "NVDLA_CACC";
/// In the firmware's order.
inline constexpr std::array conv_block_names{cacc_name, cmac_a_name, cmac_b_name, csc_name,
                                             cdma_name};
inline constexpr std::string_view sdp_name = "NVDLA_SDP";
inline constexpr std::string_view sdp_rdma_name = "NVDLA_SDP_RDMA";
inline constexpr std::string_view pdp_name = "NVDLA_PDP";
inline constexpr std::string_view pdp_rdma_name = "NVDLA_PDP_RDMA";
inline constexpr std::string_view cdp_name = "NVDLA_CDP";
inline constexpr std::string_view cdp_rdma_name = "NVDLA_CDP_RDMA";
inline constexpr std::string_view rbk_name = "NVDLA_RBK";
inline constexpr std::string_view bdma_name = "NVDLA_BDMA";

/// Register writes in order, with the addresses that the NPU has for them.
class RegisterScript {
 public:
    RegisterScript(std::span<const RegisterBlock> blocks, std::string file)
        : blocks_(blocks), file_(std::move(file)) {}

    struct Field {
        std::string name;
        std::uint32_t value;
    };

    void write(std::string_view block, std::string_view name, std::uint32_t value);
    /// Fields at their bits, ORed unmasked: a value that is too large spills over.
    void write(std::string_view block, std::string_view name, std::initializer_list<Field> fields);
    /// Both halves of an address, in the registers NAME_LOW and NAME_HIGH.
    void write_address(std::string_view block, const std::string& name, Address address);
    /// Polls until the masked bits are as expected.
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

/// Context for writing one operation.
struct OperationContext {
    RegisterScript& script;
    const NpuConfig& npu;
    std::string name;  ///< `task 1, operation 3 (sdp)`
    std::string file;
    /// The address of a task's list plus the offset, where this many bytes are available.
    std::function<Address(std::int16_t index, std::uint64_t offset, std::uint64_t bytes,
                          const std::string& what)>
        address;
    /// Whether the memory of an address is SRAM; empty: not known.
    std::function<bool(std::int16_t index)> in_sram{};
    unsigned group = 0;  ///< of registers
    bool uses_rdma = false;
    bool counts = false;  ///< the task collects statistics

    [[noreturn]] void fail(const std::string& sentence, const std::string& remedy = {}) const;
    void require(bool condition, const std::string& sentence) const {
        if (!condition) {
            fail(sentence);
        }
    }
    /// An operand's memory type must be that of the memory its address is in.
    void require_type(std::int16_t index, bool is_sram, const std::string& what) const;
    std::uint64_t atom() const { return npu.datapath.memory_atom.value; }
};

/// Whether the operation uses the read DMA.
bool uses_rdma(const DlaOperation& operation);
/// The table that it needs; -1: none.
std::int16_t table_of(const DlaOperation& operation);

/// The unit's row; null for the BDMA, whose registers are a queue.
const PipelineRow* row_of(DlaUnit unit);
/// S_POINTER of the unit's blocks.
void write_producer(RegisterScript& script, DlaUnit unit, unsigned group, unsigned rdma_group);
/// The operation's registers.
void write_operation(const OperationContext& context, const DlaOperation& operation);
/// Starts it.
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
/// A value that registers count from zero: 0 becomes all ones, as on the firmware's processor.
constexpr std::uint32_t less_one(std::uint32_t number) { return number - 1; }

/// Value of the RAM type field: 1 main memory, 0 the SRAM. A cube on the fly has neither: the
/// firmware reads beyond its table there; the field has no effect.
std::uint32_t ram_type(const DlaCube& cube);
std::uint32_t precision_code(const OperationContext& context, DlaPrecision precision,
                             const char* member);
constexpr std::uint64_t element_bytes(DlaPrecision precision) {
    return precision == DlaPrecision::Int8 ? 1 : 2;
}

/// A cube's address, where all of it is within its memory. `bytes`: of an element.
Address feature_address(const OperationContext& context, const DlaCube& cube, std::uint64_t bytes,
                        const std::string& what);
/// The address of `bytes` bytes of a cube.
Address bytes_address(const OperationContext& context, const DlaCube& cube, std::uint64_t bytes,
                      const std::string& what);

// The size of an operation: whether it passes its result on the fly, useful MACs, and an estimate
// of its cycles, which orders operations that run in parallel.

/// A BDMA operation without transfers ends as soon as it is enabled.
bool is_empty(const DlaOperation& operation);
/// From the preceding unit.
bool takes_on_the_fly(const DlaOperation& operation);
/// To the next unit.
bool gives_on_the_fly(const DlaOperation& operation);
/// Of a convolution: kernels x pixels x weights of a kernel; 0 for others.
std::uint64_t useful_macs(const DlaOperation& operation);
/// The longest of its computation and its transfers.
std::uint64_t predicted_cycles(const DlaOperation& operation, const NpuConfig& npu);

}  // namespace npuscope
