// SPDX-License-Identifier: Apache-2.0
// What the bytes of a surface are, summed up over its pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "sim/check/byte_states.h"

namespace npuscope {

struct SeenBytes {
    std::uint64_t nobody = 0;
    std::uint64_t filled = 0;
    std::uint64_t tail = 0;  ///< filled bytes behind the last one that was loaded or written
    std::uint64_t loaded = 0;
    std::uint64_t written = 0;
    std::optional<Address> first_nobody;
    Address first_filled;  ///< of the tail
    std::optional<Address> first_written;
    std::set<std::size_t> writers;

    void add(const ByteRun& piece, const ByteState* state) {
        if (state == nullptr) {
            nobody += piece.bytes.value;
            first_nobody = first_nobody.value_or(piece.address);
            return;
        }
        switch (state->origin) {
            case ByteOrigin::Filled:
                filled += piece.bytes.value;
                first_filled = tail == 0 ? piece.address : first_filled;
                tail += piece.bytes.value;
                return;
            case ByteOrigin::Loaded:
                loaded += piece.bytes.value;
                tail = 0;
                return;
            case ByteOrigin::Written:
                written += piece.bytes.value;
                tail = 0;
                first_written = first_written.value_or(piece.address);
                writers.insert(state->by);
                return;
        }
    }
};

}  // namespace npuscope
