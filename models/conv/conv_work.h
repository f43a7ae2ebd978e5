// SPDX-License-Identifier: Apache-2.0
// One convolution on its way through CDMA, CSC, CMAC and CACC: its job, and what each unit has
// added so far. Values are available as soon as the unit that produces them has started.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/arith/convolve.h"
#include "models/base/statistics.h"
#include "models/conv/buffer_history.h"
#include "models/conv/conv_job.h"
#include "models/layout/tensor.h"

namespace npuscope {

/// How a job's operands are laid out in the convolution buffer, in entries. Kernel groups follow
/// each other without gaps; the zeros at the end belong to the last one.
struct BufferUse {
    Bytes entry{8};
    std::uint64_t line = 1;                  ///< of input
    std::uint64_t data = 0;                  ///< fetched by the operation
    std::vector<std::uint64_t> weight_ends;  ///< bytes up to the end of each kernel group
    std::vector<std::uint64_t> mask_ends;    ///< the same for WMB; empty: uncompressed weights
    std::uint64_t unused_weights = 0;        ///< of the last group: fetched, but never used

    /// Entries that a kernel group adds.
    std::uint64_t weights(std::uint32_t group) const { return added(weight_ends, group); }
    /// Those of them that the sequencer takes and releases.
    std::uint64_t taken_weights(std::uint32_t group) const {
        return weights(group) - (group + 1 == weight_ends.size() ? unused_weights : 0);
    }
    std::uint64_t masks(std::uint32_t group) const { return added(mask_ends, group); }

 private:
    std::uint64_t added(const std::vector<std::uint64_t>& ends, std::uint32_t group) const {
        const std::uint64_t before = group == 0 ? 0 : ends[group - 1];
        return divide_up(ends[group], entry.value) - divide_up(before, entry.value);
    }
};

/// What the DMA counts while fetching.
struct FetchCounters {
    std::uint64_t data_nan = 0;
    std::uint64_t data_inf = 0;
    std::uint64_t weight_nan = 0;
    std::uint64_t weight_inf = 0;
    Cycles data_stall;  ///< requests that waited for their turn at the memory interface
    Cycles weight_stall;
    Cycles data_latency;  ///< sum over all requests, from their turn to the data
    Cycles weight_latency;
};

/// Kernels that become available once the value thread has got to them. Operations with the same bytes
/// share them.
struct LateKernels {
    std::shared_ptr<const WeightKernels> kernels;
};

struct ConvWork {
    ConvJob job;
    BufferStart start;
    BufferUse buffer;
    std::string name;    ///< `conv 3`: operation in findings and records
    unsigned group = 0;  ///< shadow group that the registers came from
    bool values = true;  ///< false: timing only

    // CDMA: logical operands, pixels already converted
    std::shared_ptr<const ElementTensor> data;
    std::shared_ptr<const LateKernels> weights;
    /// Where values arrive with the reads, in place of `weights`: those of each kernel group that
    /// has arrived.
    std::vector<std::shared_ptr<const WeightKernels>> arrived_groups;
    FetchCounters counters;
    Cycles fetch_start;                ///< start of the data fetch, without its constant delay
    Cycles weights_start;              ///< the same for weights
    bool weights_move = false;         ///< to other banks, once the earlier ones have been taken
    Cycles data_first;                 ///< first data entry in CBUF
    Cycles data_complete;              ///< last data entry in CBUF
    std::vector<bool> weights_waited;  ///< per kernel group: its fetch stalled for lack of room
    // CSC
    Cycles first_mac;
    std::optional<Convolution> met;  ///< how data and weights combine, if not as in the job
    std::optional<Cycles> passed;    ///< the sequencer is free for the next operation
    // CMAC and CACC
    std::shared_ptr<Tensor<std::int32_t>> accumulated;  ///< complete kernel groups
    std::uint32_t groups_accumulated = 0;               ///< of `arrived_groups`
    ArrangedData arranged;                              ///< `data`, while its groups arrive
    std::uint64_t saturated = 0;

    OperationRecord record;
};

/// A stripe, and when its last block of weights enters the MAC cells, possibly in the future.
struct StripePackage {
    std::shared_ptr<ConvWork> work;
    std::uint32_t kernel_group = 0;
    std::uint64_t first_output = 0;
    std::uint32_t length = 0;
    Cycles last_block_start{};
    Cycles interval{1};  ///< from output to output
    bool last = false;   ///< of the operation
};

}  // namespace npuscope
