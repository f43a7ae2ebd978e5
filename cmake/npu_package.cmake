# SPDX-License-Identifier: Apache-2.0
# Debian packages, `cmake --workflow --preset package`: npuscope, the program with its presets, and
# npuscope-dev, libraries and headers. dpkg-shlibdeps determines their dependencies.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME npuscope)
set(CPACK_PACKAGE_CONTACT "npuscope developers <npuscope@example.org>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME npuscope)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION electronics)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "python3-matplotlib, npuscope-dev")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
"npuscope takes what a driver gives to an NPU, a register program and its
memory images, or a network as an ONNX file or a table of shapes, and returns
what silicon would: the same bytes, the interrupts, pass or fail, and beside
them cycles, memory traffic and what every cycle was spent on. Presets of
NVDLA, of Kneron's formats and of TI's TINPU are included.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME npuscope-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "npuscope (= ${PROJECT_VERSION}), libsystemc-dev, libyaml-cpp-dev, libboost-dev, libfmt-dev, nlohmann-json3-dev, libcli11-dev, zlib1g-dev, libhwy-dev, libonnx-dev, libprotobuf-dev, protobuf-compiler, libpng-dev, libturbojpeg0-dev, libsqlite3-dev, pkg-config")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"This package holds what programs of one's own link:
static libraries, headers and a CMake package. The NPU is a SystemC module with
TLM-2.0 sockets, and sessions run register programs as the program does.")

# Debian's names for the licence and the history of a package.
foreach(pair "runtime;npuscope" "development;npuscope-dev")
  list(GET pair 0 component)
  list(GET pair 1 package)
  install(FILES packaging/copyright ${PROJECT_BINARY_DIR}/manual/changelog.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component}
          EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
