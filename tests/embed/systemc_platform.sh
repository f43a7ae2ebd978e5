#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the SystemC platform in C++17 against the installed package by pkg-config, and again by CMake, as
# its first lines say, and runs it. FLAGS are those of the library's own build.
set -euo pipefail
prefix=$1 libdir=$2 source=$3 work=$4
flags=${5:-}
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig LD_LIBRARY_PATH=$prefix/$libdir SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1
rm -rf "$work"
mkdir -p "$work"
cd "$work"
"$prefix"/bin/npuscope list registers --npu nv_small --c-header >nv_small_registers.h
g++ -std=c++17 -Wall -Wextra -Werror $flags -I. "$source"/platform.cpp $(pkg-config --cflags --libs npuscope-systemc) -o platform
./platform
# the headers of the pins are complete and self-contained
for header in "$prefix"/include/npuscope/*.h; do
    echo "#include <npuscope/${header##*/}>" >one.cpp
    g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only one.cpp $(pkg-config --cflags npuscope-systemc)
done
cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.20)
project(platform CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(npuscope REQUIRED)
add_executable(cmake_platform $source/platform.cpp)
target_include_directories(cmake_platform PRIVATE .)
target_link_libraries(cmake_platform PRIVATE npuscope::npuscope_device)
END
cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="$flags" >cmake.log && cmake --build build >>cmake.log || {
    cat cmake.log
    exit 1
}
build/cmake_platform
