#include "backends/cpu/export/shared_object.h"

#include <cmath>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include <dlfcn.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/embedded_file.h"
#include "base/status_macros.h"

LLD_HAS_DRIVER(elf)

// The archive of the kernel runtime.
// NOLINTNEXTLINE(readability-identifier-naming): a symbol of the object file.
HONE_EMBED_FILE(hone_runtime_archive, HONE_RUNTIME_ARCHIVE);
// The object file of the library functions.
// NOLINTNEXTLINE(readability-identifier-naming): a symbol of the object file.
HONE_EMBED_FILE(hone_library_object, HONE_LIBRARY_OBJECT);

namespace hone::backends {
namespace {

// An anonymous file as input of the linker.
class MemoryFile {
 public:
  static absl::StatusOr<MemoryFile> Create(absl::string_view contents) {
    MemoryFile file(memfd_create("hone", MFD_CLOEXEC));
    if (file.descriptor_ < 0) {
      return absl::ErrnoToStatus(errno, "memory for the linker's input");
    }
    while (!contents.empty()) {
      const ssize_t n =
          write(file.descriptor_, contents.data(), contents.size());
      if (n < 0) {
        return absl::ErrnoToStatus(errno, "memory for the linker's input");
      }
      contents.remove_prefix(static_cast<size_t>(n));
    }
    return file;
  }
  MemoryFile(MemoryFile&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  MemoryFile& operator=(MemoryFile&&) = delete;
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  std::string path() const {
    return absl::StrCat("/proc/self/fd/", descriptor_);
  }

 private:
  explicit MemoryFile(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

// Returns the path of the loaded library that defines `function`.
template <typename Function>
std::string LibraryOf(Function* function) {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(function), &info) == 0) return "";
  return info.dli_fname;
}

// Returns the linker's option that defines `name` as another name of `symbol`.
std::string Alias(absl::string_view name, absl::string_view symbol) {
  return absl::StrCat("--defsym=", name, "=", symbol);
}

}  // namespace

absl::Status WriteSharedObject(const std::string& object,
                               const ExportedNames& names,
                               const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const MemoryFile kernel, MemoryFile::Create(object));
  HONE_ASSIGN_OR_RETURN(
      const MemoryFile runtime,
      MemoryFile::Create(HONE_EMBEDDED_FILE(hone_runtime_archive)));
  HONE_ASSIGN_OR_RETURN(
      const MemoryFile library,
      MemoryFile::Create(HONE_EMBEDDED_FILE(hone_library_object)));
  const std::string kernel_path = kernel.path();
  const std::string runtime_path = runtime.path();
  const std::string library_path = library.path();
  float (*const cosine)(float) = &cosf;
  const std::string libm = LibraryOf(cosine);
  const std::string libc = LibraryOf(&std::getenv);
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::string aliases[] = {
      Alias(names.info, "hone_exported_info"),
      Alias(names.error_message, "hone_kernel_error_message"),
      Alias(names.set_threads, kSetThreadsAlias),
      Alias(names.ffi, "hone_exported_ffi")};
  // Threads of the pool outlive any dlclose. -Bsymbolic-functions: a library
  // calls its own functions, whichever else is in the process, and shares the
  // pool, which is data. Threads of the linker would end later than it, and
  // cost more than they save.
  std::vector<const char*> arguments = {"ld.lld",
                                        "-shared",
                                        "-Bsymbolic-functions",
                                        "--threads=1",
                                        "-z",
                                        "nodelete",
                                        "-z",
                                        "relro",
                                        "-z",
                                        "defs",
                                        "--gc-sections",
                                        "-soname",
                                        name.c_str(),
                                        "-o",
                                        path.c_str(),
                                        kernel_path.c_str(),
                                        "--whole-archive",
                                        runtime_path.c_str(),
                                        "--no-whole-archive",
                                        "--start-lib",
                                        library_path.c_str(),
                                        "--end-lib",
                                        "--as-needed",
                                        libm.c_str(),
                                        libc.c_str()};
  for (const std::string& alias : aliases) arguments.push_back(alias.c_str());
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  // The linker keeps its state in globals.
  static std::mutex* const mutex = new std::mutex;
  const std::lock_guard<std::mutex> lock(*mutex);
  const lld::Result result =
      lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0) return absl::OkStatus();
  // One line, however many the linker writes.
  const std::string reasons = absl::StrJoin(
      absl::StrSplit(stream.str(), '\n', absl::SkipWhitespace()), "; ");
  if (access(path.substr(0, path.size() - name.size()).c_str(), W_OK) != 0 &&
      path.size() > name.size()) {
    return absl::UnavailableError(
        absl::StrCat("cannot write ", path, ": ", reasons));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("cannot link ", path, ": ", reasons));
}

}  // namespace hone::backends
