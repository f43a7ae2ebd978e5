// SPDX-License-Identifier: Apache-2.0
// One convolution to be planned, the forms in which the NPU can receive its operands, and how it is
// cut, by channels and by rows, so that each piece fits the convolution buffer.
//
// Groups: a feature atom cannot be split, so neighbouring groups are convolved together until their
// channels and kernels fill whole atoms; the weights between groups are zero. Depthwise layers
// become operations of 8 channels and 8 kernels on an atom of 8, which use one weight in 8: the MAC
// array works at an eighth of its rate.
// Kernels so large that no complete group of them fits the buffer are computed a few at a time, and
// the result's atoms are left partly empty.
//
// A form is features or pixels, weights uncompressed, compressed or transformed. It determines what
// memory and buffer must hold and how many loads of the MAC cells are needed. Then rows of output
// are cut into tiles, each with the input rows that it covers, the banks are split between data and
// weights, and weights stay from one tile to the next or stream through once per tile. The
// sequencer starts only when a tile's whole cube is in, so the cube must fit its banks; with room
// for two of them the next one is fetched while one is computed. All ways that can differ in time
// are listed with their predicted cycles. Not considered: tiles of columns.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/conv/conv_job.h"
#include "models/layout/tensor.h"
#include "models/npu/npu_config.h"
#include "sim/compile/nvdla/memory_pace.h"
#include "sim/compile/nvdla/row_pieces.h"

namespace npuscope {

/// The field that a refusal names where a layer does not fit the convolution buffer.
inline constexpr const char* buffer_depth = "npu.cbuf.bank_depth";

/// Of an operation's map in any dimension.
inline constexpr std::uint32_t largest_cube_size = 8192;  // source: NVDLA_CDMA.rdl, 13 bits

/// How operands are stored in memory and pass through the buffer.
struct ConvForm {
    ConvMode mode = ConvMode::Direct;
    std::uint32_t row_group = 1;  ///< image: kernel rows that share a load of the MAC cells
    bool compressed = false;

    auto operator<=>(const ConvForm&) const = default;
};

/// When weights are compressed, provided that the target can and they become smaller.
enum class CompressionChoice { ByCycles, Never, Always };

template <>
struct EnumNames<CompressionChoice> {
    static constexpr std::array names{
        std::pair{CompressionChoice::ByCycles, std::string_view("by_cycles")},
        std::pair{CompressionChoice::Never, std::string_view("never")},
        std::pair{CompressionChoice::Always, std::string_view("always")}};
};

/// Sizes of compressed weights; the largest of all operations.
struct CompressedSizes {
    Bytes values;  ///< zeros at the end included
    Bytes mask;    ///< zeros at the end included
    Bytes sizes;
    Bytes group_values;  ///< of the largest kernel group
    Bytes plain;         ///< uncompressed

    Bytes all() const { return values + mask + sizes; }
};

/// A convolution as one operation would do it if the buffer were large enough.
struct ConvProblem {
    Precision precision = Precision::Int8;
    Shape input;
    KernelShape kernels;
    Convolution geometry;
    bool residual = false;       ///< the SDP reads a cube of the size of the result
    bool input_in_sram = false;  ///< behind the second port
    bool residual_in_sram = false;
    bool output_in_sram = false;
    std::uint32_t pool_area = 1;  ///< outputs that are pooled to one of the result
    std::uint32_t row_step = 1;   ///< tiles end at multiples of this many rows of output
    std::uint32_t slices = 1;     ///< operations of this shape, each with own channels and weights
    std::uint32_t batches = 1;    ///< inputs of one operation, in direct mode
    const PixelFormat* pixels = nullptr;          ///< the input may be pixels of this format
    bool features = true;                         ///< the input may be a feature cube
    std::optional<CompressedSizes> compressed{};  ///< where weights can be compressed
    bool plain_weights = true;                    ///< weights may be left uncompressed
    bool winograd = false;                        ///< weights may be transformed, which rounds
    bool alone = false;                           ///< its operations are all of the program
    std::optional<ConvForm> settled{};            ///< the form of the preceding operations
};

/// What memory and buffer must hold in one form.
struct ConvOperands {
    WeightLayout weights;  ///< uncompressed
    Shape input;           ///< channels as the form has them
    std::uint32_t pad_right = 0;
    std::uint32_t patch_rows = 0;         ///< Winograd: rows in the buffer besides those of output
    std::uint32_t outputs_per_cycle = 1;  ///< of one kernel
    std::uint32_t full_stripe = 16;       ///< outputs
    std::uint32_t row_entries = 1;        ///< of the buffer, for a row of every input
    std::uint64_t row_beats = 1;          ///< of the bus
    std::uint64_t row_cycles = 1;         ///< until a row is in, if nothing else is fetched
    std::uint64_t blocks = 1;             ///< loads of the MAC cells for a kernel group
    bool stripes_end_at_rows = false;
    Bytes weight_bytes;              ///< all that are fetched
    std::uint64_t weight_beats = 0;  ///< all that are fetched
    std::uint64_t group_beats = 0;
    std::uint64_t weight_entries = 0;  ///< values only
    std::uint64_t group_entries = 0;   ///< one more where a group does not begin with an entry
    std::uint32_t banks = 32;          ///< for data and values
    bool weights_can_stay = true;

