# SPDX-License-Identifier: Apache-2.0
# Installs program, libraries, headers and presets, so that find_package(npuscope) gives
# npuscope::run, npuscope::npu, npuscope::memory and the rest.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(libraries arith base bdma cdp check command_line compile config conv convert csb glb layout link mcif
              memory model npu pdp program report rubik run sdp tinpu)
foreach(library ${libraries})
  if(TARGET npu_${library})
    set_target_properties(npu_${library} PROPERTIES EXPORT_NAME ${library})
    install(TARGETS npu_${library} EXPORT npuscopeTargets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/npuscope)
  endif()
endforeach()
install(TARGETS npuscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY models sim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/npuscope
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/npuscope)
install(EXPORT npuscopeTargets NAMESPACE npuscope::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/npuscope)
configure_package_config_file(cmake/npuscopeConfig.cmake.in npuscopeConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/npuscope)
write_basic_package_version_file(npuscopeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/npuscopeConfig.cmake
              ${PROJECT_BINARY_DIR}/npuscopeConfigVersion.cmake cmake/FindSystemC.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/npuscope)
