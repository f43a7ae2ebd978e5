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

inline Cycles SharedBus::after_taken(const Window& window, Cycles time) const {
    const std::uint64_t begin = window.number * window_cycles;
    const bool passed = time.value >= begin && (time.value - begin) * bandwidth_ >= window.taken;
    return passed ? time : Cycles(begin + divide_up(window.taken, bandwidth_));
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

inline Cycles SharedBus::pass_cost(std::uint64_t cost, Cycles asked) {
    Cycles end = asked + last_cycles_;
    std::uint64_t number = asked.value / window_cycles;
    if (number < full_from_ || number >= full_until_) {
        full_from_ = number;
    } else {
        number = full_until_;
    }
    Window& first = windows_[number % kept_windows];
    const bool remembered = first.number == number && number + kept_windows > latest_;
    if (remembered && first.taken + cost < capacity_) {  // as nearly always
        first.taken += cost;
        full_until_ = number;
        return after_taken(first, end);
    }
    while (cost > 0) {
        Window& room = with_room(number);
        const std::uint64_t part = std::min(cost, capacity_ - room.taken);
        room.taken += part;
        cost -= part;
        number = room.number;
        room.next = room.taken == capacity_ ? number + 1 : room.next;
        end = after_taken(room, end);
    }
    full_until_ = number;
    return end;
}

void SharedBus::learn_cost(Bytes bytes) {
    const std::uint64_t cost = bytes.value * clock_;
    if (cost != last_cost_) {
        last_cost_ = cost;
        last_cycles_ = Cycles(std::max<std::uint64_t>(divide_up(cost, bandwidth_), 1));
    }
}

Cycles SharedBus::pass(Bytes bytes, Cycles asked) {
    learn_cost(bytes);
    return pass_cost(last_cost_, asked);
}

void SharedBus::pass_each(Bytes bytes, std::span<Cycles> times) {
    learn_cost(bytes);
    for (Cycles& time : times) {
        time = pass_cost(last_cost_, time);
    }
}

}  // namespace npuscope
