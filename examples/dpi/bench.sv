// SPDX-License-Identifier: Apache-2.0
// A scoreboard with npuscope as its reference: a pooling block in SystemVerilog compared with the PDP of an
// nv_small, on random frames. With +define+BUG the block ignores its first operand's sign, and the scoreboard
// finds it.
//
//     $ npuscope list registers --npu nv_small --sv-package > nv_small_registers.sv
//     $ verilator --binary --timing nv_small_registers.sv npuscope_pkg.sv bench.sv npuscope_dpi.c \
//         -CFLAGS "$(pkg-config --cflags npuscope)" -LDFLAGS "$(pkg-config --libs npuscope)" --top-module bench
//     $ obj_dir/Vbench

// The maximum of four signed bytes.
module max_of_four (
    input  logic signed [7:0] a, b, c, d,
    output logic signed [7:0] most
);
  logic signed [7:0] ab, cd;
`ifdef BUG
  assign ab = (unsigned'(a) > unsigned'(b)) ? a : b;
`else
  assign ab = (a > b) ? a : b;
`endif
  assign cd = (c > d) ? c : d;
  assign most = (ab > cd) ? ab : cd;
endmodule

module bench;
  import npuscope_pkg::*;
  import nv_small_registers::*;

  localparam int Atom = 8;  // channels that lie side by side in memory
  localparam int Side = 16;
  localparam int Half = Side / 2;
  localparam int Frames = 8;
  localparam longint unsigned From = 64'h8000_0000;
  localparam longint unsigned To = 64'h8001_0000;

  chandle npu;
  byte unsigned frame[Side * Side * Atom];
  byte unsigned pooled[Half * Half * Atom];
  logic signed [7:0] a, b, c, d, most;
  int wrong = 0, compared = 0;
  longint unsigned cycle, passed;

  max_of_four block (.*);

  function automatic void good(int status);
    if (status != 0) $fatal(1, "npuscope: %s", npuscope_error());
  endfunction

  function automatic void set(int unsigned address, int unsigned value);
    good(npuscope_write_register(npu, address, value));
  endfunction

  function automatic int at(int y, int x, int channel, int width);
    return (y * width + x) * Atom + channel;
  endfunction

  // Register groups take turns.
  task automatic run_reference(int unsigned group);
    int unsigned status;
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
    good(npuscope_run_until_interrupt(npu, 1_000_000, passed));
    good(npuscope_read_register(npu, NVDLA_GLB_S_INTR_STATUS_0, status));
    set(NVDLA_GLB_S_INTR_STATUS_0, status);
  endtask

  initial begin
    npu = npuscope_dpi_create("nv_small", "memory=dram_50");
    if (npu == null) $fatal(1, "npuscope: %s", npuscope_error());
    set(NVDLA_GLB_S_INTR_MASK_0, 0);
    for (int i = 0; i < Frames; i++) begin
      foreach (frame[k]) frame[k] = 8'($urandom);
      good(npuscope_dpi_write_memory(npu, From, frame));
      run_reference(i % 2);
      good(npuscope_dpi_read_memory(npu, To, pooled));
      for (int y = 0; y < Half; y++)
        for (int x = 0; x < Half; x++)
          for (int channel = 0; channel < Atom; channel++) begin
            a = frame[at(2 * y, 2 * x, channel, Side)];
            b = frame[at(2 * y, 2 * x + 1, channel, Side)];
            c = frame[at(2 * y + 1, 2 * x, channel, Side)];
            d = frame[at(2 * y + 1, 2 * x + 1, channel, Side)];
            #1;
            compared++;
            if (most !== $signed(pooled[at(y, x, channel, Half)])) begin
              if (wrong == 0)
                $display("frame %0d, row %0d, column %0d, channel %0d: the block gives %0d, npuscope %0d", i, y, x,
                         channel, most, $signed(pooled[at(y, x, channel, Half)]));
              wrong++;
            end
          end
    end
    good(npuscope_cycle(npu, cycle));
    $display("%0d values compared, %0d differ, %0d cycles of the NPU", compared, wrong, cycle);
    good(npuscope_destroy(npu));
    if (wrong != 0) $fatal(1, "the block is wrong");
    $finish;
  end
endmodule
