// SPDX-License-Identifier: Apache-2.0
// What an operation finds in the convolution buffer: lines and weights that the previous operation
// left there. An operation keeps all its data with SKIP_DATA_RLS, otherwise the lines beyond
// D_RELEASE.RLS_SLICES, and all its weights with SKIP_WEIGHT_RLS. The next one reuses them with
// DATA_REUSE or WEIGHT_REUSE if mode, format and banks are the same; otherwise they are dropped.
// After SKIP_DATA_RLS nothing is fetched; after a partial release new lines follow the kept ones.
// source: nv_full C model, CDMA and CSC, reuse of the previous layer
//
// Unconsumed weights stay too: the DMA fetches WEIGHT_BYTES, including the zeros at the end, but
// the sequencer releases only the entries that it has read. What is left precedes the next
// operation's weights and is mistaken for them, until another bank split empties the buffer. Where
// an entry is as wide as the 128 bytes that weights are padded to, nothing is left.
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
    std::uint32_t kept_lines = 0;  ///< preceding the fetched ones
    bool weights_reused = false;
    std::uint64_t stale_weights = 0;  ///< entries before the weights, left by other operations
    std::uint64_t lost_weights = 0;   ///< entries that a new bank split discards

    bool operator==(const BufferStart&) const = default;
    bool keeps_data() const { return data_reused || kept_lines > 0; }
};

struct KnownBufferStart {
    BufferStart start;
    std::vector<Diagnostic> findings;  ///< reuse of something missing or unsuitable
};

/// Follows the operations in the order in which they run.
class BufferHistory {
 public:
    /// `entry`: size of an entry of the convolution buffer.
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
        std::uint32_t lines;  ///< number kept
        bool all_data;
        bool all_weights;
        WeightLayout weights;
        std::uint64_t weight_entries;  ///< of the latest fetch
    };
    bool fits_left(const CscJob& csc) const;
    void follow_weights(const ConvJob& job, KnownBufferStart& known);

    const Bytes entry_;
    std::optional<Left> left_;
    std::uint64_t held_ = 0;  ///< entries of weights in the buffer
};

/// Weight entries that the operation fetches, and those of them that it never uses. None for
/// compressed weights, which only know their own size.
std::uint64_t fetched_weights(const ConvJob& job, Bytes entry);
std::uint64_t unused_weights(const ConvJob& job, Bytes entry);

/// Lines that the operation releases at its end, and lines that stay.
std::uint32_t released_lines(const ConvJob& job);
std::uint32_t left_lines(const ConvJob& job);

}  // namespace npuscope
