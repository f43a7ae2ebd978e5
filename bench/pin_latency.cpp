// SPDX-License-Identifier: Apache-2.0
// `pin_latency`: the cycles that the adapters of pins.h and axi.h add, each separately, next to the
// documented ones: a register that answers after a known time behind CSB and APB, an AXI memory
// whose wires are monitored. A cycle is between two rising edges; wires are sampled at the edge
// after they change.
#include <fmt/format.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/bench_main.h"
#include "include/npuscope/axi.h"
#include "include/npuscope/axi_memory.h"
#include "include/npuscope/pins.h"

namespace npuscope::bench {
namespace {

using sc_core::sc_signal;

const sc_core::sc_time period(1, sc_core::SC_NS);

std::uint64_t now() { return static_cast<std::uint64_t>(sc_core::sc_time_stamp() / period + 0.5); }

/// What an access costs as documented, and as measured.
struct Row {
    std::string access;
    std::uint64_t documented;
    std::uint64_t measured;
};

constexpr std::uint64_t register_cycles = 7;

/// Registers that take `register_cycles` clock edges, as a Device with a clock counts them.
struct Registers : sc_core::sc_module {
    Registers(const sc_core::sc_module_name& name, sc_core::sc_clock& the_clock)
        : sc_core::sc_module(name), clock(the_clock) {
        socket.register_b_transport(this, &Registers::transport);
    }
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
        began = now();
        for (std::uint64_t i = 0; i < register_cycles; ++i) {
            sc_core::wait(clock.posedge_event());
        }
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    tlm_utils::simple_target_socket<Registers> socket{"socket"};
    sc_core::sc_clock& clock;
    std::uint64_t began = 0;
};

/// NVDLA's own bus with a master that drives it by hand.
struct CsbBench {
    explicit CsbBench(sc_core::sc_clock& the_clock) : clock(the_clock) {
        csb.registers.bind(registers.socket);
        csb.clock(clock), csb.csb2nvdla_valid(valid), csb.csb2nvdla_ready(ready);
        csb.csb2nvdla_addr(address), csb.csb2nvdla_wdat(data), csb.csb2nvdla_write(write);
        csb.csb2nvdla_nposted(nposted), csb.nvdla2csb_valid(answer);
        csb.nvdla2csb_data(answer_data), csb.nvdla2csb_wr_complete(complete);
    }
    void edge() { sc_core::wait(clock.posedge_event()); }

    /// Cycles from the request to `pin`, or to the access if there is none, without those of the
    /// register.
    std::uint64_t access(bool writes, bool waits, sc_signal<bool>* pin) {
        valid.write(true), write.write(writes), nposted.write(waits);
        const std::uint64_t begin = now();
        do {
            edge();
        } while (!ready.read());
        valid.write(false);
        if (pin == nullptr) {
            sc_core::wait(period * 20);
            return registers.began - begin;
        }
        do {
            edge();
        } while (!pin->read());
        return now() - begin - register_cycles;
    }
    void run(std::vector<Row>& rows) {
        edge(), edge();
        rows.push_back({"CSB read", 2, access(false, false, &answer)});
        edge();
        rows.push_back({"CSB write, not posted", 2, access(true, true, &complete)});
        edge();
        rows.push_back({"CSB write, posted: to the register", 1, access(true, false, nullptr)});
    }

    sc_core::sc_clock& clock;
    Registers registers{"csb_registers", clock};
    CsbSlave csb{"csb"};
    sc_signal<bool> valid, ready, write, nposted, answer, complete;
    sc_signal<sc_dt::sc_uint<16>> address;
    sc_signal<sc_dt::sc_uint<32>> data, answer_data;
};

/// The same for APB.
struct ApbBench {
    explicit ApbBench(sc_core::sc_clock& the_clock) : clock(the_clock) {
        apb.registers.bind(registers.socket);
        apb.pclk(clock), apb.presetn(reset_n), apb.psel(select), apb.penable(enable);
        apb.pwrite(write), apb.paddr(address), apb.pwdata(data), apb.prdata(answer);
        apb.pready(ready), apb.pslverr(error);
    }
    void edge() { sc_core::wait(clock.posedge_event()); }

