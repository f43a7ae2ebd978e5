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

/// NVDLA's own bus, with a driver's accesses; each is called from a thread.
struct CsbBoard {
    CsbBoard() {
        csb.registers.bind(npu.device.csb);
        csb.clock(npu.clock), csb.csb2nvdla_valid(valid), csb.csb2nvdla_ready(ready);
        csb.csb2nvdla_addr(addr), csb.csb2nvdla_wdat(wdat), csb.csb2nvdla_write(write);
        csb.csb2nvdla_nposted(nposted), csb.nvdla2csb_valid(answer), csb.nvdla2csb_data(data);
        csb.nvdla2csb_wr_complete(complete);
    }
    void edge() { sc_core::wait(npu.clock.posedge_event()); }
    void request(bool writes, bool waits, std::uint32_t address, std::uint32_t value) {
        valid.write(true), write.write(writes), nposted.write(waits);
        addr.write(address / 4), wdat.write(value);
        do {
            edge();
        } while (!ready.read());
        valid.write(false);
    }
    int cycles_until(sc_core::sc_signal<bool>& pin) {
        int cycles = 0;
        do {
            edge();
            ++cycles;
        } while (!pin.read() && cycles < 1000);
        return cycles;
    }
    void begin_read(std::uint32_t address) { request(false, false, address, 0); }
    void withdraw() {}
    bool answers() const { return answer.read(); }
    std::uint32_t read(std::uint32_t address) {
        begin_read(address);
        EXPECT_LT(cycles_until(answer), 50);
        const std::uint32_t value = data.read().to_uint();
        edge();
        EXPECT_FALSE(answer.read());
        return value;
    }

    Npu npu{"npu"};
    CsbSlave csb{"csb"};
    sc_core::sc_signal<bool> reset_n, valid, ready, write, nposted, answer, complete;
    sc_core::sc_signal<sc_dt::sc_uint<16>> addr;
    sc_core::sc_signal<sc_dt::sc_uint<32>> wdat, data;
};

/// APB, likewise.
struct ApbBoard {
    ApbBoard() {
        apb.registers.bind(npu.device.csb);
        apb.pclk(npu.clock), apb.presetn(reset_n), apb.psel(select), apb.penable(enable);
        apb.pwrite(write), apb.paddr(address), apb.pwdata(wdata), apb.prdata(rdata);
        apb.pready(ready), apb.pslverr(error);
    }
    void edge() { sc_core::wait(npu.clock.posedge_event()); }
    void begin(bool writes, std::uint32_t at, std::uint32_t value) {
        select.write(true), write.write(writes), address.write(at), wdata.write(value);
        edge();
        enable.write(true);
    }
    void begin_read(std::uint32_t at) { begin(false, at, 0); }
    void withdraw() { select.write(false), enable.write(false); }
    bool answers() const { return ready.read() || error.read(); }
    std::uint32_t read(std::uint32_t at) { return access(false, at, 0); }
    std::uint32_t access(bool writes, std::uint32_t at, std::uint32_t value) {
        begin(writes, at, value);
        do {
            edge();
        } while (!ready.read());
        failed = error.read();
        withdraw();
        return rdata.read().to_uint();
    }

    Npu npu{"npu"};
    ApbSlave apb{"apb"};
    sc_core::sc_signal<bool> reset_n, select, enable, write, ready, error;
    sc_core::sc_signal<sc_dt::sc_uint<32>> address, wdata, rdata;
    bool failed = false;  ///< the last access
};

/// Runs `work` in a thread, to its end.
template <class Work>
void run(const Work& work) {
    bool done = false;
    sc_core::sc_spawn([&] {
        work();
        done = true;
        sc_core::sc_stop();
    });
    sc_core::sc_start(100, sc_core::SC_US);
    EXPECT_TRUE(done);
}

TEST(Pins, ofCsbReachTheRegisters) {
    CsbBoard board;
    run([&] {
        EXPECT_EQ(board.read(version), 0x10001U);
        board.request(true, true, mask, 0x12);
        EXPECT_LT(board.cycles_until(board.complete), 50);
        EXPECT_EQ(board.read(mask), 0x12U);
        board.request(true, false, mask, 0);  // posted: one after the other
        board.request(true, false, set_status, 1);
        EXPECT_EQ(board.read(mask), 0U);
        EXPECT_FALSE(board.complete.read());
        EXPECT_TRUE(board.npu.interrupt.read());
        EXPECT_EQ(board.read(status), 1U);
        EXPECT_EQ(board.read(no_register), 0U);
    });
}

TEST(Pins, ofApbReachTheRegisters) {
    ApbBoard board;
    run([&] {
        board.edge();
        board.reset_n.write(true);
        EXPECT_EQ(board.access(false, version, 0), 0x10001U);
        EXPECT_FALSE(board.failed);
        board.access(true, mask, 0);
        EXPECT_EQ(board.access(false, mask, 0), 0U);
        board.access(true, set_status, 1);
        EXPECT_EQ(board.access(false, status, 0), 1U);
        EXPECT_TRUE(board.npu.interrupt.read());
        EXPECT_EQ(board.access(false, no_register, 0), 0U);
        EXPECT_TRUE(board.failed);
        board.access(true, no_register, 1);
        EXPECT_TRUE(board.failed);
        board.access(true, status, 1);
        EXPECT_FALSE(board.failed);
    });
}

/// A reset of two cycles, of the pins alone or of the NPU too, at each cycle of a read.
template <class Board>
void expect_resets_to_end_reads(Board& board) {
    board.edge();
    board.reset_n.write(true);
    for (const bool both : {false, true}) {
        for (int after = 1; after <= 24; ++after) {
            board.begin_read(version);
            for (int i = 0; i < after; ++i) {
                board.edge();
            }
            board.reset_n.write(false);
            board.withdraw();
            if (both) {
                board.npu.device.reset();
            }
            for (int i = 0; i < 2; ++i) {
                board.edge();
                EXPECT_FALSE(board.answers()) << after << " " << both;
            }
            board.reset_n.write(true);
            board.edge();
            EXPECT_EQ(board.read(mask), 0U) << after << " " << both;
            board.edge();
        }
    }
}

TEST(Pins, ofCsbAnswerNoReadOfBeforeAReset) {
    CsbBoard board;
    board.csb.reset_n(board.reset_n);
    run([&] { expect_resets_to_end_reads(board); });
}

TEST(Pins, ofApbAnswerNoReadOfBeforeAReset) {
    ApbBoard board;
    run([&] { expect_resets_to_end_reads(board); });
}

}  // namespace
}  // namespace npuscope
