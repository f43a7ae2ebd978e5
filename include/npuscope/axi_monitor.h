// SPDX-License-Identifier: Apache-2.0
// Checks the AXI4 protocol on the wires of a port, whatever is at its two ends:
//
//     npuscope::AxiMonitor<64> monitor("monitor");
//     monitor.clock(clock), monitor.reset_n(reset_n), monitor.bind_wires(wires);
//     monitor.on_violation = [](const std::string& text) { .. };      // without it: SC_ERROR
//
// What is checked: a VALID and its payload stay until accepted; bursts stay within 4 KiB, with a
// size that fits the width and a length that their type allows; strobes are within the lanes of
// their beat; WLAST and RLAST come with the last beat only; the VALID of each answer rises after the
// edge that completes a burst of its identifier: its address, a write's last beat; each VALID is low
// in reset, from its second edge to the first one after it. source: ARM IHI 0022, A3.1 to A3.4, A5.3
#ifndef NPUSCOPE_AXI_MONITOR_H
#define NPUSCOPE_AXI_MONITOR_H

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <sstream>
#include <string>
#include <systemc>
#include <tuple>

#include "axi_wires.h"

namespace npuscope {

template <int W>
class AxiMonitor : public sc_core::sc_module, public AxiPins<W, AxiSide::Monitor> {
 public:
    using Wires = AxiWires<W>;

    explicit AxiMonitor(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        SC_HAS_PROCESS(AxiMonitor);
        SC_METHOD(step);
        this->sensitive << this->clock.pos();
        this->dont_initialize();
    }

    /// Called with rule and location of each violation.
    std::function<void(const std::string& text)> on_violation;
    std::uint64_t violations() const { return violations_; }
    /// Bursts that wait for their answer: 0 when all is done.
    std::uint64_t open() const { return open_; }

 private:
    struct Burst {
        std::uint64_t address = 0;
        unsigned id = 0;
        unsigned beats = 0;
        unsigned bytes = 0;  ///< of a beat
        unsigned kind = 0;
        unsigned beat = 0;
    };
    struct Beat {
        typename Wires::Strobes strobes;
        bool last = false;
    };

    void violation(const std::string& rule) {
        ++violations_;
        std::ostringstream text;
        text << this->name() << ", " << sc_core::sc_time_stamp() << ": " << rule;
        if (on_violation) {
            on_violation(text.str());
        } else {
            SC_REPORT_ERROR("npuscope", text.str().c_str());
        }
    }

    /// One channel as it was at the previous edge.
    template <class Content>
    struct Channel {
        const char* name;
        bool stalled = false;
        Content content{};
    };

    /// VALID is high for the first time: a slave may assert that of an answer only after its request.
    template <class Content>
    static bool rises(const Channel<Content>& channel, bool valid) {
        return valid && !channel.stalled;
    }

    /// Returns whether a transfer takes place.
    template <class Content>
    bool passes(Channel<Content>& channel, bool valid, bool ready, const Content& content) {
        if (channel.stalled && !valid) {
            violation(std::string(channel.name) + "VALID fell before READY came");
        } else if (channel.stalled && !(content == channel.content)) {
            violation(std::string(channel.name) + " changed while it was stalled");
        }
        channel.stalled = valid && !ready;
        channel.content = content;
        return valid && ready;
    }

    using AddressContent = std::tuple<unsigned, std::uint64_t, unsigned, unsigned, unsigned>;

    void step() {
        if (!this->reset_n.read()) {
            if (was_in_reset_) {  // clocked modules see reset at its first edge
                check_reset(" is high in reset");
            }
            was_in_reset_ = true;
            forget();
            return;
        }
        if (was_in_reset_) {  // clocked modules see its end at this edge, and drive after it
            check_reset(" is high at the first edge after reset");
        }
        was_in_reset_ = false;
        take_answers();  // before the requests of this edge, which are answered later
        take_requests();
    }

