// SPDX-License-Identifier: Apache-2.0
// The modules of npuscope_pins.sv with a memory of constant latency, or one that breaks the protocol. Plays a recording as
// examples/axi/bench.sv does; with +poll interrupts are awaited by reads of the status instead of the pin. The arguments:
//
//     +recording=FILE  +latency=CYCLES  +poll
//     +fault=never_last     RLAST is always low              +fault=early_last  it is high at every beat
//     +fault=other_reader   R has another identifier         +fault=other_writer  so has B
//     +fault=early_answer   B comes before the last beat
//     +fault=valid_in_reset BVALID, and ARVALID at the checker, are high during reset
module pins_bench #(
  parameter int DataBits = 64,
  parameter int Apb = 0
);
  localparam int Bytes = DataBits / 8;
  localparam longint unsigned Patience = 64'd100_000;
  bit clk = 0, rst_n = 0;
  always #5 clk = ~clk;
  int npu;
  logic interrupt;
  npuscope_device #(.Changes("npu.mcif.transactions=values")) device (.*);

  string fault = "none", recording;
  int latency = 20, file, code;
  initial begin
    void'($value$plusargs("fault=%s", fault));
    void'($value$plusargs("latency=%d", latency));
  end

  // --- the memory ---
  longint unsigned now = 0;
  logic awvalid, awready, wvalid, wready, wlast, bvalid = 0, bready, arvalid, arready, rvalid = 0, rready, rlast = 0;
  logic [3:0] awid, arid, bid = 0, rid = 0;
  logic [63:0] awaddr, araddr;
  logic [7:0] awlen, arlen;
  logic [2:0] awsize, arsize;
  logic [1:0] awburst, arburst, bresp = 0, rresp = 0;
  logic [DataBits-1:0] wdata, rdata = 0;
  logic [Bytes-1:0] wstrb;
  assign {awready, arready} = {2{rst_n}};
  always_ff @(posedge clk) wready <= rst_n && (fault != "early_answer" || now % 8 == 0);
  npuscope_axi #(.DataBits(DataBits), .IdBits(4)) dram (.*);
  npuscope_axi_checker #(.DataBits(DataBits), .IdBits(4)) protocol (.arvalid(arvalid || (fault == "valid_in_reset" && !rst_n)),
    .*);

  byte unsigned held[longint unsigned];
  typedef struct {
    longint unsigned address, due;
    logic [3:0] id;
    int beats;
  } burst;
  burst reads[$], writes[$], answers[$], one;
  longint unsigned at;
  int beat = 0, write_beat = 0;

  task automatic take_requests();
    if (arvalid && arready) begin
      one.address = araddr / longint'(Bytes) * longint'(Bytes);
      one.id = arid;
      one.beats = int'(arlen) + 1;
      one.due = now + longint'(latency);
      reads.push_back(one);
    end
    if (awvalid && awready) begin
      one.address = awaddr / longint'(Bytes) * longint'(Bytes);
      one.id = awid;
      one.beats = int'(awlen) + 1;
      writes.push_back(one);
    end
    if (wvalid && wready) begin
      for (int lane = 0; lane < Bytes; ++lane)
        if (wstrb[lane]) held[writes[0].address+longint'(write_beat*Bytes+lane)] = 8'(wdata >> (8 * lane));
      write_beat = write_beat + 1;
      if (fault == "early_answer" ? write_beat == 1 : wlast) begin
        one = writes[0];
        one.due = now + longint'(latency);
        answers.push_back(one);
      end
      if (wlast) begin
        void'(writes.pop_front());
        write_beat = 0;
      end
    end
  endtask

  task automatic answer();
    if (!bvalid || bready) begin
      bvalid <= answers.size() != 0 && answers[0].due <= now;
      if (answers.size() != 0 && answers[0].due <= now) begin
        one = answers.pop_front();
        bid <= fault == "other_writer" ? one.id + 4'd8 : one.id;
      end
    end
    if (!rvalid || rready) begin
      rvalid <= reads.size() != 0 && reads[0].due <= now;
      if (reads.size() != 0 && reads[0].due <= now) begin
        for (int lane = 0; lane < Bytes; ++lane) begin
          at = reads[0].address + longint'(beat * Bytes + lane);
          rdata[8*lane+:8] <= held.exists(at) != 0 ? held[at] : 8'd0;
        end
        beat = beat + 1;
        rid <= fault == "other_reader" ? reads[0].id + 4'd8 : reads[0].id;
        rlast <= fault != "never_last" && (fault == "early_last" || beat == reads[0].beats);
        if (beat == reads[0].beats) begin
          void'(reads.pop_front());
          beat = 0;
        end
      end
    end
  endtask

  always @(posedge clk) begin
    now = now + 1;
    if (rst_n) begin
      take_requests();
      answer();
    end else bvalid <= fault == "valid_in_reset";
    if (now > Patience) begin
      $display("it does not come to its end");
      $finish;
    end
  end

  // --- the driver ---
  logic access = 0, write = 0, accessed;
  logic [31:0] register, value, was_read;
  if (Apb != 0) begin : by_apb
    logic penable = 0, pready, pslverr;
    npuscope_apb apb (.pclk(clk), .presetn(rst_n), .npu, .psel(access), .penable, .pwrite(write), .paddr(register),
      .pwdata(value), .prdata(was_read), .pready, .pslverr);
    always_ff @(posedge clk) penable <= access && !(penable && pready);
    assign accessed = access && penable && pready;
  end else begin : by_csb
    logic ready, valid, complete, waits = 0;
    npuscope_csb csb (.clk, .rst_n, .npu, .csb2nvdla_valid(access && !waits), .csb2nvdla_ready(ready),
      .csb2nvdla_addr(register[17:2]), .csb2nvdla_wdat(value), .csb2nvdla_write(write), .csb2nvdla_nposted(1'b1),
      .nvdla2csb_valid(valid), .nvdla2csb_data(was_read), .nvdla2csb_wr_complete(complete));
    always_ff @(posedge clk) waits <= waits ? !accessed : access && ready;
    assign accessed = waits && (valid || complete);
  end

  task automatic go(input bit writes, input int unsigned address, input int unsigned data);
    access <= 1;
    write <= writes;
    register <= address;
    value <= data;
    do @(posedge clk); while (!accessed);
    access <= 0;
  endtask

  byte kind;
  longint unsigned address, data, begins;
  int unsigned bits, each;
  int accesses = 0;
  // Reads and clears the status until it has had these bits.
  task automatic await(input bit polls);
    bits = 0;
    while ((32'(data) & ~bits) != 0) begin
      while (!polls && !interrupt) @(posedge clk);
      go(0, 32'(address), 0);
      each = was_read;
      bits = bits | each;
      if (each != 0) go(1, 32'(address), each);
    end
  endtask

  initial begin
    if ($value$plusargs("recording=%s", recording) == 0) $fatal(1, "+recording=FILE is missing");
    file = $fopen(recording, "r");
    repeat (5) @(posedge clk);
    rst_n <= 1;
    @(posedge clk);
    begins = now;
    while ($fscanf(file, " %c %h %h", kind, address, data) == 3) begin
      accesses = accesses + 1;
      case (kind)
        "w": go(1, 32'(address), 32'(data));
        "p": do go(0, 32'(address), 0); while (was_read != 32'(data));
        "s", "q": await($test$plusargs("poll") != 0 || kind == "q");
        default: for (longint unsigned i = 0; i < data; ++i) begin
          if (kind != "F" || i == 0) code = $fscanf(file, "%h", each);
          if (kind != "R") held[address+i] = 8'(each);
          else if ((held.exists(address + i) != 0 ? held[address+i] : 8'd0) != 8'(each))
            $fatal(1, "memory at %h is wrong", address + i);
        end
      endcase
    end
    $display("%0d accesses, all as recorded, in %0d cycles", accesses, now - begins);
    $finish;
  end
endmodule

// More devices than there are places for.
module many_devices #(
  parameter int Count = 65
);
  bit clk = 0, rst_n = 0;
  always #5 clk = ~clk;
  for (genvar i = 0; i < Count; ++i) begin : each
    int npu;
    logic interrupt;
    npuscope_device device (.*);
  end
  initial begin
    repeat (3) @(posedge clk);
    $display("all devices are created");
    $finish;
  end
endmodule

// An NPU with its memory, and the checker at two ports of a width. The memory has `first` at its first address, and counts
// on.
module one_system #(
  parameter int DataBits = 64,
  parameter int IdBits = 4
) (
  input logic clk,
  input logic rst_n,
  input int first
);
  int npu;
  logic interrupt;
  npuscope_device device (.*);
  export "DPI-C" function npuscope_pins_memory;
  function automatic int npuscope_pins_memory(input longint unsigned address);
    return first + int'(address);
  endfunction
  import "DPI-C" context function int npuscope_pins_memory_of(input int npu);
  initial @(posedge clk) begin
    npuscope_pins_pkg::npuscope_pins_good(npuscope_pins_memory_of(npu));
    if (npuscope_pins_memory_of(9) == 0) $fatal(1, "an NPU that does not exist has a memory");
  end

  logic awvalid = 0, awready = 1, wvalid = 0, wready = 1, wlast = 1, bvalid = 0, bready = 1;
  logic arvalid = 0, arready = 1, rvalid = 0, rready = 1, rlast = 1;
  logic [IdBits-1:0] awid = 0, bid = 0, arid = 0, rid = 0;
  logic [63:0] awaddr = 0, araddr = 0;
  logic [7:0] awlen = 0, arlen = 0;
  logic [2:0] awsize = 2, arsize = 2;
  logic [1:0] awburst = 1, arburst = 1, bresp = 0, rresp = 0;
  logic [DataBits-1:0] wdata = 0, rdata = 0;
  logic [DataBits/8-1:0] wstrb = 1;
  npuscope_axi_checker #(.DataBits(DataBits), .IdBits(IdBits)) at_port_0 (.*);
  npuscope_axi_checker #(.DataBits(DataBits), .IdBits(IdBits)) at_port_1 (.*);

  // Answers whose VALID is high from the edge of the request, or one later, and with it until READY.
  task automatic exchange(input bit early, input bit stalls);
    {bready, rready} <= {2{!stalls}};
    {awvalid, arvalid, wvalid} <= '1;
    {bvalid, rvalid} <= {2{early}};
    @(posedge clk);
    {awvalid, arvalid, wvalid} <= '0;
    if (early && !stalls) {bvalid, rvalid} <= '0;
    else {bvalid, rvalid} <= '1;
    @(posedge clk);
    {bready, rready} <= '1;
    if (stalls) @(posedge clk);
    {bvalid, rvalid} <= '0;
    @(posedge clk);
  endtask
  initial begin
    wait (rst_n);
    @(posedge clk);
    exchange(0, 0);
    exchange(0, 1);
    $display("early answers");
    exchange(1, 1);
    exchange(1, 0);
    wait (!rst_n);
    wait (rst_n);
    arvalid <= 1;
    @(posedge clk) arvalid <= 0;
  end
endmodule

// Two that differ in their widths. `bench_peek` is what the adapter reads of an NPU's memory.
module two_systems;
  bit clk = 0, rst_n = 0;
  always #5 clk = ~clk;
  one_system #(.DataBits(32), .IdBits(2)) narrow (.clk, .rst_n, .first(16));
  one_system #(.DataBits(128), .IdBits(5)) wide (.clk, .rst_n, .first(32));
  import "DPI-C" context function int bench_peek(input int npu, input longint unsigned address);
  initial begin
    repeat (4) @(posedge clk);
    rst_n <= 1;
    repeat (30) @(posedge clk);
    rst_n <= 0;
    repeat (4) @(posedge clk);
    rst_n <= 1;
    repeat (4) @(posedge clk);
    $display("bytes %0d and %0d", bench_peek(narrow.npu, 3), bench_peek(wide.npu, 3));
    $finish;
  end
endmodule
