// SPDX-License-Identifier: Apache-2.0
#include "sim/check/block_group.h"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope {

bool BlockGroup::open() const {
    for (std::size_t i = 0; i < files_.size(); ++i) {
        if (!files_[i]->op_enabled(next_group_) || launched_[i][next_group_]) {
            return false;
        }
    }
    return true;
}

std::vector<RegisterValues> BlockGroup::values() const {
    std::vector<RegisterValues> values;
    for (const RegisterFile* file : files_) {
        values.push_back(file->values(next_group_));
    }
    return values;
}

void BlockGroup::pass() {
    for (std::array<bool, 2>& groups : launched_) {
        groups[next_group_] = true;
    }
    next_group_ ^= 1U;
}

void BlockGroup::finish() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
        launched_[i][files_[i]->consumer()] = false;
        files_[i]->operation_done();
    }
}

bool BlockGroup::holds(const RegisterFile& file) const {
    return std::ranges::find(files_, &file) != files_.end();
}

std::vector<std::string> BlockGroup::stuck() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < files_.size(); ++i) {
        for (const unsigned group : {0U, 1U}) {
            if (files_[i]->op_enabled(group) && !launched_[i][group]) {
                names.push_back(fmt::format("{} of group {}", files_[i]->block().name, group));
            }
        }
    }
    return names;
}

}  // namespace npuscope
