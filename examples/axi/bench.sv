// SPDX-License-Identifier: Apache-2.0
// An NPU in an RTL system: its registers through pins, its two memory ports through AXI4 and a crossbar to two
// memories, one of them behind a cache. A driver's accesses are read from a file, one per line, numbers in hexadecimal:
//
//     w ADDRESS VALUE            writes a register
//     p ADDRESS VALUE            reads it until it has this value
//     s ADDRESS BITS             waits for interrupts: these bits of the status register at ADDRESS
//     q ADDRESS BITS             the same without the interrupt pin: the register is polled
//     W ADDRESS COUNT BYTE ..    writes memory, in zero time
//     F ADDRESS COUNT BYTE       fills it
//     R ADDRESS COUNT BYTE ..    reads it, and must get these bytes
//
// +recording=FILE names it; +result=FILE receives the NPU's result; with +poll all interrupts are awaited by polls, until
// one is unmasked; with +idle=CYCLES the driver pauses at random before each access; with +master_stall=PERCENT the NPU
// accepts no R in that share of the cycles, at random, and independently no B. Reset restarts the recording, with empty
// memories; no transaction may be left in flight. main.cpp (Verilator's --cc) and sc_main.cpp (--sc) drive the clock.
module bench #(
  parameter string Npu = "nv_small",
  parameter int DataBits = 64,
  parameter int MostBeats = 16,
  parameter int Ids = 16,
  parameter int Apb = 0  // registers through APB in place of CSB
) (
  input  logic clk,
  input  logic rst_n,
  output logic done
);
  localparam int IdBits = 4;
  localparam longint unsigned Patience = 64'd200_000_000;

  int npu;
  logic interrupt;
  npuscope_device #(.Npu(Npu), .Changes("npu.mcif.transactions=values")) device (.*);

  // --- memory ---
  axi_port #(.DataBits(DataBits), .IdBits(IdBits)) port_0 (), port_1 ();
  axi_port #(.DataBits(DataBits), .IdBits(IdBits + 1)) cached (), plain (), behind ();
