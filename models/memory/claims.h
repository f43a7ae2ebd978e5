// SPDX-License-Identifier: Apache-2.0
// Operands between their functional fetch at launch and their read in time, per client. A write to
// them in between means that the driver started two operations that depend on each other: a race.
#pragma once

#include <boost/icl/interval_set.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "models/base/quantity.h"
#include "models/layout/feature_cube.h"

namespace npuscope {

using AddressSet = boost::icl::interval_set<std::uint64_t, std::less,
                                            boost::icl::right_open_interval<std::uint64_t>>;

inline AddressSet::interval_type range_of(Address address, Bytes bytes) {
    return {address.value, address.value + bytes.value};
}

/// Which operation will read a claimed byte.
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
    std::optional<Claimant> disturbed_by_write(Address address, Bytes bytes);

 private:
    struct Pending {
        AddressSet bytes;
        ByteRun consumed{};  ///< of these, not yet taken away: neighbours are merged
        Claimant claimant;
        void take_consumed();
    };
    std::map<unsigned, Pending> clients_;
};

}  // namespace npuscope
