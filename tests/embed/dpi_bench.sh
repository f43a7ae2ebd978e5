#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the SystemVerilog benches with Verilator against the installed package, as its first lines say, and
# runs them; with the bug in its block, each must fail and say where. FLAGS are those of the library's own build. Skipped (77) without Verilator.
set -euo pipefail
prefix=$1 libdir=$2 source=$3 work=$4
flags=${5:-}
OBJCACHE=$(command -v ccache || true)
export OBJCACHE
command -v verilator >/dev/null || {
    echo "skipped: Verilator is not installed"
    exit 77
}
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig LD_LIBRARY_PATH=$prefix/$libdir
rm -rf "$work"
mkdir -p "$work"
cd "$work"
"$prefix"/bin/npuscope list registers --npu nv_small --sv-package >nv_small_registers.sv
build() {
    verilator --binary --timing "$@" nv_small_registers.sv "$source"/npuscope_pkg.sv "$source"/bench.sv \
        "$source"/npuscope_dpi.c -CFLAGS "$flags $(pkg-config --cflags npuscope)" \
        -LDFLAGS "$flags $(pkg-config --libs npuscope)" --top-module bench >build.log 2>&1 || {
        cat build.log
        exit 1
    }
}
build -Mdir good
good/Vbench | tee good.log
grep --quiet "^4096 values compared, 0 differ" good.log
build -Mdir bad +define+BUG
if bad/Vbench >bad.log 2>&1; then
    echo "the bug was not found"
    exit 1
fi
grep --quiet "^frame 0, row 0, column 0, channel 1: the block gives" bad.log

requantiser() {
    verilator --binary -O3 -j 2 "$@" "$source"/requantiser.sv "$source"/requantiser_dpi.c \
        -CFLAGS "$flags $(pkg-config --cflags npuscope)" -LDFLAGS "$flags $(pkg-config --libs npuscope)" --top-module bench >build.log 2>&1 || {
        cat build.log
        exit 1
    }
}
requantiser -Mdir good_unit
good_unit/Vbench | tee good_unit.log
grep --quiet "^1000000 vectors compared, 0 differ" good_unit.log
requantiser -Mdir bad_unit +define+BUG
if bad_unit/Vbench >bad_unit.log 2>&1; then
    echo "the bug was not found"
    exit 1
fi
grep --quiet "^vector [0-9]*: sum .*: the block gives" bad_unit.log
