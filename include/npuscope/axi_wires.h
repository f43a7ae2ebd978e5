// SPDX-License-Identifier: Apache-2.0
// The wires of an AXI4 port and the pins of modules at it. source: ARM IHI 0022, AMBA AXI and ACE, AXI4
#ifndef NPUSCOPE_AXI_WIRES_H
#define NPUSCOPE_AXI_WIRES_H

#include <cstdint>
#include <systemc>
#include <type_traits>

namespace npuscope {

constexpr int axi_id_bits = 8;
constexpr unsigned axi_ids = 1U << axi_id_bits;
constexpr std::uint64_t axi_page = 4096;  // source: IHI 0022, A3.4.1, no burst crosses it
enum class AxiResponse : unsigned { Okay = 0, ExclusiveOkay = 1, SlaveError = 2, DecodeError = 3 };
constexpr unsigned axi_incrementing = 1;  // source: IHI 0022, AxBURST

/// One port: write address, write data, write response, read address, read data.
template <int W>
struct AxiWires {
    static_assert(W >= 32 && W <= 512 && (W & (W - 1)) == 0, "32, 64, 128, 256 or 512 bits");
    using Id = sc_dt::sc_uint<axi_id_bits>;
    using Address = sc_dt::sc_uint<64>;
    using Data = sc_dt::sc_bv<W>;
    using Strobes = sc_dt::sc_bv<W / 8>;
    static constexpr unsigned bytes = static_cast<unsigned>(W) / 8;

    sc_core::sc_signal<bool> awvalid, awready, wvalid, wready, wlast, bvalid, bready;
    sc_core::sc_signal<bool> arvalid, arready, rvalid, rready, rlast;
    sc_core::sc_signal<Id> awid, bid, arid, rid;
    sc_core::sc_signal<Address> awaddr, araddr;
    sc_core::sc_signal<sc_dt::sc_uint<8>> awlen, arlen;
    sc_core::sc_signal<sc_dt::sc_uint<3>> awsize, arsize;
    sc_core::sc_signal<sc_dt::sc_uint<2>> awburst, arburst, bresp, rresp;
    sc_core::sc_signal<Data> wdata, rdata;
    sc_core::sc_signal<Strobes> wstrb;
};

enum class AxiSide { Master, Slave, Monitor };

/// The pins of a module at one side of the wires.
template <int W, AxiSide side>
struct AxiPins {
    using Wires = AxiWires<W>;
    template <class T>
    using FromMaster =
        std::conditional_t<side == AxiSide::Master, sc_core::sc_out<T>, sc_core::sc_in<T>>;
    template <class T>
    using FromSlave =
        std::conditional_t<side == AxiSide::Slave, sc_core::sc_out<T>, sc_core::sc_in<T>>;

    sc_core::sc_in<bool> clock{"clock"};
    sc_core::sc_in<bool> reset_n{"reset_n"};
    FromMaster<bool> awvalid{"awvalid"}, wvalid{"wvalid"}, wlast{"wlast"}, bready{"bready"};
    FromMaster<bool> arvalid{"arvalid"}, rready{"rready"};
    FromSlave<bool> awready{"awready"}, wready{"wready"}, bvalid{"bvalid"}, arready{"arready"};
    FromSlave<bool> rvalid{"rvalid"}, rlast{"rlast"};
    FromMaster<typename Wires::Id> awid{"awid"}, arid{"arid"};
    FromSlave<typename Wires::Id> bid{"bid"}, rid{"rid"};
    FromMaster<typename Wires::Address> awaddr{"awaddr"}, araddr{"araddr"};
    FromMaster<sc_dt::sc_uint<8>> awlen{"awlen"}, arlen{"arlen"};
    FromMaster<sc_dt::sc_uint<3>> awsize{"awsize"}, arsize{"arsize"};
    FromMaster<sc_dt::sc_uint<2>> awburst{"awburst"}, arburst{"arburst"};
    FromSlave<sc_dt::sc_uint<2>> bresp{"bresp"}, rresp{"rresp"};
    FromMaster<typename Wires::Data> wdata{"wdata"};
    FromSlave<typename Wires::Data> rdata{"rdata"};
    FromMaster<typename Wires::Strobes> wstrb{"wstrb"};

    /// All but clock and reset.
    void bind_wires(Wires& w) {
        awvalid(w.awvalid), awready(w.awready), awid(w.awid), awaddr(w.awaddr), awlen(w.awlen);
        awsize(w.awsize), awburst(w.awburst), wvalid(w.wvalid), wready(w.wready), wlast(w.wlast);
        wdata(w.wdata), wstrb(w.wstrb), bvalid(w.bvalid), bready(w.bready), bid(w.bid);
        bresp(w.bresp), arvalid(w.arvalid), arready(w.arready), arid(w.arid), araddr(w.araddr);
        arlen(w.arlen), arsize(w.arsize), arburst(w.arburst), rvalid(w.rvalid), rready(w.rready);
        rlast(w.rlast), rid(w.rid), rdata(w.rdata), rresp(w.rresp);
    }
};

/// log2 of the bytes of a beat, as AxSIZE has it.
template <int W>
constexpr unsigned axi_size() {
    unsigned size = 0;
    while ((8 << size) < W) {
        ++size;
    }
    return size;
}

}  // namespace npuscope

#endif  // NPUSCOPE_AXI_WIRES_H
