// SPDX-License-Identifier: Apache-2.0
// Operands between their functional fetch at launch and their read in time, per client. A write to
// them in between means that the driver started two operations that depend on each other: a race.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "models/memory/sparse_memory.h"

namespace npuscope {

/// Who will read a claimed byte.
struct Claimant {
    std::string unit;
    std::string surface;
    std::string operation;
};

class Claims {
 public:
    void claim(unsigned client, Address address, Bytes bytes, const Claimant& claimant);
    void consume(unsigned client, Address address, Bytes bytes);
    /// The claimant whose operand a write to this range would change.
    std::optional<Claimant> disturbed_by_write(Address address, Bytes bytes) const;

 private:
    struct Pending {
        AddressSet bytes;
        Claimant claimant;
    };
    std::map<unsigned, Pending> clients_;
};

}  // namespace npuscope
