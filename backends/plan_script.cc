#include "backends/plan_script.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "base/status_macros.h"
#include "loops/lowering/lowering.h"
#include "loops/text/canonical.h"
#include "loops/transforms/script.h"

namespace hone::backends {
namespace {

constexpr absl::string_view kKernel = "kernel";

}  // namespace

absl::StatusOr<loops::ModulePlan> LowerToCanonicalPlan(
    const hlo::Module& module) {
  HONE_ASSIGN_OR_RETURN(loops::ModulePlan plan, loops::LowerToPlan(module));
  for (loops::Program& kernel : plan.kernels) {
    HONE_ASSIGN_OR_RETURN(kernel, loops::CanonicalProgram(kernel));
  }
  return plan;
}

std::string PrintPlanScript(
    absl::Span<const std::vector<loops::Step>> scripts) {
  std::string text;
  for (const std::vector<loops::Step>& script : scripts) {
    absl::StrAppend(&text, kKernel, "\n", loops::PrintScript(script));
    if (text.back() != '\n') text += '\n';
  }
  return text;
}

absl::Status ApplyPlanScript(absl::string_view text, loops::ModulePlan& plan) {
  std::vector<std::string> scripts;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line == kKernel) {
      scripts.emplace_back();
    } else if (!scripts.empty()) {
      absl::StrAppend(&scripts.back(), line, "\n");
    }
  }
  if (scripts.size() != plan.kernels.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(scripts.size(), " scripts, expected one for each of ",
                     plan.kernels.size(), " kernels"));
  }
  for (size_t i = 0; i < scripts.size(); ++i) {
    absl::StatusOr<std::vector<loops::Step>> steps =
        loops::ParseScript(scripts[i]);
    absl::StatusOr<loops::Program> scheduled =
        steps.ok() ? loops::ApplyScript(plan.kernels[i], *steps)
                   : absl::StatusOr<loops::Program>(steps.status());
    if (!scheduled.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel ", i, ": ", scheduled.status().message()));
    }
    plan.kernels[i] = *std::move(scheduled);
    // Symbols of the code.
    plan.kernels[i].set_name(absl::StrCat("kernel_", i));
  }
  return absl::OkStatus();
}

}  // namespace hone::backends
