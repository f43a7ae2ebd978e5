// SPDX-License-Identifier: Apache-2.0
// Replays recorded accesses of a driver through DPI-C: one access per line, numbers in hexadecimal.
//
//     w ADDRESS VALUE            writes a register
//     r ADDRESS VALUE            reads it, and must get this value
//     W ADDRESS COUNT BYTE ..    writes memory, 64 bytes or 1
//     R ADDRESS COUNT BYTE ..    reads it, and must get these bytes
//     i 0 0                      lets time pass until the interrupt
//
//     $ verilator --binary --timing npuscope_pkg.sv replay.sv npuscope_dpi.c \
//         -CFLAGS "$(pkg-config --cflags npuscope)" -LDFLAGS "$(pkg-config --libs npuscope)" --top-module replay
//     $ obj_dir/Vreplay +npu=nv_small +recording=driver.txt +result=result.json
module replay;
  import npuscope_pkg::*;

  localparam longint unsigned Block = 64'd64;
  localparam longint unsigned Patience = 64'd10_000_000_000;

  chandle npu;
  string name, recording, result;
  int file, code, line;
  byte unsigned wanted[64], found[64], one_wanted[1], one_found[1];

  function automatic void fail(input string text);
    $display("line %0d: %s", line, text);
    $fatal(1);
  endfunction

  function automatic void good(input int status);
    if (status != 0) fail(npuscope_error());
  endfunction

  // One line; 0 at the end.
  function automatic int play();
    byte access;
    longint unsigned address, value, passed;
    int unsigned read;
    int unsigned one;
    if ($fscanf(file, " %c %h %h", access, address, value) != 3) return 0;
    line++;
    if (access == "w") good(npuscope_write_register(npu, address[31:0], value[31:0]));
    else if (access == "r") begin
      good(npuscope_read_register(npu, address[31:0], read));
      if (read != value[31:0]) fail($sformatf("register %h has %h, not %h", address, read, value[31:0]));
    end else if (access == "i") good(npuscope_run_until_interrupt(npu, Patience, passed));
    else if (access == "W" || access == "R") begin
      if (value != Block && value != 1) fail("memory is accessed by 64 bytes or by 1");
      for (int i = 0; i < int'(value); ++i) begin
        code = $fscanf(file, "%h", one);
        wanted[i] = one[7:0];
      end
      one_wanted[0] = wanted[0];
      if (access == "W") begin
        if (value == Block) good(npuscope_dpi_write_memory(npu, address, wanted));
        else good(npuscope_dpi_write_memory(npu, address, one_wanted));
      end else begin
        if (value == Block) good(npuscope_dpi_read_memory(npu, address, found));
        else good(npuscope_dpi_read_memory(npu, address, one_found));
        if (value == 1) found[0] = one_found[0];
        for (int i = 0; i < int'(value); ++i)
          if (found[i] != wanted[i])
            fail($sformatf("memory at %h has %h, not %h", address + longint'(i), found[i], wanted[i]));
      end
    end else fail("no such access");
    return 1;
  endfunction

  initial begin
    if ($value$plusargs("npu=%s", name) == 0) name = "nv_small";
    if ($value$plusargs("recording=%s", recording) == 0) fail("+recording=FILE is missing");
    npu = npuscope_dpi_create(name, "");
    if (npu == null) fail(npuscope_error());
    file = $fopen(recording, "r");
    if (file == 0) fail({"no such file: ", recording});
    while (play() != 0);
    $fclose(file);
    if ($value$plusargs("result=%s", result) != 0) begin
      file = $fopen(result, "w");
      $fwrite(file, "%s", npuscope_dpi_result(npu));
      $fclose(file);
    end
    $display("%0d accesses, all as recorded", line);
    good(npuscope_destroy(npu));
    $finish;
  end
endmodule
