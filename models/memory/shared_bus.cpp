// SPDX-License-Identifier: Apache-2.0
#include "models/memory/shared_bus.h"

#include <algorithm>
#include <utility>

namespace npuscope {
namespace {

constexpr std::uint64_t window_cycles = 16;
constexpr std::uint64_t kept_windows = 1U << 14U;

}  // namespace

SharedBus::SharedBus(BytesPerSecond bandwidth, Hertz clock)
    : clock_(clock.value), bandwidth_(bandwidth.value), windows_(kept_windows) {
    for (std::uint64_t i = 0; i < kept_windows; ++i) {
        windows_[i].number = i;
    }
}

SharedBus::Window& SharedBus::window(std::uint64_t number) {
    Window& kept = windows_[number % kept_windows];
    if (kept.number < number) {
        kept = {number, 0, 0};
        latest_ = std::max(latest_, number);
    }
    return kept;
}

SharedBus::Window& SharedBus::with_room(std::uint64_t number) {
    const std::uint64_t capacity = window_cycles * bandwidth_;
    // what lies further back has been forgotten
    std::uint64_t found = std::max(number, latest_ + 1 - std::min(latest_ + 1, kept_windows));
    const std::uint64_t first = found;
    while (true) {
        const Window& candidate = window(found);
        if (candidate.taken < capacity) {
            break;
        }
        found = candidate.next;
    }
    // the windows on the way point there from now on
    for (std::uint64_t full = first; full < found;) {
        full = std::exchange(windows_[full % kept_windows].next, found);
    }
    return window(found);
}

Cycles SharedBus::pass(Bytes bytes, Cycles asked) {
    const std::uint64_t capacity = window_cycles * bandwidth_;
    std::uint64_t left = bytes.value * clock_;
    Cycles end = asked + Cycles(std::max<std::uint64_t>(divide_up(left, bandwidth_), 1));
    std::uint64_t number = asked.value / window_cycles;
    while (left > 0) {
        Window& room = with_room(number);
        const std::uint64_t part = std::min(left, capacity - room.taken);
        room.taken += part;
        left -= part;
        number = room.number;
        if (room.taken == capacity) {
            room.next = number + 1;
        }
        end = std::max(end, Cycles(number * window_cycles + divide_up(room.taken, bandwidth_)));
    }
    return end;
}

}  // namespace npuscope
