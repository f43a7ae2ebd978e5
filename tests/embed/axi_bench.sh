#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# npuscope as an AXI master among RTL, built with Verilator against the installed package by --cc and by --sc, with
# registers by CSB and by APB and buses of several widths. It plays recordings of register programs; a cache that is
# wrong must be found by the bytes, and a crossbar that breaks a rule by the checker. Skipped (77) without Verilator or numpy.
set -euo pipefail
prefix=$1 libdir=$2 examples=$3 work=$4 bench=$5 golden=$6
command -v verilator >/dev/null && /usr/bin/python3 -c "import numpy" || {
    echo "skipped: Verilator or python3-numpy is not installed"
    exit 77
}
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig LD_LIBRARY_PATH=$prefix/$libdir
rm -rf "$work"
mkdir -p "$work"
cd "$work"
build() {
    local folder=$1 kind=$2 main=$3
    shift 3
    verilator "$kind" --exe --build -j 2 --assert --timing "$@" -Mdir "$folder" \
        "$examples"/dpi/{npuscope_pins,npuscope_axi_checker}.sv "$examples"/axi/{axi_port,axi_crossbar,axi_memory,axi_buffer,bench}.sv \
        "$examples"/dpi/npuscope_{pins,memory}_dpi.c "$examples"/axi/"$main" -CFLAGS "$(pkg-config --cflags npuscope)" \
        -LDFLAGS "$(pkg-config --libs npuscope)" --top-module bench >build.log 2>&1 || {
        cat build.log
        exit 1
    }
}
record() { # NPU PROGRAM FILE
    /usr/bin/python3 "$bench"/every_door --prefix "$prefix" --npus "$1" --record "$3" "$2"
}
record nv_small "$prefix"/share/npuscope/configs/experiment/three_layers layers.txt
for name in fp04 fs10 sw_5x9x88 pdp_8x8x64_avg8 sdp_1x1x800 dw_7x7x8_p1; do record nv_small "$golden"/rtl/$name $name.txt; done
for name in sdp_ew_f16_3 wmb_i8_s030_6_comp bdma_2_3d rbk_merge_f16_0; do record nv_full "$golden"/nv_full/$name full_$name.txt; done
"$prefix"/bin/npuscope plan lenet --npu nv_small --out lenet >plan.log 2>&1
record nv_small lenet lenet.txt
passes() { # FOLDER RECORDING ..
    local folder=$1
    shift
    for recording; do
        "$folder"/Vbench +recording="$recording" >run.log || {
            cat run.log
            echo "$folder: $recording fails"
            exit 1
        }
        grep --quiet "all as recorded" run.log
    done
}
small=(layers.txt fp04.txt fs10.txt sw_5x9x88.txt pdp_8x8x64_avg8.txt sdp_1x1x800.txt dw_7x7x8_p1.txt)
build cc --cc main.cpp
passes cc "${small[@]}" lenet.txt
build sc --sc sc_main.cpp -GDataBits=32 -GApb=1 -GIds=1
passes sc "${small[@]}"
build full --cc main.cpp -GNpu='"nv_full"' -GDataBits=512 -GMostBeats=4
passes full full_*.txt
fails() { # FOLDER TEXT
    if "$1"/Vbench +recording=layers.txt >run.log 2>&1; then
        echo "$1: the bug was not found"
        exit 1
    fi
    grep --quiet "$2" run.log
}
build wrong_line --cc main.cpp +define+WRONG_LINE
fails wrong_line "memory at .* has .*, not"
build broken_rule --cc main.cpp +define+BROKEN_RULE
fails broken_rule "WLAST is not at the last beat"
