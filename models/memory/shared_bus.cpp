// SPDX-License-Identifier: Apache-2.0
#include "models/memory/shared_bus.h"

#include <algorithm>
#include <utility>

namespace npuscope {
namespace {

/// Cycles that are remembered, as a power of two: a port that waits for a long read is inspected
/// when that must have ended.
constexpr unsigned kept_bits = 18;

/// Cycles of a window, as a power of two: the fewest in which these bytes pass. A short window
/// places out-of-order requests more exactly; spanning many windows costs simulation time.
constexpr std::uint64_t window_bytes = 32;
constexpr unsigned shortest_window = 2;
constexpr unsigned longest_window = 4;

unsigned window_bits(BytesPerSecond bandwidth, Hertz clock) {
    unsigned bits = shortest_window;
    while (bits < longest_window && (bandwidth.value << bits) < window_bytes * clock.value) {
        ++bits;
    }
    return bits;
}

}  // namespace

SharedBus::SharedBus(BytesPerSecond bandwidth, Hertz clock)
    : clock_(clock.value),
      bandwidth_(bandwidth.value),
      window_bits_(window_bits(bandwidth, clock)),
      capacity_(bandwidth.value << window_bits_),
      places_(std::uint64_t{1} << (kept_bits - window_bits_)),
      windows_(places_) {}

inline SharedBus::Window& SharedBus::window(std::uint64_t number) {
    Window& kept = place_of(number);
    if (kept.number < number) {
        kept = {number, 0, 0};
        latest_ = std::max(latest_, number);
    }
    return kept;
}

inline bool SharedBus::fills_all(std::uint64_t cost) const {
    return cost >> (kept_bits - window_bits_) > capacity_;
}

inline Cycles SharedBus::after_taken(const Window& window, Cycles time) const {
    const std::uint64_t begin = begin_of(window.number).value;
    const bool passed = time.value >= begin && (time.value - begin) * bandwidth_ >= window.taken;
    return passed ? time : Cycles(begin + divide_up(window.taken, bandwidth_));
}

inline SharedBus::Window& SharedBus::with_room(std::uint64_t number) {
    // anything further back has been forgotten
    const std::uint64_t first = std::max(number, latest_ + 1 - std::min(latest_ + 1, places_));
    Window* found = &window(first);
    while (found->taken >= capacity_) {
        found = &window(found->next);
    }
    // the windows passed point there from now on
    for (std::uint64_t full = first; full < found->number;) {
        full = std::exchange(place_of(full).next, found->number);
    }
    return *found;
}

inline SharedBus::Window& SharedBus::close_latest() {
    place_of(latest_) = {latest_, capacity_, latest_ + 1};
    ++latest_;
    return place_of(latest_) = {latest_, 0, 0};
}

inline Cycles SharedBus::pass_cost(std::uint64_t cost, Cycles asked) {
    const Cycles end = asked + last_cycles_;
    std::uint64_t number = window_of(asked);
    if (number < full_from_ || number >= full_until_) {
        full_from_ = number;
    } else {
        number = full_until_;
    }
    Window& first = place_of(number);
    const bool remembered = first.number == number && number + places_ > latest_;
    if (remembered && first.taken + cost < capacity_) {  // nearly always
        first.taken += cost;
        full_until_ = number;
        return after_taken(first, end);
    }
    if (remembered && number == latest_ && !fills_all(cost)) {
        Window* last = &first;
        std::uint64_t taken = first.taken + cost;
        for (; taken > capacity_; taken -= capacity_) {
            last = &close_latest();
        }
        last->taken = taken;
        last->next = taken == capacity_ ? latest_ + 1 : 0;
        full_until_ = latest_;
        return after_taken(*last, end);
    }
    Window* room = &first;
    while (cost > 0) {
        room = &with_room(number);
        const std::uint64_t part = std::min(cost, capacity_ - room->taken);
        room->taken += part;
        cost -= part;
        number = room->number;
        room->next = room->taken == capacity_ ? number + 1 : room->next;
        if (number == latest_ && fills_all(cost)) {
            // of the windows that these bytes fill, the first ones are forgotten when the last are
            const std::uint64_t forgotten = cost / capacity_ - places_;
            number += 1 + forgotten;
            cost -= forgotten * capacity_;
        }
    }
    full_until_ = number;
    return after_taken(*room, end);
}

void SharedBus::add_state(Fingerprint& state) const {
    const std::uint64_t first = window_of(state.since());
    state.add((state.moment() - begin_of(window_of(state.moment()))).value);
    for (std::uint64_t number = first; number <= latest_; ++number) {
        const Window& kept = place_of(number);
        if (kept.number == number && kept.taken > 0) {
            state.add(begin_of(number));
            state.add(kept.taken);
        }
    }
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
    while (!times.empty()) {
        std::size_t passed = pass_behind(times);
        if (passed == 0) {
            times.front() = pass_cost(last_cost_, times.front());
            passed = 1;
        }
        times = times.subspan(passed);
    }
}

std::size_t SharedBus::pass_behind(std::span<Cycles> times) {
    Window* last = &place_of(full_until_);
    if (latest_ != full_until_ || last->number != latest_ || fills_all(last_cost_)) {
        return 0;
    }
    std::uint64_t taken = last->taken;
    // what has passed when the last window's bytes have, in cycles and a remainder
    std::uint64_t cycles = begin_of(latest_).value + taken / bandwidth_;
    std::uint64_t rest = taken % bandwidth_;
    const std::uint64_t more_cycles = last_cost_ / bandwidth_;
    const std::uint64_t more_rest = last_cost_ % bandwidth_;
    const Cycles from = begin_of(full_from_);
    Cycles until = begin_of(latest_ + 1);
    std::size_t passed = 0;
    for (; passed < times.size() && times[passed] >= from && times[passed] < until; ++passed) {
        cycles += more_cycles;
        rest += more_rest;
        if (rest >= bandwidth_) {
            rest -= bandwidth_;
            ++cycles;
        }
        taken += last_cost_;
        while (taken > capacity_) {
            taken -= capacity_;
            last = &close_latest();
            until = begin_of(latest_ + 1);
        }
        times[passed] = std::max(times[passed] + last_cycles_, Cycles(cycles + (rest > 0 ? 1 : 0)));
    }
    last->taken = taken;
    last->next = taken == capacity_ ? latest_ + 1 : 0;
    full_until_ = latest_;
    return passed;
}

}  // namespace npuscope
