// SPDX-License-Identifier: Apache-2.0
// What a task of a loadable tells the firmware: a network of operations, for each operation what it
// does, its surfaces and which operations wait for it, and tables. Structs of little-endian numbers
// without gaps, their sizes multiples of four. All operations and all surfaces of a list have the
// size of the largest kind. Each struct lists its members once, in `order`, for readers and writers
// alike (descriptor_bytes.h).
//
//     list                 one entry        holds
//     network              40 bytes         indices of the other lists in the task's addresses
//     dependency graph     36 per operation CommonOperation
//     operations           116              one of six kinds
//     surfaces             644              one of six kinds
//     tables               700 per table    LutTable
//
// Since version 0.12 a cube has an offset within its address; before, each cube had an address.
// source: NVDLA sw, kmd/firmware/include/dla_interface.h; versions: its history, and loadables of
// 0.10 and 0.11
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "models/base/describe.h"
#include "sim/loadable/loadable.h"

namespace npuscope {

/// The firmware's processors, as dependencies count them.
enum class DlaUnit : std::uint8_t { Bdma = 0, Conv = 1, Sdp = 2, Pdp = 3, Cdp = 4, Rubik = 5 };
inline constexpr std::size_t dla_units = 6;

template <>
struct EnumNames<DlaUnit> {
    static constexpr std::array names{std::pair{DlaUnit::Bdma, std::string_view("bdma")},
                                      std::pair{DlaUnit::Conv, std::string_view("conv")},
                                      std::pair{DlaUnit::Sdp, std::string_view("sdp")},
                                      std::pair{DlaUnit::Pdp, std::string_view("pdp")},
                                      std::pair{DlaUnit::Cdp, std::string_view("cdp")},
                                      std::pair{DlaUnit::Rubik, std::string_view("rubik")}};
};

/// Event of an operation that its consumer waits for.
enum class DlaEvent : std::uint8_t {
    Completed = 1,
    Programmed = 2,
    Enabled = 3,
    WeightsRead = 4,
    DataRead = 5
};

/// Where a cube is. source: dla_interface.h, DLA_MEM_*
enum class DlaMemory : std::uint16_t { Main = 0, Sram = 1, OnTheFly = 2 };

enum class DlaPrecision : std::uint8_t { Int8 = 0, Int16 = 1, Fp16 = 2 };

/// Another operation, -1: none.
struct DlaConsumer {
    std::int16_t index = -1;
    DlaEvent event = DlaEvent::Completed;
    std::uint8_t reserved = 0;

    template <class Codec>
    void order(Codec& codec) {
        codec(index, event, reserved);
    }
};

struct DlaNetwork {
    std::int16_t operations_address = -1;
    std::int16_t surfaces_address = -1;
    std::int16_t dependencies_address = -1;
    std::int16_t tables_address = -1;
    std::int16_t roi_array_address = -1;
    std::int16_t surface_address = -1;
    std::int16_t statistics_address = -1;
    std::int16_t reserved1 = 0;
    std::array<std::int16_t, dla_units> heads{-1, -1, -1, -1, -1, -1};  ///< first of each unit
    std::uint16_t rois = 1;
    std::uint16_t operations = 0;
    std::uint16_t tables = 0;
    std::uint16_t addresses = 0;
    std::int16_t input_layer = -1;
    std::uint8_t dynamic_roi = 0;
    std::uint8_t reserved0 = 0;

    template <class Codec>
    void order(Codec& codec) {
        codec(operations_address, surfaces_address, dependencies_address, tables_address,
              roi_array_address, surface_address, statistics_address, reserved1, heads, rois,
              operations, tables, addresses, input_layer, dynamic_roi, reserved0);
    }
};

struct DlaCommonOperation {
    std::int16_t index = -1;
    std::int8_t roi = 0;
    DlaUnit unit = DlaUnit::Bdma;
    std::uint8_t dependencies = 0;
    std::array<std::uint8_t, 3> reserved{};
    std::array<DlaConsumer, dla_units> consumers{};  ///< by unit
    DlaConsumer fused_parent{};                      ///< of the preceding unit

    template <class Codec>
    void order(Codec& codec) {
        codec(index, roi, unit, dependencies, reserved, consumers, fused_parent);
    }
};

struct DlaConvertor {
    std::int16_t scale = 0;
    std::uint8_t truncate = 0;
    std::uint8_t enable = 0;
    std::int32_t offset = 0;

