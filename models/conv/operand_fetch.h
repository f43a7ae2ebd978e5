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
#include "models/conv/conv_work.h"
#include "models/layout/datapath.h"
#include "models/link/dma_port.h"

namespace npuscope {

/// Bytes of uncompressed weights in the convolution buffer, in the order in which the sequencer
/// meets them: what operations before left comes first.
class BufferedWeights {
 public:
    void append(std::vector<std::uint8_t> bytes) {
        if (bytes_.empty()) {
            bytes_ = std::move(bytes);
        } else {
            bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        }
    }
    std::size_t size() const { return bytes_.size(); }
    /// Bytes that were appended are known now.
    void put(std::size_t offset, std::span<const std::uint8_t> bytes) {
        std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    /// The first `count` bytes, which must be there.
    std::span<const std::uint8_t> front(std::size_t count) const {
        return std::span(bytes_).first(count);
    }
    /// The first bytes leave; all, where there are fewer.
    void drop(std::size_t count) {
        bytes_.erase(bytes_.begin(),
                     bytes_.begin() + static_cast<std::ptrdiff_t>(std::min(count, bytes_.size())));
    }
    void clear() { bytes_.clear(); }

 private:
    std::vector<std::uint8_t> bytes_;
};

/// The values of a convolution's operands, as the DMA hands them to the buffer: fetched without
/// time, converted, decompressed, counted. What the three surfaces of compressed weights contradict
/// each other in becomes findings.
class OperandFetch {
 public:
    OperandFetch(const DatapathConfig& datapath, DiagnosticLog& log)
        : datapath_(datapath), log_(log) {}

    /// The input as the patches or windows meet it, without lines that the buffer kept.
    ElementTensor data(DmaPort& port, ConvWork& work) const;
    /// Kernels as the sequencer reads them, after what `buffered` holds already; fills the group
    /// ends of the buffer's use. Uncompressed ones stay in `buffered`.
    WeightKernels weights(DmaPort& port, ConvWork& work, BufferedWeights& buffered) const;

    // Where values arrive with the reads, uncompressed weights are known group by group.

    /// What the operation adds to `buffered`, without its values.
    void announce_weights(ConvWork& work, BufferedWeights& buffered) const;
    /// The kernels of a group whose bytes have arrived, as those of the groups before; `announced`:
    /// where the operation's bytes begin in `buffered`.
    WeightKernels group_weights(DmaPort& port, ConvWork& work, BufferedWeights& buffered,
                                std::size_t announced, std::uint32_t group) const;

 private:
    ElementTensor feature(DmaPort& port, ConvWork& work) const;
    ElementTensor pixels(DmaPort& port, ConvWork& work) const;
    std::vector<std::uint8_t> stored(DmaPort& port, ConvWork& work) const;
    std::vector<std::uint8_t> decompressed(DmaPort& port, ConvWork& work) const;

    const DatapathConfig datapath_;
    DiagnosticLog& log_;
};

/// Where the groups of uncompressed weights end in the buffer, or of compressed ones as far as
/// their registers tell: sizes spread evenly, for operations without values.
void assume_weight_ends(ConvWork& work);

/// Kept lines, then new ones.
ElementTensor joined_lines(const ElementTensor& kept, std::uint32_t kept_lines,
                           const ElementTensor& fetched);

}  // namespace npuscope
