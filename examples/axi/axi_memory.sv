// SPDX-License-Identifier: Apache-2.0
// An AXI4 memory with random latency, readiness and order: bursts of full beats, INCR. Answers of one identifier keep their
// order; those of others may overtake. `peek` and `poke` take no time. The simulator's command line can set the ranges
// (+latency=CYCLES, +stall=PERCENT); bursts with the byte at +slverr=ADDRESS or +decerr=ADDRESS, in hexadecimal, get that
// response, for reads only this beat; bytes are moved all the same.
module axi_memory #(
  parameter int DataBits = 64,
  parameter int IdBits = 4,
  parameter int LeastLatency = 10,
  parameter int MostLatency = 60,
  parameter int StallPercent = 20
) (
  input logic clk,
  input logic rst_n,
  axi_port from
);
  localparam int Lanes = DataBits / 8;
  localparam longint unsigned Bytes = longint'(Lanes);
  typedef struct {
    logic [IdBits-1:0] id;
    longint unsigned address;
    int beats;
    longint unsigned due;
  } burst;

  bit [DataBits-1:0] held[longint unsigned];  // by word number
  longint unsigned now = 0;
  burst reads[$], writes[$], answers[$], one, sent;
  bit sending = 0;
  int beat = 0, write_beat = 0;
  int least_latency = LeastLatency, most_latency = MostLatency, stall_percent = StallPercent;
  longint unsigned slave_error = '1, decode_error = '1;  // addresses; no byte is at this one

  initial begin
    if ($value$plusargs("latency=%d", most_latency) != 0) least_latency = 1;
    void'($value$plusargs("stall=%d", stall_percent));
    void'($value$plusargs("slverr=%h", slave_error));
    void'($value$plusargs("decerr=%h", decode_error));
  end

  function automatic logic [1:0] response(input longint unsigned address, input int words);
    longint unsigned begins, ends;
    begins = address / Bytes * Bytes;
    ends = begins + longint'(words) * Bytes;
    if (begins <= decode_error && decode_error < ends) return 2'b11;
    return begins <= slave_error && slave_error < ends ? 2'b10 : 2'b00;
  endfunction

  function automatic byte unsigned peek(input longint unsigned address);
    if (held.exists(address / Bytes) == 0) return 0;
    return 8'(held[address / Bytes] >> (8 * (address % Bytes)));
  endfunction
  function automatic void poke(input longint unsigned address, input byte unsigned value);
    byte unsigned changed;
    changed = value ^ peek(address);
    if (changed != 0) held[address/Bytes] = word_at(address) ^ (DataBits'(changed) << (8 * (address % Bytes)));
  endfunction
  function automatic void clear();
    held.delete();
  endfunction

  function automatic bit stalls();
    return $urandom_range(99, 0) < stall_percent;
  endfunction
  function automatic longint unsigned due();
    return now + longint'($urandom_range(most_latency, least_latency));
  endfunction

  // One that is due and the oldest of its identifier, searched from a random position. -1 if there is none.
  function automatic int choose(input burst all[$]);
    int at, first;
    bit older;
    if (all.size() == 0) return -1;
    first = $urandom_range(all.size() - 1, 0);
    for (int i = 0; i < all.size(); ++i) begin
      at = (first + i) % all.size();
      older = 0;
      for (int k = 0; k < at; ++k) older = older | (all[k].id == all[at].id);
      if (all[at].due <= now && !older) return at;
    end
    return -1;
  endfunction

  function automatic bit [DataBits-1:0] word_at(input longint unsigned address);
    return held.exists(address / Bytes) != 0 ? held[address / Bytes] : '0;
  endfunction

  task automatic serve_reads();
    int at;
    longint unsigned word;
    if (from.rvalid && !from.rready) return;
    from.rvalid <= 0;
    if (!sending) begin
      at = choose(reads);
      if (at < 0) return;
      sent = reads[at];
      reads.delete(at);
      sending = 1;
      beat = 0;
    end
    if (stalls()) return;
    from.rvalid <= 1;
    from.rid <= sent.id;
    word = sent.address / Bytes * Bytes + longint'(beat) * Bytes;
    from.rresp <= response(word, 1);
    from.rdata <= word_at(word);
    beat = beat + 1;
    from.rlast <= beat == sent.beats;
    sending = beat != sent.beats;
  endtask

  task automatic take_beat();
    longint unsigned word;
    bit [DataBits-1:0] value;
    word = writes[0].address / Bytes + longint'(write_beat);
    value = word_at(word * Bytes);
    for (int i = 0; i < Lanes; ++i) if (from.wstrb[i]) value[8*i+:8] = from.wdata[8*i+:8];
    held[word] = value;
    write_beat = write_beat + 1;
    if (from.wlast) begin
      one = writes.pop_front();
      one.due = due();
      answers.push_back(one);
      write_beat = 0;
    end
  endtask

  task automatic answer_writes();
    int at;
    if (from.bvalid && !from.bready) return;
    at = choose(answers);
    from.bvalid <= at >= 0;
    if (at < 0) return;
    from.bid <= answers[at].id;
    from.bresp <= response(answers[at].address, answers[at].beats);
    answers.delete(at);
  endtask

  always @(posedge clk) begin
    if (!rst_n) begin
      reads.delete();
      writes.delete();
      answers.delete();
      sending = 0;
      write_beat = 0;
      {from.arready, from.awready, from.wready, from.rvalid, from.bvalid} <= '0;
    end else begin
      now = now + 1;
      if (from.arvalid && from.arready) begin
        one.id = from.arid;
        one.address = from.araddr;
        one.beats = int'(from.arlen) + 1;
        one.due = due();
        reads.push_back(one);
      end
      if (from.awvalid && from.awready) begin
        one.id = from.awid;
        one.address = from.awaddr;
        one.beats = int'(from.awlen) + 1;
        writes.push_back(one);
      end
      if (from.wvalid && from.wready) take_beat();
      serve_reads();
      answer_writes();
      from.arready <= !stalls();
      from.awready <= !stalls() && writes.size() < 4;
      from.wready <= !stalls() && (writes.size() > 1 || (writes.size() == 1 && !(from.wvalid && from.wready && from.wlast)));
    end
  end
endmodule
