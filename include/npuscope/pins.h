// SPDX-License-Identifier: Apache-2.0
// The NPU's register port at pin level: NVDLA's own bus (CSB), and APB. Each turns pin accesses
// into TLM transactions on its socket `registers`, to be bound to npuscope::Device::csb:
//
//     npuscope::ApbSlave apb("apb");
//     apb.registers.bind(npu.csb);
//     apb.pclk(clock), apb.presetn(reset_n), apb.psel(psel), ...
//
// One access at a time. An access takes the cycles of the register access in the NPU, plus those of
// the pins: one from the request to the access, one from its end to the answer.
// Compiles as C++17 and later; needs only SystemC.
#ifndef NPUSCOPE_PINS_H
#define NPUSCOPE_PINS_H

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>

#include "axi.h"

namespace npuscope {

/// Accesses 32 bits at a byte address; returns whether the register exists. If not, a read is 0.
template <class Socket>
bool access_register(Socket& registers, bool write, std::uint32_t address, std::uint32_t& value) {
    unsigned char bytes[4];
    for (unsigned i = 0; i < 4; ++i) {
        bytes[i] = static_cast<unsigned char>(value >> (8 * i));
    }
    tlm::tlm_generic_payload payload;
    payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(bytes);
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    registers->b_transport(payload, delay);
    if (delay > sc_core::SC_ZERO_TIME) {
        sc_core::wait(delay);
    }
    const bool good = payload.is_response_ok();
    if (!write) {
        value = 0;
        for (unsigned i = 0; good && i < 4; ++i) {
            value |= std::uint32_t{bytes[i]} << (8 * i);
        }
    }
    return good;
}

/// The slave side of NVDLA's configuration space bus: a request passes when valid and ready are
/// high; a read is answered by nvdla2csb_valid for a cycle, a non-posted write by
/// nvdla2csb_wr_complete. Addresses count 32-bit words. The bus has no error: a read where there is
/// no register returns 0. A reset, where its pin is bound, ends an access without an answer; the
/// next one waits until the NPU has ended it, too, which npuscope::Device::reset() does at once.
/// source: NVDLA doc v1/ias/unit_description.rst; nv_small RTL, NV_nvdla.v
class CsbSlave : public sc_core::sc_module {
 public:
    explicit CsbSlave(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        SC_HAS_PROCESS(CsbSlave);
        SC_THREAD(serve);
    }

    tlm_utils::simple_initiator_socket<CsbSlave> registers{"registers"};
    sc_core::sc_in<bool> clock{"clock"};
    sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> reset_n{
        "reset_n"};
    sc_core::sc_in<bool> csb2nvdla_valid{"csb2nvdla_valid"};
    sc_core::sc_out<bool> csb2nvdla_ready{"csb2nvdla_ready"};
    sc_core::sc_in<sc_dt::sc_uint<16>> csb2nvdla_addr{"csb2nvdla_addr"};
    sc_core::sc_in<sc_dt::sc_uint<32>> csb2nvdla_wdat{"csb2nvdla_wdat"};
    sc_core::sc_in<bool> csb2nvdla_write{"csb2nvdla_write"};
    sc_core::sc_in<bool> csb2nvdla_nposted{"csb2nvdla_nposted"};
    sc_core::sc_out<bool> nvdla2csb_valid{"nvdla2csb_valid"};
    sc_core::sc_out<sc_dt::sc_uint<32>> nvdla2csb_data{"nvdla2csb_data"};
    sc_core::sc_out<bool> nvdla2csb_wr_complete{"nvdla2csb_wr_complete"};

 private:
    void end_of_elaboration() override {
        if (reset_n.size() > 0) {
            SC_HAS_PROCESS(CsbSlave);
            SC_METHOD(count_reset);
            sensitive << reset_n->negedge_event();
            dont_initialize();
        }
    }
    void count_reset() { ++resets_; }
    bool in_reset() const { return reset_n.size() > 0 && !reset_n->read(); }

    void serve() {
        while (true) {
            bool ready = false;  // at the edge
            do {
                ready = !in_reset();
                csb2nvdla_ready.write(ready);
                wait(clock.posedge_event());
            } while (!ready || in_reset() || !csb2nvdla_valid.read());
            csb2nvdla_ready.write(false);
            const unsigned before = resets_;
            const bool write = csb2nvdla_write.read();
            const bool posted = !csb2nvdla_nposted.read();
            std::uint32_t value = csb2nvdla_wdat.read().to_uint();
            access_register(registers, write, csb2nvdla_addr.read().to_uint() * 4, value);
            if (resets_ != before || in_reset()) {
                continue;
            }
            if (!write) {
                nvdla2csb_data.write(value);
                answer(nvdla2csb_valid);
            } else if (!posted) {
                answer(nvdla2csb_wr_complete);
            }
        }
    }
    /// High at one rising edge, unless a reset comes before it.
    void answer(sc_core::sc_out<bool>& pin) {
        pin.write(true);
        if (reset_n.size() > 0) {
            wait(clock.posedge_event() | reset_n->negedge_event());
        } else {
            wait(clock.posedge_event());
        }
        pin.write(false);
    }

    unsigned resets_ = 0;
};

/// A 32-bit APB slave; addresses are bytes from the start of the NPU's registers. pslverr if there
/// is no register. A reset ends an access without an answer; the next one waits until the NPU has
/// ended it, too, which npuscope::Device::reset() does at once. source: ARM IHI 0024, AMBA APB, v2.0
class ApbSlave : public sc_core::sc_module {
 public:
    explicit ApbSlave(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        SC_HAS_PROCESS(ApbSlave);
        SC_THREAD(serve);
        SC_METHOD(count_reset);
        sensitive << presetn.neg();
        dont_initialize();
    }

    tlm_utils::simple_initiator_socket<ApbSlave> registers{"registers"};
    sc_core::sc_in<bool> pclk{"pclk"};
    sc_core::sc_in<bool> presetn{"presetn"};
    sc_core::sc_in<bool> psel{"psel"};
    sc_core::sc_in<bool> penable{"penable"};
    sc_core::sc_in<bool> pwrite{"pwrite"};
    sc_core::sc_in<sc_dt::sc_uint<32>> paddr{"paddr"};
    sc_core::sc_in<sc_dt::sc_uint<32>> pwdata{"pwdata"};
    sc_core::sc_out<sc_dt::sc_uint<32>> prdata{"prdata"};
    sc_core::sc_out<bool> pready{"pready"};
    sc_core::sc_out<bool> pslverr{"pslverr"};

 private:
    void serve() {
        while (true) {
            do {
                wait(pclk.posedge_event());
            } while (!presetn.read() || !psel.read() || !penable.read());
            const unsigned before = resets_;
            std::uint32_t value = pwdata.read().to_uint();
            const bool good =
                access_register(registers, pwrite.read(), paddr.read().to_uint(), value);
            if (resets_ != before || !presetn.read()) {
                continue;
            }
            prdata.write(value);
            pslverr.write(!good);
            pready.write(true);
            wait(pclk.posedge_event() | presetn.negedge_event());
            pready.write(false);
            pslverr.write(false);
        }
    }
    void count_reset() { ++resets_; }

    unsigned resets_ = 0;
};

}  // namespace npuscope

#endif  // NPUSCOPE_PINS_H