    void take_answers() {
        const std::tuple<unsigned, unsigned> b{this->bid.read().to_uint(),
                                               this->bresp.read().to_uint()};
        if (rises(b_, this->bvalid.read())) {
            check_answered_write(std::get<0>(b));
        }
        if (passes(b_, this->bvalid.read(), this->bready.read(), b)) {
            answer_write(std::get<0>(b));
        }
        const std::tuple<unsigned, typename Wires::Data, unsigned, bool> r{
            this->rid.read().to_uint(), this->rdata.read(), this->rresp.read().to_uint(),
            this->rlast.read()};
        if (rises(r_, this->rvalid.read())) {
            check_answered_read(std::get<0>(r));
        }
        if (passes(r_, this->rvalid.read(), this->rready.read(), r)) {
            answer_read(std::get<0>(r), std::get<3>(r));
        }
    }

    void take_requests() {
        const AddressContent aw{this->awid.read().to_uint(), this->awaddr.read().to_uint64(),
                                this->awlen.read().to_uint(), this->awsize.read().to_uint(),
                                this->awburst.read().to_uint()};
        if (passes(aw_, this->awvalid.read(), this->awready.read(), aw)) {
            writes_.push_back(burst_of("AW", aw));
        }
        const std::tuple<typename Wires::Data, typename Wires::Strobes, bool> w{
            this->wdata.read(), this->wstrb.read(), this->wlast.read()};
        if (passes(w_, this->wvalid.read(), this->wready.read(), w)) {
            beats_.push_back({std::get<1>(w), std::get<2>(w)});
        }
        take_beats();
        const AddressContent ar{this->arid.read().to_uint(), this->araddr.read().to_uint64(),
                                this->arlen.read().to_uint(), this->arsize.read().to_uint(),
                                this->arburst.read().to_uint()};
        if (passes(ar_, this->arvalid.read(), this->arready.read(), ar)) {
            const Burst burst = burst_of("AR", ar);
            reads_[burst.id].push_back(burst);
        }
    }

    void check_reset(const char* what) {
        const auto check = [&](const char* channel, bool valid) {
            if (valid) {
                violation(channel + (std::string("VALID") + what));
            }
        };
        check("AW", this->awvalid.read()), check("W", this->wvalid.read());
        check("B", this->bvalid.read()), check("AR", this->arvalid.read());
        check("R", this->rvalid.read());
    }

    void forget() {
        writes_.clear();
        beats_.clear();
        for (unsigned id = 0; id < axi_ids; ++id) {
            written_[id] = 0;
            reads_[id].clear();
        }
        aw_.stalled = w_.stalled = b_.stalled = ar_.stalled = r_.stalled = false;
        open_ = 0;
    }

    Burst burst_of(const char* channel, const AddressContent& content) {
        Burst burst;
        burst.id = std::get<0>(content);
        burst.address = std::get<1>(content);
        burst.beats = std::get<2>(content) + 1;
        burst.bytes = 1U << std::get<3>(content);
        burst.kind = std::get<4>(content);
        ++open_;
        check_burst(channel, burst);
        return burst;
    }

    void check_burst(const char* channel, const Burst& burst) {
        const auto wrong = [&](const std::string& rule) { violation(channel + (": " + rule)); };
        if (burst.bytes > Wires::bytes) {
            wrong("beats of " + std::to_string(burst.bytes) + " bytes on a bus of " +
                  std::to_string(Wires::bytes));
        }
        const std::uint64_t first = burst.address / burst.bytes * burst.bytes;
        const std::uint64_t last = first + std::uint64_t{burst.beats} * burst.bytes - 1;
        switch (burst.kind) {
            case 0:
                if (burst.beats > 16) {
                    wrong("a FIXED burst has more than 16 beats");
                }
                break;
            case axi_incrementing:
                if (first / axi_page != last / axi_page) {
                    wrong("a burst crosses 4 KiB");
                }
                break;
            case 2:
                if (burst.beats != 2 && burst.beats != 4 && burst.beats != 8 && burst.beats != 16) {
                    wrong("a WRAP burst has 2, 4, 8 or 16 beats");
                }
                if (burst.address != first) {
                    wrong("a WRAP burst starts unaligned");
                }
                break;
            default:
                wrong("BURST is 3, which is reserved");
        }
    }

