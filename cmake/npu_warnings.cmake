# SPDX-License-Identifier: Apache-2.0
# Warnings and instrumentation that all our targets link privately; -Werror comes from presets.
add_library(npu_warnings INTERFACE)
target_compile_options(npu_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wold-style-cast
  # messages name our files without the path of the checkout
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(CMAKE_UNITY_BUILD)
  # Names of one file are seen by the next: builds of single files, as `sanitize` and `dev`, warn of the rest.
  target_compile_options(npu_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local -Wno-subobject-linkage>)
else()
  target_compile_options(npu_warnings INTERFACE -Wshadow)
endif()
if(NPUSCOPE_SANITIZE)
  target_compile_options(npu_warnings INTERFACE -fsanitize=address,undefined,float-cast-overflow
    -fno-sanitize-recover=undefined,float-cast-overflow -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # false positives of GCC with sanitizers
  target_link_options(npu_warnings INTERFACE -fsanitize=address,undefined,float-cast-overflow)
endif()
if(NPUSCOPE_FUZZ)
  target_compile_options(npu_warnings INTERFACE
    -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all)
  target_link_options(npu_warnings INTERFACE -fsanitize=address,undefined,float-cast-overflow)
endif()
if(NPUSCOPE_COVERAGE)
  target_compile_options(npu_warnings INTERFACE --coverage)
  target_link_options(npu_warnings INTERFACE --coverage)
endif()