`define PINS(p) .awvalid(p.awvalid), .awready(p.awready), .awid(p.awid), .awaddr(p.awaddr), .awlen(p.awlen), \
    .awsize(p.awsize), .awburst(p.awburst), .wvalid(p.wvalid), .wready(p.wready), .wdata(p.wdata), .wstrb(p.wstrb), \
    .wlast(p.wlast), .bvalid(p.bvalid), .bready(p.bready), .bid(p.bid), .bresp(p.bresp), .arvalid(p.arvalid), \
    .arready(p.arready), .arid(p.arid), .araddr(p.araddr), .arlen(p.arlen), .arsize(p.arsize), .arburst(p.arburst), \
    .rvalid(p.rvalid), .rready(p.rready), .rid(p.rid), .rdata(p.rdata), .rresp(p.rresp), .rlast(p.rlast)
  npuscope_axi #(.DataBits(DataBits), .IdBits(IdBits), .Ids(Ids), .MostBeats(MostBeats)) dram (.clk, .rst_n, .npu,
    `PINS(port_0));
  npuscope_axi #(.DataBits(DataBits), .IdBits(IdBits), .Ids(Ids), .MostBeats(MostBeats), .Port(1)) sram (.clk, .rst_n,
    .npu, `PINS(port_1));
  initial if ($value$plusargs("master_stall=%d", dram.stall_percent) != 0) sram.stall_percent = dram.stall_percent;
  npuscope_axi_checker #(.DataBits(DataBits), .IdBits(IdBits)) at_port_0 (.clk, .rst_n, `PINS(port_0));
  npuscope_axi_checker #(.DataBits(DataBits), .IdBits(IdBits)) at_port_1 (.clk, .rst_n, `PINS(port_1));
  npuscope_axi_checker #(.DataBits(DataBits), .IdBits(IdBits + 1)) at_cached (.clk, .rst_n, `PINS(cached));
  npuscope_axi_checker #(.DataBits(DataBits), .IdBits(IdBits + 1)) at_plain (.clk, .rst_n, `PINS(plain));
  npuscope_axi_checker #(.DataBits(DataBits), .IdBits(IdBits + 1)) at_behind (.clk, .rst_n, `PINS(behind));
  axi_crossbar #(.DataBits(DataBits), .IdBits(IdBits)) crossbar (.clk, .rst_n, .from_0(port_0), .from_1(port_1),
    .to_0(cached), .to_1(plain));
  int unsigned hits, misses;
  axi_buffer #(.DataBits(DataBits), .IdBits(IdBits + 1)) cache (.clk, .rst_n, .from(cached), .to(behind), .hits, .misses);
  axi_memory #(.DataBits(DataBits), .IdBits(IdBits + 1)) even (.clk, .rst_n, .from(behind));
  axi_memory #(.DataBits(DataBits), .IdBits(IdBits + 1)) odd (.clk, .rst_n, .from(plain));

  function automatic byte unsigned peek(input longint unsigned address);
    return address[12] ? odd.peek(address) : even.peek(address);
  endfunction
  function automatic void poke(input longint unsigned address, input byte unsigned value);
    if (address[12]) odd.poke(address, value);
    else even.poke(address, value);
  endfunction

  export "DPI-C" function npuscope_pins_memory;
  function automatic int npuscope_pins_memory(input longint unsigned address);
    return int'(peek(address));
  endfunction
  import "DPI-C" context function int npuscope_pins_memory_of(input int npu);
  initial @(posedge clk) npuscope_pins_pkg::npuscope_pins_good(npuscope_pins_memory_of(npu));

  // --- registers: `access` is high until `accessed`, for a cycle ---
  logic access, writes, accessed;
  logic [31:0] register, to_write, was_read;
  if (Apb != 0) begin : by_apb
    logic psel, penable, pready, pslverr;
    npuscope_apb apb (.pclk(clk), .presetn(rst_n), .npu, .psel, .penable, .pwrite(writes), .paddr(register),
      .pwdata(to_write), .prdata(was_read), .pready, .pslverr);
    assign psel = access;
    always_ff @(posedge clk) penable <= access && !pready;
    assign accessed = psel && penable && pready;
    always @(posedge clk) if (accessed && pslverr) fail($sformatf("no register at %h", register));
  end else begin : by_csb
    logic ready, valid, complete, waits;
    npuscope_csb csb (.clk, .rst_n, .npu, .csb2nvdla_valid(access && !waits), .csb2nvdla_ready(ready),
      .csb2nvdla_addr(register[17:2]), .csb2nvdla_wdat(to_write), .csb2nvdla_write(writes), .csb2nvdla_nposted(1'b1),
      .nvdla2csb_valid(valid), .nvdla2csb_data(was_read), .nvdla2csb_wr_complete(complete));
    always_ff @(posedge clk) waits <= rst_n && (waits ? !accessed : access && ready);
    assign accessed = waits && (valid || complete);
  end

  // --- the driver ---
  typedef enum {Next, Writing, Polling, Waiting, Status, Clearing} step;
  step state = Next;
  string recording, result;
  int file, code, line = 0;
  byte kind;
  longint unsigned address, value, cycles = 0;
  int unsigned wanted_bits, seen, one, mask = 0;  // `mask`: of the interrupts, 0 after reset
  bit ends = 0, polls;
  int idle = 0, pause = 0, in_reset = 0;

  function automatic void fail(input string text);
    $display("line %0d: %s", line, text);
    $fatal(1);
  endfunction

  function automatic void move_memory();
    for (longint unsigned i = 0; i < value; ++i) begin
      if (kind != "F" || i == 0) code = $fscanf(file, "%h", one);
      if (kind != "R") poke(address + i, one[7:0]);
      else if (peek(address + i) != one[7:0])
        fail($sformatf("memory at %h has %h, not %h", address + i, peek(address + i), one[7:0]));
    end
  endfunction

  // Proceeds to the next access that takes time.
  task automatic go_on();
    while (1) begin
      if ($fscanf(file, " %c %h %h", kind, address, value) != 3) begin
        ends = 1;
        return;
      end
      line = line + 1;
      register <= address[31:0];
      to_write <= value[31:0];
      writes <= kind == "w";
      wanted_bits = value[31:0];
      case (kind)
        "W", "F", "R": move_memory();
        "w", "p": begin
          access <= 1;
          if (kind == "w" && address inside {64'h4, 64'h1004}) mask = value[31:0];  // of nv_full's map, of nv_small's
          state = kind == "w" ? Writing : Polling;
          return;
        end
        "s", "q": begin
          state = Waiting;
          return;
        end
        default: fail("no such access");
      endcase
    end
  endtask

  task automatic take_access();
    access <= 0;
    if (state == Polling && was_read != value[31:0]) access <= 1;
    else if (state == Status && polls && kind == "s" && (was_read & ~mask) == 0) state = Waiting;  // the pin is low
    else if (state == Status) begin
      seen = seen | was_read;
      {access, writes} <= 2'b11;
      to_write <= was_read;
      state = Clearing;
    end else if (state == Clearing) begin
      state = (wanted_bits & ~seen) == 0 ? Next : Waiting;
      if (state == Next) seen = seen & ~wanted_bits;
    end else state = Next;
  endtask

  initial begin
    if ($value$plusargs("recording=%s", recording) == 0) fail("+recording=FILE is missing");
    file = $fopen(recording, "r");
    if (file == 0) fail({"no such file: ", recording});
    void'($value$plusargs("idle=%d", idle));
    polls = $test$plusargs("poll") != 0;
  end

  task automatic begin_anew();
    state = Next;
    seen = 0;
    mask = 0;
    line = 0;
    pause = 0;
    cycles = 0;
    ends = 0;
    code = $rewind(file);
    odd.clear();
    even.clear();
    in_reset = in_reset + 1;
    if (in_reset > 1 && npuscope_pins_pkg::npuscope_pins_open(npu) != 0) fail("reset leaves requests in flight");
  endtask

  always @(posedge clk) begin
    if (!rst_n) begin
      {access, writes, done} <= '0;
      begin_anew();
    end else if (!ends) begin
      in_reset = 0;
      cycles = cycles + 1;
      if (cycles > Patience) fail("it does not come to its end");
      if (accessed) take_access();
      else if (state == Waiting && (wanted_bits & ~seen) == 0) begin
        seen = seen & ~wanted_bits;
        state = Next;
      end else if (state == Waiting && (interrupt || kind == "q" || polls)) begin
        {access, writes} <= 2'b10;
        state = Status;
      end else if (state == Next && pause > 0) pause = pause - 1;
      else if (state == Next) begin
        go_on();
        if (idle > 0) pause = $urandom_range(idle, 0);
      end
      if (ends) begin
        $display("%0d accesses, all as recorded; %0d cycles of the bench, %0d hits and %0d misses of the cache", line,
                 cycles, hits, misses);
        write_result();
        done <= 1;
      end
    end
  end

  task automatic write_result();
    int out;
    if ($value$plusargs("result=%s", result) == 0) return;
    out = $fopen(result, "w");
    $fwrite(out, "%s", npuscope_pins_pkg::npuscope_pins_result(npu));
    $fclose(out);
  endtask
endmodule
