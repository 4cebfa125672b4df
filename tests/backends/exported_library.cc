#include "tests/backends/exported_library.h"

#include "gtest/gtest.h"
#include <dlfcn.h>

#include "backends/cpu/export/exported_names.h"
#include "backends/cpu/export/shared_object.h"
#include "base/temporary_directory.h"
#include "tests/loops/program_text.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {
namespace {

ExportedLibrary Load(const absl::StatusOr<std::string>& object) {
  EXPECT_THAT(object, IsOk());
  // What is loaded stays when the file has gone.
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/library.so";
  HONE_EXPECT_OK(backends::WriteSharedObject(
      *object, backends::ExportedNames::Of(path), path));
  return ExportedLibrary(path);
}

}  // namespace

ExportedLibrary::ExportedLibrary(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  const auto names = backends::ExportedNames::Of(path);
  const auto find = [&](const std::string& name, auto*& function) {
    void* symbol = dlsym(library, name.c_str());
    EXPECT_NE(symbol, nullptr) << name;
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  find(names.entry, entry_);
  find(names.info, info_);
  find(names.error_message, error_message_);
  find(names.set_threads, set_threads_);
}

ExportedLibrary ExportedLibrary::OfProgram(
    const std::string& text, const backends::CompileOptions& options) {
  return Load(backends::CompileProgram(ParseText(text), "library", options));
}

ExportedLibrary ExportedLibrary::OfPlan(
    const loops::ModulePlan& plan, const backends::CompileOptions& options) {
  return Load(backends::CompilePlan(plan, "library", options));
}

}  // namespace hone::testing
