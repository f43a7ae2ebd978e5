// SPDX-License-Identifier: Apache-2.0
#include "models/layout/register_coder.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/check.h"
#include "models/base/rule_ids.h"

namespace npuscope {
bool SurfaceLines::too_large() const {
    return lines != 0 && line.value > largest_surface.value / lines;
}

bool refused(const Diagnostics& findings) {
    return std::ranges::find(findings, rule_ids::register_value, &Diagnostic::id) != findings.end();
}

void refuse_unit(std::string_view unit, const std::string& sentence, const std::string& remedy,
                 Diagnostics& findings) {
    findings.push_back({.id = rule_ids::register_value,
                        .sentence = sentence,
                        .remedy = remedy,
                        .unit = std::string(unit)});
}

void RegisterDecoder::note(Diagnostic finding) {
    if (!refused()) {
        findings_->push_back(std::move(finding));
    }
}

std::uint32_t RegisterDecoder::word(std::string_view register_name) const {
    return values_.raw(register_name) & write_mask(*find_register(values_.block(), register_name));
}

void RegisterDecoder::shape(const FieldName& channels, const FieldName& height,
                            const FieldName& width, Shape& shape) {
    size(channels.register_name, channels.field_name, shape.channels);
    size(height.register_name, height.field_name, shape.height);
    size(width.register_name, width.field_name, shape.width);
}

void RegisterDecoder::precision(const FieldName& name, const DatapathConfig& datapath,
                                Precision& precision) {
    const std::uint32_t code = values_.field(name.register_name, name.field_name);
    if (code > 2) {
        refuse(name, "no element type has this code", "0 int8, 1 int16, 2 fp16");
        return;
    }
    precision = static_cast<Precision>(code);
    if (!datapath.supports(precision)) {
        const bool bytes_only = !datapath.int16 && !datapath.fp16;
        refuse(
            name,
            fmt::format("{} is not available: this NPU works on int8 {}", precision_name(precision),
                        bytes_only       ? "only"
                        : datapath.int16 ? "and int16 only"
                                         : "and fp16 only"),
            bytes_only ? "write 0 (int8)" : "choose another precision");
    }
}

void RegisterDecoder::start(std::string_view stem, DataKind kind, Bytes memory_atom,
                            Address& base) {
    const std::string low = name_of({"D_", stem, "_BASE_ADDR_LOW"});
    const std::string high = name_of({"D_", stem, "_BASE_ADDR_HIGH"});
    address(high, low, base);
    align(low, {kind, AlignedPart::Start, memory_atom}, base.value);
    address(high, low, base);
}

void RegisterDecoder::strides(std::string_view stem, DataKind kind, Bytes memory_atom,
                              Bytes& line_stride, Bytes& surface_stride) {
    const std::string line = name_of({"D_", stem, "_LINE_STRIDE"});
    const std::string surface = name_of({"D_", stem, "_SURFACE_STRIDE"});
    align(line, {kind, AlignedPart::LineStride, memory_atom});
    align(surface, {kind, AlignedPart::SurfaceStride, memory_atom});
    bytes(line, line_stride);
    bytes(surface, surface_stride);
}

void RegisterDecoder::align(std::string_view register_name, const AlignmentNeed& need) {
    align(register_name, need, word(register_name));
}

void RegisterDecoder::align(std::string_view register_name, const AlignmentNeed& need,
                            std::uint64_t value) {
    std::optional<Diagnostic> finding = misaligned({unit(), register_name, value}, need);
    if (!finding) {
        return;
    }
    note(std::move(*finding));
    const std::uint64_t multiple = required_multiple(need.kind, need.part, need.memory_atom).value;
    const RegisterRow& row = *find_register(values_.block(), register_name);
    const std::uint64_t word = values_.raw(register_name);
    values_.set(row.offset, static_cast<std::uint32_t>(word / multiple * multiple));
}

void RegisterDecoder::refuse(const FieldName& name, const std::string& why,
                             const std::string& remedy) {
    const std::uint32_t value = values_.field(name.register_name, name.field_name);
    note({.id = rule_ids::register_value,
          .sentence = fmt::format("{}.{} = {}: {}", spelled(unit(), name.register_name),
                                  name.field_name, value, why),
          .remedy = remedy,
          .unit = std::string(unit()),
          .register_name = spelled(unit(), name.register_name),
          .field = std::string(name.field_name),
          .value = std::to_string(value)});
}

void RegisterDecoder::refuse_as(const FieldName& name, const std::string& sentence,
                                const std::string& remedy, std::string_view id) {
    note({.id = std::string(id),
          .sentence = sentence,
          .remedy = remedy,
          .unit = std::string(unit()),
          .register_name = spelled(unit(), name.register_name),
          .field = std::string(name.field_name)});
}

void RegisterDecoder::require_valid(const PrecisionCell& cell, const FieldName& name) {
    if (!cell.valid()) {
        note({.id = rule_ids::precision_conversion,
              .sentence = fmt::format("{}: {} is not a valid combination",
                                      spelled(unit(), name.register_name), cell.name()),
              .remedy = legal_outputs(cell),
              .unit = std::string(unit()),
              .register_name = spelled(unit(), name.register_name),
              .field = std::string(name.field_name)});
    }
}

void RegisterDecoder::require_surface(std::string_view register_name, const SurfaceLines& surface) {
    if (surface.too_large()) {
        refuse_as(
            {register_name, ""},
            fmt::format("{}: a surface of {} lines of {} bytes is larger than the {} MiB that one "
                        "operation may move here",
                        spelled(unit(), register_name), surface.lines, surface.line.value,
                        largest_surface.value >> 20U),
            "correct the sizes, or split the operation");
    }
}

void RegisterDecoder::require_same(const RegisterValues& other, const FieldName& name) {
    const std::uint32_t value = other.field(name.register_name, name.field_name);
    if (values_.field(name.register_name, name.field_name) != value) {
        refuse(name,
               fmt::format("{} says {}", spelled(other.block().name, name.register_name), value),
               "program the same value in both units");
    }
}

FeatureCube decode_cube(RegisterDecoder& registers, std::string_view stem, const Shape& shape,
                        Bytes memory_atom, Bytes element) {
    FeatureCube cube;
    cube.shape = shape;
    cube.atom = memory_atom;
    cube.element = element;
    registers.start(stem, DataKind::Feature, memory_atom, cube.base);
    registers.strides(stem, DataKind::Feature, memory_atom, cube.line_stride, cube.surface_stride);
    cube.shape.channels = cube.surfaces() * cube.channels_per_atom();
    registers.require_surface(name_of({"D_", stem, "_BASE_ADDR_LOW"}),
                              {cube.lines(), cube.line_bytes()});
    return cube;
}

namespace {

const RegisterRow& row_of(const RegisterBlock& block, std::string_view name) {
    const RegisterRow* row = find_register(block, name);
    NPU_CHECK(row != nullptr, "no register " + std::string(name));
    return *row;
}

const RegisterField& field_of(const RegisterRow& row, std::string_view name) {
    const auto field = std::ranges::find(row.fields, name, &RegisterField::name);
    NPU_CHECK(field != row.fields.end(),
              "no field " + std::string(row.name) + "." + std::string(name));
    return *field;
}

}  // namespace

void RegisterEncoder::put(std::string_view register_name, std::string_view field_name,
                          std::uint64_t value) {
    const RegisterRow& row = row_of(values_.block(), register_name);
    const RegisterField& field = field_of(row, field_name);
    const std::uint64_t ones = (std::uint64_t{1} << field.width) - 1;
    NPU_CHECK(value <= ones,
              "a value does not fit " + std::string(register_name) + "." + std::string(field_name));
    const std::uint64_t others = values_.raw(register_name) & ~(ones << field.lsb);
    values_.set(row.offset, static_cast<std::uint32_t>(others | (value << field.lsb)));
}

void RegisterEncoder::put_signed(std::string_view register_name, std::string_view field_name,
                                 std::int64_t value) {
    const RegisterField& field = field_of(row_of(values_.block(), register_name), field_name);
    const std::int64_t half = std::int64_t{1} << (field.width - 1);
    NPU_CHECK(value >= -half && value < half, "a value does not fit " + std::string(field_name));
    const std::uint64_t ones = (std::uint64_t{1} << field.width) - 1;
    put(register_name, field_name, static_cast<std::uint64_t>(value) & ones);
}

void RegisterEncoder::word(std::string_view register_name, std::uint64_t value) {
    const RegisterRow& row = row_of(values_.block(), register_name);
    NPU_CHECK((value & ~std::uint64_t{write_mask(row)}) == 0,
              "a value does not fit " + std::string(register_name));
    values_.set(row.offset, static_cast<std::uint32_t>(value));
}

void RegisterEncoder::start(std::string_view stem, DataKind /*kind*/, Bytes /*memory_atom*/,
                            Address base) {
    address(name_of({"D_", stem, "_BASE_ADDR_HIGH"}), name_of({"D_", stem, "_BASE_ADDR_LOW"}),
            base);
}

void RegisterEncoder::strides(std::string_view stem, DataKind /*kind*/, Bytes /*memory_atom*/,
                              Bytes line_stride, Bytes surface_stride) {
    bytes(name_of({"D_", stem, "_LINE_STRIDE"}), line_stride);
    bytes(name_of({"D_", stem, "_SURFACE_STRIDE"}), surface_stride);
}

}  // namespace npuscope
