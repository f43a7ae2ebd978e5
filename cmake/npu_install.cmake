# SPDX-License-Identifier: Apache-2.0
# Installs program, presets, documentation, libraries and headers, so that find_package(npuscope) provides
# npuscope::run, npuscope::npu, npuscope::memory and the rest. Two components: `runtime` is what a user of
# the program needs, `development` what a program that links the libraries needs.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(libraries arith base bdma cdp check command_line compile config conv convert csb embed glb layout link loadable mcif
              memory model npu pdp program quantise report rubik run sdp sweep tinpu)
foreach(library ${libraries})
  if(TARGET npu_${library})
    set_target_properties(npu_${library} PROPERTIES EXPORT_NAME ${library})
    install(TARGETS npu_${library} EXPORT npuscopeTargets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/npuscope COMPONENT development)
  endif()
endforeach()
install(DIRECTORY models sim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/npuscope
        COMPONENT development FILES_MATCHING PATTERN "*.h")
# The C interface, for anything that links C: by CMake as npuscope::npuscope_c, by pkg-config as npuscope;
# the SystemC module in the same library: npuscope::npuscope_device, npuscope-systemc.
install(TARGETS npuscope_c npuscope_device EXPORT npuscopeTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(DIRECTORY include/npuscope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(packaging/npuscope.pc.in npuscope.pc @ONLY)
configure_file(packaging/npuscope-systemc.pc.in npuscope-systemc.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/npuscope.pc ${PROJECT_BINARY_DIR}/npuscope-systemc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
# The Python module is pure Python: it calls that library.
install(DIRECTORY packaging/python/npuscope DESTINATION lib/python3/dist-packages COMPONENT runtime
        PATTERN __pycache__ EXCLUDE)
install(EXPORT npuscopeTargets NAMESPACE npuscope::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/npuscope COMPONENT development)
configure_package_config_file(cmake/npuscopeConfig.cmake.in npuscopeConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/npuscope)
write_basic_package_version_file(npuscopeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/npuscopeConfig.cmake
              ${PROJECT_BINARY_DIR}/npuscopeConfigVersion.cmake cmake/FindSystemC.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/npuscope COMPONENT development)

install(TARGETS npuscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/npuscope COMPONENT runtime)
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/npuscope COMPONENT runtime)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(FILES packaging/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/packaging COMPONENT runtime)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
# The pages link to headers and examples as they lie in the repository: next to docs/.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/doc_links)
file(RELATIVE_PATH doc_to_include /${CMAKE_INSTALL_DOCDIR} /${CMAKE_INSTALL_INCLUDEDIR})
file(RELATIVE_PATH doc_to_examples /${CMAKE_INSTALL_DOCDIR} /${CMAKE_INSTALL_DATADIR}/npuscope/examples)
foreach(linked include examples)
  file(CREATE_LINK ${doc_to_${linked}} ${PROJECT_BINARY_DIR}/doc_links/${linked} SYMBOLIC)
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/doc_links/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

# The manual page is generated from the --help output of the installed program.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
install(CODE "execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/packaging/make_manual
                --npuscope $<TARGET_FILE:npuscope> --version ${PROJECT_VERSION}
                --changelog ${PROJECT_SOURCE_DIR}/packaging/changelog
                --out ${PROJECT_BINARY_DIR}/manual COMMAND_ERROR_IS_FATAL ANY)" ALL_COMPONENTS)
install(FILES ${PROJECT_BINARY_DIR}/manual/npuscope.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        COMPONENT runtime)
