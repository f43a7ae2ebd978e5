// SPDX-License-Identifier: Apache-2.0
// A memory of so many bytes a second for all who use it: ports, NPUs and, where the channel is one,
// reads and writes. Whoever asks first is not always served first by the simulation, which looks at
// each port in turn; so time is cut into short windows, and bytes take the first room at or after
// their request. Not modelled: what a change of direction costs, priorities.
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
    /// Bandwidth in bytes a second, `clock` of the cycles in which time is told; both above 0.
    SharedBus(BytesPerSecond bandwidth, Hertz clock);

    /// Cycle in which the last of these bytes has passed, not before `asked` + 1.
    Cycles pass(Bytes bytes, Cycles asked);
    /// The same of several times as many bytes, asked for in these cycles; each becomes the cycle in
    /// which the last of its bytes has passed.
    void pass_each(Bytes bytes, std::span<Cycles> times);
    /// All that answers to later requests depend on.
    void add_state(Fingerprint& state) const;

 private:
    /// What of a window's time is taken, in units of which a second at this bandwidth has
    /// bandwidth * clock: a byte takes `clock` of them, a cycle lasts `bandwidth` of them.
    struct Window {
        std::uint64_t number = 0;
        std::uint64_t taken = 0;
        std::uint64_t next = 0;  ///< where this one is full: the first that may have room
    };
    std::uint64_t window_of(Cycles time) const { return time.value >> window_bits_; }
    Cycles begin_of(std::uint64_t window) const { return Cycles(window << window_bits_); }
    /// The place of a window in the ring, whose number that place may not have.
    Window& place_of(std::uint64_t number) { return windows_[number & (places_ - 1)]; }
    const Window& place_of(std::uint64_t number) const { return windows_[number & (places_ - 1)]; }
    Window& window(std::uint64_t number);
    /// More than all windows that are remembered have room for.
    bool fills_all(std::uint64_t cost) const;
    /// The time, or when what is taken of the window has passed.
    Cycles after_taken(const Window& window, Cycles time) const;
    /// Notes what bytes cost; passes them.
    void learn_cost(Bytes bytes);
    Cycles pass_cost(std::uint64_t cost, Cycles asked);
    /// Fills the latest window and begins the next one.
    Window& close_latest();
    /// Passes the first of these where they follow what the bus is busy with, one after the other and
    /// with nothing behind; the number of them.
    std::size_t pass_behind(std::span<Cycles> times);
    /// The first window from this one on with room.
    Window& with_room(std::uint64_t number);

    std::uint64_t clock_;
    std::uint64_t bandwidth_;
    unsigned window_bits_;         // a window has 2 to this power cycles
    std::uint64_t capacity_;       // of a window
    std::uint64_t places_;         // a power of two
    std::vector<Window> windows_;  ///< the latest ones, as a ring of so many
    std::uint64_t latest_ = 0;
    std::uint64_t full_from_ = 0;  // windows known to be full, the last ones that were looked at
    std::uint64_t full_until_ = 0;
    std::uint64_t last_cost_ = 0;  // units of the last bytes, and the cycles that these take
    Cycles last_cycles_{1};
};

}  // namespace npuscope
