// SPDX-License-Identifier: Apache-2.0
// Interrupt logic of the GLB, without time: every unit has a "done" bit for each of its two
// register groups, at the same place in mask, set and status registers:
//
//     bit    0   2   4   6     8      16        18       20
//            SDP CDP PDP BDMA  RUBIK  CDMA_DAT  CDMA_WT  CACC     group 0; group 1 one above
//
// One line leaves the NPU; it is high while any unmasked status bit is set. A mask bit of 1 hides.
// source: nv_small RTL, GLB interrupt controller; NVDLA register specification, S_INTR_*
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "models/base/describe.h"
#include "models/base/register_map.h"

namespace npuscope {

/// The value is the bit of group 0. source: NVDLA register specification, NVDLA_GLB S_INTR_STATUS
enum class InterruptSource : unsigned {
    Sdp = 0,
    Cdp = 2,
    Pdp = 4,
    Bdma = 6,
    Rubik = 8,
    CdmaDat = 16,
    CdmaWt = 18,
    Cacc = 20
};

template <>
struct EnumNames<InterruptSource> {
    static constexpr std::array names{
        std::pair{InterruptSource::Sdp, std::string_view("SDP")},
        std::pair{InterruptSource::Cdp, std::string_view("CDP")},
        std::pair{InterruptSource::Pdp, std::string_view("PDP")},
        std::pair{InterruptSource::Bdma, std::string_view("BDMA")},
        std::pair{InterruptSource::Rubik, std::string_view("RUBIK")},
        std::pair{InterruptSource::CdmaDat, std::string_view("CDMA_DAT")},
        std::pair{InterruptSource::CdmaWt, std::string_view("CDMA_WT")},
        std::pair{InterruptSource::Cacc, std::string_view("CACC")}};
};

/// The done interrupt of one register group of one unit.
struct Interrupt {
    InterruptSource source = InterruptSource::Sdp;
    unsigned group = 0;

    bool operator==(const Interrupt&) const = default;
};

/// Position in S_INTR_MASK, S_INTR_SET and S_INTR_STATUS.
unsigned interrupt_bit(Interrupt interrupt);
/// `CDMA_WT_0`, as traces spell it.
std::string to_string(Interrupt interrupt);
std::optional<Interrupt> interrupt_from_name(std::string_view name);

/// Every bit that a GLB with all units implements.
std::uint32_t all_interrupt_bits();

class InterruptController {
 public:
    /// Bits of units that a preset lacks read as 0 and cannot be set by the host.
    explicit InterruptController(std::uint32_t implemented = all_interrupt_bits())
        : implemented_(implemented & all_interrupt_bits()) {}

    /// A unit has finished an operation.
    void raise(Interrupt interrupt);
    bool pending(Interrupt interrupt) const;
    bool masked(Interrupt interrupt) const;
    /// Level of the interrupt line.
    bool line() const { return (status_ & ~mask_) != 0; }
    std::uint32_t status() const { return status_; }
    std::uint32_t mask() const { return mask_; }

    /// S_INTR_MASK stores, S_INTR_SET raises, S_INTR_STATUS clears where the value has ones.
    /// False for any other register.
    bool write(std::string_view register_name, std::uint32_t value);
    /// S_INTR_SET reads 0. Nullopt for any other register.
    std::optional<std::uint32_t> read(std::string_view register_name) const;

 private:
    std::uint32_t implemented_;
    std::uint32_t mask_ = 0;  // after reset nothing is hidden
    std::uint32_t status_ = 0;
};

// The registers of NVDLA_GLB: version and interrupts.

extern const RegisterBlock glb_block;

}  // namespace npuscope
