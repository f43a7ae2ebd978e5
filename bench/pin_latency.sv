// SPDX-License-Identifier: Apache-2.0
// The cycles that the modules of npuscope_pins.sv add, each separately, next to the documented ones: behind them is
// pin_latency_dpi.c in place of an NPU. A cycle is between two rising edges; a wire changes at an edge and is sampled at
// the next one. bench/sv_pin_latency builds and runs it.
module pin_latency;
  import "DPI-C" function void pin_latency_edge(input int number);
  import "DPI-C" function int pin_latency_accessed();
  import "DPI-C" function void pin_latency_want(input int write, input int beats);
  import "DPI-C" function int pin_latency_asked();
  import "DPI-C" function int pin_latency_answered();

  bit clk = 0;
  logic rst_n = 0;
  int now = 0, begins = 0, wrong = 0;  // `now`: number of the next rising edge
  always #1 clk = ~clk;
  // Past a rising edge. What has changed there is on the wires, and is sampled at the next one; what is driven here
  // counts as changed at the edge, too.
  task automatic tick();
    @(negedge clk);
    now = now + 1;
    pin_latency_edge(now);
  endtask

  function automatic void row(input string what, input int documented, input int measured);
    $display("%-48s %10d %9d", what, documented, measured);
    if (documented != measured) wrong = wrong + 1;
  endfunction

  // --- CSB ---
  logic csb_valid = 0, csb_write = 0, csb_waits = 0, csb_ready, csb_answer, csb_complete;
  logic [31:0] csb_data;
  npuscope_csb csb (.clk, .rst_n, .npu(0), .csb2nvdla_valid(csb_valid), .csb2nvdla_ready(csb_ready), .csb2nvdla_addr(16'h1),
    .csb2nvdla_wdat(32'h2), .csb2nvdla_write(csb_write), .csb2nvdla_nposted(csb_waits), .nvdla2csb_valid(csb_answer),
    .nvdla2csb_data(csb_data), .nvdla2csb_wr_complete(csb_complete));

  task automatic by_csb(input string what, input bit write, input bit waits, input int documented);
    {csb_valid, csb_write, csb_waits} = {1'b1, write, waits};
    begins = now - 1;
    while (!csb_ready) tick();
    tick();
    csb_valid = 0;
    if (!write || waits) begin
      while (!(write ? csb_complete : csb_answer)) tick();
      row(what, documented, now - begins);
    end else row(what, documented, pin_latency_accessed() - begins);
    repeat (4) tick();
  endtask

  // --- APB ---
  logic psel = 0, penable = 0, pwrite = 0, pready, pslverr;
  logic [31:0] prdata;
  npuscope_apb apb (.pclk(clk), .presetn(rst_n), .npu(0), .psel, .penable, .pwrite, .paddr(32'h4), .pwdata(32'h2), .prdata,
    .pready, .pslverr);

  task automatic by_apb(input string what, input bit write, input int documented);
    {psel, pwrite} = {1'b1, write};
    tick();
    penable = 1;
    begins = now - 1;
    while (!pready) tick();
    row(what, documented, now - begins);
    tick();
    {psel, penable} = '0;
    repeat (4) tick();
  endtask

  // --- AXI, with a slave that is always ready ---
  logic awvalid, wvalid, wlast, bvalid = 0, bready, arvalid, rvalid = 0, rready, rlast = 0;
  logic [3:0] awid, arid;
  logic [63:0] awaddr, araddr, wdata;
  logic [7:0] awlen, arlen, wstrb;
  logic [2:0] awsize, arsize;
  logic [1:0] awburst, arburst;
  npuscope_axi #(.DataBits(64), .IdBits(4)) axi (.clk, .rst_n, .npu(0), .awvalid, .awready(1'b1), .awid, .awaddr, .awlen,
    .awsize, .awburst, .wvalid, .wready(1'b1), .wdata, .wstrb, .wlast, .bvalid, .bready, .bid(awid), .bresp(2'b00), .arvalid,
    .arready(1'b1), .arid, .araddr, .arlen, .arsize, .arburst, .rvalid, .rready, .rid(arid), .rdata(64'h0), .rresp(2'b00),
    .rlast);

  task automatic by_axi(input bit write, input int beats);
    string name;
    int address, data, answer;
    if (write) name = $sformatf("AXI write of %0d: ", beats);
    else name = $sformatf("AXI read of %0d: ", beats);
    pin_latency_want(int'(write), beats);
    while (!(write ? awvalid : arvalid)) tick();
    address = now - 1;
    while (write && !wvalid) tick();
    data = now - 1;
    if (write) begin
      while (!wlast) tick();
      tick();
      bvalid = 1;
      answer = now - 1;
      while (!bready) tick();
      tick();
      bvalid = 0;
    end else begin
      tick();
      for (int beat = 0; beat < beats; ++beat) begin
        rvalid = 1;
        rlast = beat == beats - 1;
        answer = now - 1;
        while (!rready) tick();
        tick();
      end
      {rvalid, rlast} = '0;
    end
    row({name, "to the address"}, 0, address - pin_latency_asked());
    if (write) row({name, "from there to its first beat"}, 0, data - address);
    row({name, "from the last answer"}, 1, pin_latency_answered() - answer);
    repeat (4) tick();
  endtask

  initial begin
    repeat (4) tick();
    rst_n = 1;
    repeat (4) tick();
    $display("%-48s documented  measured", "cycles of the module");
    by_csb("CSB read", 0, 0, 2);
    by_csb("CSB write, not posted", 1, 1, 2);
    by_csb("CSB write, posted: to the register", 1, 0, 1);
    by_apb("APB read, from PENABLE", 0, 2);
    by_apb("APB write, from PENABLE", 1, 2);
    by_axi(0, 1);
    by_axi(1, 1);
    by_axi(0, 4);
    by_axi(1, 4);
    if (wrong != 0) $fatal(1, "%0d latencies are not those of the documentation", wrong);
    $finish;
  end
  initial begin
    #2000 $fatal(1, "a module does not answer");
  end
endmodule
