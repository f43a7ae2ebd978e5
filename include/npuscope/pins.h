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
/// no register returns 0. source: NVDLA doc v1/ias/unit_description.rst; nv_small RTL, NV_nvdla.v
class CsbSlave : public sc_core::sc_module {
 public:
    explicit CsbSlave(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        SC_HAS_PROCESS(CsbSlave);
        SC_THREAD(serve);
    }

    tlm_utils::simple_initiator_socket<CsbSlave> registers{"registers"};
    sc_core::sc_in<bool> clock{"clock"};
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
    void serve() {
        while (true) {
            csb2nvdla_ready.write(true);
            do {
                wait(clock.posedge_event());
            } while (!csb2nvdla_valid.read());
            csb2nvdla_ready.write(false);
            const bool write = csb2nvdla_write.read();
            const bool posted = !csb2nvdla_nposted.read();
            std::uint32_t value = csb2nvdla_wdat.read().to_uint();
            access_register(registers, write, csb2nvdla_addr.read().to_uint() * 4, value);
            if (!write) {
                nvdla2csb_data.write(value);
                answer(nvdla2csb_valid);
            } else if (!posted) {
                answer(nvdla2csb_wr_complete);
            }
        }
    }
    /// High at one rising edge.
    void answer(sc_core::sc_out<bool>& pin) {
        pin.write(true);
        wait(clock.posedge_event());
        pin.write(false);
    }
};

/// A 32-bit APB slave; addresses are bytes from the start of the NPU's registers. pslverr if there
/// is no register. source: ARM IHI 0024, AMBA APB, v2.0
class ApbSlave : public sc_core::sc_module {
 public:
    explicit ApbSlave(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        SC_HAS_PROCESS(ApbSlave);
        SC_THREAD(serve);
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
            std::uint32_t value = pwdata.read().to_uint();
            const bool good =
                access_register(registers, pwrite.read(), paddr.read().to_uint(), value);
            prdata.write(value);
            pslverr.write(!good);
            pready.write(true);
            wait(pclk.posedge_event());
            pready.write(false);
            pslverr.write(false);
        }
    }
};

}  // namespace npuscope

#endif  // NPUSCOPE_PINS_H
