// SPDX-License-Identifier: Apache-2.0
// NVIDIA's RTL under Verilator as a device in C: registers by the CSB, memory behind its AXI ports
// that answers each request after a latency, fixed or random for each beat as in npuscope's memory,
// in order, one beat per cycle or slower. It counts the beats of each client. bench/nvidia_rtl
// compiles it. NPUSCOPE_SECOND_PORT: the RTL has one.
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <unordered_map>

#include "Rtl.h"
#include "models/memory/drawn_latency.h"
#include "verilated.h"

namespace {

class Bytes {
 public:
    std::uint8_t& at(std::uint64_t address) {
        std::unique_ptr<Page>& page = pages_[address / Page().size()];
        if (!page) {
            page = std::make_unique<Page>();
        }
        return (*page)[address % page->size()];
    }

 private:
    using Page = std::array<std::uint8_t, 4096>;
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

/// In cycles.
struct Pace {
    std::uint64_t latency = 0;
    std::uint64_t spread = 0;
    std::uint64_t seed = 1;
    std::uint64_t interval = 1;  ///< of beats read, and of beats written

    std::uint64_t latency_of(std::uint64_t address, bool write) const {
        return latency + (spread == 0 ? 0 : npuscope::drawn_latency(spread, seed, address, write));
    }
};

/// The pins of an AXI port; data are the bytes of its bus, little endian.
struct Pins {
    unsigned width;  ///< bytes
    CData *arvalid, *arready, *arid, *arlen;
    CData *rvalid, *rready, *rid, *rlast;
    std::uint8_t* rdata;
    CData *awvalid, *awready, *awid, *awlen;
    CData *wvalid, *wready, *wlast;
    const std::uint8_t* wdata;
    const std::uint8_t* wstrb;
    CData *bvalid, *bready, *bid;
    std::uint64_t (*araddr)(const Rtl&);
    std::uint64_t (*awaddr)(const Rtl&);
};

#define PINS(top, port)                                                                            \
    Pins {                                                                                         \
        sizeof(top.port##_r_rdata), &top.port##_ar_arvalid, &top.port##_ar_arready,                \
            &top.port##_ar_arid, &top.port##_ar_arlen, &top.port##_r_rvalid, &top.port##_r_rready, \
            &top.port##_r_rid, &top.port##_r_rlast,                                                \
            reinterpret_cast<std::uint8_t*>(&top.port##_r_rdata), &top.port##_aw_awvalid,          \
            &top.port##_aw_awready, &top.port##_aw_awid, &top.port##_aw_awlen,                     \
            &top.port##_w_wvalid, &top.port##_w_wready, &top.port##_w_wlast,                       \
            reinterpret_cast<const std::uint8_t*>(&top.port##_w_wdata),                            \
            reinterpret_cast<const std::uint8_t*>(&top.port##_w_wstrb), &top.port##_b_bvalid,      \
            &top.port##_b_bready, &top.port##_b_bid,                                               \
            [](const Rtl& of) { return static_cast<std::uint64_t>(of.port##_ar_araddr); },         \
            [](const Rtl& of) { return static_cast<std::uint64_t>(of.port##_aw_awaddr); }          \
    }

/// Beats that have passed, by the AXI id of the client.
struct Beats {
    std::array<std::uint64_t, 256> read{};
    std::array<std::uint64_t, 256> written{};
};

/// A memory port of the RTL. `drive` sets its inputs of a cycle, `sample` records what passes.
class Port {
 public:
    Port(Rtl& rtl, const Pins& pins, Bytes& bytes, Beats& beats, const Pace& pace)
        : rtl_(rtl), pins_(pins), bytes_(bytes), counted_(beats), pace_(pace) {}

    void drive(std::uint64_t cycle) {
        *pins_.arready = *pins_.awready = 1;
        *pins_.wready = cycle >= writes_free_;
        const bool reads = !beats_.empty() && beats_.front().from <= cycle && cycle >= reads_free_;
        *pins_.rvalid = reads;
        if (reads) {
            const Beat& beat = beats_.front();
            *pins_.rid = beat.id;
            *pins_.rlast = beat.last;
            for (unsigned i = 0; i < pins_.width; ++i) {
                pins_.rdata[i] = bytes_.at(beat.address + i);
            }
        }
        *pins_.bvalid = !answers_.empty() && answers_.front().from <= cycle;
        if (*pins_.bvalid != 0) {
            *pins_.bid = answers_.front().id;
        }
    }

    void sample(std::uint64_t cycle) {
        if (*pins_.rvalid != 0 && *pins_.rready != 0) {
            ++counted_.read[beats_.front().id];
            beats_.pop_front();
            reads_free_ = cycle + pace_.interval;
        }
        if (*pins_.bvalid != 0 && *pins_.bready != 0) {
            answers_.pop_front();
        }
        if (*pins_.arvalid != 0) {
            const std::uint64_t address = pins_.araddr(rtl_) / pins_.width * pins_.width;
            for (unsigned i = 0; i <= *pins_.arlen; ++i) {
                const std::uint64_t beat = address + std::uint64_t{i} * pins_.width;
                beats_.push_back({cycle + 1 + pace_.latency_of(beat, false), beat, *pins_.arid,
                                  static_cast<CData>(i == *pins_.arlen)});
            }
        }
        if (*pins_.awvalid != 0) {
            writes_.push_back({pins_.awaddr(rtl_) / pins_.width * pins_.width, *pins_.awid});
        }
        if (*pins_.wvalid != 0 && *pins_.wready != 0) {
            writes_free_ = cycle + pace_.interval;
            Data data{{}, {}, *pins_.wlast != 0};
            std::memcpy(data.bytes.data(), pins_.wdata, pins_.width);
            std::memcpy(data.strobes.data(), pins_.wstrb, (pins_.width + 7) / 8);
            data_.push_back(data);
        }
        while (!writes_.empty() && !data_.empty()) {
            const std::uint64_t beat =
                writes_.front().address + std::uint64_t{written_} * pins_.width;
            write(beat, data_.front());
            ++written_;
            ++counted_.written[writes_.front().id];
            if (data_.front().last) {
                answers_.push_back({cycle + 1 + pace_.latency_of(beat, true), writes_.front().id});
                writes_.pop_front();
                written_ = 0;
            }
            data_.pop_front();
        }
    }

 private:
    struct Beat {
        std::uint64_t from;
        std::uint64_t address;
        CData id;
        CData last;
    };
    struct Write {
        std::uint64_t address;
        CData id;
    };
    struct Data {
        std::array<std::uint8_t, 64> bytes;
        std::array<std::uint8_t, 8> strobes;
        bool last;
    };
    struct Answer {
        std::uint64_t from;
        CData id;
    };

    void write(std::uint64_t address, const Data& data) {
        for (unsigned i = 0; i < pins_.width; ++i) {
            if ((data.strobes[i / 8] >> i % 8 & 1) != 0) {
                bytes_.at(address + i) = data.bytes[i];
            }
        }
    }

    Rtl& rtl_;
    Pins pins_;
    Bytes& bytes_;
    Beats& counted_;
    Pace pace_;
    std::uint64_t reads_free_ = 0;   // first cycle for the next beat read
    std::uint64_t writes_free_ = 0;  // first cycle for the next beat written
    std::deque<Beat> beats_;
    std::deque<Write> writes_;
    std::deque<Data> data_;
    std::deque<Answer> answers_;
    unsigned written_ = 0;  // beats of the first write
};

struct Context : VerilatedContext {
    Context() {
        static std::array<const char*, 1> arguments{"rtl"};
        commandArgs(1, arguments.data());
    }
};

class Device {
 public:
    Device(const Pace& pace, [[maybe_unused]] const Pace& second) {
        ports_.emplace_back(rtl_, PINS(rtl_, nvdla_core2dbb), bytes, beats, pace);
#ifdef NPUSCOPE_SECOND_PORT
        ports_.emplace_back(rtl_, PINS(rtl_, nvdla_core2cvsram), bytes, beats, second);
#endif
        rtl_.direct_reset_ = 1;
        rtl_.dla_reset_rstn = 0;
        advance(32);
        rtl_.dla_reset_rstn = 1;
        advance(32);
    }

    Bytes bytes;
    Beats beats;  // of both ports
    std::uint64_t cycle() const { return cycle_; }
    bool interrupt() const { return rtl_.dla_intr != 0; }

    void advance(std::uint64_t cycles) {
        for (std::uint64_t i = 0; i < cycles; ++i) {
            step();
        }
    }

    /// The cycle in which the request is taken.
    std::uint64_t request(std::uint32_t address, std::uint32_t value, bool is_write) {
        rtl_.csb2nvdla_valid = 1;
        rtl_.csb2nvdla_addr = static_cast<SData>(address / 4);
        rtl_.csb2nvdla_wdat = value;
        rtl_.csb2nvdla_write = is_write;
        rtl_.csb2nvdla_nposted = 0;
        while (!step()) {
        }
        rtl_.csb2nvdla_valid = 0;
        return cycle_ - 1;
    }

    std::uint32_t read(std::uint32_t address) {
        answered_ = false;
        request(address, 0, false);
        while (!answered_) {
            step();
        }
        step();  // a host sees the answer at the next edge
        return value_;
    }

 private:
    /// One cycle; true where a request on the CSB passes in it.
    bool step() {
        rtl_.dla_core_clk = rtl_.dla_csb_clk = 0;
        for (Port& port : ports_) {
            port.drive(cycle_);
        }
        rtl_.eval();
        const bool taken = rtl_.csb2nvdla_valid != 0 && rtl_.csb2nvdla_ready != 0;
        if (rtl_.nvdla2csb_valid != 0) {
            answered_ = true;
            value_ = rtl_.nvdla2csb_data;
        }
        for (Port& port : ports_) {
            port.sample(cycle_);
        }
        rtl_.dla_core_clk = rtl_.dla_csb_clk = 1;
        rtl_.eval();
        ++cycle_;
        return taken;
    }

    Context context_;
    Rtl rtl_{&context_, "rtl"};
    std::deque<Port> ports_;
    std::uint64_t cycle_ = 0;
    bool answered_ = false;
    std::uint32_t value_ = 0;
};

}  // namespace

extern "C" {

Device* rtl_create(std::uint64_t latency, std::uint64_t second_latency, std::uint64_t spread,
                   std::uint64_t seed, std::uint64_t interval) {
    return new Device({latency, spread, seed, interval}, {second_latency, spread, seed, interval});
}
void rtl_destroy(Device* device) { delete device; }
std::uint64_t rtl_cycle(const Device* device) { return device->cycle(); }
void rtl_advance(Device* device, std::uint64_t cycles) { device->advance(cycles); }
std::uint64_t rtl_write(Device* device, std::uint32_t address, std::uint32_t value) {
    return device->request(address, value, true);
}
std::uint32_t rtl_read(Device* device, std::uint32_t address) { return device->read(address); }
std::uint64_t rtl_beats(const Device* device, std::uint8_t id, int written) {
    return written != 0 ? device->beats.written[id] : device->beats.read[id];
}
/// 1 when the interrupt's line is high, 0 when that takes more than this many cycles.
int rtl_run_until_interrupt(Device* device, std::uint64_t most) {
    for (std::uint64_t i = 0; i < most && !device->interrupt(); ++i) {
        device->advance(1);
    }
    return device->interrupt() ? 1 : 0;
}
void rtl_write_memory(Device* device, std::uint64_t address, const std::uint8_t* bytes,
                      std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        device->bytes.at(address + i) = bytes[i];
    }
}
void rtl_read_memory(Device* device, std::uint64_t address, std::uint8_t* bytes,
                     std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        bytes[i] = device->bytes.at(address + i);
    }
}

}  // extern "C"
