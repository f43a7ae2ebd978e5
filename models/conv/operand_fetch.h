// SPDX-License-Identifier: Apache-2.0
// The values of a convolution's operands on their way into the buffer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/value_thread.h"
#include "models/conv/conv_work.h"
#include "models/layout/datapath.h"
#include "models/layout/weight_layout.h"
#include "models/link/dma_port.h"

namespace npuscope {

/// Bytes of uncompressed weights in the convolution buffer, in the order in which the sequencer
/// uses them: what earlier operations left comes first.
class BufferedWeights {
 public:
    void append(const LateBytes& bytes) {
        LateBytes all = bytes;
        if (size() > 0) {
            all = LateBytes(size() + bytes.size);
            const auto behind = std::ranges::copy(front(size()), all.all().begin()).out;
            std::ranges::copy(bytes.all(), behind);
        }
        bytes_ = std::move(all);
        begin_ = 0;
    }
    std::size_t size() const { return bytes_.size - begin_; }
    /// Sets the values of appended bytes.
    void put(std::size_t offset, std::span<const std::uint8_t> bytes) {
        std::ranges::copy(bytes, bytes_.all().subspan(begin_ + offset).begin());
    }
    /// The first `count` bytes, which must be there.
    std::span<const std::uint8_t> front(std::size_t count) const {
        return bytes_.all().subspan(begin_, count);
    }
    /// Removes the first `count` bytes, or all if there are fewer.
    void drop(std::size_t count) {
        begin_ += std::min(count, size());
        if (size() == 0) {
            clear();
        }
    }
    void clear() {
        bytes_ = {};
        begin_ = 0;
    }

 private:
    LateBytes bytes_;
    std::size_t begin_ = 0;  // of the remaining bytes
};

/// The values of a convolution's operands, as the DMA hands them to the buffer: fetched in zero
/// time, converted, decompressed, counted; available once the value thread has got to them, counts
/// at once. Contradictions among the three surfaces of compressed weights become findings.
class OperandFetch {
 public:
    OperandFetch(const DatapathConfig& datapath, DiagnosticLog& log, ValueThread& values)
        : datapath_(datapath), log_(log), values_(values) {}

    /// The input as the patches or windows see it, without lines that the buffer kept.
    std::shared_ptr<const ElementTensor> data(DmaPort& port,
                                              const std::shared_ptr<ConvWork>& work) const;
    /// Kernels as the sequencer reads them, after what `buffered` already holds; fills the group
    /// ends of the buffer's use. Uncompressed ones stay in `buffered`.
    std::shared_ptr<const LateKernels> weights(DmaPort& port, const std::shared_ptr<ConvWork>& work,
                                               BufferedWeights& buffered);

    // Where values arrive with the reads, uncompressed weights are known group by group.

    /// What the operation adds to `buffered`, without its values.
    void announce_weights(ConvWork& work, BufferedWeights& buffered) const;
    /// The kernels of a group whose bytes have arrived, as have those of earlier groups;
    /// `announced`: where the operation's bytes begin in `buffered`.
    WeightKernels group_weights(DmaPort& port, ConvWork& work, BufferedWeights& buffered,
                                std::size_t announced, std::uint32_t group) const;

 private:
    ElementTensor feature(ConvWork& work, std::span<std::uint8_t> lines) const;
    /// Kernels from uncompressed bytes; reuses those of the previous operation if nothing has changed.
    std::shared_ptr<const WeightKernels> decoded(const ConvWork& work,
                                                 std::span<const std::uint8_t> bytes);
    LateBytes stored(DmaPort& port, const ConvWork& work) const;
    std::vector<std::uint8_t> decompressed(DmaPort& port, ConvWork& work) const;

    const DatapathConfig datapath_;
    DiagnosticLog& log_;
    ValueThread& values_;
    /// What was decoded last: tiles of a layer fetch the same weights one after the other.
    struct Decoded {
        WeightLayout layout;
        std::vector<std::uint8_t> bytes;
        std::shared_ptr<const WeightKernels> kernels;
    };
    Decoded decoded_;  // used by the value thread
};

/// Where the groups of uncompressed weights end in the buffer; of compressed ones as far as their
/// registers tell: sizes spread evenly, for operations without values.
void assume_weight_ends(ConvWork& work);

/// Kept lines, then new ones.
ElementTensor joined_lines(const ElementTensor& kept, std::uint32_t kept_lines,
                           const ElementTensor& fetched);

}  // namespace npuscope
