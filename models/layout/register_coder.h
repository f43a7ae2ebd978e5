// SPDX-License-Identifier: Apache-2.0
// How a unit decodes its registers into a job: field by field, so that registers that a mode does
// not use are never read. Errors go to a list of diagnostics, each with its register:
//
//     misaligned       an address, stride or size is not the required multiple: decoding
//                      continues with the value rounded down
//     register_value   what the machine does not do, or what contradicts another register: the
//                      registers form no job. What is read after it is no longer checked, because
//                      it may follow from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/base/rule_ids.h"
#include "models/layout/alignment.h"
#include "models/layout/datapath.h"
#include "models/layout/feature_cube.h"
#include "models/layout/precision.h"
#include "models/layout/tensor.h"

namespace npuscope {

/// A field as a message names it.
struct FieldName {
    std::string_view register_name;
    std::string_view field_name;
};

/// Lines of one length that an operation moves.
struct SurfaceLines {
    std::uint64_t lines = 1;
    Bytes line{};

    bool too_large() const;
};

/// How large a surface one operation may have in this simulator: its values are computed as a
/// whole, and size registers reach far beyond any memory. The hardware has no such limit.
inline constexpr Bytes largest_surface{512U << 20U};

/// Whether the registers form no valid job.
bool refused(const Diagnostics& findings);
/// The job, unless its registers were refused.
template <class Job>
std::optional<Job> unless_refused(Job job, const Diagnostics& findings) {
    return refused(findings) ? std::nullopt : std::optional<Job>(std::move(job));
}
/// `NVDLA_PDP`: this NPU lacks the unit; `preset` says which presets have it.
void refuse_unit(std::string_view unit, const std::string& sentence, const std::string& remedy,
                 Diagnostics& findings);

/// Visits a unit's register description and fills the members of the job.
class RegisterDecoder {
 public:
    static constexpr bool decodes = true;

    RegisterDecoder(const RegisterValues& values, Diagnostics& findings)
        : values_(values), findings_(&findings) {}

    const RegisterValues& values() const { return values_; }
    std::string_view unit() const { return values_.block().name; }
    bool refused() const { return npuscope::refused(*findings_); }
    /// Registers that the mode does not use are not read.
    bool unused(bool condition) const { return condition; }

    template <class Number>
    void field(std::string_view register_name, std::string_view field_name, Number& number) {
        number = static_cast<Number>(values_.field(register_name, field_name));
    }
    template <class Number>
    void signed_field(std::string_view register_name, std::string_view field_name, Number& number) {
        number = static_cast<Number>(values_.signed_field(register_name, field_name));
    }
    /// A field that counts from zero.
    void size(std::string_view register_name, std::string_view field_name, std::uint32_t& number) {
        number = values_.size(register_name, field_name);
    }
    void size_in_bytes(std::string_view register_name, std::string_view field_name, Bytes& bytes) {
        bytes = Bytes(values_.size(register_name, field_name));
    }
    void flag(std::string_view register_name, std::string_view field_name, bool& flag) {
        flag = values_.field(register_name, field_name) != 0;
    }
    /// 0 means true: for RAM types, the SRAM at the secondary port.
    void inverse_flag(std::string_view register_name, std::string_view field_name, bool& flag) {
        flag = values_.field(register_name, field_name) == 0;
    }
    /// A register with one field, in bytes.
    void bytes(std::string_view register_name, Bytes& bytes) { bytes = Bytes(word(register_name)); }
    void address(std::string_view high, std::string_view low, Address& address) {
        address = Address(std::uint64_t{word(high)} << 32U | word(low));
    }
    /// Channels, height and width, each counting from zero.
    void shape(const FieldName& channels, const FieldName& height, const FieldName& width,
               Shape& shape);
    void precision(const FieldName& name, const DatapathConfig& datapath, Precision& precision);
    /// Start and strides of a surface: D_<stem>_BASE_ADDR_LOW, .._HIGH, D_<stem>_LINE_STRIDE and
    /// D_<stem>_SURFACE_STRIDE, aligned as data of this kind must be.
    void start(std::string_view stem, DataKind kind, Bytes memory_atom, Address& base);
    void strides(std::string_view stem, DataKind kind, Bytes memory_atom, Bytes& line_stride,
                 Bytes& surface_stride);

    /// A register as one value, its fields at their bit positions.
    std::uint32_t word(std::string_view register_name) const;
    /// Reports a value that is not the required multiple, and rounds it down.
    void align(std::string_view register_name, const AlignmentNeed& need);
    /// `NVDLA_SDP.D_DP_BS_CFG_0.BS_ALU_ALGO = 3: <why>`.
    void refuse(const FieldName& name, const std::string& why, const std::string& remedy);
    /// Refuses with a separate sentence that names the register.
    void refuse_as(const FieldName& name, const std::string& sentence, const std::string& remedy,
                   std::string_view id = rule_ids::register_value);
    void refuse_unless(bool condition, const FieldName& name, const std::string& why,
                       const std::string& remedy) {
        if (!condition) {
            refuse(name, why, remedy);
        }
    }
    /// The unit is configured for a conversion that is not in the tables of the format page.
    void require_valid(const PrecisionCell& cell, const FieldName& name);
    void require_surface(std::string_view register_name, const SurfaceLines& surface);
    /// Two registers that describe one size must agree.
    void require_same(const RegisterValues& other, const FieldName& name);

 private:
    void align(std::string_view register_name, const AlignmentNeed& need, std::uint64_t value);
    void note(Diagnostic finding);

    RegisterValues values_;  // a misaligned one is rounded down
    Diagnostics* findings_;
};

/// A feature cube of elements of `element` bytes at D_<stem>_..., its channels rounded up to whole
/// atoms.
FeatureCube decode_cube(RegisterDecoder& registers, std::string_view stem, const Shape& shape,
                        Bytes memory_atom, Bytes element);

/// How a unit writes a job to its registers: visits the same description from which a
/// RegisterDecoder fills jobs. Registers start at their reset values; every member of the job is
/// written, also where the mode does not use it. A value that does not fit its field is a bug of
/// the simulator.
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
    /// Planned addresses and strides are aligned.
    void align(std::string_view /*register_name*/, const AlignmentNeed& /*need*/) const {}
    bool unused(bool /*condition*/) const { return false; }
    /// Start and strides of a feature cube.
    void cube(std::string_view stem, const FeatureCube& cube) {
        start(stem, DataKind::Feature, cube.atom, cube.base);
        strides(stem, DataKind::Feature, cube.atom, cube.line_stride, cube.surface_stride);
    }

 private:
    void put(std::string_view register_name, std::string_view field_name, std::uint64_t value);
    void put_signed(std::string_view register_name, std::string_view field_name,
                    std::int64_t value);
    void word(std::string_view register_name, std::uint64_t value);

    RegisterValues values_;
};

}  // namespace npuscope
