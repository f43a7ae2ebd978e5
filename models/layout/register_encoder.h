// SPDX-License-Identifier: Apache-2.0
// How a unit writes a job to its registers: the visitor of the same description that a
// RegisterDecoder fills jobs by. Registers start at their reset values; every member of the job is
// written, also where the mode does not use it. A value that does not fit its field is a bug of
// ours.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/base/register_map.h"
#include "models/layout/alignment.h"
#include "models/layout/datapath.h"
#include "models/layout/feature_cube.h"
#include "models/layout/register_decoder.h"
#include "models/layout/tensor.h"

namespace npuscope {

class RegisterEncoder {
 public:
    static constexpr bool decodes = false;

    explicit RegisterEncoder(const RegisterBlock& block) : values_(block) {}

    const RegisterValues& values() const { return values_; }

    template <class Number>
    void field(std::string_view register_name, std::string_view field_name, Number number) {
        put(register_name, field_name, static_cast<std::uint64_t>(number));
    }
    template <class Number>
    void signed_field(std::string_view register_name, std::string_view field_name, Number number) {
        put_signed(register_name, field_name, static_cast<std::int64_t>(number));
    }
    void size(std::string_view register_name, std::string_view field_name, std::uint64_t number) {
        put(register_name, field_name, number - 1);
    }
    void size_in_bytes(std::string_view register_name, std::string_view field_name, Bytes bytes) {
        size(register_name, field_name, bytes.value);
    }
    void flag(std::string_view register_name, std::string_view field_name, bool flag) {
        put(register_name, field_name, flag ? 1 : 0);
    }
    void inverse_flag(std::string_view register_name, std::string_view field_name, bool flag) {
        put(register_name, field_name, flag ? 0 : 1);
    }
    void bytes(std::string_view register_name, Bytes bytes) { word(register_name, bytes.value); }
    void address(std::string_view high, std::string_view low, Address address) {
        word(high, address.value >> 32U);
        word(low, address.value & 0xffffffffU);
    }
    void shape(const FieldName& channels, const FieldName& height, const FieldName& width,
               const Shape& shape) {
        size(channels.register_name, channels.field_name, shape.channels);
        size(height.register_name, height.field_name, shape.height);
        size(width.register_name, width.field_name, shape.width);
    }
    void precision(const FieldName& name, const DatapathConfig& /*datapath*/, Precision precision) {
        field(name.register_name, name.field_name, precision);
    }
    void start(std::string_view stem, DataKind kind, Bytes memory_atom, Address base);
    void strides(std::string_view stem, DataKind kind, Bytes memory_atom, Bytes line_stride,
                 Bytes surface_stride);
    /// Start and strides of a feature cube.
    void cube(std::string_view stem, const FeatureCube& cube) {
        start(stem, DataKind::Feature, cube.atom, cube.base);
        strides(stem, DataKind::Feature, cube.atom, cube.line_stride, cube.surface_stride);
    }
    /// Planned addresses and strides are aligned.
    void align(std::string_view /*register_name*/, const AlignmentNeed& /*need*/) const {}
    bool unused(bool /*condition*/) const { return false; }

 private:
    void put(std::string_view register_name, std::string_view field_name, std::uint64_t value);
    void put_signed(std::string_view register_name, std::string_view field_name,
                    std::int64_t value);
    void word(std::string_view register_name, std::uint64_t value);

    RegisterValues values_;
};

}  // namespace npuscope
