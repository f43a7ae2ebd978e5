// SPDX-License-Identifier: Apache-2.0
// One convolution as the four units of the convolution pipeline are told of it. Each unit decodes
// its own registers into its part; `combine` puts the parts together and says where they contradict
// each other. Sizes count from one, strides are in bytes, dilation 1 means neighbouring taps.
// Registers that the mode does not use leave no trace here. Not modelled, and refused while
// decoding: Winograd, compressed weights, batches, two-byte data. source: NVDLA register
// specification, NVDLA_{CDMA,CSC,CMAC_A,CACC}; use of each: nv_small RTL
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/base/finding.h"
#include "models/data/convolution.h"
#include "models/data/datapath.h"
#include "models/data/feature_cube.h"
#include "models/data/pixel_format.h"
#include "models/data/precision.h"
#include "models/data/weight_layout.h"

namespace npuscope {

enum class ConvMode { Direct, Image };

/// What a job is decoded and checked against: the NPU at hand.
struct ConvFeatures {
    DatapathConfig datapath;
    std::uint32_t cbuf_banks = 32;
    Bytes cbuf_entry{8};
    bool secondary_port = false;
};

/// Pixel or feature conversion on the way into the convolution buffer:
/// (x - mean or offset) * scale >> truncate, saturated to the processing precision.
struct InputConversion {
    bool enabled = false;
    bool use_mean = false;               ///< the channel's mean takes the offset's place
    std::array<std::int16_t, 4> mean{};  ///< R/Y, G/U, B/V, A/X
    std::int16_t offset = 0;
    std::int16_t scale = 1;
    std::uint32_t truncate = 0;
    bool signed_input = true;

    bool operator==(const InputConversion&) const = default;
};

struct BankSplit {
    std::uint32_t data = 1;
    std::uint32_t weight = 1;

    bool operator==(const BankSplit&) const = default;
};

/// What stays in the convolution buffer from the operation before and for the one behind.
struct BufferReuse {
    bool data_reuse = false;
    bool weight_reuse = false;
    bool skip_data_release = false;
    bool skip_weight_release = false;

    bool operator==(const BufferReuse&) const = default;
};

/// The convolution DMA's part: what to fetch and how to convert it.
struct CdmaJob {
    ConvMode mode = ConvMode::Direct;
    Precision in_precision = Precision::Int8;
    Precision precision = Precision::Int8;
    BufferReuse reuse;
    FeatureCube feature;  ///< direct mode
    PixelSurface pixels;  ///< image mode
    Shape input;          ///< of the cube or the image
    bool line_packed = false;
    bool surface_packed = false;
    std::uint32_t lines_per_fetch = 1;  ///< fetch grain; 1 unless lines are packed
    std::uint32_t entries_per_slice = 1;
    Address weight_address;
    Bytes weight_bytes;
    Bytes bytes_per_kernel;
    std::uint32_t kernels = 1;
    std::uint32_t pad_left = 0;   ///< image mode: columns of padding that the DMA itself inserts
    std::uint32_t pad_right = 0;  ///< image mode
    std::uint16_t pad_value = 0;  ///< image mode
    InputConversion conversion;
    BankSplit banks;
    bool data_in_secondary = false;  ///< SRAM behind the secondary port
    bool weight_in_secondary = false;
};

/// The sequence controller's part: how the layer is cut into MAC operations.
struct CscJob {
    ConvMode mode = ConvMode::Direct;
    Precision precision = Precision::Int8;
    BufferReuse reuse;
    Shape input;
    KernelShape kernels;          ///< as stored: image kernels have one column
    std::uint32_t row_group = 1;  ///< channel post-extension: rows taken at once (1, 2, 4)
    std::uint32_t entries_per_slice = 1;
    Bytes weight_bytes;
    Shape output;
    std::uint32_t atomics = 1;         ///< outputs of one kernel
    std::uint32_t release_slices = 1;  ///< input lines given back at the end
    std::uint32_t stride_y = 1;
    std::uint32_t stride_x = 1;
    std::uint32_t dilation_y = 1;
    std::uint32_t dilation_x = 1;
    std::uint32_t pad_top = 0;
    std::uint32_t pad_left = 0;  ///< direct mode; images get theirs in the DMA
    std::uint16_t pad_value = 0;
    BankSplit banks;
};

/// One half of the MAC array.
struct CmacJob {
    Precision precision = Precision::Int8;
};

/// The accumulator's part.
struct CaccJob {
    Precision precision = Precision::Int8;
    Shape output;
    std::uint32_t clip_truncate = 0;
    bool line_packed = false;
    bool surface_packed = false;
};

struct ConvParts {
    CdmaJob cdma;
    CscJob csc;
    std::array<CmacJob, 2> cmac;
    CaccJob cacc;
};

/// The whole operation: the parts, and what follows from them together.
struct ConvJob {
    ConvParts parts;
    WeightLayout weights;     ///< as they lie at parts.cdma.weight_address
    KernelShape kernels;      ///< as the math sees them: image kernels have their columns back
    Convolution convolution;  ///< padding value in the processing precision

    ConvMode mode() const { return parts.csc.mode; }
    const Shape& input() const { return parts.cdma.input; }
    const Shape& output() const { return parts.csc.output; }
};

struct CombinedConvJob {
    ConvJob job;
    std::vector<Finding> findings;  ///< contradictions, each naming the registers

    /// False when an error was found: then the job's sizes do not fit each other.
    bool computable() const;
};

CombinedConvJob combine(const ConvParts& parts, const ConvFeatures& features);

/// Buffer entries that one line of input takes: D_ENTRY_PER_SLICE must not say less.
std::uint32_t entries_of_slice(const CdmaJob& job, const ConvFeatures& features);

}  // namespace npuscope
