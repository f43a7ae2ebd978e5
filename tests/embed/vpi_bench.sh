#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the VPI module and its bench with Icarus Verilog against the installed package, as their first lines say, and runs
# them; with the bug in its block the bench must say where. Refused calls end the simulation. FLAGS are those of the
# library's own build; under AddressSanitizer its runtime is loaded first, and leaks are not checked, as vvp frees little
# of its own. Skipped (77) without Icarus.
set -euo pipefail
prefix=$1 libdir=$2 source=$3 work=$4
flags=${5:-}
command -v iverilog-vpi >/dev/null || {
    echo "skipped: Icarus Verilog is not installed"
    exit 77
}
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig LD_LIBRARY_PATH=$prefix/$libdir
rm -rf "$work"
mkdir -p "$work"
cd "$work"
simulate() { # OPTION .. BENCH
    if [[ $flags == *-fsanitize=*address* ]]; then
        LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so) ASAN_OPTIONS=detect_leaks=0 vvp -M. "$@"
    else
        vvp -M. "$@"
    fi
}
"$prefix"/bin/npuscope list registers --npu nv_small --sv-package >nv_small_registers.sv
iverilog-vpi --name=npuscope "$source"/npuscope_vpi.c $(pkg-config --cflags --libs npuscope) >build.log 2>&1 || {
    cat build.log
    exit 1
}
iverilog -g2012 -Wall -L. -mnpuscope -o good nv_small_registers.sv "$source"/bench.sv
simulate -mnpuscope good | tee good.log
grep --quiet "^4096 values compared, 0 differ" good.log
grep --quiet '"findings": *\[\]' result.json
iverilog -g2012 -DBUG -o bad nv_small_registers.sv "$source"/bench.sv
if simulate -mnpuscope bad >bad.log; then
    echo "the bug was not found"
    exit 1
fi
grep --quiet "^frame 0, row 0, column 0, channel [0-7]: the block gives" bad.log

# refused LINE TEXT: a call that ends the simulation with exit code 1 and its place.
refused() {
    printf 'module bench;\nreg [7:0] bytes[0:3]; reg [15:0] words[0:3]; real length = 10.7; integer negative = -1;\nreg [31:0] npu, unknown;\ninitial begin npu = $npuscope_create("nv_small");\n%s\n$display("went on"); end endmodule\n' "$1" >refused.sv
    iverilog -g2012 -o refused refused.sv
    if simulate -mnpuscope refused >refused.log; then
        cat refused.log
        echo "not refused: $1"
        exit 1
    fi
    local task=${1#*\$npuscope_}
    grep --quiet "^refused.sv:5: \$npuscope_${task%%(*}: .*$2" refused.log || {
        cat refused.log
        exit 1
    }
}
refused 'npu = $npuscope_create("nv_smal");' "did you mean 'nv_small'"
refused '$npuscope_write(npu, 32'"'"'hfffffffc, 1);' "no register at 0xfffffffc"
refused '$npuscope_write(npu, 64'"'"'h1_0000_1004, 1);' "more than 32 bits"
refused 'unknown = $npuscope_read(npu, 64'"'"'h1_0000_1004);' "more than 32 bits"
refused '$npuscope_advance(npu, 65'"'"'h1_0000_0000_0000_0000);' "more than 64 bits"
refused '$npuscope_write(npu + 1, 0, 1);' "there is no such device"
refused '$npuscope_write(npu, unknown, 1);' "bits that are x or z"
refused '$npuscope_write(npu);' "an argument is missing"
refused '$npuscope_write(npu, 32'"'"'h1004, 0, 77);' "too many arguments"
refused '$npuscope_advance(npu, length);' "an argument is a real"
refused '$npuscope_advance(npu, 10.7);' "an argument is a real"
refused '$npuscope_advance(npu, negative);' "the number of cycles is negative"
refused '$npuscope_write_memory(npu, 64'"'"'h80000000, words, 4);' "the elements of the array are not of 8 bits"
refused '$npuscope_read_memory(npu, 64'"'"'h80000000, words, 4);' "the elements of the array are not of 8 bits"
refused '$npuscope_read_memory(npu, 0, bytes, 5);' "the array has fewer elements"
refused '$npuscope_write_memory(npu, 64'"'"'h80000000, bytes, 4);' "the array has bits that are x or z"
refused '$display("%%d", $npuscope_run_until_interrupt(npu, 1000));' "no event is pending"

# A result has 64 bits, and is refused where the compiler does not know that.
cat >long.sv <<'END'
module bench;
  integer npu;
  initial begin
    npu = $npuscope_create("nv_small");
    $npuscope_advance(npu, 64'd5000000000);
    $display("cycle %0d", $npuscope_cycle(npu));
  end
endmodule
END
iverilog -g2012 -L. -mnpuscope -o long long.sv
simulate -mnpuscope long >long.log
grep --quiet "^cycle 5000000000$" long.log
iverilog -g2012 -o long long.sv
if simulate -mnpuscope long >long.log; then
    cat long.log
    echo "a result is truncated"
    exit 1
fi
grep --quiet "^long.sv:6: .npuscope_cycle: the result has more than 32 bits" long.log
