// SPDX-License-Identifier: Apache-2.0
// Blocks of registers that launch together, and whose turn it is: the two groups of every block
// are used in turn.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/csb/register_file.h"

namespace npuscope {

class BlockGroup {
 public:
    explicit BlockGroup(std::vector<RegisterFile*> files)
        : files_(std::move(files)), launched_(files_.size()) {}

    bool open() const;
    unsigned group() const { return next_group_; }
    std::vector<RegisterValues> values() const;
    void pass();
    void finish();
    bool holds(const RegisterFile& file) const;
    /// Blocks that are enabled in a group but never started, `NVDLA_CSC of group 1`.
    std::vector<std::string> stuck() const;

 private:
    std::vector<RegisterFile*> files_;
    std::vector<std::array<bool, 2>> launched_;
    unsigned next_group_ = 0;
};

}  // namespace npuscope
