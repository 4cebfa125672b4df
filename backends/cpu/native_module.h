#ifndef HONE_BACKENDS_CPU_NATIVE_MODULE_H_
#define HONE_BACKENDS_CPU_NATIVE_MODULE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "loops/lowering/plan/module_plan.h"

namespace hone::backends {

// Lowers `module` and gives every kernel its default schedule for this machine
// and `threads`. Errors: as NativeModule::Create.
absl::StatusOr<loops::ModulePlan> LowerAndSchedule(const hlo::Module& module,
                                                   int32_t threads);

// A whole module compiled to native code in this process, with default
// schedules. Run is thread-safe.
class NativeModule {
 public:
  virtual ~NativeModule() = default;

  // `threads` is the number of threads of parallel loops; it applies to the
  // whole process, since all kernels share one runtime. Does not refer to
  // `module` afterwards. Errors: Unimplemented for an opcode without a
  // lowering, naming the instruction; those of the compiler.
  static absl::StatusOr<std::unique_ptr<NativeModule>> Create(
      const hlo::Module& module, int32_t threads);

  // Returns the root's value for one argument per entry parameter, of its
  // shape; Internal, with the message of the call, if it fails.
  virtual absl::StatusOr<hlo::Literal> Run(
      absl::Span<const hlo::Literal> arguments) const = 0;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_NATIVE_MODULE_H_
