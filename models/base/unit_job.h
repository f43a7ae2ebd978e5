// SPDX-License-Identifier: Apache-2.0
// What one launch of a unit needs, whichever unit it is: each unit has its own type, with all that
// it computes and where its operands are. A unit without public registers is launched with a job
// directly.
#pragma once

#include <cstdint>
#include <string>

namespace npuscope {

/// How often a part of a machine did something: the input of energy estimates.
struct ActionCount {
    std::string part;    ///< mac, cbuf, cacc
    std::string action;  ///< int8, read_bytes
    std::uint64_t count = 0;
};

struct UnitJob {
    std::string name;  ///< of the operation, as shown in results
    std::string kind;  ///< what a planner calls it, `PWCONV`; may be empty

    UnitJob() = default;
    UnitJob(const UnitJob&) = default;
    UnitJob& operator=(const UnitJob&) = default;
    virtual ~UnitJob() = default;
};

}  // namespace npuscope
