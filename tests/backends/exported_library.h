#ifndef HONE_TESTS_BACKENDS_EXPORTED_LIBRARY_H_
#define HONE_TESTS_BACKENDS_EXPORTED_LIBRARY_H_

#include <memory>
#include <string>

#include "backends/cpu/compiler.h"
#include "loops/lowering/plan/module_plan.h"

namespace hone::testing {

// A shared object that Hone wrote, loaded without making its symbols global.
class ExportedLibrary {
 public:
  explicit ExportedLibrary(const std::string& path);

  // Compiles, exports and loads a program in text or a plan.
  static ExportedLibrary OfProgram(const std::string& text,
                                   const backends::CompileOptions& options);
  static ExportedLibrary OfPlan(const loops::ModulePlan& plan,
                                const backends::CompileOptions& options);

  const hone_info& info() const { return *info_(); }
  std::string error_message() const { return error_message_(); }
  void set_threads(int32_t threads) const { set_threads_(threads); }
  int32_t Call(const hone_context* context, const void* const* arguments,
               void* const* results) const {
    return entry_(context, arguments, results);
  }

 private:
  backends::EntryFunction entry_;
  const hone_info* (*info_)();
  const char* (*error_message_)();
  void (*set_threads_)(int32_t);
};

}  // namespace hone::testing

#endif  // HONE_TESTS_BACKENDS_EXPORTED_LIBRARY_H_
