// SPDX-License-Identifier: Apache-2.0
#include "models/glb/interrupt.h"

#include <algorithm>

#include "models/base/check.h"

namespace npuscope {
namespace {

struct InterruptRow {
    InterruptSource source;
    unsigned bit;  // of group 0; group 1 stands one above
};

/// source: NVDLA register specification, NVDLA_GLB S_INTR_STATUS
constexpr std::array<InterruptRow, 8> interrupt_rows = {{{InterruptSource::Sdp, 0},
                                                         {InterruptSource::Cdp, 2},
                                                         {InterruptSource::Pdp, 4},
                                                         {InterruptSource::Bdma, 6},
                                                         {InterruptSource::Rubik, 8},
                                                         {InterruptSource::CdmaDat, 16},
                                                         {InterruptSource::CdmaWt, 18},
                                                         {InterruptSource::Cacc, 20}}};

std::uint32_t mask_of(Interrupt interrupt) { return 1U << interrupt_bit(interrupt); }

}  // namespace

unsigned interrupt_bit(Interrupt interrupt) {
    const auto row = std::ranges::find(interrupt_rows, interrupt.source, &InterruptRow::source);
    NPU_CHECK(row != interrupt_rows.end() && interrupt.group < 2, "no such interrupt");
    return row->bit + interrupt.group;
}

std::string to_string(Interrupt interrupt) {
    return std::string(enum_name(interrupt.source)) + "_" + std::to_string(interrupt.group);
}

std::optional<Interrupt> interrupt_from_name(std::string_view name) {
    for (const InterruptRow& row : interrupt_rows) {
        for (const unsigned group : {0U, 1U}) {
            const Interrupt interrupt{row.source, group};
            if (to_string(interrupt) == name) {
                return interrupt;
            }
        }
    }
    return std::nullopt;
}

std::uint32_t all_interrupt_bits() {
    std::uint32_t bits = 0;
    for (const InterruptRow& row : interrupt_rows) {
        bits |= mask_of({row.source, 0}) | mask_of({row.source, 1});
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
