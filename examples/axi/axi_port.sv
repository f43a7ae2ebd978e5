// SPDX-License-Identifier: Apache-2.0
// The wires of an AXI4 port.
interface axi_port #(
  parameter int DataBits = 64,
  parameter int IdBits = 4
);
  logic awvalid, awready, wvalid, wready, wlast, bvalid, bready;
  logic arvalid, arready, rvalid, rready, rlast;
  logic [IdBits-1:0] awid, bid, arid, rid;
  logic [63:0] awaddr, araddr;
  logic [7:0] awlen, arlen;
  logic [2:0] awsize, arsize;
  logic [1:0] awburst, arburst, bresp, rresp;
  logic [DataBits-1:0] wdata, rdata;
  logic [DataBits/8-1:0] wstrb;
endinterface
