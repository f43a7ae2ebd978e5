// SPDX-License-Identifier: Apache-2.0
#include "models/glb/interrupt.h"

#include <algorithm>

#include "models/base/check.h"
#include "models/base/register_rows.h"

namespace npuscope {
namespace {

using Sources = EnumNames<InterruptSource>;

std::uint32_t mask_of(Interrupt interrupt) { return 1U << interrupt_bit(interrupt); }

/// `CDMA_WT_DONE_MASK1`: the field of one bit in one register.
struct DoneField {
    std::array<char, 24> letters{};
    std::size_t length = 0;

    constexpr void append(std::string_view text) {
        for (const char letter : text) {
            letters[length++] = letter;
        }
    }
    constexpr std::string_view name() const { return {letters.data(), length}; }
};

constexpr std::size_t done_bits = 2 * Sources::names.size();

/// The fields of a register of interrupts: a bit for each group of each unit.
struct DoneFields {
    std::array<DoneField, done_bits> names{};

    explicit constexpr DoneFields(std::string_view kind) {
        for (std::size_t i = 0; i < done_bits; ++i) {
            names[i].append(Sources::names[i / 2].second);
            names[i].append("_DONE_");
            names[i].append(kind);
            names[i].append(i % 2 == 0 ? "0" : "1");
        }
    }
    constexpr std::array<RegisterField, done_bits> rows() const {
        std::array<RegisterField, done_bits> fields{};
        for (std::size_t i = 0; i < done_bits; ++i) {
            const auto bit = static_cast<std::uint8_t>(
                static_cast<unsigned>(Sources::names[i / 2].first) + i % 2);
            fields[i] = {names[i].name(), bit, 1, RegisterAccess::ReadWrite, 0};
        }
        return fields;
    }
};

// Registers of NVDLA_GLB: version and interrupts.
// source: NVDLA register specification, nv_small, NVDLA_GLB.rdl
constexpr DoneFields mask_names("MASK");
constexpr DoneFields set_names("SET");
constexpr DoneFields status_names("STATUS");
constexpr auto mask_fields = mask_names.rows();
constexpr auto set_fields = set_names.rows();
constexpr auto status_fields = status_names.rows();
constexpr std::array version_fields{ro("MAJOR", 0, 8, 0x31), ro("MINOR", 8, 16, 0x3030)};
constexpr std::array glb_rows{RegisterRow{"S_NVDLA_HW_VERSION", 0x00, version_fields},
                              RegisterRow{"S_INTR_MASK", 0x04, mask_fields},
                              RegisterRow{"S_INTR_SET", 0x08, set_fields},
                              RegisterRow{"S_INTR_STATUS", 0x0c, status_fields}};

}  // namespace

constinit const RegisterBlock glb_block{"NVDLA_GLB", 0x1000, glb_rows};

unsigned interrupt_bit(Interrupt interrupt) {
    NPU_CHECK(interrupt.group < 2, "no such interrupt");
    return static_cast<unsigned>(interrupt.source) + interrupt.group;
}

std::string to_string(Interrupt interrupt) {
    return std::string(enum_name(interrupt.source)) + "_" + std::to_string(interrupt.group);
}

std::optional<Interrupt> interrupt_from_name(std::string_view name) {
    for (const auto& [source, unit] : Sources::names) {
        for (const unsigned group : {0U, 1U}) {
            const Interrupt interrupt{source, group};
            if (to_string(interrupt) == name) {
                return interrupt;
            }
        }
    }
    return std::nullopt;
}

std::uint32_t all_interrupt_bits() {
    std::uint32_t bits = 0;
    for (const auto& [source, name] : Sources::names) {
        bits |= mask_of({source, 0}) | mask_of({source, 1});
    }
    return bits;
}

void InterruptController::raise(Interrupt interrupt) {
    NPU_CHECK((mask_of(interrupt) & implemented_) != 0,
              to_string(interrupt) + " comes from a unit that this NPU lacks");
    status_ |= mask_of(interrupt);
}

bool InterruptController::pending(Interrupt interrupt) const {
    return (status_ & mask_of(interrupt)) != 0;
}

bool InterruptController::masked(Interrupt interrupt) const {
    return (mask_ & mask_of(interrupt)) != 0;
}

bool InterruptController::write(std::string_view register_name, std::uint32_t value) {
    if (register_name == "S_INTR_MASK") {
        mask_ = value & implemented_;
    } else if (register_name == "S_INTR_SET") {
        status_ |= value & implemented_;
    } else if (register_name == "S_INTR_STATUS") {
        status_ &= ~value;
    } else {
        return false;
    }
    return true;
}

std::optional<std::uint32_t> InterruptController::read(std::string_view register_name) const {
    if (register_name == "S_INTR_MASK") {
        return mask_;
    }
    if (register_name == "S_INTR_SET") {
        return 0;
    }
    if (register_name == "S_INTR_STATUS") {
        return status_;
    }
    return std::nullopt;
}

}  // namespace npuscope
