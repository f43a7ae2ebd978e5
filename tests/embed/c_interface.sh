#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The binary interface of the C library against what is stored here: its symbols with their versions (abi_symbols.txt),
# and sizes, offsets, values and arguments (abi.c); a change of either is detected, as a changed header shows. Then
# misuse, with the program under AddressSanitizer; FLAGS are those of the library's own build.
set -euo pipefail
prefix=$1 libdir=$2 source=$3 work=$4
flags=${5:-}
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig LD_LIBRARY_PATH=$prefix/$libdir
rm -rf "$work"
mkdir -p "$work/changed/npuscope"
cd "$work"
nm --dynamic --defined-only "$prefix/$libdir"/libnpuscope.so | awk '$3 ~ /^npuscope_/ {print $3}' | LC_ALL=C sort >symbols.txt
diff "$source"/abi_symbols.txt symbols.txt || {
    echo "the symbols are others; what is added belongs into abi_symbols.txt and abi.c, and nothing else may change"
    exit 1
}
build() { # OUTPUT SOURCE OPTION ..
    gcc -std=c11 -Wall -Wextra -Wpedantic -Werror $flags "${@:3}" "$2" $(pkg-config --cflags --libs npuscope) -pthread -o "$1"
}
build abi "$source"/abi.c
./abi
# A member that moves, and a function with another argument
for change in 's/uint64_t address; /uint32_t address; /' 's/uint64_t most,$/uint32_t most,/'; do
    cp "$prefix"/include/npuscope/*.h changed/npuscope
    sed -i "$change" changed/npuscope/npuscope.h
    if cmp --quiet changed/npuscope/npuscope.h "$prefix"/include/npuscope/npuscope.h; then
        echo "the header has no place for $change"
        exit 1
    fi
    if build changed_abi "$source"/abi.c -Ichanged 2>/dev/null; then
        echo "a changed header was not noticed: $change"
        exit 1
    fi
done
build misuse "$source"/misuse.c
./misuse
build misuse_watched "$source"/misuse.c -fsanitize=address,undefined -g1
./misuse_watched
