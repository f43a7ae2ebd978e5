# SPDX-License-Identifier: Apache-2.0
# The chart library of `npuscope report`, Apache ECharts, from the npm registry: one file of the
# package, checked against its hash. If it is not available, the program is built without it, and
# `report` says so.
set(NPUSCOPE_ECHARTS_VERSION 5.6.0)
set(NPUSCOPE_ECHARTS_SHA512
    a136d54ec5df2ae121c5fb47a8be71a6b80ba1cd24eee49c030b6bc8281617a84f6052d1c0e50788598718204a3f934f14d903568a4e89ec94a98187f056b790)
set(NPUSCOPE_PAGE ${PROJECT_BINARY_DIR}/page)
set(NPUSCOPE_ECHARTS ${NPUSCOPE_PAGE}/package/dist/echarts.min.js)
find_program(NPM npm)
mark_as_advanced(NPM)
if(NOT EXISTS ${NPUSCOPE_ECHARTS})
  file(MAKE_DIRECTORY ${NPUSCOPE_PAGE})
  set(echarts_archive ${NPUSCOPE_PAGE}/echarts-${NPUSCOPE_ECHARTS_VERSION}.tgz)
  if(NPM AND NOT EXISTS ${echarts_archive})
    execute_process(COMMAND ${NPM} pack --silent echarts@${NPUSCOPE_ECHARTS_VERSION}
                    WORKING_DIRECTORY ${NPUSCOPE_PAGE} OUTPUT_QUIET ERROR_QUIET TIMEOUT 120)
  endif()
  set(echarts_hash "")
  if(EXISTS ${echarts_archive})
    file(SHA512 ${echarts_archive} echarts_hash)
  endif()
  if(echarts_hash STREQUAL NPUSCOPE_ECHARTS_SHA512)
    file(ARCHIVE_EXTRACT INPUT ${echarts_archive} DESTINATION ${NPUSCOPE_PAGE}
         PATTERNS package/dist/echarts.min.js package/LICENSE package/NOTICE)
  else()
    message(WARNING "npm does not give echarts ${NPUSCOPE_ECHARTS_VERSION}: `npuscope report` will have no charts")
  endif()
endif()
if(EXISTS ${NPUSCOPE_ECHARTS})
  set(NPUSCOPE_CHARTS ${NPUSCOPE_ECHARTS})
else()
  set(NPUSCOPE_CHARTS ${NPUSCOPE_PAGE}/none.js)
  file(TOUCH ${NPUSCOPE_CHARTS})
endif()
