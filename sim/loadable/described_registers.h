// SPDX-License-Identifier: Apache-2.0
// Descriptors that express what registers hold: the inverse of firmware_registers.h. Addresses are
// passed to `place`, which fills in the location of a cube.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/quantity.h"
#include "models/base/register_map.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/loadable/firmware_registers.h"

namespace npuscope {

/// The registers of one operation, by block.
class OperationRegisters {
 public:
    explicit OperationRegisters(std::vector<RegisterValues> values) : values_(std::move(values)) {}

    bool has(std::string_view block) const { return find(block) != nullptr; }
    /// A missing block is an internal error.
    const RegisterValues& block(std::string_view name) const;
    template <class Number>
    void field(std::string_view block, std::string_view name, std::string_view field,
               Number& number) const {
        number = static_cast<Number>(this->block(block).field(name, field));
    }
    /// A field that counts from zero.
    template <class Number>
    void size(std::string_view block, std::string_view name, std::string_view field,
              Number& number) const {
        number = static_cast<Number>(this->block(block).size(name, field));
    }
    std::uint32_t word(std::string_view block, std::string_view name) const {
        return this->block(block).raw(name);
    }
    Address address(std::string_view block, const std::string& low, const std::string& high) const;
    const std::vector<RegisterValues>& all() const { return values_; }

 private:
    const RegisterValues* find(std::string_view block) const;

    std::vector<RegisterValues> values_;
};

/// Sets the location of a cube: its address's index and offset. `written`: by the operation.
using PlaceCube = std::function<void(DlaCube& cube, Address address, bool written)>;

ConvDlaOperation describe_conv(const OperationRegisters& registers, const PlaceCube& place);
SdpDlaOperation describe_sdp(const OperationRegisters& registers, const PlaceCube& place);
/// The tables of a planned lookup by the SDP: the linear one, with one entry per integer.
DlaLut describe_table(const Operation& planned);
PdpDlaOperation describe_pdp(const OperationRegisters& registers, const PlaceCube& place);

}  // namespace npuscope
