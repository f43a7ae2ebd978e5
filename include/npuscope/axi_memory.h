// SPDX-License-Identifier: Apache-2.0
// A memory at an AXI4 port for test benches, as adverse as the protocol allows: latency, order and
// readiness are random with a seed, and a range of addresses answers with an error. Bytes that were
// not written are 0. INCR bursts only.
#ifndef NPUSCOPE_AXI_MEMORY_H
#define NPUSCOPE_AXI_MEMORY_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <systemc>
#include <unordered_map>

#include "axi_wires.h"

namespace npuscope {

template <int W>
class AxiMemory : public sc_core::sc_module, public AxiPins<W, AxiSide::Slave> {
 public:
    using Wires = AxiWires<W>;
    struct Setup {
        std::uint64_t seed = 1;
        unsigned least_latency = 1;     ///< cycles from a burst's last request beat to its answer
        unsigned most_latency = 1;      ///< random in between
        unsigned stall_percent = 0;     ///< share of the cycles in which a channel is not ready
        bool reorders = false;          ///< answers of several identifiers interleave, beat by beat
        std::uint64_t error_begin = 0;  ///< bursts that begin in [error_begin, error_end) ..
        std::uint64_t error_end = 0;
        AxiResponse error = AxiResponse::SlaveError;  ///< .. get this answer, and write nothing
        bool data_first = false;  ///< a write's address is accepted only with a beat, or after it
    };

    /// `other`: a memory that shares its bytes with this one, which is its second port.
    explicit AxiMemory(const sc_core::sc_module_name& name, const Setup& setup = {},
                       const AxiMemory* other = nullptr)
        : sc_core::sc_module(name),
          pages_(other == nullptr ? std::make_shared<Pages>() : other->pages_) {
        set_up(setup);
        SC_HAS_PROCESS(AxiMemory);
        SC_METHOD(step);
        this->sensitive << this->clock.pos();
        this->dont_initialize();
    }

    /// Takes effect from now on; bytes are kept.
    void set_up(const Setup& setup) {
        setup_ = setup;
        random_.seed(setup.seed);
    }

    /// The bench's view, in zero time.
    std::uint8_t peek(std::uint64_t address) const {
        const auto page = pages_->find(address / axi_page);
        return page == pages_->end() ? std::uint8_t{0} : page->second[address % axi_page];
    }
    void poke(std::uint64_t address, std::uint8_t value) {
        (*pages_)[address / axi_page][address % axi_page] = value;
    }

 private:
    using Pages = std::unordered_map<std::uint64_t, std::array<std::uint8_t, axi_page>>;
    struct Burst {
        std::uint64_t address = 0;
        unsigned id = 0;
        unsigned beats = 0;
        unsigned bytes = 0;
        unsigned beat = 0;
        std::uint64_t due = 0;  ///< cycle of the answer, at the earliest
        bool fails = false;

        std::uint64_t of_beat() const {
            return address / bytes * bytes + std::uint64_t{beat} * bytes;
        }
    };

    struct Beat {
        typename Wires::Data data;
        typename Wires::Strobes strobes;
    };

    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    bool is_ready() { return below(100) >= setup_.stall_percent; }

    Burst burst_of(std::uint64_t address, unsigned id, unsigned length, unsigned size) {
        Burst burst;
        burst.address = address;
        burst.id = id;
        burst.beats = length + 1;
        burst.bytes = 1U << size;
        burst.fails = address >= setup_.error_begin && address < setup_.error_end;
        burst.due = due();
        return burst;
    }
    std::uint64_t due() {
        const unsigned least = std::min(setup_.least_latency, setup_.most_latency);
        return cycle_ + least + below(setup_.most_latency - least + 1);
    }

    void step() {
        ++cycle_;
        if (!this->reset_n.read()) {
            writes_.clear(), beats_.clear(), answers_.clear(), reads_.clear();
            aw_ = w_ = ar_ = b_ = r_ = false;
        } else {
            take_requests();
            answer_writes();
            answer_reads();
            const bool has_beat = this->wvalid.read() || !beats_.empty();
            aw_ = is_ready() && (!setup_.data_first || has_beat);
            ar_ = is_ready();
            w_ = (setup_.data_first || !writes_.empty()) && is_ready();
        }
        this->awready.write(aw_), this->wready.write(w_), this->arready.write(ar_);
        this->bvalid.write(b_), this->rvalid.write(r_);
    }

