// SPDX-License-Identifier: Apache-2.0
// A scoreboard for one block, without a device: a requantiser in SystemVerilog, built like an SDP's BS stage and
// output convertor, compared with npuscope_sdp. A million random vectors, including corner cases. With +define+BUG
// the block rounds half up, as many designs do, and the scoreboard finds it.
//
//     $ verilator --binary -O3 requantiser.sv requantiser_dpi.c \
//         -CFLAGS "$(pkg-config --cflags npuscope)" -LDFLAGS "$(pkg-config --libs npuscope)" --top-module bench
//     $ obj_dir/Vbench

// (value >> shift), rounded half away from zero, saturated to Out bits; a shift by In or more returns 0.
module round_shift #(
    parameter int In = 49,
    parameter int Out = 32
) (
    input  logic signed [In-1:0] value,
    input  logic [5:0] shift,
    output logic signed [Out-1:0] result
);
  localparam logic signed [In:0] Most = (In + 1)'((64'sd1 <<< (Out - 1)) - 64'sd1);
  localparam logic signed [In:0] Least = -Most - 1;
  logic signed [In:0] floor, rounded;
  logic half, below;
  assign floor = (In + 1)'(value) >>> shift;
  assign half = shift != 0 && value[shift-1];
  assign below = |(value & ~({In{1'b1}} << (shift - 1)));
`ifdef BUG
  assign rounded = floor + (half ? 1 : 0);
`else
  assign rounded = floor + (half && (!value[In-1] || below) ? 1 : 0);
`endif
  assign result = int'(shift) >= In ? '0 : rounded > Most ? Out'(Most) : rounded < Least ? Out'(Least) : Out'(rounded);
endmodule

module requantiser (
    input logic clk,
    input logic signed [31:0] sum,        // of the convolution
    input logic signed [15:0] bias,
    input logic [5:0] bias_shift,         // left, saturating at 32 bits
    input logic signed [15:0] scale,
    input logic [5:0] shift,              // right, half away from zero, saturating at 32 bits
    input logic relu,
    input logic signed [31:0] offset,     // of the output convertor: (x - offset) * scale >> shift
    input logic signed [15:0] out_scale,
    input logic [5:0] out_shift,
    output logic signed [7:0] result      // after the clock's next edge
);
  logic signed [79:0] wide;
  logic signed [31:0] operand, scaled;
  logic signed [32:0] biased, centred, activated;
  logic signed [48:0] product, out_product;
  logic signed [16:0] narrowed;

  assign wide = 80'(bias) <<< bias_shift;
  assign operand = wide > 80'sd2147483647 ? 32'sh7fff_ffff : wide < -80'sd2147483648 ? 32'sh8000_0000 : 32'(wide);
  assign biased = 33'(sum) + 33'(operand);
  assign product = 49'(biased) * 49'(scale);
  round_shift #(.In(49), .Out(32)) first (.value(product), .shift(shift), .result(scaled));
  assign activated = relu && scaled < 0 ? '0 : 33'(scaled);
  assign centred = activated - 33'(offset);
  assign out_product = 49'(centred) * 49'(out_scale);
  round_shift #(.In(49), .Out(17)) second (.value(out_product), .shift(out_shift), .result(narrowed));
  always_ff @(posedge clk) result <= narrowed > 127 ? 8'sd127 : narrowed < -128 ? -8'sd128 : 8'(narrowed);
endmodule

module bench;
  import "DPI-C" function int npuscope_dpi_requantise(
      input int sum, input shortint bias, input byte unsigned bias_shift, input shortint scale,
      input byte unsigned shift, input byte unsigned relu, input int offset, input shortint out_scale,
      input byte unsigned out_shift, output byte result);
  import "DPI-C" function string npuscope_error();

  localparam int Vectors = 1_000_000;

  logic clk = 0;
  logic signed [31:0] sum, offset;
  logic signed [15:0] bias, scale, out_scale;
  logic [5:0] bias_shift, shift, out_shift;
  logic relu;
  logic signed [7:0] result;
  byte expected;
  int wrong = 0;

  requantiser block (.*);

  // Any number of bits, so that small values, ties and limits occur.
  function automatic int any_size();
    return $signed($urandom) >>> ($urandom % 32);
  endfunction

  initial begin
    for (int i = 0; i < Vectors; i++) begin
      sum = any_size();
      bias = 16'(any_size());
      bias_shift = 6'($urandom % (i % 8 == 0 ? 64 : 16));
      scale = 16'(any_size());
      shift = 6'($urandom % (i % 8 == 1 ? 64 : 24));
      relu = 1'($urandom);
      offset = any_size();
      out_scale = 16'(any_size());
      out_shift = 6'($urandom % (i % 8 == 2 ? 64 : 24));
      #1 clk = 1;
      #1 clk = 0;
      if (npuscope_dpi_requantise(sum, bias, {2'b0, bias_shift}, scale, {2'b0, shift}, {7'b0, relu}, offset,
                                  out_scale, {2'b0, out_shift}, expected) != 0)
        $fatal(1, "npuscope: %s", npuscope_error());
      if (result !== expected) begin
        if (wrong == 0)
          $display("vector %0d: sum %0d, bias %0d << %0d, * %0d >> %0d, relu %0d, (x - %0d) * %0d >> %0d: the block gives %0d, npuscope %0d",
                   i, sum, bias, bias_shift, scale, shift, relu, offset, out_scale, out_shift, result, expected);
        wrong++;
      end
    end
    $display("%0d vectors compared, %0d differ", Vectors, wrong);
    if (wrong != 0) $fatal(1, "the block is wrong");
    $finish;
  end
endmodule
