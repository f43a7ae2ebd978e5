// SPDX-License-Identifier: Apache-2.0
// What a DMA requests from the read channel before the response time is known: beats in order, each
// with the time from which it is at the arbiter. The interface pulls them burst by burst and
// reports when each beat arrives; so a whole surface needs no event of its own. No values, no
// SystemC.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "models/base/quantity.h"
#include "models/layout/feature_cube.h"

namespace npuscope {

/// Neighbouring beats that reach the arbiter together. If it begins a new run of memory, `run` is
/// that run; the bursts up to the next run read nothing else.
struct ReadBurst {
    Cycles ready;
    std::uint64_t beats = 0;
    std::optional<ByteRun> run{};
    /// Beats of the run if fewer than those that contain its bytes; 0: as many.
    std::uint64_t run_beats = 0;
    /// A separate request, whose beats may wait for room.
    bool request = false;
    /// Stages of its client and of the interface that a request passes one by one, waiting for the
    /// previous request; `ready` is when it has passed them all and is at the arbiter.
    std::uint32_t stages = 0;
    Cycles gap{1};  ///< the client makes it at least this long after the previous request
};

class ReadStream {
 public:
    virtual ~ReadStream() = default;

    /// Beats of the whole stream.
    virtual std::uint64_t beats() const = 0;
    /// The next burst; nothing while its issue time is unknown because another must give way first.
    /// A stream that gives way reports so before the time at which the burst is ready.
    virtual std::optional<ReadBurst> next_burst() = 0;
    /// The next beats arrive at these times.
    virtual void arrived(std::span<const Cycles> times) = 0;
    /// For this many more cycles a beat of the stream was at the arbiter and not issued.
    virtual void stalled(Cycles /*cycles*/) {}
    /// No beat up to number `count` can be ready before, as far as is known now.
    virtual Cycles ready_after(std::uint64_t /*count*/) const { return Cycles(0); }
    /// The next beats, of a request, can arrive at these times, or `interval` apart; a consumer
    /// without room for them moves them to later ones. Called before they arrive.
    virtual void hold_back(std::span<Cycles> /*times*/, Cycles /*interval*/) {}
    /// The consumer awaits beats that the FIFO will never have room for, because it is the consumer
    /// itself that gives room: the FIFO holds one more from now on. Hardware that could not hold
    /// what one atom needs would not be built. False if no more room helps.
    virtual bool hold_more() { return false; }
};

/// One run of memory that is ready as a whole.
class LineStream : public ReadStream {
 public:
    LineStream(const ByteRun& run, Cycles ready, std::uint64_t beats)
        : burst_{ready, beats, run}, beats_(beats) {}

    std::uint64_t beats() const override { return beats_; }
    std::optional<ReadBurst> next_burst() override { return burst_; }
    void arrived(std::span<const Cycles> times) override { last_arrival_ = times.back(); }
    Cycles last_arrival() const { return last_arrival_; }

 private:
    ReadBurst burst_;
    std::uint64_t beats_;
    Cycles last_arrival_;
};

// A monitored stream of reads: counts cycles in which a beat was at the arbiter and not issued, and
// cycles in which at least one beat had been requested and had not arrived. These are what the
// performance counters of a DMA count.
// source: nv_full RTL, NV_NVDLA_CDMA_wt.v, NV_NVDLA_CDMA_IMG_sg.v, rd_stall and rd_latency

class MeasuredStream : public ReadStream {
 public:
    explicit MeasuredStream(ReadStream& stream) : stream_(stream) {}

    Cycles stall() const { return stall_; }
    Cycles latency() const { return latency_; }

    std::uint64_t beats() const override { return stream_.beats(); }
    std::optional<ReadBurst> next_burst() override {
        const std::optional<ReadBurst> burst = stream_.next_burst();
        if (burst) {
            waiting_.push_back({burst->ready, burst->beats});
        }
        return burst;
    }
    void arrived(std::span<const Cycles> times) override {
        for (const Cycles time : times) {
            const Cycles begin = std::max(waiting_.front().ready, covered_);
            latency_ += time > begin ? time - begin : Cycles(0);
            covered_ = std::max(covered_, time);
            if (--waiting_.front().beats == 0) {
                waiting_.pop_front();
            }
        }
        stream_.arrived(times);
    }
    void stalled(Cycles cycles) override { stall_ += cycles; }
    Cycles ready_after(std::uint64_t count) const override { return stream_.ready_after(count); }

 private:
    struct Waiting {
        Cycles ready;
        std::uint64_t beats;
    };

    ReadStream& stream_;
    std::deque<Waiting> waiting_;  // bursts with beats in flight
    Cycles covered_;               // no earlier cycle is counted again
    Cycles stall_;
    Cycles latency_;
};

}  // namespace npuscope
