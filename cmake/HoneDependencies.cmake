# Third-party libraries, all from Debian 12 packages (docs/ARCHITECTURE.md lists
# which folder may use which).
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SQLITE3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core)
pkg_check_modules(SYSTEMD REQUIRED IMPORTED_TARGET libsystemd)
# Torch's own package adds flags to every target and wants Caffe2's; its headers
# and libraries are all that is needed.
find_path(TORCH_API_INCLUDE torch/torch.h REQUIRED
  PATH_SUFFIXES torch/csrc/api/include)
find_library(TORCH_LIBRARY torch_cpu REQUIRED)
find_library(C10_LIBRARY c10 REQUIRED)
add_library(hone_torch INTERFACE)
target_include_directories(hone_torch SYSTEM INTERFACE "${TORCH_API_INCLUDE}")
target_link_libraries(hone_torch INTERFACE "${TORCH_LIBRARY}" "${C10_LIBRARY}")
# The shared library: the static ones would take minutes to link.
find_package(ZLIB REQUIRED)
find_package(LLVM 19.1 REQUIRED CONFIG
  HINTS /usr/lib/llvm-19/lib/cmake/llvm)
add_library(hone_llvm INTERFACE)
target_include_directories(hone_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(hone_llvm INTERFACE LLVM)
# The linker as a library comes as archives only.
find_library(LLD_ELF_LIBRARY lldELF REQUIRED HINTS ${LLVM_LIBRARY_DIRS})
find_library(LLD_COMMON_LIBRARY lldCommon REQUIRED HINTS ${LLVM_LIBRARY_DIRS})
add_library(hone_lld INTERFACE)
target_link_libraries(hone_lld INTERFACE
  "${LLD_ELF_LIBRARY}" "${LLD_COMMON_LIBRARY}" hone_llvm PkgConfig::ZSTD ZLIB::ZLIB)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
# Debian's package has neither a configuration nor a pkg-config file.
find_path(METIS_INCLUDE metis.h REQUIRED)
find_library(METIS_LIBRARY metis REQUIRED)
add_library(hone_metis INTERFACE)
target_include_directories(hone_metis SYSTEM INTERFACE "${METIS_INCLUDE}")
target_link_libraries(hone_metis INTERFACE "${METIS_LIBRARY}")
if(HONE_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
