# One INTERFACE target carries the warnings, so that generated code and
# third-party headers stay outside them.
add_library(hone_warnings INTERFACE)
target_compile_options(hone_warnings INTERFACE
  -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor
  -Wvla -Wmissing-declarations
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)

# hone_library(NAME name HDRS h... SRCS cc... DEPS target... PRIVATE_DEPS target...
#              [HEADERS_OF target] [PRECOMPILE header...])
#
# One static library per folder. DEPS are the targets whose headers appear in
# our headers; PRIVATE_DEPS are fenced and must not. Units read the precompiled
# headers of hone_base or of the target given, which may be NAME itself; those
# that it adds to the common ones are PRECOMPILE's.
function(hone_library)
  cmake_parse_arguments(ARG "" "NAME;HEADERS_OF"
    "HDRS;SRCS;DEPS;PRIVATE_DEPS;PRECOMPILE" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "hone_library(${ARG_NAME}): unknown ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(ARG_SRCS)
    add_library(${ARG_NAME} STATIC ${ARG_SRCS})
    target_link_libraries(${ARG_NAME}
      PUBLIC ${ARG_DEPS}
      PRIVATE ${ARG_PRIVATE_DEPS} hone_warnings)
    hone_precompiled_headers(${ARG_NAME} hone_base
      "${ARG_HEADERS_OF}" "${ARG_PRECOMPILE}")
    set(scope PUBLIC)
  else()
    add_library(${ARG_NAME} INTERFACE)
    target_link_libraries(${ARG_NAME} INTERFACE ${ARG_DEPS})
    set(scope INTERFACE)
  endif()
  target_include_directories(${ARG_NAME} ${scope} "${PROJECT_SOURCE_DIR}")
  if(ARG_HDRS)
    target_sources(${ARG_NAME} ${scope} FILE_SET HEADERS
      BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${ARG_HDRS})
  endif()
endfunction()

# hone_binary(NAME name SRCS cc... DEPS target... [HEADERS_OF target])
function(hone_binary)
  cmake_parse_arguments(ARG "" "NAME;HEADERS_OF" "SRCS;DEPS" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SRCS})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} hone_warnings)
  hone_precompiled_headers(${ARG_NAME} hone_base "${ARG_HEADERS_OF}" "")
endfunction()

# hone_test(NAME name SRCS cc... DEPS target... LABELS label... [SHARDS n]
#           [PRECOMPILE header...])
#
# One executable per folder, one CTest entry per case; or n entries that share
# the cases, where each process would load Torch for a case of milliseconds.
function(hone_test)
  cmake_parse_arguments(ARG "" "NAME;SHARDS" "SRCS;DEPS;LABELS;PRECOMPILE" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SRCS})
  hone_precompiled_headers(${ARG_NAME} hone_base_test "" "${ARG_PRECOMPILE}")
  target_link_libraries(${ARG_NAME} PRIVATE
    ${ARG_DEPS} hone_test_support GTest::gmock GTest::gtest_main hone_warnings)
  target_compile_definitions(${ARG_NAME} PRIVATE
    HONE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # What is tested is as users run it; the checks themselves need not be fast.
  # Some link libraries that ask for -pthread, which defines a macro. Of
  # precompiled headers g++ 12 forgets that they are of the system, and warns of
  # moves of strings that it inlines from them: no error in tests.
  target_compile_options(${ARG_NAME} PRIVATE -pthread
    $<$<CONFIG:Release>:-O1>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-error=array-bounds;-Wno-error=restrict;-Wno-error=stringop-overflow>)
  if(NOT ARG_SHARDS)
    gtest_discover_tests(${ARG_NAME}
      DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300)
    return()
  endif()
  math(EXPR last "${ARG_SHARDS} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${ARG_NAME}.${shard} COMMAND ${ARG_NAME})
    set_tests_properties(${ARG_NAME}.${shard} PROPERTIES
      LABELS "${ARG_LABELS}" TIMEOUT 900
      # GoogleTest ends with success where a case was skipped.
      SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]"
      ENVIRONMENT
        "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()
