// SPDX-License-Identifier: Apache-2.0
// What an operation finds in the convolution buffer: lines and weights that the operation before
// left there. An operation leaves all its data with SKIP_DATA_RLS, else the lines beyond
// D_RELEASE.RLS_SLICES, all its weights with SKIP_WEIGHT_RLS. The next one takes them over with
// DATA_REUSE or WEIGHT_REUSE if mode, format and banks are the same; otherwise they are dropped.
// After SKIP_DATA_RLS nothing is fetched, after a partial release new lines follow the kept ones.
// source: nv_full C model, CDMA and CSC, reuse of the layer before
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/finding.h"
#include "models/data/conv_job.h"

namespace npuscope {

/// How an operation starts.
struct BufferStart {
    bool data_reused = false;      ///< the kept data are the whole input, nothing is fetched
    std::uint32_t kept_lines = 0;  ///< in front of those that are fetched
    bool weights_reused = false;

    bool operator==(const BufferStart&) const = default;
    bool keeps_data() const { return data_reused || kept_lines > 0; }
};

struct KnownBufferStart {
    BufferStart start;
    std::vector<Finding> findings;  ///< reuse of what is not there, or does not fit
};

/// Follows the operations in the order in which they run.
class BufferHistory {
 public:
    KnownBufferStart next(const ConvJob& job);

 private:
    struct Left {
        ConvMode mode;
        BankSplit banks;
        Precision precision;
        Shape input;  ///< as the sequencer counts it
        std::uint32_t batches;
        std::uint32_t lines;  ///< kept ones
        bool all_data;
        bool all_weights;
        WeightLayout weights;
    };
    std::optional<Left> left_;
};

/// Lines that the operation gives back at its end, and lines that stay.
std::uint32_t released_lines(const ConvJob& job);
std::uint32_t left_lines(const ConvJob& job);

}  // namespace npuscope
