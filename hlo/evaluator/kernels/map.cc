#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/region.h"

namespace hone::hlo::evaluator {

absl::StatusOr<Literal> EvaluateMap(Context& context,
                                    const Operation& operation) {
  HONE_ASSIGN_OR_RETURN(Literal result,
                        context.Allocate(operation.instruction.shape_ptr()));
  Region region(context, operation.instruction.called()[0]);
  std::vector<ElementwiseProgram::Input> inputs;
  for (const Literal& operand : operation.operands) {
    inputs.push_back({operand.data()});
  }
  std::byte* const output = result.MutableData();
  HONE_RETURN_IF_ERROR(
      region.Apply(inputs, {&output, 1}, result.num_elements()));
  return result;
}

}  // namespace hone::hlo::evaluator
