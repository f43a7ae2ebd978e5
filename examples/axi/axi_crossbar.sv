// SPDX-License-Identifier: Apache-2.0
// Two masters, two slaves: 4 KiB pages alternate between the slaves. A master has transactions in flight at one
// slave at a time, separately for reads and writes, so that answers stay in order per identifier. At a slave,
// identifiers are prefixed with the number of their master. With BROKEN_RULE the first slave never sees WLAST,
// which the checker reports.
module axi_crossbar #(
  parameter int DataBits = 64,
  parameter int IdBits = 4
) (
  input logic clk,
  input logic rst_n,
  axi_port from_0,
  axi_port from_1,
  axi_port to_0,  // identifiers of IdBits + 1
  axi_port to_1
);
  localparam int Page = 12;
  localparam int Payload = IdBits + 64 + 8 + 3 + 2;

  // --- addresses: an arbiter for each slave and direction ---
  logic [1:0] read_valid, read_ready, write_valid, write_ready;      // by master
  logic [1:0] read_to, write_to;                                     // slave that the master addresses
  logic [Payload-1:0] read_address[2], write_address[2];
  logic [1:0] slave_read_valid, slave_read_ready, slave_write_valid, slave_write_ready;  // by slave
  logic [1:0] read_master, write_master;                             // master that the slave serves
  logic [5:0] reads_open[2], writes_open[2];                         // by master
  logic [1:0] reads_at, writes_at;                                   // and at which slave

  assign read_valid = {from_1.arvalid, from_0.arvalid};
  assign write_valid = {from_1.awvalid, from_0.awvalid};
  assign read_to = {from_1.araddr[Page], from_0.araddr[Page]};
  assign write_to = {from_1.awaddr[Page], from_0.awaddr[Page]};
  assign read_address[0] = {from_0.arid, from_0.araddr, from_0.arlen, from_0.arsize, from_0.arburst};
  assign read_address[1] = {from_1.arid, from_1.araddr, from_1.arlen, from_1.arsize, from_1.arburst};
  assign write_address[0] = {from_0.awid, from_0.awaddr, from_0.awlen, from_0.awsize, from_0.awburst};
  assign write_address[1] = {from_1.awid, from_1.awaddr, from_1.awlen, from_1.awsize, from_1.awburst};
  assign slave_read_ready = {to_1.arready, to_0.arready};
  assign slave_write_ready = {to_1.awready, to_0.awready};

  logic [1:0] read_stalled, write_stalled, read_first, write_first;  // by slave: keep the choice; whose turn it is
  logic [1:0] order_full, order_empty;
  logic [1:0] read_may[2], write_may[2];  // by slave: masters
  for (genvar s = 0; s < 2; ++s) begin : arbiter
    logic [1:0] order;  // of masters whose beats the slave awaits, a queue of 8
    logic [7:0] queue;
    logic [3:0] length;
    for (genvar m = 0; m < 2; ++m) begin : each
      assign read_may[s][m] = read_valid[m] && read_to[m] == 1'(s) && reads_open[m] != '1 &&
                              (reads_open[m] == 0 || reads_at[m] == 1'(s));
      assign write_may[s][m] = write_valid[m] && write_to[m] == 1'(s) && writes_open[m] != '1 &&
                               (writes_open[m] == 0 || writes_at[m] == 1'(s));
    end
    logic read_kept, write_kept;
    always_comb begin
      read_master[s] = read_stalled[s] ? read_kept : read_may[s][read_first[s]] ? read_first[s] : !read_first[s];
      write_master[s] = write_stalled[s] ? write_kept : write_may[s][write_first[s]] ? write_first[s] : !write_first[s];
    end
    assign slave_read_valid[s] = read_may[s][read_master[s]];
    assign slave_write_valid[s] = write_may[s][write_master[s]] && (write_stalled[s] || !order_full[s]);
    assign order_full[s] = length >= 4'd7;
    assign order_empty[s] = length == 0;
    assign order = {1'b0, queue[0]};
    always_ff @(posedge clk) begin
      read_kept <= read_master[s];
      write_kept <= write_master[s];
      read_stalled[s] <= rst_n && slave_read_valid[s] && !slave_read_ready[s];
      write_stalled[s] <= rst_n && slave_write_valid[s] && !slave_write_ready[s];
      if (!rst_n) begin
        read_first[s] <= 0;
        write_first[s] <= 0;
        length <= 0;
      end else begin
        if (slave_read_valid[s] && slave_read_ready[s]) read_first[s] <= !read_master[s];
        if (slave_write_valid[s] && slave_write_ready[s]) write_first[s] <= !write_master[s];
        case ({slave_write_valid[s] && slave_write_ready[s], beats_end[s]})
          2'b10: begin
            queue[3'(length)] <= write_master[s];
            length <= length + 1'b1;
          end
          2'b01: begin
            queue <= {1'b0, queue[7:1]};
            length <= length - 1'b1;
          end
          2'b11: begin
            queue <= {1'b0, queue[7:1]};
            queue[3'(length - 1'b1)] <= write_master[s];
          end
          default: ;
        endcase
      end
    end
    assign data_master[s] = order[0];
  end
  logic [1:0] data_master, beats_end;

  for (genvar m = 0; m < 2; ++m) begin : by_master
    assign read_ready[m] = slave_read_valid[read_to[m]] && read_master[read_to[m]] == 1'(m) && slave_read_ready[read_to[m]];
    assign write_ready[m] =
      slave_write_valid[write_to[m]] && write_master[write_to[m]] == 1'(m) && slave_write_ready[write_to[m]];
    always_ff @(posedge clk) begin
      if (!rst_n) begin
        reads_open[m] <= 0;
        writes_open[m] <= 0;
        reads_at[m] <= 0;
        writes_at[m] <= 0;
      end else begin
        reads_open[m] <= reads_open[m] + 6'(read_valid[m] && read_ready[m]) - 6'(read_ends[m]);
        writes_open[m] <= writes_open[m] + 6'(write_valid[m] && write_ready[m]) - 6'(write_ends[m]);
        if (read_valid[m] && read_ready[m]) reads_at[m] <= read_to[m];
        if (write_valid[m] && write_ready[m]) writes_at[m] <= write_to[m];
      end
    end
  end
  assign from_0.arready = read_ready[0];
  assign from_1.arready = read_ready[1];
  assign from_0.awready = write_ready[0];
  assign from_1.awready = write_ready[1];
  assign to_0.arvalid = slave_read_valid[0];
  assign to_1.arvalid = slave_read_valid[1];
  assign to_0.awvalid = slave_write_valid[0];
  assign to_1.awvalid = slave_write_valid[1];
  assign {to_0.arid, to_0.araddr, to_0.arlen, to_0.arsize, to_0.arburst} = {read_master[0], read_address[read_master[0]]};
  assign {to_1.arid, to_1.araddr, to_1.arlen, to_1.arsize, to_1.arburst} = {read_master[1], read_address[read_master[1]]};
  assign {to_0.awid, to_0.awaddr, to_0.awlen, to_0.awsize, to_0.awburst} =
    {write_master[0], write_address[write_master[0]]};
  assign {to_1.awid, to_1.awaddr, to_1.awlen, to_1.awsize, to_1.awburst} =
    {write_master[1], write_address[write_master[1]]};

  // --- write beats, in the order in which the slave has accepted their addresses ---
  logic [1:0] beat_valid, beat_last, beat_to_valid, beat_to_ready;
  assign beat_valid = {from_1.wvalid, from_0.wvalid};
  assign beat_last = {from_1.wlast, from_0.wlast};
  assign beat_to_ready = {to_1.wready, to_0.wready};
  assign beat_to_valid[0] = !order_empty[0] && beat_valid[data_master[0]];
  assign beat_to_valid[1] = !order_empty[1] && beat_valid[data_master[1]];
  assign beats_end[0] = beat_to_valid[0] && beat_to_ready[0] && beat_last[data_master[0]];
  assign beats_end[1] = beat_to_valid[1] && beat_to_ready[1] && beat_last[data_master[1]];
  assign to_0.wvalid = beat_to_valid[0];
  assign to_1.wvalid = beat_to_valid[1];
`ifdef BROKEN_RULE
  logic unused_last;
  assign to_0.wlast = 0;
  assign {to_0.wdata, to_0.wstrb, unused_last} =
`else
  assign {to_0.wdata, to_0.wstrb, to_0.wlast} =
`endif
    data_master[0] ? {from_1.wdata, from_1.wstrb, from_1.wlast} : {from_0.wdata, from_0.wstrb, from_0.wlast};
  assign {to_1.wdata, to_1.wstrb, to_1.wlast} =
    data_master[1] ? {from_1.wdata, from_1.wstrb, from_1.wlast} : {from_0.wdata, from_0.wstrb, from_0.wlast};
  assign from_0.wready = (!order_empty[0] && !data_master[0] && to_0.wready) || (!order_empty[1] && !data_master[1] && to_1.wready);
  assign from_1.wready = (!order_empty[0] && data_master[0] && to_0.wready) || (!order_empty[1] && data_master[1] && to_1.wready);

  // --- answers: from the slave where the master has transactions in flight ---
  logic [1:0] read_ends, write_ends, answer_valid, done_valid;
  logic [1:0] answer_to, done_to;  // by slave: the master
  assign answer_to = {to_1.rid[IdBits], to_0.rid[IdBits]};
  assign done_to = {to_1.bid[IdBits], to_0.bid[IdBits]};
  for (genvar m = 0; m < 2; ++m) begin : back
    assign answer_valid[m] = reads_at[m] ? to_1.rvalid && answer_to[1] == 1'(m) : to_0.rvalid && answer_to[0] == 1'(m);
    assign done_valid[m] = writes_at[m] ? to_1.bvalid && done_to[1] == 1'(m) : to_0.bvalid && done_to[0] == 1'(m);
  end
  assign from_0.rvalid = answer_valid[0];
  assign from_1.rvalid = answer_valid[1];
  assign from_0.bvalid = done_valid[0];
  assign from_1.bvalid = done_valid[1];
  assign {from_0.rid, from_0.rdata, from_0.rresp, from_0.rlast} =
    reads_at[0] ? {to_1.rid[IdBits-1:0], to_1.rdata, to_1.rresp, to_1.rlast}
                : {to_0.rid[IdBits-1:0], to_0.rdata, to_0.rresp, to_0.rlast};
  assign {from_1.rid, from_1.rdata, from_1.rresp, from_1.rlast} =
    reads_at[1] ? {to_1.rid[IdBits-1:0], to_1.rdata, to_1.rresp, to_1.rlast}
                : {to_0.rid[IdBits-1:0], to_0.rdata, to_0.rresp, to_0.rlast};
  assign {from_0.bid, from_0.bresp} = writes_at[0] ? {to_1.bid[IdBits-1:0], to_1.bresp} : {to_0.bid[IdBits-1:0], to_0.bresp};
  assign {from_1.bid, from_1.bresp} = writes_at[1] ? {to_1.bid[IdBits-1:0], to_1.bresp} : {to_0.bid[IdBits-1:0], to_0.bresp};
  assign to_0.rready = answer_to[0] ? !reads_at[1] && from_1.rready : !reads_at[0] && from_0.rready;
  assign to_1.rready = answer_to[1] ? reads_at[1] && from_1.rready : reads_at[0] && from_0.rready;
  assign to_0.bready = done_to[0] ? !writes_at[1] && from_1.bready : !writes_at[0] && from_0.bready;
  assign to_1.bready = done_to[1] ? writes_at[1] && from_1.bready : writes_at[0] && from_0.bready;
  assign read_ends[0] = from_0.rvalid && from_0.rready && from_0.rlast;
  assign read_ends[1] = from_1.rvalid && from_1.rready && from_1.rlast;
  assign write_ends[0] = from_0.bvalid && from_0.bready;
  assign write_ends[1] = from_1.bvalid && from_1.bready;
endmodule
