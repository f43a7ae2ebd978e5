// SPDX-License-Identifier: Apache-2.0
// npuscope as the reference in Icarus Verilog, through VPI: a pooling block compared with the PDP of an nv_small,
// on random frames. With -DBUG the block ignores the sign of its first operand, and the bench finds it.
//
//     $ npuscope list registers --npu nv_small --sv-package > nv_small_registers.sv
//     $ iverilog-vpi --name=npuscope npuscope_vpi.c $(pkg-config --cflags --libs npuscope)
//     $ iverilog -g2012 -L. -mnpuscope -o bench nv_small_registers.sv bench.sv
//     $ vvp -M. -mnpuscope bench

// The maximum of four signed bytes.
module max_of_four (
    input  wire signed [7:0] a, b, c, d,
    output wire signed [7:0] most
);
`ifdef BUG
  wire signed [7:0] ab = ($unsigned(a) > $unsigned(b)) ? a : b;
`else
  wire signed [7:0] ab = (a > b) ? a : b;
`endif
  wire signed [7:0] cd = (c > d) ? c : d;
  assign most = (ab > cd) ? ab : cd;
endmodule

module bench;
  import nv_small_registers::*;

  localparam Atom = 8;  // channels that lie side by side in memory
  localparam Side = 16;
  localparam Half = Side / 2;
  localparam Frames = 8;
  localparam [63:0] From = 64'h8000_0000;
  localparam [63:0] To = 64'h8001_0000;

  integer npu;
  reg [7:0] frame[0:Side * Side * Atom - 1];
  reg [7:0] pooled[0:Half * Half * Atom - 1];
  reg signed [7:0] a, b, c, d;
  wire signed [7:0] most;
  reg signed [7:0] expected;
  reg [63:0] passed;
  integer wrong, compared, i, k, y, x, channel;

  max_of_four block (.a(a), .b(b), .c(c), .d(d), .most(most));

  task set(input [31:0] address, input [31:0] value);
    $npuscope_write(npu, address, value);
  endtask

  function integer at(input integer y, input integer x, input integer channel, input integer width);
    at = (y * width + x) * Atom + channel;
  endfunction

  // Register groups take turns.
  task run_reference(input integer group);
    set(NVDLA_PDP_S_POINTER_0, group);
    set(NVDLA_PDP_RDMA_S_POINTER_0, group);
    set(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_WIDTH_0, Side - 1);
    set(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_HEIGHT_0, Side - 1);
    set(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_CHANNEL_0, Atom - 1);
    set(NVDLA_PDP_RDMA_D_FLYING_MODE_0, 1);
    set(NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW_0, From[31:0]);
    set(NVDLA_PDP_RDMA_D_SRC_LINE_STRIDE_0, Side * Atom);
    set(NVDLA_PDP_RDMA_D_SRC_SURFACE_STRIDE_0, Side * Side * Atom);
    set(NVDLA_PDP_RDMA_D_SRC_RAM_CFG_0, 1);
    set(NVDLA_PDP_RDMA_D_POOLING_KERNEL_CFG_0, 32'h11);
    set(NVDLA_PDP_D_DATA_CUBE_IN_WIDTH_0, Side - 1);
    set(NVDLA_PDP_D_DATA_CUBE_IN_HEIGHT_0, Side - 1);
    set(NVDLA_PDP_D_DATA_CUBE_IN_CHANNEL_0, Atom - 1);
    set(NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH_0, Half - 1);
    set(NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT_0, Half - 1);
    set(NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL_0, Atom - 1);
    set(NVDLA_PDP_D_OPERATION_MODE_CFG_0, 32'h11);
    set(NVDLA_PDP_D_POOLING_KERNEL_CFG_0, 32'h11_0101);
    set(NVDLA_PDP_D_SRC_BASE_ADDR_LOW_0, From[31:0]);
    set(NVDLA_PDP_D_SRC_LINE_STRIDE_0, Side * Atom);
    set(NVDLA_PDP_D_SRC_SURFACE_STRIDE_0, Side * Side * Atom);
    set(NVDLA_PDP_D_DST_BASE_ADDR_LOW_0, To[31:0]);
    set(NVDLA_PDP_D_DST_LINE_STRIDE_0, Half * Atom);
    set(NVDLA_PDP_D_DST_SURFACE_STRIDE_0, Half * Half * Atom);
    set(NVDLA_PDP_D_DST_RAM_CFG_0, 1);
    set(NVDLA_PDP_D_OP_ENABLE_0, 1);
    set(NVDLA_PDP_RDMA_D_OP_ENABLE_0, 1);
    passed = $npuscope_run_until_interrupt(npu, 1_000_000);
    set(NVDLA_GLB_S_INTR_STATUS_0, $npuscope_read(npu, NVDLA_GLB_S_INTR_STATUS_0));
  endtask

  initial begin
    wrong = 0;
    compared = 0;
    npu = $npuscope_create("nv_small", "memory=dram_50");
    set(NVDLA_GLB_S_INTR_MASK_0, 0);
    for (i = 0; i < Frames; i = i + 1) begin
      for (k = 0; k < Side * Side * Atom; k = k + 1) frame[k] = $urandom;
      $npuscope_write_memory(npu, From, frame, Side * Side * Atom);
      run_reference(i % 2);
      $npuscope_read_memory(npu, To, pooled, Half * Half * Atom);
      for (y = 0; y < Half; y = y + 1)
        for (x = 0; x < Half; x = x + 1)
          for (channel = 0; channel < Atom; channel = channel + 1) begin
            a = frame[at(2 * y, 2 * x, channel, Side)];
            b = frame[at(2 * y, 2 * x + 1, channel, Side)];
            c = frame[at(2 * y + 1, 2 * x, channel, Side)];
            d = frame[at(2 * y + 1, 2 * x + 1, channel, Side)];
            expected = pooled[at(y, x, channel, Half)];
            #1;
            compared = compared + 1;
            if (most !== expected) begin
              if (wrong == 0)
                $display("frame %0d, row %0d, column %0d, channel %0d: the block gives %0d, npuscope %0d", i, y, x,
                         channel, most, expected);
              wrong = wrong + 1;
            end
          end
    end
    $display("%0d values compared, %0d differ, %0d cycles of the NPU", compared, wrong, $npuscope_cycle(npu));
    $npuscope_result(npu, "result.json");
    $npuscope_destroy(npu);
    if (wrong != 0) $finish_and_return(1);
    $finish;
  end
endmodule
