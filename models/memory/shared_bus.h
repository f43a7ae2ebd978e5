// SPDX-License-Identifier: Apache-2.0
// A memory whose bandwidth is shared by all who use it: ports, NPUs and, if there is one channel,
// reads and writes. The first to request is not always served first by the simulation, which
// handles the ports in turn; so time is cut into short windows, and bytes use the first room at or
// after their request. Not modelled: bus turnaround cost, priorities.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/base/fingerprint.h"
#include "models/base/quantity.h"
#include "models/memory/memory_config.h"

namespace npuscope {

class SharedBus {
 public:
    /// Bandwidth in bytes a second, `clock` of the cycles that measure time; both above 0.
    SharedBus(BytesPerSecond bandwidth, Hertz clock);

    /// Cycle in which the last of these bytes has passed, not before `asked` + 1.
    Cycles pass(Bytes bytes, Cycles asked);
    /// The same for several requests of `bytes` each in these cycles; each time becomes the cycle
    /// in which the last of its bytes has passed.
    void pass_each(Bytes bytes, std::span<Cycles> times);
    /// Everything that answers to later requests depend on.
    void add_state(Fingerprint& state) const;

 private:
    /// The used part of a window's time, in units of 1 / (bandwidth * clock) seconds: a byte takes
    /// `clock` of them, a cycle lasts `bandwidth` of them.
    struct Window {
        std::uint64_t number = 0;
        std::uint64_t taken = 0;
        std::uint64_t next = 0;  ///< if this one is full: the first that may have room
    };
    std::uint64_t window_of(Cycles time) const { return time.value >> window_bits_; }
    Cycles begin_of(std::uint64_t window) const { return Cycles(window << window_bits_); }
    /// The slot of a window in the ring, which may have another window's number.
    Window& place_of(std::uint64_t number) { return windows_[number & (places_ - 1)]; }
    const Window& place_of(std::uint64_t number) const { return windows_[number & (places_ - 1)]; }
    Window& window(std::uint64_t number);
    /// More than all remembered windows have room for.
    bool fills_all(std::uint64_t cost) const;
    /// The time, or when the used part of the window has passed.
    Cycles after_taken(const Window& window, Cycles time) const;
    /// Notes the cost of bytes; passes them.
    void learn_cost(Bytes bytes);
    Cycles pass_cost(std::uint64_t cost, Cycles asked);
    /// Fills the latest window and begins the next one.
    Window& close_latest();
    /// Passes the first of these if they directly follow the current traffic, one after the other
    /// and with nothing behind; returns how many.
    std::size_t pass_behind(std::span<Cycles> times);
    /// The first window from this one on with room.
    Window& with_room(std::uint64_t number);

    std::uint64_t clock_;
    std::uint64_t bandwidth_;
    unsigned window_bits_;         // a window has 2 to this power cycles
    std::uint64_t capacity_;       // of a window
    std::uint64_t places_;         // a power of two
    std::vector<Window> windows_;  ///< the latest ones, as a ring of `places_`
    std::uint64_t latest_ = 0;
    std::uint64_t full_from_ = 0;  // windows known to be full, the last ones inspected
    std::uint64_t full_until_ = 0;
    std::uint64_t last_cost_ = 0;  // units of the last bytes, and the cycles that they take
    Cycles last_cycles_{1};
};

}  // namespace npuscope