    template <class Codec>
    void order(Codec& codec) {
        codec(scale, truncate, enable, offset);
    }
};

struct DlaCube {
    DlaMemory type = DlaMemory::OnTheFly;
    std::int16_t address = -1;  ///< in the task's addresses
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::uint16_t width = 0;
    std::uint16_t height = 0;
    std::uint16_t channel = 0;
    std::uint16_t reserved = 0;
    std::uint32_t line_stride = 0;
    std::uint32_t surface_stride = 0;
    std::uint32_t plane_stride = 0;

    template <class Codec>
    void order(Codec& codec) {
        codec(type, address);
        if (codec.has_offsets()) {
            codec(offset);
        }
        codec(size, width, height, channel, reserved, line_stride, surface_stride, plane_stride);
    }
};

inline constexpr std::size_t most_bdma_transfers = 20;

struct DlaBdmaTransfer {
    std::int16_t source_address = -1;
    std::int16_t destination_address = -1;
    std::uint32_t line_size = 0;
    std::uint32_t line_repeat = 0;
    std::uint32_t source_line = 0;
    std::uint32_t destination_line = 0;
    std::uint32_t surface_repeat = 0;
    std::uint32_t source_surface = 0;
    std::uint32_t destination_surface = 0;

    template <class Codec>
    void order(Codec& codec) {
        codec(source_address, destination_address, line_size, line_repeat, source_line,
              destination_line, surface_repeat, source_surface, destination_surface);
    }
};

struct DlaBdma {
    std::uint16_t transfers = 0;
    std::uint16_t reserved = 0;

    template <class Codec>
    void order(Codec& codec) {
        codec(transfers, reserved);
    }
};
struct DlaBdmaSurfaces {
    std::uint8_t source_type = 0;
    std::uint8_t destination_type = 0;
    std::uint16_t count = 0;
    std::array<DlaBdmaTransfer, most_bdma_transfers> transfers{};

    template <class Codec>
    void order(Codec& codec) {
        codec(source_type, destination_type, count, transfers);
    }
};

struct DlaConv {
    std::uint8_t mode = 0;  ///< 1: Winograd
    std::uint8_t data_reuse = 0;
    std::uint8_t weight_reuse = 0;
    std::uint8_t skip_data_release = 0;
    std::uint8_t skip_weight_release = 0;
    std::uint8_t reserved0 = 0;
    std::uint16_t entries_per_slice = 0;
    std::uint8_t data_format = loadable_feature;
    std::uint8_t pixel_mapping = 0;
    std::uint16_t fetch_grain = 0;
    std::array<std::uint8_t, 8> reserved_b{};
    std::uint8_t batch = 1;
    std::uint8_t weight_format = 0;  ///< 1: compressed
    std::uint8_t data_banks = 0;
    std::uint8_t weight_banks = 0;
    std::uint32_t batch_stride = 0;
    std::uint8_t post_extension = 0;
    std::uint8_t pixel_override = 0;
    std::uint16_t release = 0;
    std::uint16_t input_width_csc = 0;
    std::uint16_t input_height_csc = 0;
    std::uint16_t input_channel_csc = 0;
    std::uint16_t kernel_width_csc = 0;
    std::uint16_t kernel_height_csc = 0;
    std::uint16_t kernel_channel_csc = 0;
    std::uint16_t input_width_cmac = 0;
    std::uint16_t input_height_cmac = 0;
    std::uint32_t bytes_per_kernel = 0;
    std::int16_t mean_ry = 0;
    std::int16_t mean_gu = 0;
    std::int16_t mean_bv = 0;
    std::int16_t mean_ax = 0;
    std::uint8_t mean_format = 0;
    std::uint8_t stride_x = 1;
    std::uint8_t stride_y = 1;
    std::uint8_t pad_left = 0;
    std::uint8_t pad_right = 0;
    std::uint8_t pad_top = 0;
    std::uint8_t pad_bottom = 0;
    std::uint8_t dilation_x = 1;
    std::uint8_t dilation_y = 1;
    std::array<std::uint8_t, 2> reserved2{};
    std::uint8_t pra_truncate = 0;
    DlaPrecision input_precision = DlaPrecision::Int8;
    DlaPrecision output_precision = DlaPrecision::Int8;  ///< of the multipliers
    std::int16_t pad_value = 0;
    DlaConvertor input_convertor{};
    DlaConvertor output_convertor{.scale = 1};

