#ifndef HONE_BACKENDS_PLAN_SCRIPT_H_
#define HONE_BACKENDS_PLAN_SCRIPT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"
#include "loops/lowering/plan/module_plan.h"
#include "loops/transforms/transform.h"

namespace hone::backends {

// Lowers a module to a plan whose kernels are canonical
// (loops/text/canonical.h), so that scripts of the same kernels of other
// modules apply. Errors: those of loops::LowerToPlan.
absl::StatusOr<loops::ModulePlan> LowerToCanonicalPlan(
    const hlo::Module& module);

// Prints the scripts of all kernels of a plan, in order: each begins with a
// line "kernel", and has a step per line.
std::string PrintPlanScript(absl::Span<const std::vector<loops::Step>> scripts);

// Schedules every kernel of `plan` by its script in `text`.
// Errors: InvalidArgument, naming the kernel, if there are more or fewer
// scripts than kernels, or if one is not a script or does not apply.
absl::Status ApplyPlanScript(absl::string_view text, loops::ModulePlan& plan);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_PLAN_SCRIPT_H_
