// SPDX-License-Identifier: Apache-2.0
#include "models/base/value_thread.h"

#include <algorithm>

namespace npuscope {
namespace {

/// In `posted_`: nothing more will be posted.
constexpr std::uint64_t ending = std::uint64_t{1} << 63U;

/// Polls this often before it sleeps: works follow each other closely, and waking takes longer.
constexpr unsigned looks = 2000;

/// This many works wake the thread, for the same reason; fewer wait until something is needed.
constexpr std::uint64_t worth_waking = 32;

/// How far the simulation may be ahead: enough for long layers to make up for short ones.
constexpr std::size_t operations_ahead = 16;

/// The value once it is no longer `old`.
std::uint64_t changed(const std::atomic<std::uint64_t>& value, std::uint64_t old) {
    for (unsigned look = 0; look < looks; ++look) {
        if (const std::uint64_t now = value.load(std::memory_order_acquire); now != old) {
            return now;
        }
    }
    value.wait(old, std::memory_order_seq_cst);
    return value.load(std::memory_order_acquire);
}

}  // namespace

ValueThread::~ValueThread() {
    if (runs()) {
        hand_on();
        posted_.fetch_or(ending, std::memory_order_release);
        posted_.notify_one();
        thread_.join();
    }
}

void ValueThread::start() {
    if (!runs()) {
        ring_.resize(slots);
        thread_ = std::thread([this] { run(); });
    }
}

ValueThread::Slot& ValueThread::free_slot() {
    const std::uint64_t posted = posted_.load(std::memory_order_relaxed);
    wait_until_done(posted + 1 - std::min(posted + 1, slots));
    return ring_[posted % slots];
}

void ValueThread::publish() {
    const std::uint64_t posted = posted_.fetch_add(1, std::memory_order_release) + 1;
    if (posted - done_.load(std::memory_order_relaxed) >= worth_waking) {
        posted_.notify_one();
    }
}

void ValueThread::run() {
    std::uint64_t done = 0;
    for (std::uint64_t posted = 0;;) {
        while ((posted & ~ending) == done) {
            if ((posted & ending) != 0) {
                return;
            }
            posted = changed(posted_, posted);
        }
        Slot& slot = ring_[done % slots];
        try {
            slot.run(slot.place.data(), failure_ != nullptr);
        } catch (...) {
            failure_ = std::current_exception();
        }
        done_.store(++done, std::memory_order_seq_cst);
        if (done == awaited_.load(std::memory_order_seq_cst)) {
            done_.notify_one();
        }
    }
}

void ValueThread::then(std::function<void()> show) {
    if (!runs()) {
        show();
        return;
    }
    hand_on();
    later_.push_back({posted_.load(std::memory_order_relaxed), std::move(show)});
    show_done();
}

void ValueThread::show_done() {
    const std::uint64_t done = done_.load(std::memory_order_acquire);
    while (!later_.empty() && later_.front().works <= done) {
        const std::function<void()> show = std::move(later_.front().show);
        later_.pop_front();
        show();
    }
}

void ValueThread::wait_until_done(std::uint64_t works) {
    if (done_.load(std::memory_order_acquire) >= works) {
        return;
    }
    posted_.notify_one();
    awaited_.store(works, std::memory_order_seq_cst);
    for (std::uint64_t done = done_.load(std::memory_order_seq_cst); done < works;) {
        done = changed(done_, done);
    }
}

void ValueThread::begin_operation() {
    if (starts_after_ && (*starts_after_)-- == 0) {
        starts_after_.reset();
        start();
    }
    begun_.push_back(posted_.load(std::memory_order_relaxed));
    if (begun_.size() > operations_ahead) {
        begun_.pop_front();
        wait_until_done(begun_.front());
    }
}

void ValueThread::finish() {
    hand_on();
    wait_until_done(posted_.load(std::memory_order_relaxed));
}

void ValueThread::settle() {
    finish();
    if (failure_) {
        std::rethrow_exception(failure_);
    }
    show_done();
}

}  // namespace npuscope
