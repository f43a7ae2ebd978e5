#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the C driver against the installed package with a C compiler and pkg-config, and runs it; the same
# header compiles as C++17 and exposes nothing but its functions. FLAGS are those of the library's own build.
set -euo pipefail
prefix=$1 libdir=$2 source=$3 work=$4
flags=${5:-}
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig LD_LIBRARY_PATH=$prefix/$libdir
mkdir -p "$work"
cd "$work"
"$prefix"/bin/npuscope list registers --npu nv_small --c-header >nv_small_registers.h
gcc -std=c11 -Wall -Wextra -Wpedantic -Werror $flags -I. "$source"/driver.c $(pkg-config --cflags --libs npuscope) -o driver
./driver
echo '#include <npuscope/units.h>
int main() { return npuscope_api_version() == NPUSCOPE_API_MAJOR * 1000 + NPUSCOPE_API_MINOR ? 0 : 1; }' >version.cpp
g++ -std=c++17 -Wall -Werror $flags version.cpp $(pkg-config --cflags --libs npuscope) -o version
./version
shown=$(nm --dynamic --defined-only "$prefix/$libdir"/libnpuscope.so | awk '$2 == "T" {print $3}' | sed 's/@.*//' | sort | tr '\n' ' ')
declared=$(sed 's/(.*//' "$prefix"/include/npuscope/{npuscope,units}.h | grep -o '\bnpuscope_[a-z_]*$' | sort -u | tr '\n' ' ')
for name in $shown; do
    case " $declared sc_main " in *" $name "*) continue ;; esac
    # the members of the C++ class in device.h
    [[ $name == _ZN*8npuscope6Device* ]] || { echo "$name is shown, but not declared" && exit 1; }
done
