// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "models/npu/dispatcher.h"

namespace npuscope {

bool LaunchGate::open() const {
    for (std::size_t i = 0; i < files_.size(); ++i) {
        if (!files_[i]->op_enabled(next_group_) || launched_[i][next_group_]) {
            return false;
        }
    }
    return true;
}

void LaunchGate::note_enabled(const RegisterFile& file, unsigned group, Cycles time) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
        if (files_[i] == &file) {
            enabled_[i][group] = time;
        }
    }
}

void LaunchGate::pass() {
    for (std::array<bool, 2>& groups : launched_) {
        groups[next_group_] = true;
    }
    next_group_ ^= 1U;
}

void LaunchGate::finish(std::size_t block) {
    launched_[block][files_[block]->consumer()] = false;
    files_[block]->operation_done();
}

}  // namespace npuscope
