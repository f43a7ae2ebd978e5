// SPDX-License-Identifier: Apache-2.0
// Computes values in parallel with the simulation. Timing never depends on values, so the
// simulation posts all work on values and continues in time: a second thread does it all, in the
// order in which it was posted, so that every value is as if computed at once. Until it is started
// there is no second thread, and each piece of work is done where it is posted.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace npuscope {

class ValueThread {
 public:
    ValueThread() = default;
    ValueThread(const ValueThread&) = delete;
    ValueThread& operator=(const ValueThread&) = delete;
    /// Ends when all has been done.
    ~ValueThread();

    void start();
    /// Starts it at the start of the next operation after this many.
    void start_after(std::size_t operations) { starts_after_ = operations; }
    bool runs() const { return thread_.joinable(); }

    /// Does `work()` once everything posted before it is done. What it refers to must live
    /// until then: it holds shared pointers, or settle() is called before what it refers to ends.
    template <class Work>
    void post(Work&& work) {
        hand_on();
        if (!runs()) {
            std::forward<Work>(work)();
            return;
        }
        using Held = std::decay_t<Work>;
        static_assert(sizeof(Held) <= sizeof(Slot::place));
        static_assert(alignof(Held) <= alignof(Slot));
        Slot& slot = free_slot();
        new (slot.place.data()) Held(std::forward<Work>(work));
        slot.run = [](std::byte* place, bool skip) {
            const auto release = [](Held* held) { held->~Held(); };
            const std::unique_ptr<Held, decltype(release)> held(
                std::launder(reinterpret_cast<Held*>(place)), release);
            if (!skip) {
                (*held)();
            }
        };
        publish();
    }
    /// A unit begins an operation: waits while the values of many earlier ones are still to be
    /// computed, so that their inputs and results do not fill memory.
    void begin_operation();
    /// Calls `hand_on()` before anything else is posted or settled: it posts work that has waited
    /// for more of its kind.
    void hold_back(std::function<void()> hand_on) { held_back_ = std::move(hand_on); }
    /// Calls `show()` in the simulation's own thread once everything posted before it is done:
    /// now, at a later call, or at settle().
    void then(std::function<void()> show);
    /// Returns when all has been done. What a piece of work threw is rethrown here, and what was
    /// posted after it has been skipped.
    void settle();
    /// The same, before what the work refers to ends; failures are not reported, nothing is shown.
    void finish();

 private:
    struct Slot {
        alignas(std::max_align_t) std::array<std::byte, 176> place;
        void (*run)(std::byte* place, bool skip) = nullptr;
    };
    static constexpr std::uint64_t slots = 1024;

    void hand_on() {
        if (held_back_) {
            std::exchange(held_back_, nullptr)();
        }
    }
    void wait_until_done(std::uint64_t works);
    void show_done();
    Slot& free_slot();
    void publish();
    void run();

    std::vector<Slot> ring_;
    std::atomic<std::uint64_t> posted_ = 0;  // number of works, and `ending` in the highest bit
    std::atomic<std::uint64_t> done_ = 0;
    std::atomic<std::uint64_t> awaited_ = 0;   // a waiting thread is woken after this many
    std::exception_ptr failure_;               // of the thread; checked when all has been done
    std::optional<std::size_t> starts_after_;  // this many operations from now
    std::deque<std::uint64_t> begun_;          // works posted before each of the last operations
    std::function<void()> held_back_;
    /// What is to be called when this many works have been done.
    struct Later {
        std::uint64_t works;
        std::function<void()> show;
    };
    std::deque<Later> later_;
    std::thread thread_;
};

}  // namespace npuscope
