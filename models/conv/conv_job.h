// SPDX-License-Identifier: Apache-2.0
// One convolution as the registers of the four units of the convolution pipeline describe it. Each
// unit decodes its own registers into its part; `combine` joins the parts and reports where they
// contradict each other. Sizes count from one, strides are in bytes, dilation 1 means adjacent
// taps. Registers that the mode does not use leave no trace here. What this NPU lacks is refused
// while decoding. Not modelled: block-linear pixels, reserved lines. source: NVDLA register
// specification, NVDLA_{CDMA,CSC,CMAC_A,CACC}; use of each: nv_small RTL, nv_full RTL and C model
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/layout/datapath.h"
#include "models/layout/feature_cube.h"
#include "models/layout/pixel_format.h"
#include "models/layout/precision.h"
#include "models/layout/tensor.h"
#include "models/layout/weight_layout.h"

namespace npuscope {

enum class ConvMode { Direct, Image, Winograd };

/// What a job is decoded and checked against: the NPU's features.
struct ConvFeatures {
    DatapathConfig datapath;
    std::uint32_t cbuf_banks = 32;
    Bytes cbuf_entry{8};
    bool secondary_port = false;
    bool weight_compression = false;
    bool winograd = false;
    std::uint32_t max_batch = 1;
};

/// Pixel or feature conversion on the way into the convolution buffer:
/// (x - mean or offset) * scale >> truncate, saturated to the processing precision.
struct InputConversion {
    bool enabled = false;
    bool use_mean = false;               ///< the channel's mean replaces the offset
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

/// What stays in the convolution buffer from the previous operation and for the next one.
struct BufferReuse {
    bool data_reuse = false;
    bool weight_reuse = false;
    bool skip_data_release = false;
    bool skip_weight_release = false;

    bool operator==(const BufferReuse&) const = default;
};

/// The two surfaces that accompany compressed weights.
struct CompressionPlace {
    Address mask;      ///< WMB
    Bytes mask_bytes;  ///< including the zeros at the end
    Address sizes;     ///< WGS

    bool operator==(const CompressionPlace&) const = default;
};

/// What the DMA puts around Winograd input, and how it folds strides into channels.
struct WinogradInput {
    std::uint32_t pad_top = 0;
    std::uint32_t pad_bottom = 0;
    std::uint32_t stride_y = 1;
    std::uint32_t stride_x = 1;
    std::uint32_t extended_height = 0;
    std::uint32_t extended_width = 0;

    bool operator==(const WinogradInput&) const = default;
};

/// The convolution DMA's part: what to fetch and how to convert it.
struct CdmaJob {
    ConvMode mode = ConvMode::Direct;
    Precision in_precision = Precision::Int8;
    Precision precision = Precision::Int8;
    BufferReuse reuse;
    FeatureCube feature;  ///< direct and Winograd mode; lines of all batches
    PixelSurface pixels;  ///< image mode
    Shape input;          ///< of the cube or the image, one batch
    std::uint32_t batches = 1;
    WinogradInput winograd;
    bool line_packed = false;
    bool surface_packed = false;
    std::uint32_t lines_per_fetch = 1;  ///< fetch grain; 1 unless lines are packed
    std::uint32_t entries_per_slice = 1;
    Address weight_address;
    Bytes weight_bytes;
    Bytes bytes_per_kernel;
    std::uint32_t kernels = 1;
    std::optional<CompressionPlace> compression;
    std::uint32_t pad_left = 0;   ///< image, Winograd: columns that the DMA itself inserts
    std::uint32_t pad_right = 0;  ///< image, Winograd
    std::uint16_t pad_value = 0;  ///< image, Winograd
    InputConversion conversion;
    bool flush_nan = false;  ///< fp16: a NaN of the input becomes 0
    bool count_performance = false;
    BankSplit banks;
    bool data_in_secondary = false;  ///< SRAM behind the secondary port
    bool weight_in_secondary = false;

    bool operator==(const CdmaJob&) const = default;
};

/// The sequence controller's part: how the layer is cut into MAC operations.
struct CscJob {
    ConvMode mode = ConvMode::Direct;
    Precision precision = Precision::Int8;
    BufferReuse reuse;
    Shape input;
    KernelShape kernels;          ///< as stored: image kernels have one column
    std::uint32_t row_group = 1;  ///< channel post-extension: rows processed at once (1, 2, 4)
    std::uint32_t entries_per_slice = 1;
    Bytes weight_bytes;
    bool compressed = false;
    Bytes mask_bytes;  ///< compressed weights
    std::uint32_t batches = 1;
    std::uint32_t patch_truncate = 0;  ///< Winograd: shift after the transformation of the input
    Shape output;
    std::uint32_t atomics = 1;         ///< outputs of one kernel
    std::uint32_t release_slices = 1;  ///< input lines released at the end
    std::uint32_t stride_y = 1;
    std::uint32_t stride_x = 1;
    std::uint32_t dilation_y = 1;
    std::uint32_t dilation_x = 1;
    std::uint32_t pad_top = 0;
    std::uint32_t pad_left = 0;  ///< direct mode; for images the DMA inserts it
    std::uint16_t pad_value = 0;
    BankSplit banks;

    bool operator==(const CscJob&) const = default;
};

/// One half of the MAC array.
struct CmacJob {
    Precision precision = Precision::Int8;
    bool winograd = false;

    bool operator==(const CmacJob&) const = default;
};

/// The accumulator's part.
struct CaccJob {
    Precision precision = Precision::Int8;
    bool winograd = false;
    Shape output;
    std::uint32_t batches = 1;
    std::uint32_t clip_truncate = 0;
    bool line_packed = false;
    bool surface_packed = false;

    bool operator==(const CaccJob&) const = default;
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
    WeightLayout weights;     ///< as stored at parts.cdma.weight_address
    KernelShape kernels;      ///< as the math sees them: image kernels with their columns restored
    Convolution convolution;  ///< one batch; padding value in the processing precision, as bits
                              ///< where that is fp16

    ConvMode mode() const { return parts.csc.mode; }
    Precision precision() const { return parts.csc.precision; }
    const Shape& input() const { return parts.cdma.input; }
    const Shape& output() const { return parts.csc.output; }
    std::uint32_t batches() const { return parts.csc.batches; }
    /// The cube that is passed to the SDP on the fly.
    FlyingCube result() const {
        return {output(), batches(), mode() == ConvMode::Winograd, precision()};
    }
};

struct CombinedConvJob {
    ConvJob job;
    std::vector<Diagnostic> findings;  ///< contradictions, each naming the registers

    /// False when an error was found: then the job's sizes do not fit each other.
    bool computable() const;
};

CombinedConvJob combine(const ConvParts& parts, const ConvFeatures& features);

/// Buffer entries that one line of input takes: D_ENTRY_PER_SLICE must not be less.
std::uint32_t entries_of_slice(const CdmaJob& job, const ConvFeatures& features);
/// Buffer entries that the whole input takes, as D_ENTRY_PER_SLICE counts them.
std::uint64_t entries_of_data(const CdmaJob& job);

}  // namespace npuscope
