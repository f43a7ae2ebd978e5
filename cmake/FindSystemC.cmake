# SPDX-License-Identifier: Apache-2.0
# Debian's SystemC ships pkg-config only. Its library was built as C++17, and it checks that at link
# time through SC_CPLUSPLUS: the define below lets C++20 programs link.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SystemC_PC QUIET IMPORTED_TARGET systemc)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SystemC REQUIRED_VARS SystemC_PC_LIBRARIES
                                  VERSION_VAR SystemC_PC_VERSION)

if(SystemC_FOUND AND NOT TARGET SystemC::systemc)
  add_library(SystemC::systemc INTERFACE IMPORTED)
  target_link_libraries(SystemC::systemc INTERFACE PkgConfig::SystemC_PC)
  target_compile_definitions(SystemC::systemc INTERFACE
    SC_CPLUSPLUS=201703L SC_INCLUDE_DYNAMIC_PROCESSES)
endif()
