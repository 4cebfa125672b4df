#ifndef HONE_BACKENDS_CPU_NATIVE_MODULE_H_
#define HONE_BACKENDS_CPU_NATIVE_MODULE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "loops/lowering/module_plan.h"

namespace hone::backends {

// `module` as kernels with their default schedules for this machine and
// `threads`.
// Errors: as NativeModule::Create.
absl::StatusOr<loops::ModulePlan> LowerAndSchedule(const hlo::Module& module,
                                                   int32_t threads);

// A whole module as native code in this process, its kernels scheduled by
// default.
// Threads: Run is thread-safe.
class NativeModule {
 public:
  virtual ~NativeModule() = default;

  // `threads` of parallel scopes, in the whole process from now on: the runtime
  // that kernels share has one number. Keeps nothing of `module`.
  // Errors: Unimplemented for an opcode without a lowering, naming the
  // instruction; those of the compiler.
  static absl::StatusOr<std::unique_ptr<NativeModule>> Create(
      const hlo::Module& module, int32_t threads);

  // The root's value; one argument for each entry parameter, of its shape.
  virtual hlo::Literal Run(absl::Span<const hlo::Literal> arguments) const = 0;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_NATIVE_MODULE_H_
