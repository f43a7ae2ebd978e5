#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# npuscope as an AXI master among RTL, built with Verilator against the installed package. `widths`: with --cc and --sc, with
# registers by CSB and by APB, every width of the bus plays recordings of register programs. `faults`: random latency, readiness
# and pauses, error responses, resets with requests in flight; a faulty cache must be found by the bytes, and a crossbar that
# breaks a rule by the checker. FLAGS are those of the library's own build. Skipped (77) without Verilator or numpy.
set -euo pipefail
prefix=$1 libdir=$2 examples=$3 work=$4 bench=$5 golden=$6 part=$7
flags=${8:-}
command -v verilator >/dev/null && /usr/bin/python3 -c "import numpy" || {
    echo "skipped: Verilator or python3-numpy is not installed"
    exit 77
}
if [[ $flags == *-fsanitize=*address* ]]; then
    # measured: more than a hundred times the processor time of a run without it
    echo "skipped: a cycle of the bench takes a hundred times as long under AddressSanitizer; tests/sim/embed watch the same calls"
    exit 77
fi
OBJCACHE=$(command -v ccache || true)
export OBJCACHE
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig LD_LIBRARY_PATH=$prefix/$libdir
rm -rf "$work"
mkdir -p "$work"
cd "$work"
build() {
    local folder=$1 kind=$2 main=$3
    shift 3
    verilator "$kind" --exe --build -j 2 --assert --timing "$@" -Mdir "$folder" \
        "$examples"/dpi/{npuscope_pins,npuscope_axi_checker}.sv "$examples"/axi/{axi_port,axi_crossbar,axi_memory,axi_buffer,bench}.sv \
        "$examples"/dpi/npuscope_{pins,memory}_dpi.c "$examples"/axi/"$main" -CFLAGS "$flags $(pkg-config --cflags npuscope)" \
        -LDFLAGS "$flags $(pkg-config --libs npuscope)" --top-module bench >build.log 2>&1 || {
        cat build.log
        exit 1
    }
}
record() { # NPU PROGRAM FILE
    /usr/bin/python3 "$bench"/every_door --prefix "$prefix" --npus "$1" --record "$3" "$2"
}
record nv_small "$prefix"/share/npuscope/configs/experiment/three_layers layers.txt
passes() { # FOLDER RECORDING ARGUMENT ..
    "$1"/Vbench +recording="$2" "${@:3}" >run.log 2>&1 || {
        cat run.log
        echo "$1: $2 fails"
        exit 1
    }
    grep --quiet "all as recorded" run.log
}
each() { # FOLDER RECORDING ..
    for recording in "${@:2}"; do passes "$1" "$recording"; done
}

widths() {
    for name in fp04 fs10 sw_5x9x88 pdp_8x8x64_avg8 sdp_1x1x800 dw_7x7x8_p1; do
        record nv_small "$golden"/rtl/$name $name.txt
    done
    for name in sdp_ew_f16_3 wmb_i8_s030_6_comp bdma_2_3d rbk_merge_f16_0; do
        record nv_full "$golden"/nv_full/$name full_$name.txt
    done
    "$prefix"/bin/npuscope plan lenet --npu nv_small --out lenet >plan.log 2>&1
    record nv_small lenet lenet.txt
    local small=(layers.txt fp04.txt fs10.txt sw_5x9x88.txt pdp_8x8x64_avg8.txt sdp_1x1x800.txt dw_7x7x8_p1.txt)
    build sc_32 --sc sc_main.cpp -GDataBits=32 -GApb=1 -GIds=1
    each sc_32 "${small[@]}"
    build cc_64 --cc main.cpp
    each cc_64 "${small[@]}" lenet.txt
    build cc_128 --cc main.cpp -GDataBits=128 -GMostBeats=2 -GIds=4
    each cc_128 "${small[@]}"
    build full_256 --cc main.cpp -GNpu='"nv_full"' -GDataBits=256 -GMostBeats=8
    each full_256 full_*.txt
    build full_512 --cc main.cpp -GNpu='"nv_full"' -GDataBits=512 -GMostBeats=4
    each full_512 full_*.txt
}

# answers ARGUMENT STATUS WHAT SURFACE: the program continues, and the result has this finding and no other.
answers() {
    passes cc_64 layers.txt "+$1" +result=result.json
    /usr/bin/python3 - "memory returned $2 for a $3" "$4" <<'END'
import json
import sys
findings = json.load(open("result.json"))["findings"]
assert [one["id"] for one in findings] == ["memory_error_response"], findings
assert findings[0]["message"] == sys.argv[1], findings
assert f'{findings[0]["operation"]}, {findings[0]["surface"]}' == sys.argv[2], findings
END
}

faults() {
    build cc_64 --cc main.cpp
    for seed in 1 2 3; do
        passes cc_64 layers.txt +verilator+seed+$seed +latency=300 +stall=$((20 * seed)) +master_stall=$((90 - 30 * seed)) +idle=20 +result=result.json
        grep --quiet '"findings": *\[\]' result.json
    done
    answers slverr=80011000 TLM_GENERIC_ERROR_RESPONSE "read of 8 bytes at 0x80011000" "conv 3, weights"
    answers decerr=80012000 TLM_ADDRESS_ERROR_RESPONSE "read of 8 bytes at 0x80012000" "sdp 2, BS operands"
    answers slverr=80040000 TLM_GENERIC_ERROR_RESPONSE "write of 8 bytes at 0x80040000" "pdp 4, output"
    answers decerr=80041000 TLM_ADDRESS_ERROR_RESPONSE "write of 8 bytes at 0x80041000" "pdp 4, output"
    # without the allocator's own cache, whose blocks count as allocated
    GLIBC_TUNABLES=glibc.malloc.tcache_count=0 passes cc_64 layers.txt +resets=200 +reset_after=20000
    grep --quiet "^200 resets with [1-9]" run.log
    build wrong_line --cc main.cpp +define+WRONG_LINE
    fails wrong_line "memory at .* has .*, not"
    build broken_rule --cc main.cpp +define+BROKEN_RULE
    fails broken_rule "WLAST is not at the last beat"
}
fails() { # FOLDER TEXT
    if "$1"/Vbench +recording=layers.txt >run.log 2>&1; then
        echo "$1: the bug was not found"
        exit 1
    fi
    grep --quiet "$2" run.log
}
"$part"
