# Most units read the same headers of the standard library, Abseil and the like,
# and take longer to parse them than to compile what is ours. They are compiled
# once for each kind of target; none of them is a header of ours, so that a
# change of one of those rebuilds what it did before. A unit still includes what
# it uses: the clang preset builds without this.
set(HONE_PRECOMPILED_HEADERS
  <algorithm> <array> <cmath> <cstdint> <functional> <limits> <map> <memory>
  <numeric> <optional> <set> <span> <sstream> <string> <thread> <tuple>
  <utility> <variant> <vector>
  <absl/algorithm/container.h>
  <absl/container/flat_hash_map.h>
  <absl/container/flat_hash_set.h>
  <absl/container/inlined_vector.h>
  <absl/functional/function_ref.h>
  <absl/status/statusor.h>
  <absl/strings/match.h>
  <absl/strings/numbers.h>
  <absl/strings/str_cat.h>
  <absl/strings/str_format.h>
  <absl/strings/str_join.h>
  <absl/strings/str_replace.h>
  <absl/strings/str_split.h>
  <absl/strings/string_view.h>
  <absl/synchronization/mutex.h>
  <absl/time/time.h>
  <absl/types/span.h>)

# Code of executables is compiled as that of libraries is: g++ does not read
# what it compiled with -fPIC while it compiles with -fPIE.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE "${CMAKE_CXX_COMPILE_OPTIONS_PIC}")

# hone_precompile(target header...): that target, and those that name it as
# HEADERS_OF, read the headers above and these precompiled.
function(hone_precompile target)
  target_precompile_headers(${target} PRIVATE
    ${HONE_PRECOMPILED_HEADERS} ${ARGN})
endfunction()

# The headers of hone_library and its like: those of the target that they name,
# or else of the default one. A target with headers of its own, or that names
# itself, precompiles them.
function(hone_precompiled_headers target default headers_of own)
  if(own OR headers_of STREQUAL target)
    hone_precompile(${target} ${own})
  elseif(headers_of)
    target_precompile_headers(${target} REUSE_FROM ${headers_of})
  else()
    target_precompile_headers(${target} REUSE_FROM ${default})
  endif()
endfunction()