    template <class Codec>
    void order(Codec& codec) {
        codec(mode, data_reuse, weight_reuse, skip_data_release, skip_weight_release, reserved0,
              entries_per_slice, data_format, pixel_mapping, fetch_grain, reserved_b, batch,
              weight_format, data_banks, weight_banks, batch_stride, post_extension, pixel_override,
              release, input_width_csc, input_height_csc, input_channel_csc, kernel_width_csc,
              kernel_height_csc, kernel_channel_csc, input_width_cmac, input_height_cmac,
              bytes_per_kernel, mean_ry, mean_gu, mean_bv, mean_ax, mean_format, stride_x, stride_y,
              pad_left, pad_right, pad_top, pad_bottom, dilation_x, dilation_y, reserved2,
              pra_truncate, input_precision, output_precision, pad_value, input_convertor,
              output_convertor);
    }
};
struct DlaConvSurfaces {
    DlaCube weight{};
    DlaCube wmb{};
    DlaCube wgs{};
    DlaCube source{};
    DlaCube destination{};
    std::int64_t offset_u = 0;
    std::uint32_t uv_line_stride = 0;

    template <class Codec>
    void order(Codec& codec) {
        codec(weight, wmb, wgs, source, destination, offset_u, uv_line_stride);
    }
};

/// One of the SDP's stages. source: dla_interface.h, dla_sdp_op
struct DlaSdpStage {
    // values of the members
    static constexpr std::uint8_t mul = 1, add = 2, both = 3;
    static constexpr std::uint8_t per_layer = 0, per_kernel = 1, per_point = 2;
    static constexpr std::uint8_t relu = 1, lut = 2, prelu = 3;

    std::uint8_t enable = 0;
    std::uint8_t alu_type = 0;  ///< max, min, sum, equal
    std::uint8_t type = 0;
    std::uint8_t mode = per_layer;
    std::uint8_t activation = 0;
    std::uint8_t shift = 0;
    std::uint8_t truncate = 0;
    DlaPrecision precision = DlaPrecision::Int8;
    std::int32_t alu_operand = 0;
    std::int32_t mul_operand = 0;
    DlaConvertor alu_convertor{};
    DlaConvertor mul_convertor{};

    template <class Codec>
    void order(Codec& codec) {
        codec(enable, alu_type, type, mode, activation, shift, truncate, precision, alu_operand,
              mul_operand, alu_convertor, mul_convertor);
    }
};
struct DlaSdp {
    DlaPrecision source_precision = DlaPrecision::Int8;
    DlaPrecision destination_precision = DlaPrecision::Int8;
    std::int16_t table = -1;
    DlaConvertor output_convertor{.scale = 1};
    std::uint8_t conv_mode = 0;
    std::uint8_t batch = 1;
    std::uint16_t reserved = 0;
    std::uint32_t batch_stride = 0;
    std::array<DlaSdpStage, 3> stages{};  ///< x1 (BS), x2 (BN), y (EW)

    template <class Codec>
    void order(Codec& codec) {
        codec(source_precision, destination_precision, table, output_convertor, conv_mode, batch,
              reserved, batch_stride, stages);
    }
};
struct DlaSdpSurfaces {
    DlaCube source{};
    std::array<DlaCube, 3> operands{};
    DlaCube destination{};

    template <class Codec>
    void order(Codec& codec) {
        codec(source, operands, destination);
    }
};

struct DlaPdp {
    std::uint16_t partial_in_first = 0;
    std::uint16_t partial_in_mid = 0;
    std::uint16_t partial_in_last = 0;
    std::uint16_t partial_first = 0;
    std::uint16_t partial_mid = 0;
    std::uint16_t partial_last = 0;
    std::uint8_t splits = 1;
    std::uint8_t mode = 0;    ///< average, max, min
    std::uint8_t width = 0;   ///< of the window, minus one
    std::uint8_t height = 0;  ///< of the window, minus one
    std::uint8_t stride_x = 1;
    std::uint8_t stride_y = 1;
    std::uint8_t pad_left = 0;
    std::uint8_t pad_right = 0;
    std::uint8_t pad_top = 0;
    std::uint8_t pad_bottom = 0;
    DlaPrecision precision = DlaPrecision::Int8;
    std::uint8_t reserved = 0;
    std::array<std::int32_t, 7> padding_values{};

    template <class Codec>
    void order(Codec& codec) {
        codec(partial_in_first, partial_in_mid, partial_in_last, partial_first, partial_mid,
              partial_last, splits, mode, width, height, stride_x, stride_y, pad_left, pad_right,
              pad_top, pad_bottom, precision, reserved, padding_values);
    }
};
struct DlaCdp {
    DlaPrecision input_precision = DlaPrecision::Int8;
    DlaPrecision output_precision = DlaPrecision::Int8;
    std::int16_t table = -1;
    DlaConvertor input_convertor{};
    DlaConvertor output_convertor{};
    std::uint8_t local_size = 0;
    std::uint8_t bypass_square_sum = 0;
    std::uint8_t bypass_multiply = 0;
    std::uint8_t reserved = 0;

