// SPDX-License-Identifier: Apache-2.0
// npuscope as a module with pins: registers through NVDLA's own bus or APB, memory through AXI4 of 32 to 512 bits, an
// interrupt. The modules of one NPU share its number:
//
//     int npu;
//     npuscope_device #(.Npu("nv_small")) device (.clk, .rst_n, .npu, .interrupt);
//     npuscope_csb csb (.clk, .rst_n, .npu, .csb2nvdla_valid, ..);
//     npuscope_axi #(.DataBits(64)) dram (.clk, .rst_n, .npu, .awvalid, ..);
//     npuscope_axi #(.DataBits(64), .Port(1)) sram (..);            // of an NPU with a second port
//
// A rising clock edge is a cycle of the NPU; a register access takes as many of them as on the NPU's own bus, plus those
// of the pins.
// All bursts are INCR, in full beats of the bus, within 4 KiB. Reset returns the NPU to its initial state. Bytes are exact;
// compile npuscope_pins_dpi.c too.
//
// Compressed weights are read in zero time: a module gives an NPU access to its memory if it exports npuscope_pins_memory,
// an int of a longint unsigned address, and at a clock's edge, by which the NPU has its number, calls an import of its own,
// npuscope_pins_memory_of(npu), which returns a status; compile npuscope_memory_dpi.c too.
package npuscope_pins_pkg;
  import "DPI-C" function int npuscope_pins_create(input string npu, input string changes);
  import "DPI-C" function int npuscope_pins_destroy(input int npu);
  import "DPI-C" function int npuscope_pins_reset(input int npu);
  import "DPI-C" function int npuscope_pins_clock(input int npu, input longint unsigned cycle);
  import "DPI-C" function int npuscope_pins_access(input int npu, input int port, input int first,
                                                   input int write, input int unsigned address,
                                                   input int unsigned data, output int unsigned value,
                                                   output int status);
  import "DPI-C" function int npuscope_pins_interrupt(input int npu);
  import "DPI-C" function chandle npuscope_pins_take(input int npu, input int port, input int write, input int width,
                                                     input int most_beats, output longint unsigned address,
                                                     output int beats);
  import "DPI-C" function void npuscope_pins_beat(input chandle burst, input int beat, output bit [511:0] data,
                                                  output bit [63:0] strobes);
  import "DPI-C" function void npuscope_pins_brought(input chandle burst, input int beat, input bit [511:0] data);
  import "DPI-C" function int npuscope_pins_answer(input int npu, input chandle burst, input int response);
  import "DPI-C" function int npuscope_pins_open(input int npu);  // requests in flight
  import "DPI-C" function string npuscope_pins_result(input int npu);
  import "DPI-C" function string npuscope_pins_error();
  import "DPI-C" function string npuscope_error();

  function automatic void npuscope_pins_good(input int status);
    if (status != 0) $fatal(1, "%s", npuscope_pins_error());
  endfunction
endpackage

module npuscope_device
  import npuscope_pins_pkg::*;
#(
  parameter string Npu = "nv_small",
  parameter string Changes = ""
) (
  input  logic clk,
  input  logic rst_n,
  output int   npu,
  output logic interrupt
);
  longint unsigned cycle = 0;
  bit fresh = 1;  // nothing has happened since it was created

  initial begin
    npu = npuscope_pins_create(Npu, Changes);
    if (npu < 0) $fatal(1, "%s", npuscope_pins_error());
  end
  always @(posedge clk) begin
    if (!rst_n) begin
      if (!fresh) npuscope_pins_good(npuscope_pins_reset(npu));
      fresh = 1;
      cycle = 0;
      interrupt <= 0;
    end else begin
      fresh = 0;
      cycle = cycle + 1;
      npuscope_pins_good(npuscope_pins_clock(npu, cycle));
      interrupt <= npuscope_pins_interrupt(npu) != 0;
    end
  end
endmodule

// NVDLA's configuration space bus; addresses count words. A read where there is no register returns 0.
// source: NVDLA doc v1/ias/unit_description.rst; nv_small RTL, NV_nvdla.v
module npuscope_csb
  import npuscope_pins_pkg::*;
(
  input  logic        clk,
  input  logic        rst_n,
  input  int          npu,
  input  logic        csb2nvdla_valid,
  output logic        csb2nvdla_ready,
  input  logic [15:0] csb2nvdla_addr,
  input  logic [31:0] csb2nvdla_wdat,
  input  logic        csb2nvdla_write,
  input  logic        csb2nvdla_nposted,
  output logic        nvdla2csb_valid,
  output logic [31:0] nvdla2csb_data,
  output logic        nvdla2csb_wr_complete
);
  bit busy = 0;  // an access is not answered yet
  bit first, write, waits;
  logic [15:0] address;
  int unsigned data, value;
  int status;
  always @(posedge clk) begin
    nvdla2csb_valid <= 0;
    nvdla2csb_wr_complete <= 0;
    if (!rst_n) busy = 0;
    else if (busy || (csb2nvdla_valid && csb2nvdla_ready)) begin
      first = !busy;
      if (first) begin
        {write, waits, address} = {csb2nvdla_write, csb2nvdla_nposted, csb2nvdla_addr};
        data = csb2nvdla_wdat;
      end
      busy = npuscope_pins_access(npu, 0, int'(first), int'(write), {14'b0, address, 2'b0}, data, value, status) == 0;
      if (!busy && !write) nvdla2csb_data <= value;
      nvdla2csb_valid <= !busy && !write;
      nvdla2csb_wr_complete <= !busy && write && waits;
    end
    csb2nvdla_ready <= rst_n && !busy;
  end
