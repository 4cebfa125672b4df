#include "hlo/evaluator/kernels.h"

namespace hone::hlo::evaluator {

// The targets with a meaning that does not depend on the backend.
absl::StatusOr<Literal> EvaluateCustomCall(Context& context,
                                           const Operation& operation) {
  // XLA rewrites topk to this call.
  if (operation.attributes().custom_call_target == "TopK" &&
      operation.operands.size() == 1) {
    return EvaluateTopK(context, operation);
  }
  return EvaluateLapackCall(context, operation);
}

}  // namespace hone::hlo::evaluator