    /// Rows of the buffer for `out_rows` rows of output, which cover `in_rows` rows of input.
    std::uint32_t buffer_rows(std::uint32_t out_rows, std::uint32_t in_rows) const {
        return patch_rows > 0 ? out_rows + patch_rows : in_rows;
    }
};

/// The least-demanding form first; never empty.
std::vector<ConvForm> forms_of(const ConvProblem& problem, const NpuConfig& npu);

/// What distinguishes one way of cutting from another.
struct TilingKey {
    ConvForm form;
    std::uint32_t tiles = 1;
    std::uint32_t data_banks = 1;
    bool resident = false;  ///< weights stay in the buffer for all tiles

    auto operator<=>(const TilingKey&) const = default;
};

struct ConvTiling {
    ConvProblem problem;  ///< as the form sees it
    ConvForm form;
    ConvOperands operands;  ///< in this form
    BankSplit banks;
    std::vector<RowPiece> tiles;
    bool resident = false;
    bool overlapped = false;  ///< room for the next tile's data while one is computed
    Cycles estimate;
    std::uint64_t beats = 0;  ///< read for all slices; written ones too if both take turns
    std::string bound_by;     ///< what bounds the estimate: `mac`, `sdp`, `memory`, `start`

    TilingKey key() const {
        return {form, static_cast<std::uint32_t>(tiles.size()), banks.data, resident};
    }
};

/// What the estimate of a tiling is based on.
struct TilingCosts {
    NpuConfig npu;
    MemoryPace memory;
    MemoryPace sram;          ///< behind the second port
    std::uint32_t parts = 1;  ///< tiles come in multiples of this, where there are enough rows
    std::optional<TilingKey> forced;  ///< used instead of the best where a layer has it
};

/// Rows of output [0, out_height) in `count` tiles of nearly equal size.
std::vector<RowPiece> cut_rows(const ConvProblem& problem, std::uint32_t count);

/// Input channels and kernels that go together in one operation, in whole atoms of the surfaces.
struct ChannelSlice {
    std::uint32_t input_atom = 0;
    std::uint32_t channels = 0;
    std::uint32_t output_atom = 0;
    std::uint32_t kernels = 0;
};

/// The slices of a convolution.
struct ChannelCut {
    std::vector<ChannelSlice> slices;
    std::uint32_t lanes = 8;           ///< of an output atom that are in use
    std::uint32_t group_channels = 0;  ///< of one of the layer's groups; 0: it has none
    std::uint32_t group_kernels = 0;
};

/// `whole`: all channels and kernels; `has_holes`: its input leaves lanes of its atoms empty.
/// Returns the problem where the layer cannot be cut.
std::variant<ChannelCut, Diagnostic> cut_channels(const ConvProblem& whole, std::uint32_t groups,
                                                  bool has_holes, const NpuConfig& npu);

/// Kernels that one group may have so that its weights fit next to the smallest tile: a full group,
/// or fewer by powers of two; 0 where not even one fits.
std::uint32_t largest_group(const ConvProblem& problem, const NpuConfig& npu);

/// Every way that fits and may be the best, the lowest estimate first; among equal ones the one
/// with fewer tiles.
std::vector<ConvTiling> tiling_candidates(const ConvProblem& problem, const TilingCosts& costs);

/// The way that the key names; nothing where it does not fit.
std::optional<ConvTiling> tiling_with(const ConvProblem& problem, const TilingCosts& costs,
                                      const TilingKey& key);

/// The lowest estimate; among nearly equal ones the fewest tiles, then the fewest beats.
/// Or why nothing fits.
std::variant<ConvTiling, Diagnostic> choose_tiling(const ConvProblem& problem,
                                                   const TilingCosts& costs);

/// `3 tiles, banks 2 + 30, weights stay, bound by mac`.
std::string words_of(const ConvTiling& tiling);

}  // namespace npuscope
