// SPDX-License-Identifier: Apache-2.0
// One unit's registers of one layer: what the layer needs is set, everything else is random, as
// NVIDIA's own tests do, and all are written in random order after the pointer.
// Masks of writable bits: source: nv_small register description, spec/manual/NVDLA_<unit>.rdl
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tests/support/generate_random.h"
#include "tests/support/program_text.h"

namespace npuscope {

class UnitRegisters {
 public:
    /// `unit` is CDMA, CSC, CMAC_A, CMAC_B, CACC, SDP, SDP_RDMA, PDP, PDP_RDMA, CDP or CDP_RDMA.
    UnitRegisters(std::string_view unit, std::uint32_t group);

    /// A name without unit and suffix: D_BANK.
    void set(const std::string& name, std::uint32_t value) { values_[name] = value; }
    void set_signed(const std::string& name, std::int64_t value, std::uint32_t bits);
    /// Both halves: D_DST_BASE_ADDR sets D_DST_BASE_ADDR_LOW and _HIGH.
    void set_address(const std::string& name, std::uint64_t address);
    /// Every register of the unit but the enable.
    void emit(ProgramText& text, Random& random) const;
    void enable(ProgramText& text) const;
    /// Makes the register writes that follow go to this group.
    void point(ProgramText& text) const;
    std::string name() const { return "NVDLA_" + unit_; }

 private:
    std::string full_name(std::string_view name) const;

    std::string unit_;
    std::uint32_t group_;
    std::map<std::string, std::uint32_t> values_;
};

/// The lowest `bits` of a two's complement number, shifted left.
std::uint32_t field(std::int64_t value, std::uint32_t bits, std::uint32_t shift = 0);

/// What the RAM_TYPE registers call the memory of an address: 1 primary, 0 secondary.
std::uint32_t ram_type(std::uint64_t address);

}  // namespace npuscope
