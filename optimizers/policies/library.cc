#include "optimizers/policies/library.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include <dlfcn.h>

namespace hone::optimizers::policies {
namespace {

constexpr char kFile[] = "libhone_policies.so";
constexpr char kFunction[] = "HonePolicyLibrary";

// glibc keeps the text of dlerror per thread.
// NOLINTBEGIN(concurrency-mt-unsafe)
absl::StatusOr<const Library*> Load() {
  std::error_code error;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return absl::InternalError(
        absl::StrCat("learned optimizers: /proc/self/exe: ", error.message()));
  }
  const std::filesystem::path file =
      program.parent_path().parent_path() / "lib" / kFile;
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::InternalError(absl::StrCat("learned optimizers: ", dlerror()));
  }
  void* const function = dlsym(handle, kFunction);
  if (function == nullptr) {
    return absl::InternalError(absl::StrCat("learned optimizers: ", dlerror()));
  }
  return reinterpret_cast<const Library* (*)()>(function)();
}
// NOLINTEND(concurrency-mt-unsafe)

}  // namespace

absl::StatusOr<const Library*> LoadLibrary() {
  static const auto* const library = new absl::StatusOr<const Library*>(Load());
  return *library;
}

absl::StatusOr<std::unique_ptr<Optimizer>> CreateLearned(
    absl::string_view id, const space::Problem& problem,
    const OptimizerOptions& options) {
  absl::StatusOr<const Library*> library = LoadLibrary();
  if (!library.ok()) return library.status();
  return (*library)->create(id, problem, options);
}

}  // namespace hone::optimizers::policies