    template <class Codec>
    void order(Codec& codec) {
        codec(input_precision, output_precision, table, input_convertor, output_convertor,
              local_size, bypass_square_sum, bypass_multiply, reserved);
    }
};
struct DlaRubik {
    std::uint8_t mode = 0;  ///< contract, split, merge
    DlaPrecision precision = DlaPrecision::Int8;
    std::uint8_t stride_x = 1;
    std::uint8_t stride_y = 1;

    template <class Codec>
    void order(Codec& codec) {
        codec(mode, precision, stride_x, stride_y);
    }
};
/// For PDP, CDP and RUBIK.
struct DlaTwoSurfaces {
    DlaCube source{};
    DlaCube destination{};

    template <class Codec>
    void order(Codec& codec) {
        codec(source, destination);
    }
};

/// A slope beyond a table's end, as in the registers: a scale and a shift, or fp16.
struct DlaSlope {
    std::int16_t scale = 0;  ///< or the bits of fp16
    std::int8_t shifter = 0;
    std::uint8_t reserved = 0;

    template <class Codec>
    void order(Codec& codec) {
        codec(scale, shifter, reserved);
    }
};
struct DlaLut {
    std::array<std::int16_t, 65> exponential{};  ///< or linear, depending on `method`
    std::array<std::int16_t, 257> linear{};
    std::uint16_t exponential_offset = 0;  ///< low byte: exponent offset, or fraction bits
    std::uint16_t linear_offset = 0;       ///< low byte: fraction bits
    std::uint64_t exponential_start = 0;
    std::uint64_t exponential_end = 0;
    std::uint64_t linear_start = 0;
    std::uint64_t linear_end = 0;
    DlaSlope exponential_underflow{};
    DlaSlope exponential_overflow{};
    DlaSlope linear_underflow{};
    DlaSlope linear_overflow{};
    std::uint8_t hybrid_priority = 0;
    std::uint8_t underflow_priority = 0;
    std::uint8_t overflow_priority = 0;
    std::uint8_t method = 0;  ///< 0: exponential

    template <class Codec>
    void order(Codec& codec) {
        codec(exponential, linear, exponential_offset, linear_offset, exponential_start,
              exponential_end, linear_start, linear_end, exponential_underflow,
              exponential_overflow, linear_underflow, linear_overflow, hybrid_priority,
              underflow_priority, overflow_priority, method);
    }
};

// Sizes of the entries. source: dla_interface.h; equal in loadables of all versions
inline constexpr std::size_t dla_network_bytes = 40;
inline constexpr std::size_t dla_common_bytes = 36;
inline constexpr std::size_t dla_operation_bytes = 116;
inline constexpr std::size_t dla_surfaces_bytes = 644;
inline constexpr std::size_t dla_lut_bytes = 700;

/// The version that these structs belong to. source: dla_fw_version.h
inline constexpr LoadableVersion dla_current_version{0, 12, 5};
/// The first version whose cubes have an offset.
inline constexpr LoadableVersion dla_offset_version{0, 12, 0};

/// What an operation does, and its surfaces; `write` writes the registers of its unit.
struct OperationContext;

struct BdmaOperation {
    DlaBdma operation;
    DlaBdmaSurfaces surfaces;

    void write(const OperationContext& context) const;
};
struct ConvDlaOperation {
    DlaConv operation;
    DlaConvSurfaces surfaces;

    void write(const OperationContext& context) const;
};
struct SdpDlaOperation {
    DlaSdp operation;
    DlaSdpSurfaces surfaces;
    DlaLut table{};  ///< if the operation has one

    void write(const OperationContext& context) const;
};
struct PdpDlaOperation {
    DlaPdp operation;
    DlaTwoSurfaces surfaces;

    void write(const OperationContext& context) const;
};
struct CdpDlaOperation {
    DlaCdp operation;
    DlaTwoSurfaces surfaces;
    DlaLut table{};

    void write(const OperationContext& context) const;
};
struct RubikDlaOperation {
    DlaRubik operation;
    DlaTwoSurfaces surfaces;

    void write(const OperationContext& context) const;
};

/// By unit, in the firmware's order.
using DlaOperation = std::variant<BdmaOperation, ConvDlaOperation, SdpDlaOperation, PdpDlaOperation,
                                  CdpDlaOperation, RubikDlaOperation>;
static_assert(std::variant_size_v<DlaOperation> == dla_units);

}  // namespace npuscope
