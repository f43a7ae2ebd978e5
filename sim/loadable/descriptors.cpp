// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/descriptors.h"

#include "models/base/check.h"

namespace npuscope {

template <class Number>
void DescriptorReader::number(Number& number) {
    if constexpr (std::is_enum_v<Number>) {
        std::underlying_type_t<Number> value{};
        this->number(value);
        number = static_cast<Number>(value);
    } else {
        NPU_CHECK(bytes_.size() >= sizeof number, "a descriptor ends early");
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < sizeof number; ++i) {
            value |= std::uint64_t{bytes_[i]} << (8 * i);
        }
        number = static_cast<Number>(value);
        bytes_ = bytes_.subspan(sizeof number);
    }
}

template <class Number>
void DescriptorWriter::number(const Number& number) {
    if constexpr (std::is_enum_v<Number>) {
        this->number(static_cast<std::underlying_type_t<Number>>(number));
    } else {
        const auto value = static_cast<std::uint64_t>(number);
        for (std::size_t i = 0; i < sizeof number; ++i) {
            NPU_CHECK(place_ < bytes_.size(), "a descriptor is larger than its entry");
            bytes_[place_++] = static_cast<std::uint8_t>(value >> (8 * i) & 0xff);
        }
    }
}

// The order of the members, for readers and writers alike. Numbers follow each other without gaps.

template <class Codec, class... Numbers>
static void numbers(Codec& codec, Numbers&... all) {
    (codec.number(all), ...);
}

template <class Codec, class Number, std::size_t N>
static void each(Codec& codec, std::array<Number, N>& all) {
    for (Number& one : all) {
        if constexpr (std::is_arithmetic_v<Number>) {
            codec.number(one);
        } else {
            order(codec, one);
        }
    }
}

template <class Codec>
static void order(Codec& codec, DlaConsumer& value) {
    numbers(codec, value.index, value.event, value.reserved);
}

template <class Codec>
static void order(Codec& codec, DlaNetwork& value) {
    numbers(codec, value.operations_address, value.surfaces_address, value.dependencies_address,
            value.tables_address, value.roi_array_address, value.surface_address,
            value.statistics_address, value.reserved1);
    each(codec, value.heads);
    numbers(codec, value.rois, value.operations, value.tables, value.addresses, value.input_layer,
            value.dynamic_roi, value.reserved0);
}

template <class Codec>
static void order(Codec& codec, DlaCommonOperation& value) {
    numbers(codec, value.index, value.roi, value.unit, value.dependencies);
    each(codec, value.reserved);
    each(codec, value.consumers);
    order(codec, value.fused_parent);
}

template <class Codec>
static void order(Codec& codec, DlaConvertor& value) {
    numbers(codec, value.scale, value.truncate, value.enable, value.offset);
}

template <class Codec>
static void order(Codec& codec, DlaCube& value) {
    numbers(codec, value.type, value.address);
    if (codec.has_offsets()) {
        codec.number(value.offset);
    }
    numbers(codec, value.size, value.width, value.height, value.channel, value.reserved,
            value.line_stride, value.surface_stride, value.plane_stride);
}

template <class Codec>
static void order(Codec& codec, DlaBdma& value) {
    numbers(codec, value.transfers, value.reserved);
}

template <class Codec>
static void order(Codec& codec, DlaBdmaTransfer& value) {
    numbers(codec, value.source_address, value.destination_address, value.line_size,
            value.line_repeat, value.source_line, value.destination_line, value.surface_repeat,
            value.source_surface, value.destination_surface);
}

template <class Codec>
static void order(Codec& codec, DlaBdmaSurfaces& value) {
    numbers(codec, value.source_type, value.destination_type, value.count);
    each(codec, value.transfers);
}

template <class Codec>
static void order(Codec& codec, DlaConv& value) {
    numbers(codec, value.mode, value.data_reuse, value.weight_reuse, value.skip_data_release,
            value.skip_weight_release, value.reserved0, value.entries_per_slice, value.data_format,
            value.pixel_mapping, value.fetch_grain);
    each(codec, value.reserved_b);
    numbers(codec, value.batch, value.weight_format, value.data_banks, value.weight_banks,
            value.batch_stride, value.post_extension, value.pixel_override, value.release,
            value.input_width_csc, value.input_height_csc, value.input_channel_csc,
            value.kernel_width_csc, value.kernel_height_csc, value.kernel_channel_csc,
            value.input_width_cmac, value.input_height_cmac, value.bytes_per_kernel, value.mean_ry,
            value.mean_gu, value.mean_bv, value.mean_ax, value.mean_format, value.stride_x,
            value.stride_y, value.pad_left, value.pad_right, value.pad_top, value.pad_bottom,
            value.dilation_x, value.dilation_y);
    each(codec, value.reserved2);
    numbers(codec, value.pra_truncate, value.input_precision, value.output_precision,
            value.pad_value);
    order(codec, value.input_convertor);
    order(codec, value.output_convertor);
}

template <class Codec>
static void order(Codec& codec, DlaConvSurfaces& value) {
    for (DlaCube* cube :
         {&value.weight, &value.wmb, &value.wgs, &value.source, &value.destination}) {
        order(codec, *cube);
    }
    numbers(codec, value.offset_u, value.uv_line_stride);
}

template <class Codec>
static void order(Codec& codec, DlaSdpStage& value) {
    numbers(codec, value.enable, value.alu_type, value.type, value.mode, value.activation,
            value.shift, value.truncate, value.precision, value.alu_operand, value.mul_operand);
    order(codec, value.alu_convertor);
    order(codec, value.mul_convertor);
}

