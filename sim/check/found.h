// SPDX-License-Identifier: Apache-2.0
// What a static check found wrong, and where to look: surface, operation, register, remedy.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"

namespace npuscope {

struct Found {
    Diagnostic finding;
    std::string register_name;  ///< `NVDLA_CDMA.D_LINE_STRIDE_0`; empty where none is to blame
    std::string remedy;
};

/// What a decoder reports.
void add_findings(const Diagnostics& findings, std::vector<Found>& found);

struct CheckReport {
    std::string subject;  ///< the program's or the image's name
    std::string npu;
    std::size_t operations = 0;
    std::size_t surfaces = 0;
    std::vector<Found> found;

    /// Notes are no fault: silicon ignores what they tell of.
    bool clean() const;
};

/// Keeps what is found in order; a repeat of kind, register, surface and operation is left out.
class FoundList {
 public:
    void add(Found found);
    std::vector<Found> take() { return std::move(list_); }

 private:
    std::vector<Found> list_;
};

}  // namespace npuscope
