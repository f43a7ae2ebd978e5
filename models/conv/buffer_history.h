// SPDX-License-Identifier: Apache-2.0
// What an operation finds in the convolution buffer: lines and weights that the operation before
// left there. An operation leaves all its data with SKIP_DATA_RLS, else the lines beyond
// D_RELEASE.RLS_SLICES, all its weights with SKIP_WEIGHT_RLS. The next one takes them over with
// DATA_REUSE or WEIGHT_REUSE if mode, format and banks are the same; otherwise they are dropped.
// After SKIP_DATA_RLS nothing is fetched, after a partial release new lines follow the kept ones.
// source: nv_full C model, CDMA and CSC, reuse of the layer before
//
// Weights that are not consumed stay too: the DMA fetches WEIGHT_BYTES, zeros at the end included,
// but the sequencer gives back only the entries that it has read. What is left stands in front of
// the next operation's weights and is taken for them, until another bank split empties the buffer.
// Where an entry is as wide as the 128 bytes that weights are padded to, nothing is left.
// source: nv_small RTL, NV_NVDLA_CSC_wl.v wt_rls_entries and NV_NVDLA_CDMA_wt.v, replayed
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/fingerprint.h"
#include "models/conv/conv_job.h"

namespace npuscope {

/// How an operation starts.
struct BufferStart {
    bool data_reused = false;      ///< the kept data are the whole input, nothing is fetched
    std::uint32_t kept_lines = 0;  ///< in front of those that are fetched
    bool weights_reused = false;
    std::uint64_t stale_weights = 0;  ///< entries in front of the weights, left by others
    std::uint64_t lost_weights = 0;   ///< entries that a new bank split throws away

    bool operator==(const BufferStart&) const = default;
    bool keeps_data() const { return data_reused || kept_lines > 0; }
};

struct KnownBufferStart {
    BufferStart start;
    std::vector<Diagnostic> findings;  ///< reuse of what is not there, or does not fit
};

/// Follows the operations in the order in which they run.
class BufferHistory {
 public:
    /// `entry`: of the convolution buffer.
    explicit BufferHistory(Bytes entry) : entry_(entry) {}

    KnownBufferStart next(const ConvJob& job);
    void add_state(Fingerprint& state) const;

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
        std::uint64_t weight_entries;  ///< fetched by the newest fetch
    };
    bool fits_left(const CscJob& csc) const;
    void follow_weights(const ConvJob& job, KnownBufferStart& known);

    const Bytes entry_;
    std::optional<Left> left_;
    std::uint64_t held_ = 0;  ///< entries of weights in the buffer
};

/// Entries of weights that the operation fetches, and those of them that it never takes. Of
/// compressed weights, which only know their own size: none.
std::uint64_t fetched_weights(const ConvJob& job, Bytes entry);
std::uint64_t unused_weights(const ConvJob& job, Bytes entry);

/// Lines that the operation gives back at its end, and lines that stay.
std::uint32_t released_lines(const ConvJob& job);
std::uint32_t left_lines(const ConvJob& job);

}  // namespace npuscope
