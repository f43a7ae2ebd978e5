// SPDX-License-Identifier: Apache-2.0
// Register writes to launches, without time: an operation starts as soon as all of its blocks are
// enabled in the group whose turn it is, and ends when the program has learnt of its end. The
// registers behave as on the bus, both groups and both pointers included.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/csb/register_file.h"
#include "models/npu/npu_config.h"
#include "sim/check/block_group.h"
#include "sim/check/checked_operation.h"
#include "sim/check/found.h"
#include "sim/check/operation_decoder.h"
#include "sim/program/program.h"

namespace npuscope {

class LaunchBoard {
 public:
    explicit LaunchBoard(const NpuConfig& npu);

    /// Launches what the write sets off.
    void write(const WriteRegister& write, const Place& place, FoundList& found);
    /// Where the moves of BDMA and RUBIK begin and end that the last write added; they are not
    /// among the operations.
    std::vector<CheckedOperation> take_moves() { return std::exchange(moves_, {}); }
    const std::deque<CheckedOperation>& operations() const { return operations_; }
    CheckedOperation& operation(std::size_t index) { return operations_[index]; }
    /// Oldest operation of the unit and group that satisfies the condition.
    std::optional<std::size_t> find(Interrupt interrupt,
                                    const std::function<bool(const CheckedOperation&)>& good) const;
    /// The program knows that the operation, and all before it on its units, are over.
    void finish(std::size_t index);
    void finish_all();
    /// The last operation of a chain that starts here.
    std::size_t end_of_chain(std::size_t index) const;
    std::uint32_t interrupt_mask() const;
    /// What is still waiting for something that never came.
    void report_stuck(FoundList& found) const;

 private:
    /// A command of BDMA, or an operation of RUBIK.
    void add_move(const RegisterFile& mover, const WriteRegister& write, const Place& place,
                  FoundList& found);
    void launch_ready(const Place& place, FoundList& found);
    bool launch(CheckedOperation operation, const std::vector<Found>& complaints,
                const Place& place, FoundList& found);
    void pair(std::size_t index, FoundList& found);
    void check_flight(std::size_t producer, std::size_t consumer, FoundList& found) const;
    RegisterFile& file(std::string_view name);
    RegisterFile* file_at(std::uint32_t address);
    BlockGroup& main_blocks(OperationUnit unit);
    BlockGroup* rdma_blocks(OperationUnit unit);

    const NpuConfig& npu_;
    OperationDecoder decoder_;
    BufferHistory history_;
    std::deque<RegisterFile> files_;
    BlockGroup conv_;
    BlockGroup sdp_;
    BlockGroup sdp_rdma_;
    BlockGroup pdp_;
    BlockGroup pdp_rdma_;
    BlockGroup cdp_;
    std::deque<CheckedOperation> operations_;
    std::vector<CheckedOperation> moves_;
    std::size_t movers_ = 0;
};

}  // namespace npuscope
