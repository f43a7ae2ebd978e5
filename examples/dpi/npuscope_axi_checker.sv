// SPDX-License-Identifier: Apache-2.0
// Checks the AXI4 rules on one port: a stalled channel is stable, bursts stay within 4 KiB and have legal sizes,
// strobes are within the lanes of their beat, WLAST and RLAST mark the last beats, the VALID of an answer rises after its
// request is complete, and no VALID is high in reset, from its third edge to the first one after it. A broken rule is an
// $error. source: ARM IHI 0022, AMBA AXI and ACE, AXI4

// In a package, as Verilator gives an unpacked struct of a module one name for all parameters.
package npuscope_axi_checker_pkg;
  typedef struct {
    longint unsigned address;
    int beats;
    int size;
    int burst;
    int id;
  } write_address;
endpackage

module npuscope_axi_checker
  import npuscope_axi_checker_pkg::*;
#(
  parameter int DataBits = 64,
  parameter int IdBits = 4
) (
  input logic                  clk,
  input logic                  rst_n,
  input logic                  awvalid,
  input logic                  awready,
  input logic [IdBits-1:0]     awid,
  input logic [63:0]           awaddr,
  input logic [7:0]            awlen,
  input logic [2:0]            awsize,
  input logic [1:0]            awburst,
  input logic                  wvalid,
  input logic                  wready,
  input logic [DataBits-1:0]   wdata,
  input logic [DataBits/8-1:0] wstrb,
  input logic                  wlast,
  input logic                  bvalid,
  input logic                  bready,
  input logic [IdBits-1:0]     bid,
  input logic [1:0]            bresp,
  input logic                  arvalid,
  input logic                  arready,
  input logic [IdBits-1:0]     arid,
  input logic [63:0]           araddr,
  input logic [7:0]            arlen,
  input logic [2:0]            arsize,
  input logic [1:0]            arburst,
  input logic                  rvalid,
  input logic                  rready,
  input logic [IdBits-1:0]     rid,
  input logic [DataBits-1:0]   rdata,
  input logic [1:0]            rresp,
  input logic                  rlast
);
  localparam int Bytes = DataBits / 8;

  // A stalled channel keeps its values.
  aw_stable: assert property (@(posedge clk) disable iff (!rst_n)
    awvalid && !awready |=> awvalid && $stable({awid, awaddr, awlen, awsize, awburst}))
    else $error("AXI: AW changed while it was stalled");
  w_stable: assert property (@(posedge clk) disable iff (!rst_n)
    wvalid && !wready |=> wvalid && $stable({wdata, wstrb, wlast}))
    else $error("AXI: W changed while it was stalled");
  b_stable: assert property (@(posedge clk) disable iff (!rst_n)
    bvalid && !bready |=> bvalid && $stable({bid, bresp}))
    else $error("AXI: B changed while it was stalled");
  ar_stable: assert property (@(posedge clk) disable iff (!rst_n)
    arvalid && !arready |=> arvalid && $stable({arid, araddr, arlen, arsize, arburst}))
    else $error("AXI: AR changed while it was stalled");
  r_stable: assert property (@(posedge clk) disable iff (!rst_n)
    rvalid && !rready |=> rvalid && $stable({rid, rdata, rresp, rlast}))
    else $error("AXI: R changed while it was stalled");

  // Checks the burst that an address requests.
  function automatic void check_burst(input string channel, input longint unsigned address, input int beats,
                                      input int size, input int burst);
    longint unsigned first, last;
    first = address / (64'd1 << size) * (64'd1 << size);
    last = first + longint'(beats) * (64'd1 << size) - 1;
    if ((1 << size) > Bytes) $error("AXI: %s: beats of %0d bytes on a bus of %0d", channel, 1 << size, Bytes);
    if (burst == 3) $error("AXI: %s: BURST is 3, which is reserved", channel);
    if (burst == 0 && beats > 16) $error("AXI: %s: a FIXED burst has more than 16 beats", channel);
    if (burst == 1 && first / 4096 != last / 4096) $error("AXI: %s: a burst crosses 4 KiB", channel);
    if (burst == 2 && (address != first || !(beats inside {2, 4, 8, 16})))
      $error("AXI: %s: a WRAP burst is unaligned or not of 2, 4, 8 or 16 beats", channel);
  endfunction

  // Writes whose beats are awaited, oldest first; beats may come before their address.
  write_address writes[$];
  bit [Bytes-1:0] strobes_of[$];
  bit last_of[$];
  write_address asked;
  bit [Bytes-1:0] strobes;
  int beat = 0;
  int unanswered[1 << IdBits];     // complete writes
  int read_beats[1 << IdBits][$];  // beats still to come, burst by burst

  function automatic void check_strobes();
    longint unsigned size, aligned, from, to;
    int low, high;
    if (asked.burst == 2) return;  // lanes of a wrapping burst follow its wrap
    size = 64'd1 << asked.size;
    aligned = asked.address / size * size;
    from = beat == 0 || asked.burst == 0 ? asked.address : aligned + longint'(beat) * size;
    to = aligned + (asked.burst == 0 ? size : (longint'(beat) + 1) * size) - 1;
    low = int'(from % longint'(Bytes));
    high = int'(to % longint'(Bytes));
    for (int lane = 0; lane < Bytes; ++lane)
      if (strobes[lane] && (lane < low || lane > high)) begin
        $error("AXI: W: a strobe outside of the lanes of its beat");
        return;
      end
  endfunction

  function automatic void take_beats();
    while (writes.size() != 0 && strobes_of.size() != 0) begin
      asked = writes[0];
      strobes = strobes_of.pop_front();
      check_strobes();
      beat = beat + 1;
      if (last_of.pop_front() != (beat == asked.beats)) $error("AXI: W: WLAST is not at the last beat");
      if (beat == asked.beats) begin
        unanswered[asked.id] = unanswered[asked.id] + 1;
        asked = writes.pop_front();
        beat = 0;
      end
    end
  endfunction

  int in_reset = 0;  // edges, with the first one after it
  bit was_in_reset = 0;
  string when_high;
  always @(posedge clk) begin
    in_reset = rst_n && !was_in_reset ? 0 : in_reset + 1;
    was_in_reset = !rst_n;
    if (in_reset > 2) begin  // clocked modules see reset, and its end, a cycle later
      when_high = rst_n ? "at the first edge after reset" : "in reset";
      if (awvalid) $error("AXI: AWVALID is high %s", when_high);
      if (wvalid) $error("AXI: WVALID is high %s", when_high);
      if (bvalid) $error("AXI: BVALID is high %s", when_high);
      if (arvalid) $error("AXI: ARVALID is high %s", when_high);
      if (rvalid) $error("AXI: RVALID is high %s", when_high);
    end
  end

  bit b_stalled = 0, r_stalled = 0;  // at the previous edge
  always @(posedge clk) begin
    if (!rst_n) begin
      {b_stalled, r_stalled} = '0;
      writes.delete();
      strobes_of.delete();
      last_of.delete();
      beat = 0;
      for (int id = 0; id < (1 << IdBits); ++id) begin
        unanswered[id] = 0;
        read_beats[id].delete();
      end
    end else begin
      // Answers, whose VALID has risen: before the requests of this edge, which are answered later.
      if (bvalid && !b_stalled && unanswered[bid] == 0)
        $error("AXI: B: identifier %0d has no write that is complete", bid);
      if (bvalid && bready && unanswered[bid] != 0) unanswered[bid] = unanswered[bid] - 1;
      b_stalled = bvalid && !bready;
      if (rvalid && !r_stalled && read_beats[rid].size() == 0)
        $error("AXI: R: identifier %0d has no read in flight", rid);
      if (rvalid && rready && read_beats[rid].size() != 0) begin
        if (rlast != (read_beats[rid][0] == 1)) $error("AXI: R: RLAST is not at the last beat");
        read_beats[rid][0] = read_beats[rid][0] - 1;
        if (read_beats[rid][0] == 0) void'(read_beats[rid].pop_front());
      end
      r_stalled = rvalid && !rready;
      if (awvalid && awready) begin
        check_burst("AW", awaddr, int'(awlen) + 1, int'(awsize), int'(awburst));
        asked.address = awaddr;
        asked.beats = int'(awlen) + 1;
        asked.size = int'(awsize);
        asked.burst = int'(awburst);
        asked.id = int'(awid);
        writes.push_back(asked);
      end
      if (wvalid && wready) begin
        strobes_of.push_back(wstrb);
        last_of.push_back(wlast);
      end
      take_beats();
      if (arvalid && arready) begin
        check_burst("AR", araddr, int'(arlen) + 1, int'(arsize), int'(arburst));
        read_beats[arid].push_back(int'(arlen) + 1);
      end
    end
  end
endmodule
