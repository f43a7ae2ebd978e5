// SPDX-License-Identifier: Apache-2.0
// A stream of reads that is watched on its way: cycles in which a beat stood at the arbiter and was
// not issued, and cycles in which at least one beat had been asked for and had not arrived. These
// are what the performance counters of a DMA count.
// source: nv_full RTL, NV_NVDLA_CDMA_wt.v, NV_NVDLA_CDMA_IMG_sg.v, rd_stall and rd_latency
#pragma once

#include <algorithm>
#include <deque>

#include "models/link/read_stream.h"

namespace npuscope {

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
    std::deque<Waiting> waiting_;  // bursts with beats under way
    Cycles covered_;               // no cycle before is counted again
    Cycles stall_;
    Cycles latency_;
};

}  // namespace npuscope
