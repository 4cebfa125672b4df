#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/kernels.h"

namespace hone::hlo::evaluator {
namespace {

}  // namespace

absl::StatusOr<Literal> EvaluateRngBitGenerator(Context&,
                                                const Operation& operation) {
  return UnimplementedError(operation.instruction, "its algorithm is not fixed");
}

}  // namespace hone::hlo::evaluator
