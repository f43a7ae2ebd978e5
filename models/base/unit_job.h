// SPDX-License-Identifier: Apache-2.0
// What one launch of a unit needs, whichever unit it is: each has a type of its own, with all that
// it computes and where its operands lie. A unit without public registers is launched with one
// directly.
#pragma once

#include <string>

namespace npuscope {

struct UnitJob {
    std::string name;  ///< of the operation, as results show it
    std::string kind;  ///< what a planner calls it, `PWCONV`; may be empty

    UnitJob() = default;
    UnitJob(const UnitJob&) = default;
    UnitJob& operator=(const UnitJob&) = default;
    virtual ~UnitJob() = default;
};

}  // namespace npuscope