endmodule

// APB: wait states, then the answer; pslverr where there is no register. source: ARM IHI 0024, AMBA APB
module npuscope_apb
  import npuscope_pins_pkg::*;
(
  input  logic        pclk,
  input  logic        presetn,
  input  int          npu,
  input  logic        psel,
  input  logic        penable,
  input  logic        pwrite,
  input  logic [31:0] paddr,
  input  logic [31:0] pwdata,
  output logic [31:0] prdata,
  output logic        pready,
  output logic        pslverr
);
  bit busy = 0;  // an access is not answered yet
  bit first;
  int unsigned value;
  int status;
  always @(posedge pclk) begin
    pready <= 0;
    pslverr <= 0;
    first = !busy;
    busy = presetn && psel && penable && !pready;
    if (busy) begin
      busy = npuscope_pins_access(npu, 1, int'(first), int'(pwrite), paddr, pwdata, value, status) == 0;
      if (!busy) begin
        prdata <= value;
        pslverr <= status != 0;
        pready <= 1;
      end
    end
  end
  bit setup = 0;  // psel was high without penable at the previous edge
  always @(posedge pclk) begin
    if (presetn && psel && penable && !pready && !setup) $error("APB: PENABLE without a setup cycle");
    setup <= psel && !(penable && pready);
  end
endmodule

// AXI4 master. `MostBeats` 1 to 256; `InFlight` bursts each way; with `Ids` 1 answers come in order. In `StallPercent` of
// the cycles, at random, it accepts no R, and independently no B.
// source: ARM IHI 0022, AMBA AXI and ACE, AXI4
module npuscope_axi
  import npuscope_pins_pkg::*;
