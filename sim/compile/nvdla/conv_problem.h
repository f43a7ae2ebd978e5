// SPDX-License-Identifier: Apache-2.0
// One convolution to be planned, and the forms in which its operands can go to the NPU: features or
// pixels, weights as they are or compressed. A form says what memory and buffer must hold and how
// many loads of the MAC cells it takes; how the layer is cut comes after (conv_tiling.h).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/conv/conv_job.h"
#include "models/layout/tensor.h"
#include "models/npu/npu_config.h"

namespace npuscope {

/// How operands lie in memory and pass the buffer.
struct ConvForm {
    ConvMode mode = ConvMode::Direct;
    std::uint32_t row_group = 1;  ///< image: kernel rows that share a load of the MAC cells
    bool compressed = false;

    auto operator<=>(const ConvForm&) const = default;
};

/// When weights are compressed, where the target can and it makes them smaller.
enum class CompressionChoice { ByCycles, Never, Always };

/// What compressing made of the weights; the largest of all operations.
struct CompressedSizes {
    Bytes values;  ///< zeros at the end included
    Bytes mask;    ///< likewise
    Bytes sizes;
    Bytes group_values;  ///< of the largest kernel group
    Bytes plain;         ///< what it was made of

    Bytes all() const { return values + mask + sizes; }
};

/// A convolution as one operation would do it if the buffer were large enough.
struct ConvProblem {
    Shape input;
    KernelShape kernels;
    Convolution geometry;
    bool residual = false;       ///< the SDP reads a cube of the size of the result
    bool input_in_sram = false;  ///< behind the second port
    bool residual_in_sram = false;
    bool output_in_sram = false;
    std::uint32_t pool_area = 1;  ///< outputs that one of the result is pooled from
    std::uint32_t row_step = 1;   ///< tiles end at multiples of so many rows of output
    std::uint32_t slices = 1;  ///< operations of this shape, each of its own channels and weights
    const PixelFormat* pixels = nullptr;          ///< the input may be pixels of this format
    bool features = true;                         ///< the input may be a feature cube
    std::optional<CompressedSizes> compressed{};  ///< where weights can be compressed
    bool plain_weights = true;                    ///< or may be left as they are
    bool winograd = false;                        ///< may be transformed, which rounds
    std::optional<ConvForm> settled{};            ///< the form of the operations before
};

/// What memory and buffer must hold in one form.
struct ConvOperands {
    WeightLayout weights;  ///< uncompressed
    Shape input;           ///< channels as the form has them
    std::uint32_t pad_right = 0;
    std::uint32_t patch_rows = 0;         ///< Winograd: rows in the buffer beside those of output
    std::uint32_t outputs_per_cycle = 1;  ///< of one kernel
    std::uint32_t full_stripe = 16;       ///< outputs
    std::uint32_t row_entries = 1;        ///< of the buffer, a row of input
    std::uint64_t row_beats = 1;          ///< of the bus
    std::uint64_t row_cycles = 1;         ///< until a row is in, if nothing else is fetched
    std::uint64_t blocks = 1;             ///< loads of the MAC cells for a kernel group
    bool stripes_end_at_rows = false;
    Bytes weight_bytes;              ///< all that is fetched of them
    std::uint64_t weight_beats = 0;  ///< likewise
    std::uint64_t group_beats = 0;
    std::uint64_t weight_entries = 0;  ///< values alone
    std::uint64_t group_entries = 0;   ///< one more where a group does not begin with an entry
    std::uint32_t banks = 32;          ///< for data and values
    bool weights_can_stay = true;

    /// Rows of the buffer under so many rows of output that `in_rows` of input reach over.
    std::uint32_t buffer_rows(std::uint32_t out_rows, std::uint32_t in_rows) const {
        return patch_rows > 0 ? out_rows + patch_rows : in_rows;
    }
};

/// The least-demanding form first; never empty.
std::vector<ConvForm> forms_of(const ConvProblem& problem, const NpuConfig& npu);

ConvOperands operands_of(const ConvProblem& problem, const ConvForm& form, const NpuConfig& npu);

/// Whether a convolution could be done by Winograd's transformation: outputs in fours.
bool suits_winograd(const ConvProblem& problem, const NpuConfig& npu);

/// The problem as the form sees it: Winograd is cut at multiples of four rows.
ConvProblem in_form(ConvProblem problem, const ConvForm& form);

/// Cycles in which the MAC cells take the weights of a whole kernel group.
std::uint32_t load_cycles(const NpuConfig& npu);

/// `image T_A8B8G8R8, 2 kernel rows at once`, empty for features and plain weights.
std::string words_of(const ConvForm& form, const ConvProblem& problem);

}  // namespace npuscope
