// SPDX-License-Identifier: Apache-2.0
// A direct-mapped cache in front of a memory, with lines of `LineBytes`: reads fetch the lines that they miss, writes
// go through and update the lines that they hit. One transaction at a time. With WRONG_LINE, tags are not compared,
// which shows in the bytes of a program.
module axi_buffer #(
  parameter int DataBits = 64,
  parameter int IdBits = 4,
  parameter int Lines = 64,
  parameter int LineBytes = 64
) (
  input logic clk,
  input logic rst_n,
  axi_port from,
  axi_port to,
  output int unsigned hits,
  output int unsigned misses
);
  localparam int Bytes = DataBits / 8;
  localparam int Beats = LineBytes / Bytes;
  localparam int WordBits = $clog2(Bytes);
  localparam int LineBits = $clog2(LineBytes);
  localparam int IndexBits = $clog2(Lines);
  typedef enum logic [2:0] {Idle, Look, Ask, Fill, Give, Through, Answer} step;

  step state;
  logic [DataBits-1:0] data[Lines * Beats];
  logic [63-LineBits-IndexBits:0] tag[Lines];
  logic [Lines-1:0] valid;
  logic [IdBits-1:0] id;
  logic [63:0] address;  // of the beat, word-aligned
  logic [8:0] beat, length;
  logic [8:0] filled;
  logic [1:0] fill_response, response;  // of the line being fetched, and for the master
  logic reads_last;

  wire [IndexBits-1:0] index = address[LineBits+:IndexBits];
  wire [$clog2(Lines * Beats)-1:0] place = address[WordBits+:$clog2(Lines * Beats)];
`ifdef WRONG_LINE
  wire hit = valid[index];
`else
  wire hit = valid[index] && tag[index] == address[63-:64-LineBits-IndexBits];
`endif
  wire [$clog2(Lines * Beats)-1:0] line_place = ($clog2(Lines * Beats))'(index * Beats) + ($clog2(Lines * Beats))'(filled);

  assign from.arready = state == Idle && !from.awvalid || state == Idle && reads_last == 0;
  assign from.awready = state == Idle && !(from.arvalid && from.arready);
  assign from.rvalid = state == Give;
  assign from.rid = id;
  assign from.rdata = data[place];
  assign from.rresp = response;
  assign from.rlast = beat == length;
  assign from.wready = state == Through && to.wready;
  assign from.bvalid = state == Answer && to.bvalid;
  assign from.bid = id;
  assign from.bresp = to.bresp;

  assign to.arvalid = state == Ask;
  assign {to.arid, to.arburst, to.awburst, to.arsize, to.awsize} =
    {id, 2'b01, 2'b01, 3'(WordBits), 3'(WordBits)};
  assign to.araddr = {address[63:LineBits], LineBits'(0)};
  assign to.arlen = 8'(Beats - 1);
  assign to.rready = state == Fill;
  assign to.awid = id;
  assign to.awlen = 8'(length - 1'b1);
  assign to.wvalid = state == Through && from.wvalid;
  assign {to.wdata, to.wstrb, to.wlast} = {from.wdata, from.wstrb, from.wlast};
  assign to.bready = state == Answer && from.bready;

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      state <= Idle;
      valid <= '0;
      to.awvalid <= 0;
      reads_last <= 0;
      hits <= 0;
      misses <= 0;
    end else begin
      if (to.awvalid && to.awready) to.awvalid <= 0;
      unique case (state)
        Idle:
          if (from.arvalid && from.arready) begin
            {id, length, beat, state, reads_last} <= {from.arid, 9'(from.arlen) + 9'd1, 9'd1, Look, 1'b1};
            address <= {from.araddr[63:WordBits], WordBits'(0)};
          end else if (from.awvalid && from.awready) begin
            {id, length, state, reads_last} <= {from.awid, 9'(from.awlen) + 9'd1, Through, 1'b0};
            address <= {from.awaddr[63:WordBits], WordBits'(0)};
            to.awaddr <= from.awaddr;
            to.awvalid <= 1;
          end
        Look: begin
          response <= 0;
          filled <= 0;
          fill_response <= 0;
          state <= hit ? Give : Ask;
          if (hit) hits <= hits + 1;
          else misses <= misses + 1;
        end
        Ask: if (to.arready) state <= Fill;
        Fill:
          if (to.rvalid) begin
            data[line_place] <= to.rdata;
            filled <= filled + 1'b1;
            fill_response <= fill_response | to.rresp;
            if (to.rlast) begin
              valid[index] <= (fill_response | to.rresp) == 0;
              tag[index] <= address[63-:64-LineBits-IndexBits];
              response <= fill_response | to.rresp;
              state <= Give;
            end
          end
        Give:
          if (from.rready) begin
            address <= address + 64'(Bytes);
            beat <= beat + 1'b1;
            state <= beat == length ? Idle : Look;
          end
        Through:
          if (from.wvalid && to.wready) begin
            for (int i = 0; i < Bytes; ++i)
              if (hit && from.wstrb[i]) data[place][8*i+:8] <= from.wdata[8*i+:8];
            address <= address + 64'(Bytes);
            if (from.wlast) state <= Answer;
          end
        Answer: if (to.bvalid && from.bready) state <= Idle;
        default: state <= Idle;
      endcase
    end
  end
endmodule
