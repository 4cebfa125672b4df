#ifndef HONE_BACKENDS_CPU_NATIVE_MODULE_H_
#define HONE_BACKENDS_CPU_NATIVE_MODULE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "loops/ir/program.h"
#include "loops/lowering/plan/module_plan.h"
#include "loops/transforms/transform.h"

namespace hone::backends {

// Returns the tuned script of a canonical kernel (loops/text/canonical.h), if
// there is one.
using ScheduleSource = std::function<std::optional<std::vector<loops::Step>>(
    const loops::Program& kernel)>;

// Lowers `module` and gives every kernel the schedule that `tuned` has for it,
// or its default schedule for this machine and `threads` where that has none,
// or one that does not apply. Null: default schedules. Errors: as
// NativeModule::Create.
absl::StatusOr<loops::ModulePlan> LowerAndSchedule(
    const hlo::Module& module, int32_t threads,
    const ScheduleSource& tuned = nullptr);

// A whole module compiled to native code in this process. Run is thread-safe.
class NativeModule {
 public:
  virtual ~NativeModule() = default;

  // `threads` is the number of threads of parallel loops; it applies to the
  // whole process, since all kernels share one runtime. `tuned` is that of
  // LowerAndSchedule. Does not refer to `module` afterwards. Errors:
  // Unimplemented for an opcode without a lowering, naming the instruction;
  // those of the compiler.
  static absl::StatusOr<std::unique_ptr<NativeModule>> Create(
      const hlo::Module& module, int32_t threads,
      const ScheduleSource& tuned = nullptr);

  // Returns the root's value for one argument per entry parameter, of its
  // shape; Internal, with the message of the call, if it fails.
  virtual absl::StatusOr<hlo::Literal> Run(
      absl::Span<const hlo::Literal> arguments) const = 0;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_NATIVE_MODULE_H_