    /// Assigns beats to the oldest incomplete write; they may come before its address.
    void take_beats() {
        while (!writes_.empty() && !beats_.empty()) {
            Burst& burst = writes_.front();
            const Beat beat = beats_.front();
            beats_.pop_front();
            check_strobes(burst, beat.strobes);
            const bool is_last = ++burst.beat == burst.beats;
            if (beat.last != is_last) {
                violation(is_last ? "W: the last beat lacks WLAST"
                                  : "W: WLAST before the last beat");
            }
            if (is_last) {
                ++written_[burst.id];
                writes_.pop_front();
            }
        }
    }

    void check_strobes(const Burst& burst, const typename Wires::Strobes& strobes) {
        const std::uint64_t aligned = burst.address / burst.bytes * burst.bytes;
        const bool moves = burst.kind == axi_incrementing;
        const std::uint64_t begin = burst.beat == 0 || !moves
                                        ? burst.address
                                        : aligned + std::uint64_t{burst.beat} * burst.bytes;
        const std::uint64_t end =
            aligned + (moves ? burst.beat + std::uint64_t{1} : std::uint64_t{1}) * burst.bytes;
        if (burst.kind == 2 || burst.bytes > Wires::bytes) {
            return;  // lanes of a wrapping burst follow its wrap
        }
        const auto low = static_cast<unsigned>(begin % Wires::bytes);
        const auto high = static_cast<unsigned>((end - 1) % Wires::bytes);
        for (unsigned lane = 0; lane < Wires::bytes; ++lane) {
            if (strobes[static_cast<int>(lane)].to_bool() && (lane < low || lane > high)) {
                violation("W: a strobe outside of the lanes of its beat");
                return;
            }
        }
    }

    // What an answer without a request lacks is said when VALID rises.

    void check_answered_write(unsigned id) {
        if (written_[id] == 0) {
            violation("B: identifier " + std::to_string(id) + " has no write that is complete");
        }
    }

    void answer_write(unsigned id) {
        if (written_[id] > 0) {
            --written_[id];
            --open_;
        }
    }

    void check_answered_read(unsigned id) {
        if (reads_[id].empty()) {
            violation("R: identifier " + std::to_string(id) + " has no read in flight");
        }
    }

    void answer_read(unsigned id, bool last) {
        std::deque<Burst>& open = reads_[id];
        if (open.empty()) {
            return;
        }
        const bool is_last = ++open.front().beat == open.front().beats;
        if (last != is_last) {
            violation(is_last ? "R: the last beat lacks RLAST" : "R: RLAST before the last beat");
        }
        if (is_last) {
            open.pop_front();
            --open_;
        }
    }

    Channel<AddressContent> aw_{"AW"}, ar_{"AR"};
    Channel<std::tuple<typename Wires::Data, typename Wires::Strobes, bool>> w_{"W"};
    Channel<std::tuple<unsigned, unsigned>> b_{"B"};
    Channel<std::tuple<unsigned, typename Wires::Data, unsigned, bool>> r_{"R"};
    std::deque<Burst> writes_;
    std::deque<Beat> beats_;
    std::array<unsigned, axi_ids> written_{};
    std::array<std::deque<Burst>, axi_ids> reads_;
    bool was_in_reset_ = false;  ///< at the previous edge
    std::uint64_t violations_ = 0;
    std::uint64_t open_ = 0;
};

}  // namespace npuscope

#endif  // NPUSCOPE_AXI_MONITOR_H
