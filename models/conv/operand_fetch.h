// SPDX-License-Identifier: Apache-2.0
// The values of a convolution's operands, as the DMA hands them to the buffer: fetched without
// time, converted, decompressed, counted. What the three surfaces of compressed weights contradict
// each other in becomes findings.
#pragma once

#include <memory>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/conv/buffered_weights.h"
#include "models/conv/conv_work.h"
#include "models/layout/datapath.h"
#include "models/link/dma_port.h"

namespace npuscope {

class OperandFetch {
 public:
    OperandFetch(const DatapathConfig& datapath, DiagnosticLog& log)
        : datapath_(datapath), log_(log) {}

    /// The input as the patches or windows meet it, without lines that the buffer kept.
    DataTensor data(DmaPort& port, ConvWork& work) const;
    /// Kernels as the sequencer reads them, after what `buffered` holds already; fills the group
    /// ends of the buffer's use. Uncompressed ones stay in `buffered`.
    WeightKernels weights(DmaPort& port, ConvWork& work, BufferedWeights& buffered) const;

 private:
    DataTensor feature(DmaPort& port, ConvWork& work) const;
    DataTensor pixels(DmaPort& port, ConvWork& work) const;
    std::vector<std::uint8_t> stored(DmaPort& port, ConvWork& work) const;
    std::vector<std::uint8_t> decompressed(DmaPort& port, ConvWork& work) const;

    const DatapathConfig datapath_;
    DiagnosticLog& log_;
};

/// Where the groups of uncompressed weights end in the buffer, or of compressed ones as far as
/// their registers tell: sizes spread evenly, for operations without values.
void assume_weight_ends(ConvWork& work);

/// Kept lines, then new ones.
DataTensor joined_lines(const DataTensor& kept, std::uint32_t kept_lines,
                        const DataTensor& fetched);

}  // namespace npuscope
