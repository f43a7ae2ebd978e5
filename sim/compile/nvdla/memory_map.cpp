// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/memory_map.h"

#include <algorithm>

namespace npuscope {
namespace {

void join(std::vector<std::size_t>& readers, const std::vector<std::size_t>& more) {
    readers.insert(readers.end(), more.begin(), more.end());
    std::ranges::sort(readers);
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
}

}  // namespace

ArenaPlace MemoryMap::place_result(Bytes bytes) {
    const std::uint64_t wanted = round_up(bytes.value, alignment);
    for (auto at = free_.begin(); at != free_.end(); ++at) {
        const bool last = at->first + at->second.bytes == arena_end_.value;
        if (at->second.bytes < wanted && !last) {
            continue;
        }
        ArenaPlace place{Address(at->first), Bytes(wanted), at->second.readers};
        const std::uint64_t end = at->first + wanted;
        if (at->second.bytes > wanted) {
            free_[end] = {at->second.bytes - wanted, at->second.readers};
        }
        free_.erase(place.address.value);
        arena_end_ = std::max(arena_end_, Address(end));
        return place;
    }
    ArenaPlace place{arena_end_, Bytes(wanted), {}};
    arena_end_ = arena_end_ + place.bytes;
    return place;
}

std::optional<ArenaPlace> MemoryMap::place_within(Bytes bytes, Bytes limit) {
    MemoryMap tried = *this;
    ArenaPlace place = tried.place_result(bytes);
    if (tried.used() > limit) {
        return std::nullopt;
    }
    *this = std::move(tried);
    return place;
}

void MemoryMap::give_back(const ArenaPlace& place, const std::vector<std::size_t>& readers) {
    auto at = free_.emplace(place.address.value, Free{place.bytes.value, readers}).first;
    join(at->second.readers, place.readers);
    if (const auto behind = std::next(at);
        behind != free_.end() && behind->first == at->first + at->second.bytes) {
        at->second.bytes += behind->second.bytes;
        join(at->second.readers, behind->second.readers);
        free_.erase(behind);
    }
    if (at != free_.begin()) {
        const auto before = std::prev(at);
        if (before->first + before->second.bytes == at->first) {
            before->second.bytes += at->second.bytes;
            join(before->second.readers, at->second.readers);
            free_.erase(at);
        }
    }
}

}  // namespace npuscope
