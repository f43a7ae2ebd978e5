# SPDX-License-Identifier: Apache-2.0
# npu_room(NAME SOURCES a.cpp ... [SIMD b.cpp ...] LINK target ...) makes the library npu_NAME.
# Include paths start at the top of the tree: "models/base/quantity.h". SIMD sources include themselves once
# for each instruction set, so each is compiled alone; Highway stays private: nothing public names it.
function(npu_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;SIMD;LINK" ${ARGN})
  add_library(npu_${name} STATIC ${ROOM_SOURCES} ${ROOM_SIMD})
  target_include_directories(npu_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                             $<INSTALL_INTERFACE:include/npuscope>)
  target_link_libraries(npu_${name} PUBLIC ${ROOM_LINK} PRIVATE $<BUILD_INTERFACE:npu_warnings>)
  if(ROOM_SIMD)
    find_package(hwy REQUIRED)
    target_link_libraries(npu_${name} PRIVATE hwy::hwy)
    set_source_files_properties(${ROOM_SIMD} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# npu_test(NAME LABEL unit|room|system|golden SOURCES x_test.cpp ... LINK target ...)
function(npu_test name)
  cmake_parse_arguments(TEST "" "LABEL" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${TEST_SOURCES} ${PROJECT_SOURCE_DIR}/tests/support/sc_main.cpp)
  # gtest_main comes before SystemC, whose library exports its own main.
  target_link_libraries(${name} PRIVATE GTest::gmock GTest::gtest_main ${TEST_LINK} npu_warnings)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${TEST_LABEL} TIMEOUT 600)
endfunction()
