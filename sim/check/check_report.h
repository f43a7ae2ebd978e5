// SPDX-License-Identifier: Apache-2.0
// What a static check found, for people and for other programs.
#pragma once

#include <cstddef>
#include <string>

#include "models/base/diagnostic.h"

namespace npuscope {

struct CheckReport {
    std::string subject;  ///< the program's or the image's name
    std::string npu;
    std::size_t operations = 0;
    std::size_t surfaces = 0;
    Diagnostics findings;

    /// Notes are not mistakes: silicon ignores what they are about.
    bool clean() const;
};

std::string check_text(const CheckReport& report);
std::string check_json(const CheckReport& report);

}  // namespace npuscope
