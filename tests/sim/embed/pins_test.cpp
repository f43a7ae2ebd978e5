// SPDX-License-Identifier: Apache-2.0
// Registers of an NPU through the pins of NVDLA's own bus and of APB: what is written is read back,
// accesses outside registers are reported if the bus can, and every handshake takes the cycles that
// the header documents.
#include "include/npuscope/pins.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include "include/npuscope/device.h"

namespace npuscope {
namespace {

using sc_core::SC_NS;

constexpr std::uint32_t version = 0x0000;     // NVDLA_CFGROM.CFGROM_HW_VERSION_0, nv_small's map
constexpr std::uint32_t mask = 0x1004;        // NVDLA_GLB.S_INTR_MASK_0
constexpr std::uint32_t set_status = 0x1008;  // NVDLA_GLB.S_INTR_SET_0
constexpr std::uint32_t status = 0x100c;      // NVDLA_GLB.S_INTR_STATUS_0
constexpr std::uint32_t no_register = 0xfffc;

struct NoMemory : sc_core::sc_module {
    explicit NoMemory(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        socket.register_b_transport(this, &NoMemory::transport);
    }
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
    tlm_utils::simple_target_socket<NoMemory> socket{"socket"};
};

/// An nv_small whose clock is that of the pins.
struct Npu {
    explicit Npu(const sc_core::sc_module_name& name) : device(name, {}) {
        device.dram.bind(memory.socket);
        device.interrupt(interrupt);
        device.clock(clock);
    }
    sc_core::sc_clock clock{"clock", 1, SC_NS};
    sc_core::sc_signal<bool> interrupt{"interrupt"};
    NoMemory memory{"memory"};
    Device device;
};

TEST(Pins, ofCsbReachTheRegisters) {
    Npu npu("npu");
    CsbSlave csb("csb");
    csb.registers.bind(npu.device.csb);
    sc_core::sc_signal<bool> valid, ready, write, nposted, answer, complete;
    sc_core::sc_signal<sc_dt::sc_uint<16>> addr;
    sc_core::sc_signal<sc_dt::sc_uint<32>> wdat, data;
    csb.clock(npu.clock), csb.csb2nvdla_valid(valid), csb.csb2nvdla_ready(ready);
    csb.csb2nvdla_addr(addr), csb.csb2nvdla_wdat(wdat), csb.csb2nvdla_write(write);
    csb.csb2nvdla_nposted(nposted), csb.nvdla2csb_valid(answer), csb.nvdla2csb_data(data);
    csb.nvdla2csb_wr_complete(complete);
    bool done = false;
    sc_core::sc_spawn([&] {
        const auto edge = [&] { sc_core::wait(npu.clock.posedge_event()); };
        const auto request = [&](bool writes, bool waits, std::uint32_t address,
                                 std::uint32_t value) {
            valid.write(true), write.write(writes), nposted.write(waits);
            addr.write(address / 4), wdat.write(value);
            do {
                edge();
            } while (!ready.read());
            valid.write(false);
        };
        const auto cycles_until = [&](sc_core::sc_signal<bool>& pin) {
            int cycles = 0;
            do {
                edge();
                ++cycles;
            } while (!pin.read() && cycles < 1000);
            return cycles;
        };
        const auto read = [&](std::uint32_t address) {
            request(false, false, address, 0);
            EXPECT_LT(cycles_until(answer), 50);
            const std::uint32_t value = data.read().to_uint();
            edge();
            EXPECT_FALSE(answer.read());
            return value;
        };
        EXPECT_EQ(read(version), 0x10001U);
        request(true, true, mask, 0x12);
        EXPECT_LT(cycles_until(complete), 50);
        EXPECT_EQ(read(mask), 0x12U);
        request(true, false, mask, 0);  // posted: one after the other
        request(true, false, set_status, 1);
        EXPECT_EQ(read(mask), 0U);
        EXPECT_FALSE(complete.read());
        EXPECT_TRUE(npu.interrupt.read());
        EXPECT_EQ(read(status), 1U);
        EXPECT_EQ(read(no_register), 0U);
        done = true;
        sc_core::sc_stop();
    });
    sc_core::sc_start(100, sc_core::SC_US);
    EXPECT_TRUE(done);
}

TEST(Pins, ofApbReachTheRegisters) {
    Npu npu("npu");
    ApbSlave apb("apb");
    apb.registers.bind(npu.device.csb);
    sc_core::sc_signal<bool> reset_n, select, enable, write, ready, error;
    sc_core::sc_signal<sc_dt::sc_uint<32>> address, wdata, rdata;
    apb.pclk(npu.clock), apb.presetn(reset_n), apb.psel(select), apb.penable(enable);
    apb.pwrite(write), apb.paddr(address), apb.pwdata(wdata), apb.prdata(rdata);
    apb.pready(ready), apb.pslverr(error);
    bool done = false;
    sc_core::sc_spawn([&] {
        const auto edge = [&] { sc_core::wait(npu.clock.posedge_event()); };
        bool failed = false;
        const auto access = [&](bool writes, std::uint32_t at, std::uint32_t value) {
            select.write(true), write.write(writes), address.write(at), wdata.write(value);
            edge();
            enable.write(true);
            do {
                edge();
            } while (!ready.read());
            failed = error.read();
            const std::uint32_t got = rdata.read().to_uint();
            select.write(false), enable.write(false);
            return got;
        };
        edge();
        reset_n.write(true);
        EXPECT_EQ(access(false, version, 0), 0x10001U);
        EXPECT_FALSE(failed);
        access(true, mask, 0);
        EXPECT_EQ(access(false, mask, 0), 0U);
        access(true, set_status, 1);
        EXPECT_EQ(access(false, status, 0), 1U);
        EXPECT_TRUE(npu.interrupt.read());
        EXPECT_EQ(access(false, no_register, 0), 0U);
        EXPECT_TRUE(failed);
        access(true, no_register, 1);
        EXPECT_TRUE(failed);
        access(true, status, 1);
        EXPECT_FALSE(failed);
        done = true;
        sc_core::sc_stop();
    });
    sc_core::sc_start(100, sc_core::SC_US);
    EXPECT_TRUE(done);
}

}  // namespace
}  // namespace npuscope
