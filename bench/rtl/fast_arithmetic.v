// SPDX-License-Identifier: Apache-2.0
// Arithmetic of nv_full's MAC cells that simulates fast, in the place of NVIDIA's modules of the same names and pins, with
// the same sums: NVIDIA's work bit by bit, 1,024 multipliers in each cycle. bench/nvidia_rtl compiles it.

// Adds `num_inputs` numbers into two. Trees of more than five inputs give the sum and 0: only the sum of both is used.
// Trees of a multiplier give NVIDIA's own two numbers, since an fp16 product is cut after the shift of each.
module NV_DW02_tree (
    INPUT,
    OUT0,
    OUT1
);
  parameter num_inputs = 8;
  parameter input_width = 8;
  input [num_inputs*input_width-1:0] INPUT;
  output [input_width-1:0] OUT0, OUT1;

  generate
    if ((num_inputs == 5 && input_width == 24) || (num_inputs == 4 && input_width == 32)) begin : two
      wire [input_width-1:0] a = INPUT[0+:input_width];
      wire [input_width-1:0] b = INPUT[input_width+:input_width];
      wire [input_width-1:0] c = INPUT[2*input_width+:input_width];
      wire [input_width-1:0] d = INPUT[3*input_width+:input_width];
      wire [input_width-1:0] e = num_inputs == 5 ? INPUT[(num_inputs-1)*input_width+:input_width] : 0;
      wire [input_width-1:0] s1 = a ^ b ^ c;
      wire [input_width-1:0] c1 = ((a & b) | (b & c) | (a & c)) << 1;
      wire [input_width-1:0] s2 = s1 ^ c1 ^ d;
      wire [input_width-1:0] c2 = ((s1 & c1) | (c1 & d) | (s1 & d)) << 1;
      assign OUT0 = num_inputs == 5 ? s2 ^ c2 ^ e : s2;
      assign OUT1 = num_inputs == 5 ? ((s2 & c2) | (c2 & e) | (s2 & e)) << 1 : c2;
    end else begin : one
      reg [input_width-1:0] sum;
      integer i;
      always @* begin
        sum = 0;
        for (i = 0; i < num_inputs; i = i + 1) sum = sum + INPUT[i*input_width+:input_width];
      end
      assign OUT0 = sum;
      assign OUT1 = 0;
    end
  endgenerate
endmodule

// A product as two numbers; of int8 two products. The partial products have inverted signs, which adds a constant.
module NV_NVDLA_CMAC_CORE_MAC_mul (
    input         nvdla_core_clk,
    input         nvdla_core_rstn,
    input         cfg_is_fp16,
    input         cfg_is_int8,
    input         cfg_reg_en,
    input  [ 3:0] exp_sft,
    input  [15:0] op_a_dat,
    input  [ 1:0] op_a_nz,
    input         op_a_pvld,
    input  [15:0] op_b_dat,
    input  [ 1:0] op_b_nz,
    input         op_b_pvld,
    output [31:0] res_a,
    output [31:0] res_b,
    output [ 7:0] res_tag
);
  reg is_fp16, is_int8;
  always @(posedge nvdla_core_clk or negedge nvdla_core_rstn)
    if (!nvdla_core_rstn) {is_fp16, is_int8} <= 0;
    else if (cfg_reg_en) {is_fp16, is_int8} <= {cfg_is_fp16, cfg_is_int8};

  wire [1:0] valid = {2{op_a_pvld & op_b_pvld}} & op_a_nz & op_b_nz;
  wire signed [15:0] low = $signed(op_a_dat[7:0]) * $signed(op_b_dat[7:0]);
  wire signed [15:0] high = $signed(op_a_dat[15:8]) * $signed(op_b_dat[15:8]);
  wire signed [31:0] product = $signed(op_a_dat) * $signed(op_b_dat);

  // A digit of radix 4, times b, with its sign inverted: what is negative is complemented, and 1 is added apart.
  function [17:0] selected(input [2:0] digit, input [15:0] b);
    case (digit)
      3'b001, 3'b010: selected = {1'b0, ~b[15], b};
      3'b011: selected = {1'b0, ~b[15], b[14:0], 1'b0};
      3'b100: selected = {1'b1, b[15], ~b[14:0], 1'b1};
      3'b101, 3'b110: selected = {1'b1, b[15], ~b};
      default: selected = {1'b0, 17'h10000};
    endcase
  endfunction

  wire [31:0] low_0, low_1;
  wire [23:0] half_0[0:1];
  wire [23:0] half_1[0:1];
  wire [2:0] sign = {3{op_a_dat[15] ^ op_b_dat[15]}};
  wire [15:0] a = {1'b0, op_a_dat[14:0]};
  wire [15:0] b = {1'b0, op_b_dat[14:0]};
  genvar i;
  generate
    for (i = 0; i < 2; i = i + 1) begin : half
      wire [8:0] code = i == 0 ? {a[7:0], 1'b0} : a[15:7];
      wire [17:0] p0 = selected(sign ^ code[2:0], b);
      wire [17:0] p1 = selected(sign ^ code[4:2], b);
      wire [17:0] p2 = selected(sign ^ code[6:4], b);
      wire [17:0] p3 = selected(sign ^ code[8:6], b);
      NV_DW02_tree #(5, 24) tree (
          .INPUT({
            {17'b0, p3[17], 6'b0},
            {1'b0, p3[16:0], 1'b0, p2[17], 4'b0},
            {3'b0, p2[16:0], 1'b0, p1[17], 2'b0},
            {5'b0, p1[16:0], 1'b0, p0[17]},
            {7'b0, p0[16:0]}
          }),
          .OUT0(half_0[i]),
          .OUT1(half_1[i])
      );
    end
  endgenerate
  NV_DW02_tree #(4, 32) tree (
      .INPUT({{half_1[1], 8'b0}, {half_0[1], 8'b0}, {8'b0, half_1[0]}, {8'b0, half_0[0]}}),
      .OUT0 (low_0),
      .OUT1 (low_1)
  );

  wire [31:0] fp16_a = valid[1] && !exp_sft[3] ? low_0 >> {exp_sft[2:0], 2'b0} : 0;
  wire [31:0] fp16_b = valid[1] && !exp_sft[3] ? low_1 >> {exp_sft[2:0], 2'b0} : 0;
  wire [15:0] low_sum = valid[0] ? 16'h5500 + low : 16'h5500;
  wire [15:0] high_sum = valid[1] ? 16'h5500 + high : 16'h5500;
  assign res_a = is_fp16 ? fp16_a : is_int8 ? {high_sum, low_sum} : valid[1] ? 32'h55550000 + product : 32'h55550000;
  assign res_b = is_fp16 ? fp16_b : 0;
  assign res_tag = valid[1] && !exp_sft[3] ? 8'hf0 >> exp_sft[2:0] : 0;
endmodule