template <class Codec>
static void order(Codec& codec, DlaSdp& value) {
    numbers(codec, value.source_precision, value.destination_precision, value.table);
    order(codec, value.output_convertor);
    numbers(codec, value.conv_mode, value.batch, value.reserved, value.batch_stride);
    each(codec, value.stages);
}

template <class Codec>
static void order(Codec& codec, DlaSdpSurfaces& value) {
    order(codec, value.source);
    each(codec, value.operands);
    order(codec, value.destination);
}

template <class Codec>
static void order(Codec& codec, DlaPdp& value) {
    numbers(codec, value.partial_in_first, value.partial_in_mid, value.partial_in_last,
            value.partial_first, value.partial_mid, value.partial_last, value.splits, value.mode,
            value.width, value.height, value.stride_x, value.stride_y, value.pad_left,
            value.pad_right, value.pad_top, value.pad_bottom, value.precision, value.reserved);
    each(codec, value.padding_values);
}

template <class Codec>
static void order(Codec& codec, DlaCdp& value) {
    numbers(codec, value.input_precision, value.output_precision, value.table);
    order(codec, value.input_convertor);
    order(codec, value.output_convertor);
    numbers(codec, value.local_size, value.bypass_square_sum, value.bypass_multiply,
            value.reserved);
}

template <class Codec>
static void order(Codec& codec, DlaRubik& value) {
    numbers(codec, value.mode, value.precision, value.stride_x, value.stride_y);
}

template <class Codec>
static void order(Codec& codec, DlaTwoSurfaces& value) {
    order(codec, value.source);
    order(codec, value.destination);
}

template <class Codec>
static void order(Codec& codec, DlaSlope& value) {
    numbers(codec, value.scale, value.shifter, value.reserved);
}

template <class Codec>
static void order(Codec& codec, DlaLut& value) {
    each(codec, value.exponential);
    each(codec, value.linear);
    numbers(codec, value.exponential_offset, value.linear_offset, value.exponential_start,
            value.exponential_end, value.linear_start, value.linear_end);
    order(codec, value.exponential_underflow);
    order(codec, value.exponential_overflow);
    order(codec, value.linear_underflow);
    order(codec, value.linear_overflow);
    numbers(codec, value.hybrid_priority, value.underflow_priority, value.overflow_priority,
            value.method);
}

template <class Struct>
Struct read_descriptor(std::span<const std::uint8_t> bytes, const LoadableVersion& version) {
    DescriptorReader reader(bytes, version);
    Struct value;
    order(reader, value);
    return value;
}

template <class Struct>
std::vector<std::uint8_t> descriptor_bytes(Struct value, std::size_t size) {
    DescriptorWriter writer(size);
    order(writer, value);
    return std::move(writer.bytes());
}

template DlaNetwork read_descriptor(std::span<const std::uint8_t>, const LoadableVersion&);
template DlaCommonOperation read_descriptor(std::span<const std::uint8_t>, const LoadableVersion&);
template DlaBdma read_descriptor(std::span<const std::uint8_t>, const LoadableVersion&);
template DlaBdmaSurfaces read_descriptor(std::span<const std::uint8_t>, const LoadableVersion&);
template DlaConv read_descriptor(std::span<const std::uint8_t>, const LoadableVersion&);
template DlaConvSurfaces read_descriptor(std::span<const std::uint8_t>, const LoadableVersion&);
template DlaSdp read_descriptor(std::span<const std::uint8_t>, const LoadableVersion&);
template DlaSdpSurfaces read_descriptor(std::span<const std::uint8_t>, const LoadableVersion&);
template DlaPdp read_descriptor(std::span<const std::uint8_t>, const LoadableVersion&);
template DlaCdp read_descriptor(std::span<const std::uint8_t>, const LoadableVersion&);
template DlaRubik read_descriptor(std::span<const std::uint8_t>, const LoadableVersion&);
template DlaTwoSurfaces read_descriptor(std::span<const std::uint8_t>, const LoadableVersion&);
template DlaLut read_descriptor(std::span<const std::uint8_t>, const LoadableVersion&);
template std::vector<std::uint8_t> descriptor_bytes(DlaNetwork, std::size_t);
template std::vector<std::uint8_t> descriptor_bytes(DlaCommonOperation, std::size_t);
template std::vector<std::uint8_t> descriptor_bytes(DlaBdma, std::size_t);
template std::vector<std::uint8_t> descriptor_bytes(DlaBdmaSurfaces, std::size_t);
template std::vector<std::uint8_t> descriptor_bytes(DlaConv, std::size_t);
template std::vector<std::uint8_t> descriptor_bytes(DlaConvSurfaces, std::size_t);
template std::vector<std::uint8_t> descriptor_bytes(DlaSdp, std::size_t);
template std::vector<std::uint8_t> descriptor_bytes(DlaSdpSurfaces, std::size_t);
template std::vector<std::uint8_t> descriptor_bytes(DlaPdp, std::size_t);
template std::vector<std::uint8_t> descriptor_bytes(DlaCdp, std::size_t);
template std::vector<std::uint8_t> descriptor_bytes(DlaRubik, std::size_t);
template std::vector<std::uint8_t> descriptor_bytes(DlaTwoSurfaces, std::size_t);
template std::vector<std::uint8_t> descriptor_bytes(DlaLut, std::size_t);

}  // namespace npuscope