#(
  parameter int Port = 0,
  parameter int DataBits = 64,
  parameter int IdBits = 4,
  parameter int Ids = 1 << IdBits,
  parameter int MostBeats = 16,
  parameter int InFlight = 32,
  parameter int StallPercent = 0
) (
  input  logic                  clk,
  input  logic                  rst_n,
  input  int                    npu,
  output logic                  awvalid,
  input  logic                  awready,
  output logic [IdBits-1:0]     awid,
  output logic [63:0]           awaddr,
  output logic [7:0]            awlen,
  output logic [2:0]            awsize,
  output logic [1:0]            awburst,
  output logic                  wvalid,
  input  logic                  wready,
  output logic [DataBits-1:0]   wdata,
  output logic [DataBits/8-1:0] wstrb,
  output logic                  wlast,
  input  logic                  bvalid,
  output logic                  bready,
  input  logic [IdBits-1:0]     bid,
  input  logic [1:0]            bresp,
  output logic                  arvalid,
  input  logic                  arready,
  output logic [IdBits-1:0]     arid,
  output logic [63:0]           araddr,
  output logic [7:0]            arlen,
  output logic [2:0]            arsize,
  output logic [1:0]            arburst,
  input  logic                  rvalid,
  output logic                  rready,
  input  logic [IdBits-1:0]     rid,
  input  logic [DataBits-1:0]   rdata,
  input  logic [1:0]            rresp,
  input  logic                  rlast
);
  localparam int Bytes = DataBits / 8;
  initial begin
    if (DataBits < 32 || DataBits > 512 || (DataBits & (DataBits - 1)) != 0)
      $fatal(1, "npuscope_axi: DataBits is %0d, not 32, 64, 128, 256 or 512", DataBits);
    if (MostBeats < 1 || MostBeats > 256) $fatal(1, "npuscope_axi: MostBeats is %0d, not 1 to 256", MostBeats);
    if (StallPercent < 0 || StallPercent > 99)
      $fatal(1, "npuscope_axi: StallPercent is %0d, not 0 to 99", StallPercent);
    if (Ids < 1 || Ids > (1 << IdBits)) $fatal(1, "npuscope_axi: %0d identifiers do not go into %0d bits", Ids, IdBits);
  end

  assign awsize = 3'($clog2(Bytes));
  assign arsize = 3'($clog2(Bytes));
  assign awburst = 2'b01;
  assign arburst = 2'b01;

  int stall_percent = StallPercent;  // a bench may change it
  longint unsigned cycle = 0;
  // Bursts in flight by identifier, oldest first: reads with their beats, and the beat and the worst response so far of the
  // oldest; writes, and how many of them have been accepted to their last beat.
  chandle reads[1 << IdBits][$];
  int read_beats[1 << IdBits][$];
  chandle writes[1 << IdBits][$];
  int complete[1 << IdBits];
  int beat_of[1 << IdBits];
  logic [1:0] worst[1 << IdBits];
  int reads_open = 0, writes_open = 0;
  logic [IdBits-1:0] next_read = 0, next_write = 0;
  // Writes whose address has been issued but not all of their beats, and identifiers of those whose last beat is not
  // accepted yet.
  chandle data_of[$];
  int beats_of[$];
  logic [IdBits-1:0] ids_of[$];
  int data_beat = 0;

  longint unsigned address;
  int beats;
  chandle burst;
  bit [511:0] bus;
  bit [63:0] strobes;

  function automatic logic [IdBits-1:0] after(input logic [IdBits-1:0] id);
    return int'(id) == Ids - 1 ? '0 : id + 1'b1;
  endfunction

  function automatic bit takes();
    return stall_percent == 0 || $urandom_range(99, 0) >= stall_percent;
  endfunction

  task automatic forget();
    for (int id = 0; id < (1 << IdBits); ++id) begin
      reads[id].delete();
      read_beats[id].delete();
      writes[id].delete();
      complete[id] = 0;
      beat_of[id] = 0;
      worst[id] = 0;
    end
    data_of.delete();
    beats_of.delete();
    ids_of.delete();
    reads_open = 0;
    writes_open = 0;
    data_beat = 0;
    cycle = 0;
  endtask

  // An answer that nothing waits for is reported, and ignored. A read has its beats, wherever RLAST is.
  task automatic take_answers();
    if (rvalid && rready) begin
      bus = '0;
      bus[DataBits-1:0] = rdata;
      if (reads[rid].size() == 0) $error("AXI: R for identifier %0d, which has no read in flight", rid);
      else begin
        npuscope_pins_brought(reads[rid][0], beat_of[rid], bus);
        beat_of[rid] = beat_of[rid] + 1;
        if (rlast != (beat_of[rid] == read_beats[rid][0]))
          $error("AXI: R: RLAST is %0d at beat %0d of %0d, identifier %0d", rlast, beat_of[rid], read_beats[rid][0], rid);
        if (rresp[1] && rresp > worst[rid]) worst[rid] = rresp;
        if (beat_of[rid] == read_beats[rid][0]) begin
          burst = reads[rid].pop_front();
          beats = read_beats[rid].pop_front();
          npuscope_pins_good(npuscope_pins_answer(npu, burst, int'(worst[rid])));
          beat_of[rid] = 0;
          worst[rid] = 0;
          reads_open = reads_open - 1;
        end
      end
    end
    if (wvalid && wready && wlast) begin
      complete[ids_of[0]] = complete[ids_of[0]] + 1;
      void'(ids_of.pop_front());
    end
    if (bvalid && bready) begin
      if (writes[bid].size() == 0) $error("AXI: B for identifier %0d, which has no write in flight", bid);
      else if (complete[bid] == 0) $error("AXI: B for identifier %0d, whose write has beats to come", bid);
      else begin
        complete[bid] = complete[bid] - 1;
        burst = writes[bid].pop_front();
        npuscope_pins_good(npuscope_pins_answer(npu, burst, int'(bresp)));
        writes_open = writes_open - 1;
      end
    end
  endtask

  task automatic ask();
    if (!arvalid || arready) begin
      burst = null;
      if (reads_open < InFlight) burst = npuscope_pins_take(npu, Port, 0, Bytes, MostBeats, address, beats);
      arvalid <= burst != null;
      if (burst != null) begin
        araddr <= address;
        arlen <= 8'(beats - 1);
        arid <= next_read;
        reads[next_read].push_back(burst);
        read_beats[next_read].push_back(beats);
        next_read = after(next_read);
        reads_open = reads_open + 1;
      end
    end
    if (!awvalid || awready) begin
      burst = null;
      if (writes_open < InFlight) burst = npuscope_pins_take(npu, Port, 1, Bytes, MostBeats, address, beats);
      awvalid <= burst != null;
      if (burst != null) begin
        awaddr <= address;
        awlen <= 8'(beats - 1);
        awid <= next_write;
        writes[next_write].push_back(burst);
        data_of.push_back(burst);
        beats_of.push_back(beats);
        ids_of.push_back(next_write);
        next_write = after(next_write);
        writes_open = writes_open + 1;
      end
    end
  endtask

  task automatic send_data();
    if (!wvalid || wready) begin
      wvalid <= data_of.size() != 0;
      if (data_of.size() != 0) begin
        npuscope_pins_beat(data_of[0], data_beat, bus, strobes);
        wdata <= bus[DataBits-1:0];
        wstrb <= strobes[Bytes-1:0];
        wlast <= data_beat == beats_of[0] - 1;
        data_beat = data_beat + 1;
        if (data_beat == beats_of[0]) begin
          burst = data_of.pop_front();
          beats = beats_of.pop_front();
          data_beat = 0;
        end
      end
    end
  endtask

  always @(posedge clk) begin
    if (!rst_n) begin
      forget();
      {awvalid, wvalid, arvalid, wlast, rready, bready} <= '0;
    end else begin
      take_answers();
      cycle = cycle + 1;
      npuscope_pins_good(npuscope_pins_clock(npu, cycle));
      ask();
      send_data();
      rready <= takes();
      bready <= takes();
    end
  end
endmodule
