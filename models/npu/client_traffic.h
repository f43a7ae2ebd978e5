// SPDX-License-Identifier: Apache-2.0
// Traffic of several ports as one entry a client.
#pragma once

#include <algorithm>
#include <vector>

#include "models/mcif/mcif.h"

namespace npuscope {

inline void merge_traffic(std::vector<Mcif::Traffic>& merged,
                          const std::vector<Mcif::Traffic>& more) {
    for (const Mcif::Traffic& entry : more) {
        const auto same = std::ranges::find(merged, entry.client, &Mcif::Traffic::client);
        if (same == merged.end()) {
            merged.push_back(entry);
        } else {
            same->moved += entry.moved;
        }
    }
}

}  // namespace npuscope