    /// Cycles from the access phase to its end, without those of the register.
    std::uint64_t access(bool writes) {
        select.write(true), write.write(writes);
        edge();
        enable.write(true);
        const std::uint64_t begin = now();
        do {
            edge();
        } while (!ready.read());
        select.write(false), enable.write(false);
        return now() - begin - register_cycles;
    }
    void run(std::vector<Row>& rows) {
        reset_n.write(true);
        edge(), edge();
        rows.push_back({"APB read, from PENABLE", 2, access(false)});
        edge();
        rows.push_back({"APB write, from PENABLE", 2, access(true)});
    }

    sc_core::sc_clock& clock;
    Registers registers{"apb_registers", clock};
    ApbSlave apb{"apb"};
    sc_signal<bool> reset_n, select, enable, write, ready, error;
    sc_signal<sc_dt::sc_uint<32>> address, data, answer;
};

/// The AXI master between a caller and a memory that is always ready.
struct AxiBench : sc_core::sc_module {
    static constexpr int bits = 64;

    AxiBench(const sc_core::sc_module_name& name, sc_core::sc_clock& clock)
        : sc_core::sc_module(name) {
        const auto wire = [&](auto& module) {
            module.clock(clock);
            module.reset_n(reset_n);
            module.bind_wires(wires);
        };
        wire(axi);
        wire(memory);
        caller.bind(axi.socket);
        SC_HAS_PROCESS(AxiBench);
        SC_METHOD(watch);
        sensitive << wires.arvalid << wires.awvalid << wires.wvalid << wires.bvalid << wires.rvalid
                  << wires.rlast;
        dont_initialize();
    }
    /// When wires became valid, for the first time in an access or for the last.
    void watch() {
        const auto first = [](bool high, std::uint64_t& time) {
            time = high && time == 0 ? now() : time;
        };
        first(wires.arvalid.read() || wires.awvalid.read(), address);
        first(wires.wvalid.read(), data);
        first((wires.rvalid.read() && wires.rlast.read()) || wires.bvalid.read(), answer);
    }
    void run(std::vector<Row>& rows) {
        reset_n.write(true);
        sc_core::wait(period * 4);
        for (const unsigned beats : {1U, 4U}) {
            for (const bool write : {false, true}) {
                transport(write, beats, rows);
            }
        }
    }
    void transport(bool write, unsigned beats, std::vector<Row>& rows) {
        std::array<unsigned char, 4 * bits / 8> bytes{};
        tlm::tlm_generic_payload payload;
        payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
        payload.set_data_ptr(bytes.data());
        payload.set_data_length(beats * bits / 8);
        payload.set_streaming_width(beats * bits / 8);
        address = data = answer = 0;
        const std::uint64_t begin = now();
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        caller->b_transport(payload, delay);
        const std::string name = fmt::format("AXI {} of {} beat{}: ", write ? "write" : "read",
                                             beats, beats > 1 ? "s" : "");
        rows.push_back({name + "to the address", 1, address - begin});
        if (write) {
            rows.push_back({name + "from there to its first beat", 0, data - address});
        }
        rows.push_back({name + "from the last answer", 1, now() - answer});
        sc_core::wait(period * 4);
    }

    sc_signal<bool> reset_n;
    AxiWires<bits> wires;
    tlm_utils::simple_initiator_socket<AxiBench> caller{"caller"};
    AxiMaster<bits> axi{"axi", {}};
    AxiMemory<bits> memory{"memory"};
    std::uint64_t address = 0;
    std::uint64_t data = 0;
    std::uint64_t answer = 0;
};

int run(int /*argc*/, char** /*argv*/) {
    sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING);
    sc_core::sc_clock clock("clock", period);
    CsbBench csb(clock);
    ApbBench apb(clock);
    AxiBench axi("bench", clock);
    std::vector<Row> rows;
    sc_core::sc_spawn([&] {
        csb.run(rows);
        apb.run(rows);
        axi.run(rows);
        sc_core::sc_stop();
    });
    sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_US));
    bool good = !rows.empty();
    fmt::print("{:<48} documented  measured\n", "cycles of the adapter");
    for (const Row& row : rows) {
        fmt::print("{:<48} {:>10} {:>9}\n", row.access, row.documented, row.measured);
        good = good && row.documented == row.measured;
    }
    return good ? 0 : 1;
}

}  // namespace
}  // namespace npuscope::bench

// The SystemC library requires one.
extern "C" int sc_main(int /*argc*/, char* /*argv*/[]) { return 0; }

int main(int argc, char** argv) {
    return npuscope::bench::bench_main(argc, argv, npuscope::bench::run);
}