    void take_requests() {
        if (w_ && this->wvalid.read()) {
            beats_.push_back({this->wdata.read(), this->wstrb.read()});
        }
        if (aw_ && this->awvalid.read()) {
            writes_.push_back(burst_of(this->awaddr.read().to_uint64(), this->awid.read().to_uint(),
                                       this->awlen.read().to_uint(),
                                       this->awsize.read().to_uint()));
        }
        if (ar_ && this->arvalid.read()) {
            reads_.push_back(burst_of(this->araddr.read().to_uint64(), this->arid.read().to_uint(),
                                      this->arlen.read().to_uint(), this->arsize.read().to_uint()));
        }
        while (!writes_.empty() && !beats_.empty()) {
            take_beat(beats_.front());
            beats_.pop_front();
        }
    }

    void take_beat(const Beat& beat) {
        Burst& burst = writes_.front();
        const std::uint64_t word = burst.of_beat() / Wires::bytes * Wires::bytes;
        for (unsigned lane = 0; lane < Wires::bytes; ++lane) {
            if (beat.strobes[static_cast<int>(lane)].to_bool() && !burst.fails) {
                poke(word + lane, lane_of(beat.data, lane));
            }
        }
        if (++burst.beat == burst.beats) {
            burst.due = due();
            answers_.push_back(burst);
            writes_.pop_front();
        }
    }

    static std::uint8_t lane_of(const typename Wires::Data& data, unsigned lane) {
        return static_cast<std::uint8_t>(data.get_word(static_cast<int>(lane / 4)) >>
                                         (8 * (lane % 4)));
    }

    /// A burst that is due, with no older one of its identifier waiting: the oldest, or any if
    /// order is free. The end if there is none.
    typename std::deque<Burst>::iterator choose(std::deque<Burst>& bursts) {
        std::array<bool, axi_ids> seen{};
        auto chosen = bursts.end();
        std::uint64_t candidates = 0;
        for (auto burst = bursts.begin(); burst != bursts.end(); ++burst) {
            if (!seen[burst->id] && burst->due <= cycle_ && below(++candidates) == 0) {
                chosen = burst;
            }
            seen[burst->id] = true;
            if (!setup_.reorders) {
                break;
            }
        }
        return chosen;
    }

    void answer_writes() {
        if (b_ && !this->bready.read()) {
            return;
        }
        const auto chosen = choose(answers_);
        b_ = chosen != answers_.end() && is_ready();
        if (b_) {
            this->bid.write(chosen->id);
            this->bresp.write(
                static_cast<unsigned>(chosen->fails ? setup_.error : AxiResponse::Okay));
            answers_.erase(chosen);
        }
    }

    void answer_reads() {
        if (r_ && !this->rready.read()) {
            return;
        }
        const auto chosen = choose(reads_);
        r_ = chosen != reads_.end() && is_ready();
        if (!r_) {
            return;
        }
        const std::uint64_t word = chosen->of_beat() / Wires::bytes * Wires::bytes;
        typename Wires::Data data;
        for (unsigned i = 0; i < Wires::bytes / 4; ++i) {
            std::uint32_t bits = 0;
            for (unsigned byte = 0; byte < 4; ++byte) {
                bits |= std::uint32_t{peek(word + 4 * i + byte)} << (8 * byte);
            }
            data.set_word(static_cast<int>(i), bits);
        }
        this->rid.write(chosen->id);
        this->rdata.write(data);
        this->rresp.write(static_cast<unsigned>(chosen->fails ? setup_.error : AxiResponse::Okay));
        const bool last = ++chosen->beat == chosen->beats;
        this->rlast.write(last);
        if (last) {
            reads_.erase(chosen);
        }
    }

    Setup setup_;
    std::mt19937_64 random_;
    std::shared_ptr<Pages> pages_;
    std::deque<Burst> writes_;   ///< addresses; their beats come in this order
    std::deque<Beat> beats_;     ///< without an address yet
    std::deque<Burst> answers_;  ///< writes that are complete
    std::deque<Burst> reads_;
    std::uint64_t cycle_ = 0;
    bool aw_ = false, w_ = false, ar_ = false, b_ = false, r_ = false;
};

}  // namespace npuscope

#endif  // NPUSCOPE_AXI_MEMORY_H
