// SPDX-License-Identifier: Apache-2.0
// One convolution on its way through CDMA, CSC, CMAC and CACC: its job, and what each unit has
// added so far. Values are there from the moment at which the unit that makes them has started.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/base/statistics.h"
#include "models/data/conv_job.h"
#include "models/data/tensor.h"

namespace npuscope {

/// How a job's operands lie in the convolution buffer, in entries.
struct BufferUse {
    Bytes entry{8};
    std::uint64_t data = 0;

    /// Entries that a kernel group adds; groups lie behind each other without gaps, the zeros at
    /// the end belong to the last one.
    std::uint64_t weights(const WeightLayout& layout, std::uint32_t group) const {
        const bool last = group + 1 == layout.groups();
        const Bytes end = last ? layout.stored_bytes() : layout.group_offset(group + 1);
        return divide_up(end.value, entry.value) -
               divide_up(layout.group_offset(group).value, entry.value);
    }
};

struct ConvWork {
    ConvJob job;
    BufferUse buffer;
    std::string name;    ///< `conv 3`: operation in findings and records
    unsigned group = 0;  ///< shadow group that the registers came from
    bool values = true;  ///< false: time alone is simulated

    // CDMA: logical operands, pixels already converted
    std::shared_ptr<const Tensor<std::int8_t>> data;
    std::shared_ptr<const Kernels<std::int8_t>> weights;
    Cycles fetch_start;                ///< both fetches begin, their constants still ahead
    Cycles data_first;                 ///< first data entry in CBUF
    Cycles data_complete;              ///< last data entry in CBUF
    std::vector<bool> weights_waited;  ///< per kernel group: its fetch stood still for want of room
    // CSC
    Cycles first_mac;
    // CMAC and CACC
    std::shared_ptr<const Tensor<std::int32_t>> accumulated;  ///< whole groups of kernels
    std::uint64_t saturated = 0;

    OperationRecord record;
};

/// A stripe, and when its last block of weights enters the MAC cells; that may be yet to come.
struct StripePackage {
    std::shared_ptr<ConvWork> work;
    std::uint32_t kernel_group = 0;
    std::uint64_t first_output = 0;
    std::uint32_t length = 0;
    Cycles last_block_start{};
    bool last = false;  ///< of the operation
};

}  // namespace npuscope
