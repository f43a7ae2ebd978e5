#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The SystemVerilog modules with pins, built with Verilator against the installed package: polling a register takes as long as
# waiting for the interrupt, and as long through CSB as through APB; a slave that breaks the protocol is reported, and the
# simulation continues; so is a device too many. Two systems have each their memory and checkers. FLAGS are those of the
# library's own build. Skipped (77) without Verilator or numpy.
set -euo pipefail
prefix=$1 libdir=$2 source=$3 work=$4 bench=$5 golden=$6
flags=${7:-}
command -v verilator >/dev/null && /usr/bin/python3 -c "import numpy" || {
    echo "skipped: Verilator or python3-numpy is not installed"
    exit 77
}
OBJCACHE=$(command -v ccache || true)
export OBJCACHE
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig LD_LIBRARY_PATH=$prefix/$libdir
tests=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
cd "$work"
build() { # FOLDER TOP OPTION ..
    verilator --binary --timing --assert -j 2 -Wno-fatal -Mdir "$1" --top-module "$2" "${@:3}" \
        "$source"/npuscope_pins.sv "$source"/npuscope_axi_checker.sv "$tests"/pins_bench.sv \
        "${adapter[@]-$source/npuscope_pins_dpi.c}" \
        -CFLAGS "$flags $(pkg-config --cflags npuscope)" -LDFLAGS "$flags $(pkg-config --libs npuscope)" >build.log 2>&1 || {
        cat build.log
        exit 1
    }
}
/usr/bin/python3 "$bench"/every_door --prefix "$prefix" --npus nv_small --record pooling.txt "$golden"/rtl/pdp_8x8x64_avg8

# cycles FOLDER ARGUMENT ..: of a run without an error.
cycles() {
    "$1"/Vpins_bench +recording=pooling.txt "${@:2}" >run.log 2>&1 && ! grep --quiet "%Error" run.log || {
        cat run.log >&2
        exit 1
    }
    sed -n 's/.*all as recorded, in \([0-9]*\) cycles/\1/p' run.log
}
# A rising edge is a cycle, whatever the driver does: the status is read after the interrupt, or is being read when it is raised.
most=30
for bus in csb apb; do
    build $bus pins_bench -GApb=$([ $bus = apb ] && echo 1 || echo 0)
    for latency in 1 60; do
        waits=$(cycles $bus +latency=$latency)
        polls=$(cycles $bus +latency=$latency +poll)
        echo "$bus, latency $latency: $waits cycles with the interrupt, $polls with polls"
        ((polls - waits <= most && waits - polls <= most)) || {
            echo "the NPU runs at another speed while it is polled"
            exit 1
        }
    done
done

# reports FAULT TEXT ..: the simulation goes on after these messages.
reports() {
    local code=0
    narrow/Vpins_bench +recording=pooling.txt "+fault=$1" +latency=1 +verilator+error+limit+1000000 >run.log 2>&1 || code=$?
    grep --quiet "all as recorded\|memory at .* is wrong\|does not come to its end" run.log && ((code < 128)) || {
        tail -20 run.log
        echo "$1: the simulation breaks down ($code)"
        exit 1
    }
    for text in "${@:2}"; do
        grep --quiet "$text" run.log || {
            head -20 run.log
            echo "$1: no message '$text'"
            exit 1
        }
    done
}
build narrow pins_bench -GDataBits=32 # two beats a burst
reports never_last "npuscope_pins.*RLAST is 0 at beat 2 of 2" "RLAST is not at the last beat"
reports early_last "npuscope_pins.*RLAST is 1 at beat 1 of 2" "RLAST is not at the last beat"
reports other_reader "npuscope_pins.*R for identifier 8, which has no read in flight"
reports other_writer "npuscope_pins.*B for identifier 8, which has no write in flight"
reports early_answer "npuscope_pins.*B for identifier .*, whose write has beats to come"
reports valid_in_reset "BVALID is high in reset" "ARVALID is high in reset"
if grep "AWVALID is high in reset\|WVALID is high\|RVALID is high in reset" run.log | grep --invert-match --quiet "ARVALID"; then
    echo "the checker reports what is low in reset"
    exit 1
fi

build many many_devices
if many/Vmany_devices >run.log 2>&1; then
    echo "the 65th device is not refused"
    exit 1
fi
grep --quiet "there are 64 devices already" run.log

cat >peek.c <<'END'
#include "npuscope_pins_dpi.c"
#ifdef __cplusplus
extern "C"
#endif
int bench_peek(int number, unsigned long long address) {
    unsigned char byte = 0;
    return pins_peek(pins_devices[number], address, &byte, 1) == 0 ? byte : -1;
}
END
adapter=("$PWD/peek.c" "$source/npuscope_memory_dpi.c")
build two two_systems -fno-inline -CFLAGS "-I$source"
two/Vtwo_systems +verilator+error+limit+1000 >run.log 2>&1 && grep --quiet "bytes 19 and 35" run.log || {
    cat run.log
    echo "an NPU reads the memory of another one"
    exit 1
}
counts() { # COUNT TEXT: errors of four checkers
    (($(grep --count "AXI: $2" run.log) == $1)) || {
        cat run.log
        echo "not $1 times: $2"
        exit 1
    }
}
counts 8 "B: identifier 0 has no write that is complete"
counts 8 "R: identifier 0 has no read in flight"
counts 4 "ARVALID is high at the first edge after reset"
counts 20 ""
if sed '/early answers/,$d' run.log | grep "AXI:"; then
    echo "the checker reports what is right"
    exit 1
fi
