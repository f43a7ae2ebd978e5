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
    : clock_(clock.value),
      bandwidth_(bandwidth.value),
      capacity_(window_cycles * bandwidth.value),
      windows_(kept_windows) {
    for (std::uint64_t i = 0; i < kept_windows; ++i) {
        windows_[i].number = i;
    }
}

inline SharedBus::Window& SharedBus::window(std::uint64_t number) {
    Window& kept = windows_[number % kept_windows];
    if (kept.number < number) {
        kept = {number, 0, 0};
        latest_ = std::max(latest_, number);
    }
    return kept;
}

inline SharedBus::Window& SharedBus::with_room(std::uint64_t number) {
    // what lies further back has been forgotten
    const std::uint64_t first = std::max(number, latest_ + 1 - std::min(latest_ + 1, kept_windows));
    Window* found = &window(first);
    while (found->taken >= capacity_) {
        found = &window(found->next);
    }
    // the windows on the way point there from now on
    for (std::uint64_t full = first; full < found->number;) {
        full = std::exchange(windows_[full % kept_windows].next, found->number);
    }
    return *found;
}

Cycles SharedBus::pass(Bytes bytes, Cycles asked) {
    std::uint64_t left = bytes.value * clock_;
    if (left != last_left_) {
        last_left_ = left;
        last_cycles_ = Cycles(std::max<std::uint64_t>(divide_up(left, bandwidth_), 1));
    }
    Cycles end = asked + last_cycles_;
    std::uint64_t number = asked.value / window_cycles;
    if (number < full_from_ || number >= full_until_) {
        full_from_ = number;
    } else {
        number = full_until_;
    }
    while (left > 0) {
        Window& room = with_room(number);
        const std::uint64_t part = std::min(left, capacity_ - room.taken);
        room.taken += part;
        left -= part;
        number = room.number;
        Cycles last(number * window_cycles);
        if (room.taken == capacity_) {
            room.next = number + 1;
            last += Cycles(window_cycles);
        } else if (last + Cycles(window_cycles) > end) {
            last += Cycles(divide_up(room.taken, bandwidth_));
        }
        end = std::max(end, last);
    }
    full_until_ = number;
    return end;
}

}  // namespace npuscope
