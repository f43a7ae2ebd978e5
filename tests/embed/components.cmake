# SPDX-License-Identifier: Apache-2.0
# What find_package(npuscope COMPONENTS ..) requires: `c` no other package, `device` SystemC, `static` all of them; another
# component does not exist. The other packages are hidden from a C project.
set(others SystemC PkgConfig fmt yaml-cpp nlohmann_json CLI11 ZLIB PNG Boost hwy SQLite3 Protobuf ONNX)
list(TRANSFORM others REPLACE "(.+)" "-DCMAKE_DISABLE_FIND_PACKAGE_\\1=TRUE")

function(configure components)
  file(REMOVE_RECURSE ${WORK})
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} -DCMAKE_PREFIX_PATH=${PREFIX} "-DCOMPONENTS=${components}"
                          ${others}
                  RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(result ${result} PARENT_SCOPE)
  set(text "${text}" PARENT_SCOPE)
endfunction()

configure(c)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "component c needs more than the library:\n${text}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/c_consumer COMMAND_ERROR_IS_FATAL ANY)

foreach(row "device|SystemC" "c;static|SystemC" "nosuch|its components are c, device and static" "|SystemC")
  string(REGEX MATCH "^(.*)[|](.*)$" whole "${row}")
  set(components "${CMAKE_MATCH_1}")
  set(words "${CMAKE_MATCH_2}")
  configure("${components}")
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  string(FIND "${text}" "${words}" place)
  if(result EQUAL 0 OR place EQUAL -1)
    message(FATAL_ERROR "components '${components}': expected an error with '${words}', not code ${result} and:\n${text}")
  endif()
endforeach()
