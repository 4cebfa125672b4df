#include "hlo/passes/lowering.h"

#include "absl/strings/str_cat.h"

namespace hone::hlo {

absl::StatusOr<const Pipeline*> FindLowering(absl::string_view target) {
  absl::StatusOr<const Pipeline*> lowering =
      FindPipeline(absl::StrCat(target, "-lowering"));
  if (lowering.ok()) return lowering;
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown target '", target, "', expected one of: xla-cpu, xla-gpu"));
}

Module Lowered(Module module, const Pipeline& lowering) {
  PipelineOptions options;
  options.rewrite.numerics = Numerics::kFast;
  options.skip_failing = true;
  // Passes that fail are left out, so nothing is left to fail.
  RunPipeline(module, lowering, options).IgnoreError();
  return module;
}

}  // namespace hone::hlo
